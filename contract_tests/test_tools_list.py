"""What `tools/list` holds: the part of the contract that a client reads."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

import pytest
from jsonschema import Draft202012Validator

from contract_tests.manifest import promise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract_tests.caller import Caller

_PROPERTIES: Final = {
    "memory_search": "agent_id query top_k explain min_confidence confidence_weight",
    "memory_search_batch": "agent_id queries top_k min_confidence confidence_weight",
    "memory_add": "agent_id text confidence",
    "memory_alias": "agent_id term equivalents",
    "checkpoint_save": "agent_id state",
    "checkpoint_resume": "agent_id on_missing",
    "memory_reflect": "action agent_id agent text target confidence",
}
_REQUIRED: Final = {
    "memory_search": "agent_id query",
    "memory_search_batch": "agent_id queries",
    "memory_add": "agent_id text",
    "memory_alias": "agent_id term equivalents",
    "checkpoint_save": "agent_id",
    "checkpoint_resume": "agent_id",
    "memory_reflect": "action",
}
_TITLES: Final = {
    "memory_search": "Search agent memory",
    "memory_search_batch": "Search agent memory with several queries at once",
    "memory_add": "Store a durable fact",
    "memory_alias": "Teach the store a vocabulary alias",
    "checkpoint_save": "Save a session checkpoint",
    "checkpoint_resume": "Load the latest checkpoint",
    "memory_reflect": "Curate your own memory",
}
_FIRST_WORDS: Final = {
    "memory_search": ("Search", "memory_add", "__shared__"),
    "memory_add": ("Store", "memory_reflect"),
    "memory_alias": ("Declare", "memory_search"),
    "checkpoint_save": ("Persist", "checkpoint_resume"),
    "checkpoint_resume": ("Read", "checkpoint_save"),
    "memory_reflect": ("Curate", "memory_add", "required at runtime"),
}
_READERS: Final = {"memory_search", "memory_search_batch", "checkpoint_resume"}
_COMBINATORS: Final = {"anyOf", "oneOf", "allOf", "not", "if"}


def _nodes(schema: object) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        yield schema
        for child in schema.values():  # pyright: ignore[reportUnknownVariableType] - parsed JSON
            yield from _nodes(child)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(schema, list):
        for child in schema:  # pyright: ignore[reportUnknownVariableType]
            yield from _nodes(child)  # pyright: ignore[reportUnknownArgumentType]


def _subschemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Walk schemas only: a property may be called like a keyword."""
    yield schema
    for child in schema.get("properties", {}).values():
        yield from _subschemas(child)
    for keyword in ("oneOf", "anyOf", "allOf"):
        for child in schema.get(keyword, []):
            yield from _subschemas(child)
    if "items" in schema:
        yield from _subschemas(schema["items"])


@promise("tools:seven-in-order", "limits:few-tools")
def test_the_core_toolset_is_seven_tools_in_the_documented_order(caller: Caller) -> None:
    """Contract C1; F10."""
    names = [tool["name"] for tool in caller.client.list_tools()]
    assert names == [
        "memory_search",
        "memory_search_batch",
        "memory_add",
        "memory_alias",
        "checkpoint_save",
        "checkpoint_resume",
        "memory_reflect",
    ]


@promise("tools:hints")
def test_every_tool_has_its_title_and_all_four_hints(caller: Caller) -> None:
    """Contract C2: unset hints mean "destructive, open world" to a host."""
    for name, tool in caller.tools.items():
        reads = name in _READERS
        assert tool["title"] == _TITLES[name]
        hints = {key: value for key, value in tool["annotations"].items() if key != "title"}
        assert hints == {
            "readOnlyHint": reads,
            "destructiveHint": False,
            "idempotentHint": reads,
            "openWorldHint": False,
        }


