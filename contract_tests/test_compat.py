"""The checker on our own schemas: any one edit is called what it is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.compat.edits import GONE, INPUTS, OUTPUTS, Edit
from contract_tests.manifest import promise
from graymatter_mcp.contract.compat import (
    RULES,
    Direction,
    Level,
    compare_releases,
    gravest,
    read_release,
)
from graymatter_mcp.contract.compat.walk import KNOWN
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.contract.snapshot import canonical_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from graymatter_mcp.contract.compat import Change

THIRD_BRANCH: Final = {
    "type": "object",
    "additionalProperties": False,
    "required": ["many"],
    "properties": {"many": {"type": "integer"}},
}


def served() -> list[dict[str, Any]]:
    """Return our tools in wire order, free to be changed."""
    return json.loads(canonical_bundle(load_bundle()))


def differences(tools: Any) -> list[Change]:
    """Compare our tools with a changed list of them."""
    return compare_releases(read_release(served()), read_release(tools))


def step_into(node: Any, step: str) -> Any:
    """Take one step into a document."""
    return node[int(step)] if isinstance(node, list) else node[step]  # pyright: ignore[reportUnknownVariableType] - parsed JSON


def apply(edit: Edit) -> list[Change]:
    """Carry out one edit, with a new revision, and compare."""
    tools = served()
    name, *steps, last = edit.place.split("/")
    tool = next(one for one in tools if one["name"] == name)
    tool["revision"] += 1
    node: Any = tool
    for step in steps:
        node = step_into(node, step)
    if edit.value is GONE:
        del node[int(last) if isinstance(node, list) else last]
    elif edit.value == "turned round":
        node[last].reverse()
    elif edit.value == "third branch":
        node.append(THIRD_BRANCH)
    elif edit.value == "open branch":
        node.append({"type": "object"})
    else:
        node[last] = edit.value
    return differences(tools)


def rules_of(changes: Sequence[Change]) -> list[str]:
    """Return the rules that reported, but for the one about the revision raised for nothing."""
    idle = {"tool:revision-raised-idly"}
    return sorted({change.rule for change in changes if change.rule not in idle})


@promise("compat:edits")
@pytest.mark.parametrize(
    ("direction", "edit"),
    [
        *((Direction.INPUT, edit) for edit in INPUTS),
        *((Direction.OUTPUT, edit) for edit in OUTPUTS),
    ],
    ids=lambda value: value.place if isinstance(value, Edit) else str(value),
)
def test_an_edit_of_a_schema_is_classified_right(direction: Direction, edit: Edit) -> None:
    """Issue 7: removing, renaming, retyping, reordering, loosening, tightening any one thing."""
    changes = apply(edit)
    expected = sorted(f"{direction}:{name}" for name in edit.expected.split())
    assert rules_of(changes) == expected
    for change in changes:
        assert change.path.startswith(edit.place.split("/")[0])


def _reorder(tools: list[dict[str, Any]]) -> None:
    tools[0], tools[1] = tools[1], tools[0]


def _remove(tools: list[dict[str, Any]]) -> None:
    del tools[3]


def _rename(tools: list[dict[str, Any]]) -> None:
    tools[2]["name"] = "memory_store"


def _append(tools: list[dict[str, Any]]) -> None:
    tools.append({**tools[0], "name": "memory_extra"})


def _insert(tools: list[dict[str, Any]]) -> None:
    tools.insert(0, {**tools[0], "name": "memory_extra"})


def _hint(name: str, value: object) -> Callable[[list[dict[str, Any]]], None]:
    def edit(tools: list[dict[str, Any]]) -> None:
        tools[0]["annotations"][name] = value

    return edit


def _part(name: str, value: object) -> Callable[[list[dict[str, Any]]], None]:
    def edit(tools: list[dict[str, Any]]) -> None:
        tools[0][name] = value

    return edit


def _unannotated(tools: list[dict[str, Any]]) -> None:
    del tools[0]["annotations"]["openWorldHint"]


def _silent_property(tools: list[dict[str, Any]]) -> None:
    tools[0]["inputSchema"]["properties"]["since"] = {"type": "string"}


def _renamed_property(tools: list[dict[str, Any]]) -> None:
    properties = tools[0]["inputSchema"]["properties"]
    properties["limit"] = properties.pop("top_k")
    tools[0]["revision"] += 1


def _renamed_required(tools: list[dict[str, Any]]) -> None:
    schema = tools[2]["inputSchema"]
    schema["properties"]["fact"] = schema["properties"].pop("text")
    schema["required"] = ["agent_id", "fact"]
    tools[2]["revision"] += 1


@promise("compat:edits")
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (_reorder, "tool:tools-reordered"),
        (_remove, "tool:tool-removed"),
        (_rename, "tool:tool-inserted tool:tool-removed"),
        (_append, "tool:tool-added"),
        (_insert, "tool:tool-inserted"),
        (_hint("readOnlyHint", value=False), "tool:hint-changed"),
        (_hint("destructiveHint", value=True), "tool:hint-changed"),
        (_hint("idempotentHint", value=False), "tool:hint-changed"),
        (_hint("openWorldHint", value=None), "tool:hint-changed"),
        (_hint("newHint", value=True), "tool:hint-changed"),
        (_unannotated, "tool:hint-changed"),
        (_part("title", "Another title"), "tool:prose-changed"),
        (_part("description", "Search it. Returns facts."), "tool:prose-changed"),
        (_part("revision", 2), ""),
        (_part("revision", 0), "tool:revision-lowered"),
        (_part("outputSchema", None), "tool:output-schema-removed tool:revision-not-raised"),
        (_part("icons", []), "tool:unknown-part"),
        (_silent_property, "input:property-added tool:revision-not-raised"),
        (_renamed_property, "input:property-added input:property-removed"),
        (_renamed_required, "input:property-removed input:required-property-added"),
    ],
)
def test_an_edit_of_a_tool_is_classified_right(
    edit: Callable[[list[dict[str, Any]]], None], expected: str
) -> None:
    """Issue 7: tool names and order, hints, revisions."""
    tools = served()
    edit(tools)
    assert rules_of(differences(tools)) == expected.split()


@promise("compat:edits")
def test_the_table_holds_a_hundred_edits_and_every_level() -> None:
    """Issue 7."""
    assert len(INPUTS) + len(OUTPUTS) >= 100
    levels = {
        RULES[f"{direction}:{name}"].level
        for direction, edits in ((Direction.INPUT, INPUTS), (Direction.OUTPUT, OUTPUTS))
        for edit in edits
        for name in edit.expected.split()
    }
    assert levels == {Level.PROSE, Level.ADDITIVE, Level.BREAKING}


def _schemas(node: Any, direction: Direction) -> Iterator[tuple[Direction, dict[str, Any]]]:
    """Yield every schema inside a schema, itself first."""
    yield direction, node
    for child in [*node.get("properties", {}).values(), *node.get("oneOf", [])]:
        yield from _schemas(child, direction)
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from _schemas(node[keyword], direction)


def _nodes(tools: list[dict[str, Any]]) -> Iterator[tuple[Direction, dict[str, Any]]]:
    for tool in tools:
        tool["revision"] += 1
        yield from _schemas(tool["inputSchema"], Direction.INPUT)
        yield from _schemas(tool["outputSchema"], Direction.OUTPUT)


@promise("compat:edits")
def test_an_unknown_keyword_is_breaking_wherever_it_comes() -> None:
    """House, section 3: fail closed, in every schema of every tool."""
    count = sum(1 for _ in _nodes(served()))
    assert count > 100
    for place in range(count):
        tools = served()
        direction, node = list(_nodes(tools))[place]
        node["x-new"] = 1
        assert f"{direction}:unknown-keyword" in rules_of(differences(tools))


@promise("compat:edits")
def test_every_property_that_goes_or_is_retyped_is_breaking() -> None:
    """Issue 7: any one thing in any schema."""
    for place, (_, node) in enumerate(_nodes(served())):
        for name, property_ in node.get("properties", {}).items():
            other = "string" if property_["type"] == "boolean" else "boolean"
            for value in (None, {"type": other}):
                tools = served()
                properties = list(_nodes(tools))[place][1]["properties"]
                if value is None:
                    del properties[name]
                else:
                    properties[name] = value
                assert gravest(differences(tools)) is Level.BREAKING


@promise("compat:edits")
def test_our_schemas_hold_only_keywords_that_the_checker_knows() -> None:
    """House, section 3: else every later change of that part would be breaking."""
    assert {key for _, node in _nodes(served()) for key in node} <= KNOWN
