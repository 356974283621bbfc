"""Read the contract: schema files in, one immutable bundle out."""

from __future__ import annotations

import json
import posixpath
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

Schema = dict[str, Any]
"""One JSON Schema document, draft 2020-12, references inlined."""

MAJOR: Final = "v1"
"""The major of the contract that this package serves."""

CORE: Final = ("core",)
"""What is served unless more is asked for."""

HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class BrokenContractError(Exception):
    """The schema files that came with the package are missing or do not fit together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContract:
    """One tool as served: hand-written schemas, references inlined."""

    name: str
    title: str
    description: str
    annotations: Mapping[str, bool]
    """The four hints, camelCase keys as on the wire."""
    revision: int
    input_schema: Schema
    output_schema: Schema
    toolset: str = "core"
    route: str = ""
    """Of a twin: the route whose operation it calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """Everything a server of some toolsets serves, tools in wire order."""

    tools: tuple[ToolContract, ...]
    toolsets: tuple[str, ...] = CORE
    """Their toolsets, in the order of the list."""

    def __getitem__(self, name: str) -> ToolContract:
        """Return the tool of this name, or raise KeyError."""
        return {tool.name: tool for tool in self.tools}[name]


def load_bundle(toolsets: tuple[str, ...] = CORE) -> Bundle:
    """Load the named toolsets from the schema files shipped with the package.

    The result is shared between callers, who must not change the schemas it holds.

    Args:
        toolsets: Names of `toolsets.json`, in the order in which their tools are listed.

    Raises:
        InvalidArgumentError: A name is unknown, given twice, or none is given.
        BrokenContractError: The files are missing or inconsistent.
    """
    return _bundle(toolsets)


def read_toolsets(text: str) -> tuple[str, ...]:
    """Read names separated by commas, in the order in which they are always listed.

    Raises:
        InvalidArgumentError: A name is unknown or given twice, or none is given.
        BrokenContractError: The files are missing or inconsistent.
    """
    toolsets = tuple(sorted(text.split(",")))
    load_bundle(toolsets)
    return toolsets


def toolset_names() -> tuple[str, ...]:
    """Return the names of all toolsets.

    Raises:
        BrokenContractError: The file is missing.
    """
    return tuple(cast("dict[str, list[str]]", read_document("toolsets.json")))


@cache
def load_tool(name: str) -> ToolContract:
    """Load one tool, whether a toolset lists it or not.

    Raises:
        BrokenContractError: There is no such tool, or its files are inconsistent.
    """
    about = cast("Schema", read_document(f"tools/{name}/tool.json"))
    if set(about["annotations"]) != set(HINTS):
        raise BrokenContractError(f"tool.json of {name} lacks a hint")
    return ToolContract(
        name=name,
        title=about["title"],
        description=about["description"],
        annotations=about["annotations"],
        revision=about["revision"],
        input_schema=read_schema(f"tools/{name}/input.json"),
        output_schema=read_schema(f"tools/{name}/output.json"),
        toolset=about["toolset"],
        route=about.get("route", ""),
    )


def read_document(path: str, root: Traversable | None = None) -> Any:
    """Read one file of the contract as JSON, references left as they are.

    Args:
        path: Relative to the directory of the major, with ``/``, such as ``tools/x/input.json``.
        root: The directory of schemas; by default the one that came with the package.

    Raises:
        BrokenContractError: There is no such file, or it is not JSON.
    """
    try:
        folder = schema_root() if root is None else root
        return json.loads(folder.joinpath(MAJOR, *path.split("/")).read_text("utf-8"))
    except (OSError, ValueError) as exc:
        raise BrokenContractError(f"schema file {path} cannot be read") from exc


def read_schema(path: str, root: Traversable | None = None) -> Schema:
    """Read one schema file with every reference replaced by the file it names.

    Args:
        path: As for `read_document`.
        root: As for `read_document`.

    Raises:
        BrokenContractError: A file is missing, a reference has siblings or leads back to itself.
    """
    return cast("Schema", _inlined(read_document(path, root), path, (path,), root))


def schema_root() -> Traversable:
    """Return the directory of schemas: inside an installed wheel, else of the source checkout."""
    shipped = files("graymatter_mcp").joinpath("schemas")
    return shipped if shipped.is_dir() else Path(__file__).parents[2] / "schemas"


@cache
def _bundle(toolsets: tuple[str, ...]) -> Bundle:
    known = cast("dict[str, list[str]]", read_document("toolsets.json"))
    for toolset in toolsets:
        if toolset not in known:
            raise InvalidArgumentError(f'unknown toolset "{toolset}"; known: {", ".join(known)}')
    if not toolsets or len(set(toolsets)) != len(toolsets):
        raise InvalidArgumentError("toolsets must name each wanted toolset once")
    tools = tuple(load_tool(name) for toolset in toolsets for name in known[toolset])
    listed = [toolset for toolset in toolsets for _ in known[toolset]]
    for tool, toolset in zip(tools, listed, strict=True):
        if tool.toolset != toolset:
            raise BrokenContractError(f"tool.json of {tool.name} names another toolset")
    return Bundle(tools=tools, toolsets=toolsets)


def _inlined(node: object, path: str, trail: tuple[str, ...], root: Traversable | None) -> object:
    if isinstance(node, list):
        return [_inlined(item, path, trail, root) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    schema = cast("Schema", node)
    if "$ref" not in schema:
        return {key: _inlined(value, path, trail, root) for key, value in schema.items()}
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), schema["$ref"]))
    if len(schema) != 1 or target in trail:
        raise BrokenContractError(f"{path} refers to {target} with siblings or in a circle")
    return _inlined(read_document(target, root), target, (*trail, target), root)