@promise("tools:prose-rules")
def test_titles_and_descriptions_keep_the_rules(caller: Caller) -> None:
    """Contract C3."""
    for name, tool in caller.tools.items():
        title, description = tool["title"], tool["description"]
        assert title != name
        assert len(title) > len(name) - 1
        assert len(description) <= 800
        assert description.endswith(".")
        assert description not in (name, title)
        assert "use" in description.lower()
        assert "Returns" in description or "Errors" in description
        first, *mentions = _FIRST_WORDS.get(name, (description.split()[0],))
        assert description.startswith(first + " ")
        assert [word for word in mentions if word not in description] == []
        for schema in tool["inputSchema"]["properties"].values():
            assert schema["description"].strip()
    reflect = caller.tools["memory_reflect"]["inputSchema"]["properties"]
    assert "required at runtime" in reflect["agent_id"]["description"]
    assert "required at runtime" in reflect["agent"]["description"]
    assert "deprecated" in reflect["agent"]["description"].lower()
    assert "agent whose memory" in reflect["agent_id"]["description"]


@promise("tools:small", "limits:few-tools")
def test_the_list_is_under_12_kilobytes(caller: Caller) -> None:
    """Contract C3; F10."""
    compact = json.dumps(
        {"tools": caller.client.list_tools()}, separators=(",", ":"), ensure_ascii=False
    )
    assert len(compact.encode()) < 12_000


@promise("tools:properties")
def test_every_tool_has_exactly_the_documented_properties(caller: Caller) -> None:
    """Contract C4."""
    inputs = {name: tool["inputSchema"] for name, tool in caller.tools.items()}
    assert {name: set(one["properties"]) for name, one in inputs.items()} == {
        name: set(names.split()) for name, names in _PROPERTIES.items()
    }
    assert {name: set(one["required"]) for name, one in inputs.items()} == {
        name: set(names.split()) for name, names in _REQUIRED.items()
    }


@promise("tools:top-k-default")
def test_both_searches_declare_eight_as_the_default_of_top_k(caller: Caller) -> None:
    """Contract C5."""
    for name in ("memory_search", "memory_search_batch"):
        assert caller.tools[name]["inputSchema"]["properties"]["top_k"]["default"] == 8


@promise("tools:on-missing")
def test_on_missing_is_error_or_empty_and_error_by_default(caller: Caller) -> None:
    """Contract C6."""
    schema = caller.tools["checkpoint_resume"]["inputSchema"]["properties"]["on_missing"]
    assert schema["default"] == "error"
    assert set(schema["enum"]) == {"error", "empty"}


@promise("tools:reflect-actions")
def test_reflect_declares_its_six_actions(caller: Caller) -> None:
    """Contract C7."""
    schema = caller.tools["memory_reflect"]["inputSchema"]["properties"]["action"]
    assert schema["enum"] == ["add", "update", "forget", "link", "pin", "unpin"]


@promise("schemas:sound", "hosts:schema-shapes")
def test_every_schema_compiles_and_stands_alone(caller: Caller) -> None:
    """Contract C8; F11: one dangling reference makes a client drop all tools."""
    for tool in caller.tools.values():
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
            for node in _nodes(schema):
                assert not {"$ref", "$defs", "$schema", "$id"} & node.keys()


@promise("schemas:plain-inputs", "hosts:schema-shapes")
def test_no_input_has_a_union_anywhere(caller: Caller) -> None:
    """Contract C8; F11: one root combinator makes a model API refuse the whole conversation."""
    for tool in caller.tools.values():
        for node in _subschemas(tool["inputSchema"]):
            assert not _COMBINATORS & node.keys()
            assert isinstance(node["type"], str)
            assert node["type"] != "array" or "items" in node
            assert node["type"] != "object" or "properties" in node


