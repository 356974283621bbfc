"""The schema files as contract: what every client may rely on, asserted rule by rule."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from jsonschema import Draft202012Validator

from graymatter_mcp.contract.check import Checker, ContractViolationError
from graymatter_mcp.contract.load import load_bundle

if TYPE_CHECKING:
    from collections.abc import Iterator

BUNDLE = load_bundle()
CHECKER = Checker(BUNDLE)
NAMES = [
    "memory_search",
    "memory_search_batch",
    "memory_add",
    "memory_alias",
    "checkpoint_save",
    "checkpoint_resume",
    "memory_reflect",
]

Schema = dict[str, Any]


def schemas_below(node: object) -> Iterator[Schema]:
    """Yield every JSON object of a schema document, itself included."""
    if isinstance(node, dict):
        schema = cast("Schema", node)
        yield schema
        for child in schema.values():
            yield from schemas_below(child)
    elif isinstance(node, list):
        for child in cast("list[object]", node):
            yield from schemas_below(child)


def subschemas(schema: Schema) -> Iterator[Schema]:
    """Yield a schema and every schema that it applies to a part of a value."""
    yield schema
    for child in cast("dict[str, Schema]", schema.get("properties", {})).values():
        yield from subschemas(child)
    for child in cast("list[Schema]", schema.get("oneOf", [])):
        yield from subschemas(child)
    if "items" in schema:
        yield from subschemas(schema["items"])


def as_listed() -> list[Schema]:
    """Return the tools as ``tools/list`` shows them."""
    return [
        {
            "name": tool.name,
            "title": tool.title,
            "description": tool.description,
            "inputSchema": tool.input_schema,
            "outputSchema": tool.output_schema,
            "annotations": dict(tool.annotations),
            "_meta": {"graymatter/revision": tool.revision},
        }
        for tool in BUNDLE.tools
    ]


def test_the_core_toolset_is_seven_tools_in_the_order_of_the_contract() -> None:
    """C1, contract 2.1."""
    assert [tool.name for tool in BUNDLE.tools] == NAMES


@pytest.mark.parametrize(
    ("name", "title", "read_only", "idempotent"),
    [
        ("memory_search", "Search agent memory", True, True),
        ("memory_search_batch", "Search agent memory with several queries at once", True, True),
        ("memory_add", "Store a durable fact", False, False),
        ("memory_alias", "Teach the store a vocabulary alias", False, False),
        ("checkpoint_save", "Save a session checkpoint", False, False),
        ("checkpoint_resume", "Load the latest checkpoint", True, True),
        ("memory_reflect", "Curate your own memory", False, False),
    ],
)
def test_every_tool_has_its_title_and_all_four_hints(
    name: str, title: str, read_only: bool, idempotent: bool
) -> None:
    """C2, contract 2.2."""
    assert BUNDLE[name].title == title
    assert BUNDLE[name].annotations == {
        "readOnlyHint": read_only,
        "destructiveHint": False,
        "idempotentHint": idempotent,
        "openWorldHint": False,
    }


def test_every_schema_is_at_revision_one() -> None:
    """Contract 2.1: revisions start at 1."""
    assert {tool.revision for tool in BUNDLE.tools} == {1}


@pytest.mark.parametrize("name", NAMES)
def test_titles_and_descriptions_keep_the_general_rules(name: str) -> None:
    """C3, contract 2.4."""
    tool = BUNDLE[name]
    assert len(tool.title) > len(name)
    assert tool.description not in (name, tool.title)
    assert len(tool.description) <= 800
    assert tool.description.endswith(".")
    assert "use" in tool.description.lower()
    assert "Returns" in tool.description or "Errors" in tool.description


@pytest.mark.parametrize(
    ("name", "first_word", "sibling", "also"),
    [
        ("memory_search", "Search", "memory_add", "__shared__"),
        ("memory_add", "Store", "memory_reflect", ""),
        ("memory_alias", "Declare", "memory_search", ""),
        ("checkpoint_save", "Persist", "checkpoint_resume", ""),
        ("checkpoint_resume", "Read", "checkpoint_save", ""),
        ("memory_reflect", "Curate", "memory_add", "required at runtime"),
    ],
)
def test_a_description_starts_with_its_word_and_names_its_sibling(
    name: str, first_word: str, sibling: str, also: str
) -> None:
    """C3, contract 2.4."""
    description = BUNDLE[name].description
    assert description.split()[0] == first_word
    assert sibling in description
    assert also in description


def test_every_input_property_is_described() -> None:
    """C3, contract 2.4."""
    for tool in BUNDLE.tools:
        for parameter in tool.input_schema["properties"].values():
            assert parameter["description"]


def test_reflect_says_what_its_identities_mean() -> None:
    """C3, contract 2.4."""
    properties = BUNDLE["memory_reflect"].input_schema["properties"]
    assert "required at runtime" in properties["agent_id"]["description"]
    assert "required at runtime" in properties["agent"]["description"]
    assert "deprecated" in properties["agent"]["description"].lower()
    assert "agent whose memory" in properties["agent_id"]["description"]


def test_the_core_list_is_smaller_than_12_kilobytes() -> None:
    """C3, F10: tool lists must not eat the context."""
    size = len(json.dumps(as_listed(), ensure_ascii=False, separators=(",", ":")).encode())
    assert size < 12_000


@pytest.mark.parametrize(
    ("name", "properties", "required"),
    [
        (
            "memory_search",
            ["agent_id", "query", "top_k", "explain", "min_confidence", "confidence_weight"],
            ["agent_id", "query"],
        ),
        (
            "memory_search_batch",
            ["agent_id", "queries", "top_k", "min_confidence", "confidence_weight"],
            ["agent_id", "queries"],
        ),
        ("memory_add", ["agent_id", "text", "confidence"], ["agent_id", "text"]),
        (
            "memory_alias",
            ["agent_id", "term", "equivalents"],
            ["agent_id", "term", "equivalents"],
        ),
        ("checkpoint_save", ["agent_id", "state"], ["agent_id"]),
        ("checkpoint_resume", ["agent_id", "on_missing"], ["agent_id"]),
        (
            "memory_reflect",
            ["action", "agent_id", "agent", "text", "target", "confidence"],
            ["action"],
        ),
    ],
)
def test_a_tool_takes_exactly_the_documented_arguments(
    name: str, properties: list[str], required: list[str]
) -> None:
    """C4."""
    schema = BUNDLE[name].input_schema
    assert list(schema["properties"]) == properties
    assert schema["required"] == required


def test_documented_defaults_and_enums_stand_in_the_schemas() -> None:
    """C5, C6, C7."""
    for name in ("memory_search", "memory_search_batch"):
        assert BUNDLE[name].input_schema["properties"]["top_k"]["default"] == 8
    on_missing = BUNDLE["checkpoint_resume"].input_schema["properties"]["on_missing"]
    assert (on_missing["default"], on_missing["enum"]) == ("error", ["error", "empty"])
    action = BUNDLE["memory_reflect"].input_schema["properties"]["action"]
    assert action["enum"] == ["add", "update", "forget", "link", "pin", "unpin"]


@pytest.mark.parametrize("name", NAMES)
def test_both_schemas_compile_and_refer_to_nothing(name: str) -> None:
    """C8, F11: one dangling reference makes clients drop every tool."""
    for schema in (BUNDLE[name].input_schema, BUNDLE[name].output_schema):
        Draft202012Validator.check_schema(schema)
        for part in schemas_below(schema):
            assert not {"$ref", "$defs", "$schema", "$id"} & set(part)


@pytest.mark.parametrize("name", NAMES)
def test_an_input_root_is_a_plain_object(name: str) -> None:
    """C8, F11: a root combinator makes hosts refuse the conversation."""
    schema = BUNDLE[name].input_schema
    assert schema["type"] == "object"
    assert schema["properties"]
    assert set(schema["required"]) <= set(schema["properties"])
    closed = {"additionalProperties"} if name == "memory_reflect" else set[str]()
    assert set(schema) == {"type", "required", "properties"} | closed


@pytest.mark.parametrize("name", NAMES)
def test_an_input_has_no_union_and_no_untyped_container(name: str) -> None:
    """F11: unions become strings or refusals in some hosts."""
    for part in subschemas(BUNDLE[name].input_schema):
        assert isinstance(part["type"], str)
        assert not {"oneOf", "anyOf", "allOf", "not", "const"} & set(part)
        assert part["type"] != "array" or "items" in part
        assert part["type"] != "object" or "properties" in part


@pytest.mark.parametrize("name", NAMES)
def test_an_output_root_is_an_object_and_every_result_object_is_closed(name: str) -> None:
    """C9, F11, contract 1.2."""
    root = BUNDLE[name].output_schema
    assert root["type"] == "object"
    for part in subschemas(root):
        if "properties" in part:
            assert part["additionalProperties"] is False
            assert set(part["required"]) <= set(part["properties"])


def test_names_fit_the_strictest_host() -> None:
    """F11, wire 10: 60 characters together with the server's name."""
    for name in NAMES:
        assert name.replace("_", "").isalpha()
        assert name.islower()
        assert len(f"graymatter{name}") <= 60


