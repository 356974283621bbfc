"""The twins of the data plane as their files describe them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from jsonschema import Draft202012Validator

from contract_tests.manifest import promise
from graymatter_mcp.contract.load import load_bundle, load_tool
from graymatter_mcp.contract.routes import load_route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.contract.load import Schema

TABLE: Final = """
memory_context         context               message           reads
memory_hybrid_search   search                query             reads
memory_capture         capture               content           repeats
memory_session_recap   session-recap         -                 repeats
memory_remember        remember              content           repeats
memory_recent          recent                -                 reads
memory_today           recent                -                 reads
memory_neighbors       neighbors             id                reads
memory_forget          forget                -                 destroys
memory_update          update                id                repeats
memory_stats           stats                 -                 reads
memory_hygiene         hygiene               -                 reads
memory_evaluate        evaluate              -                 reads
memory_adoption        adoption              -                 reads
project_list           projects-list         -                 reads
project_create         project-create        name              writes
project_delete         project-delete        project           destroys
project_activate       active-project-set    project           repeats
project_deactivate     active-project-clear  -                 repeats
project_share          member-add            project,username  repeats
project_unshare        member-remove         project,username  destroys
"""
"""Section 9 of the data plane: tool, route, required, hints."""
ROWS: Final = [tuple(line.split()) for line in TABLE.strip().splitlines()]
NAMES: Final = [row[0] for row in ROWS]
HINTS: Final = {
    "reads": (True, True, False),
    "repeats": (False, True, False),
    "writes": (False, False, False),
    "destroys": (False, True, True),
}
"""readOnly, idempotent, destructive."""
LONGEST: Final = 2048
"""Characters after which a host cuts a description without a word."""


def parts(node: object) -> Iterator[Schema]:
    """Yield every JSON object of a schema document."""
    if isinstance(node, dict):
        schema = cast("Schema", node)
        yield schema
        for child in schema.values():
            yield from parts(child)
    elif isinstance(node, list):
        for child in cast("list[Any]", node):
            yield from parts(child)


def subschemas(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and every schema that it applies to a part of a value."""
    yield schema
    for child in (*schema.get("properties", {}).values(), *schema.get("oneOf", [])):
        yield from subschemas(child)
    if "items" in schema:
        yield from subschemas(schema["items"])


@promise("plane:twins")
@pytest.mark.parametrize("row", ROWS, ids=NAMES)
def test_a_twin_is_what_the_table_says(row: tuple[str, str, str, str]) -> None:
    """D59, what of it the files say; data plane, section 9."""
    name, route, required, hints = row
    tool = load_tool(name)
    assert (tool.toolset, tool.route, tool.revision) == ("dataplane", route, 1)
    wanted = [] if required == "-" else required.split(",")
    assert tool.input_schema.get("required", []) == wanted
    said = tool.annotations
    found = (said["readOnlyHint"], said["idempotentHint"], said["destructiveHint"])
    assert found == HINTS[hints]
    assert said["openWorldHint"] is False
    assert load_route(route).needs_write is not said["readOnlyHint"]


@promise("plane:twins")
@pytest.mark.parametrize("name", NAMES)
def test_a_twin_takes_and_gives_what_its_route_does(name: str) -> None:
    """D59; data plane, section 9."""
    tool = load_tool(name)
    route = load_route(tool.route)
    mine = dict(tool.input_schema["properties"])
    theirs = dict(route.request["properties"])
    for parameter in ("id", "project", "username") if "{" in route.path else ("",):
        if parameter not in theirs:
            mine.pop(parameter, None)
    if name == "memory_today":
        for left_out in ("since", "asOf", "ids"):
            assert theirs.pop(left_out)
    assert {key: plain(part) for key, part in mine.items()} == {
        key: plain(part) for key, part in theirs.items()
    }
    assert tool.input_schema.get("additionalProperties") == route.request.get(
        "additionalProperties"
    )
    if route.response is not None:
        assert tool.output_schema == route.response
    else:
        assert tool.output_schema["properties"] == {"active": {"type": "null"}}


def plain(schema: Schema) -> Schema:
    """Return a field without its words."""
    return {key: value for key, value in schema.items() if key != "description"}


@promise("plane:twins")
@pytest.mark.parametrize("name", NAMES)
def test_a_twin_keeps_the_rules_of_titles_and_descriptions(name: str) -> None:
    """Core contract, 2.4; wire, 10."""
    tool = load_tool(name)
    assert len(tool.title) > len(name)
    assert tool.title != name
    assert tool.description not in (name, tool.title)
    assert len(tool.description) <= 800 < LONGEST
    assert tool.description.endswith(".")
    assert "Use" in tool.description
    assert "Returns" in tool.description or "Errors" in tool.description
    for field in tool.input_schema["properties"].values():
        assert field["description"]
    assert name.replace("_", "").isalpha()
    assert name.islower()
    assert len(f"graymatter{name}") <= 60


@promise("plane:twins")
@pytest.mark.parametrize("name", NAMES)
def test_schemas_of_a_twin_have_shapes_that_every_host_takes(name: str) -> None:
    """F11; wire, 5."""
    tool = load_tool(name)
    for schema in (tool.input_schema, tool.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
        for part in parts(schema):
            assert not {"$ref", "$defs", "$schema", "$id"} & set(part)
    assert not {"oneOf", "anyOf", "allOf"} & set(tool.input_schema)
    for part in subschemas(tool.input_schema):
        assert isinstance(part["type"], str)
        assert not {"oneOf", "anyOf", "allOf", "not", "const"} & set(part)
        assert part["type"] != "array" or "items" in part
        assert part["type"] != "object" or "properties" in part
    for part in subschemas(tool.output_schema):
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert set(part.get("required", ())) <= set(part["properties"])


@promise("plane:twins")
def test_no_twin_takes_the_name_of_a_core_tool() -> None:
    """Data plane, section 9: `memory_search` belongs to the core."""
    assert not set(NAMES) & {tool.name for tool in load_bundle(("core",)).tools}