@promise("schemas:reflect-truth-table")
@pytest.mark.parametrize(
    ("value", "is_valid"),
    [
        ({"action": "pin", "agent_id": "a"}, True),
        ({"action": "pin", "agent": "a"}, True),
        ({"action": "pin", "agent": "a", "agent_id": "b"}, True),
        ({"action": "pin"}, True),
        ({"action": "pin", "agent_id": " "}, True),
        ({"action": "pin", "agent_id": "a", "namespace": "b"}, False),
        ({"agent_id": "a"}, False),
        ({"action": "erase", "agent_id": "a"}, False),
        ({"action": None, "agent_id": "a"}, False),
        ({"action": "pin", "agent_id": "a", "text": 1}, False),
        ({"action": "pin", "agent_id": "a", "target": []}, False),
        ({"action": "pin", "agent_id": None}, False),
        ({"action": "pin", "agent": ""}, False),
        ({"action": "pin", "agent": {}}, False),
        ({"action": "add", "agent_id": "a", "confidence": "unknown"}, False),
        ({"action": "add", "agent_id": "a", "confidence": " verified "}, False),
        ({"action": "add", "agent_id": "a", "confidence": True}, False),
    ],
)
def test_the_schema_of_reflect_decides_as_its_truth_table(
    newest: Caller, value: dict[str, Any], is_valid: bool
) -> None:
    """Contract 3.7."""
    # The validator's stubs name a type that is not there.
    validator: Any = Draft202012Validator(newest.tools["memory_reflect"]["inputSchema"])
    assert validator.is_valid(value) is is_valid


@promise("schemas:object-outputs", "hosts:schema-shapes")
def test_every_output_is_an_object_and_each_branch_is_closed(caller: Caller) -> None:
    """Contract C9; F11: a bare root union makes a whole handshake list fail."""
    for name, tool in caller.tools.items():
        schema = tool["outputSchema"]
        assert schema["type"] == "object"
        for branch in schema.get("oneOf", [schema]):
            assert branch["additionalProperties"] is False
            assert set(branch["required"]) <= set(branch["properties"])
        assert ("oneOf" in schema) is (name == "checkpoint_resume")


@promise("schemas:resume-union")
def test_the_two_branches_of_a_resume_exclude_each_other(caller: Caller) -> None:
    """Contract C11."""
    schema = caller.tools["checkpoint_resume"]["outputSchema"]
    assert schema.keys() == {"type", "oneOf"}
    first, second = schema["oneOf"]
    assert first["properties"].keys() == {"id", "created_at", "state", "message_count"}
    assert set(first["required"]) == {"id", "created_at"}
    assert second["properties"].keys() == {"found", "agent_id"}
    assert second["properties"]["found"] == {"type": "boolean", "enum": [False]}
    assert set(second["required"]) == {"found", "agent_id"}
    # Closed and without a common key, so a value that fits one cannot fit the other.
    assert not first["properties"].keys() & second["properties"].keys()


@promise("tools:revisions")
def test_every_tool_serves_the_revision_of_its_schema(caller: Caller) -> None:
    """Contract 2.1."""
    for tool in caller.tools.values():
        revision = tool["_meta"]["graymatter/revision"]
        assert isinstance(revision, int)
        assert revision >= 1


@promise("inputs:null-params")
@pytest.mark.parametrize("params", [None, {}])
def test_a_list_may_be_asked_for_with_null_or_empty_params(
    transport: str, tmp_path: Any, params: dict[str, Any] | None
) -> None:
    """F9."""
    from contract_tests.conftest import TRANSPORTS
    from contract_tests.wire import initialize

    wire = TRANSPORTS[transport](tmp_path / "store")
    try:
        wire.ask(initialize("2025-06-18"))
        answer = wire.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": params})
    finally:
        wire.close()
    assert len(answer["result"]["tools"]) == 7


@promise("server:instruction-budget")
def test_the_instructions_fit_their_budget_and_name_what_they_must(caller: Caller) -> None:
    """Contract C15: words x 1.33, rounded up, at most 240."""
    instructions = caller.client.instructions()
    assert instructions is not None
    assert math.ceil(len(instructions.split()) * 1.33) <= 240
    for literal in ("memory_search", "memory_reflect", "weak-match", "memory_alias"):
        assert literal in instructions