def test_resume_answers_with_a_union_on_a_bare_root_success_first() -> None:
    """C11."""
    root = BUNDLE["checkpoint_resume"].output_schema
    assert list(root) == ["type", "oneOf"]
    success, absence = root["oneOf"]
    assert list(success["properties"]) == ["id", "created_at", "state", "message_count"]
    assert success["required"] == ["id", "created_at"]
    assert absence["properties"]["found"] == {"type": "boolean", "enum": [False]}
    assert absence["required"] == list(absence["properties"]) == ["found", "agent_id"]


@pytest.mark.parametrize(
    ("value", "branch"),
    [
        ({"id": "1", "created_at": "t", "state": {"n": 1}, "message_count": 2}, 0),
        ({"id": "1", "created_at": "t"}, 0),
        ({"found": False, "agent_id": "a"}, 1),
    ],
)
def test_each_branch_of_resume_has_examples_that_fit_it_alone(value: Schema, branch: int) -> None:
    """C11, F11."""
    branches = BUNDLE["checkpoint_resume"].output_schema["oneOf"]
    fits = [Draft202012Validator(part).is_valid(value) for part in branches]  # pyright: ignore[reportUnknownMemberType] - stubs are partly unknown
    assert fits == [index == branch for index in range(2)]


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"found": True, "agent_id": "a"},
        {"found": False},
        {"id": "1", "created_at": "t", "found": False},
        {"id": "1", "created_at": "t", "found": False, "agent_id": "a"},
        {"id": "1", "created_at": "t", "state": None},
        {"id": "1", "created_at": "t", "metadata": {}},
    ],
)
def test_what_fits_no_branch_of_resume_is_refused(value: Schema) -> None:
    """C11."""
    with pytest.raises(ContractViolationError):
        CHECKER.check_output("checkpoint_resume", value)


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "add", "agent_id": "a"},
        {"action": "pin", "agent": "a"},
        {"action": "link", "agent_id": "a", "agent": "b"},
        {"action": "forget"},
        {"action": "add", "agent_id": " "},
        {"action": "update", "agent_id": "a", "text": "", "target": "", "confidence": "verified"},
    ],
)
def test_the_reflect_schema_alone_accepts(arguments: Schema) -> None:
    """Contract 3.7, truth table."""
    CHECKER.check_input("memory_reflect", arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "add", "agent_id": "a", "extra": 1},
        {"agent_id": "a"},
        {"action": "erase", "agent_id": "a"},
        {"action": None, "agent_id": "a"},
        *({"action": "add", "agent_id": "a", key: 7} for key in ("text", "target")),
        *(
            {"action": "add", key: value}
            for key in ("agent_id", "agent")
            for value in (None, 1, True, ["a"], {"a": 1}, "")
        ),
        *({"action": "add", "confidence": value} for value in ("unknown", " verified ", 1, None)),
    ],
)
def test_the_reflect_schema_alone_refuses(arguments: Schema) -> None:
    """Contract 3.7, truth table."""
    with pytest.raises(ContractViolationError):
        CHECKER.check_input("memory_reflect", arguments)
