"""Reference pages: one a tool, in Markdown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.load import HINTS, read_document
from graymatter_mcp.contract.pages.shapes import values_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from graymatter_mcp.contract.load import Bundle, Schema, ToolContract

HEAD: Final = "<!-- Made from schemas/ by `python -m graymatter_mcp.contract`; do not edit. -->"
_NAMES: Final = {
    "readOnlyHint": "only reads",
    "destructiveHint": "destroys",
    "idempotentHint": "idempotent",
    "openWorldHint": "open world",
}
_LIMITS: Final = ("minimum", "maximum", "minLength", "maxLength", "default")


def reference_pages(bundle: Bundle) -> dict[str, str]:
    """Return every page by its file name."""
    pages = {f"{tool.name}.md": _page(tool) for tool in bundle.tools}
    index = [HEAD, "", "# Tools", "", "In the order in which a server lists them."]
    for toolset in bundle.toolsets:
        index += ["", f"## Toolset `{toolset}`", ""]
        index += ["| tool | title | revision |", "| --- | --- | --- |"]
        index += [
            f"| [`{tool.name}`]({tool.name}.md) | {tool.title} | {tool.revision} |"
            for tool in bundle.tools
            if tool.toolset == toolset
        ]
    return {"README.md": _text(index), **pages}


def examples_of(tool: str) -> Sequence[Mapping[str, Any]]:
    """Return the examples of a tool: title, input, output."""
    return cast("list[Mapping[str, Any]]", read_document(f"tools/{tool}/examples.json"))


def _page(tool: ToolContract) -> str:
    hints = ", ".join(
        f"{_NAMES[hint]}: {'yes' if tool.annotations[hint] else 'no'}" for hint in HINTS
    )
    lines = [HEAD, "", f"# {tool.name}", "", f"*{tool.title}.* {tool.description}", ""]
    lines += [f"Toolset `{tool.toolset}`, revision {tool.revision}; {hints}.", "", "## Input", ""]
    lines += [*_table(tool.input_schema), "", "## Output", ""]
    branches = cast("list[Schema]", tool.output_schema.get("oneOf", [tool.output_schema]))
    for number, branch in enumerate(branches, 1):
        if len(branches) > 1:
            lines += [f"Branch {number} of {len(branches)}:", ""]
        lines += [*_table(branch), ""]
    lines += ["## Examples", ""]
    for example in examples_of(tool.name):
        lines += [f"{example['title']}:", "", *_json(example["input"]), ""]
        lines += [*_json(example["output"]), ""]
    return _text(lines)


def _table(schema: Schema) -> list[str]:
    rows = [f"| `{path}` | {kind} | {words} |" for path, kind, words in _rows(schema, "")]
    if not rows:
        return ["Nothing."]
    if schema.get("additionalProperties") is False:
        rows += ["", "Nothing else."]
    return ["| key | type | |", "| --- | --- | --- |", *rows]


def _rows(schema: Schema, path: str) -> Iterator[tuple[str, str, str]]:
    required = cast("list[str]", schema.get("required", []))
    for name, part in cast("dict[str, Schema]", schema.get("properties", {})).items():
        place = f"{path}{name}"
        yield place, _kind(part), _words(part, is_required=name in required)
        yield from _rows(part, f"{place}.")
        items = cast("Schema", part.get("items", {}))
        for branch in cast("list[Schema]", items.get("oneOf", [items])):
            yield from _rows(branch, f"{place}[].")
        yield from _rows(values_of(part), f"{place}.<name>.")


def _kind(part: Schema) -> str:
    kinds = part.get("type", "any value")
    names = [kinds] if isinstance(kinds, str) else cast("list[str]", kinds)
    items = part.get("items", {}).get("type")
    shown = [f"{name} of {items}" if name == "array" and items else name for name in names]
    return " or ".join(shown)


def _words(part: Schema, *, is_required: bool) -> str:
    words = ["**required**"] if is_required else []
    if "enum" in part:
        words.append(" or ".join(f"`{json.dumps(value)}`" for value in part["enum"]))
    words += [f"{key} `{json.dumps(part[key])}`" for key in _LIMITS if key in part]
    start = ", ".join(words)
    description = part.get("description", "")
    return f"{start}. {description}" if start and description else start or description


def _json(value: Any) -> list[str]:
    return ["```json", json.dumps(value, indent=2, ensure_ascii=False), "```"]


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
