"""What is accepted at once is what the validator accepts, never more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from graymatter_mcp.contract.accept import compiled
from graymatter_mcp.contract.load import load_bundle

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SCHEMAS = {
    f"{tool.name}/{side}": schema
    for tool in load_bundle().tools
    for side, schema in (("input", tool.input_schema), ("output", tool.output_schema))
}
SCALARS: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 30),
    st.floats(-1, 1),
    st.just(2.0),
    st.text(max_size=2),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)


def near(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that mostly fit, each part now and then replaced by anything."""
    named = schema.get("type", "object")
    kinds = [named] if isinstance(named, str) else named
    options = [_OF[kind](schema) for kind in kinds]
    if "enum" in schema:
        options = [st.sampled_from(schema["enum"])]
    return st.one_of(*options * 4, ANYTHING)


def an_object(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return objects of known members, rarely without a required one or with a foreign one."""
    members = {name: near(one) for name, one in schema.get("properties", {}).items()}
    required = {name: members[name] for name in schema.get("required", ()) if name in members}
    optional = {name: one for name, one in members.items() if name not in required}
    whole = st.fixed_dictionaries(required, optional=optional)
    foreign = st.dictionaries(st.text(max_size=2), SCALARS, max_size=1)
    with_foreign = st.tuples(foreign, whole).map(lambda both: {**both[0], **both[1]})
    return st.one_of(whole, whole, with_foreign, st.fixed_dictionaries({}, optional=members))


def a_list(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Return short lists."""
    return st.lists(near(schema.get("items", {"type": "string"})), max_size=3)


def always(strategy: st.SearchStrategy[Any]) -> Callable[[object], st.SearchStrategy[Any]]:
    """Return a strategy whatever the schema says besides the type."""
    return lambda _: strategy


_OF: dict[str, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]] = {
    "object": an_object,
    "array": a_list,
    "string": always(st.text(max_size=3)),
    "integer": always(st.integers(-3, 30)),
    "number": always(st.floats(-1, 2) | st.integers(-3, 3)),
    "boolean": always(st.booleans()),
    "null": always(st.none()),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_whatever_is_accepted_at_once_fits_the_schema(name: str) -> None:
    """House 3: the validator is asked about all that is not."""
    schema = SCHEMAS[name]
    accepts = compiled(schema)
    validator = cast("Any", Draft202012Validator(schema))  # its stubs are partly unknown
    accepted: list[bool] = []

    @given(near(schema))
    def agrees(value: object) -> None:
        fits = validator.is_valid(value)
        assert accepts is not None
        is_accepted = accepts(value)
        assert fits or not is_accepted
        accepted.append(is_accepted)

    if accepts is None:
        assert "oneOf" in schema
    else:
        agrees()
        assert any(accepted)


KEYWORDS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "integer"}, [0, -7, 10**30], [True, 1.0, 1.5, "1", None]),
    ({"type": "number"}, [0, 0.5], [True, "1"]),
    ({"type": ["null", "string"]}, [None, "", "a"], [0, []]),
    ({"type": "boolean"}, [True, False], [0, 1]),
    ({"enum": ["a", "b"]}, ["a"], ["c", None, ["a"], {}]),
    ({"minimum": 1, "maximum": 3}, [1, 3, "x", None], [0, 0.9, 3.1]),
    ({"type": "string", "minLength": 1}, ["a"], ["", 1]),
    ({"required": ["a"]}, [{"a": None}, 7], [{}, {"b": 1}]),
    ({"additionalProperties": False}, [{}, 7], [{"a": 1}]),
    ({"additionalProperties": {"type": "string"}}, [{"a": ""}], [{"a": 1}]),
    (
        {"properties": {"a": {"type": "string"}}, "additionalProperties": False},
        [{"a": ""}, {}],
        [{"a": 1}, {"b": ""}],
    ),
    ({"properties": {"a": {"type": "string"}}}, [{"a": "", "b": 1}], [{"a": 1}]),
    ({"items": {"type": "string"}}, [[], ["a"], "a"], [["a", 1]]),
    ({"properties": {"a": False}}, [{}], [{"a": 1}]),
    ({}, [None, 1, {"a": [1]}], []),
]
UNKNOWN: list[dict[str, Any]] = [
    {"pattern": "a"},
    {"oneOf": [{}]},
    {"type": "string", "format": "uri"},
    {"properties": {"a": {"$ref": "#"}}},
    {"items": {"uniqueItems": True}},
    {"enum": [1]},
    {"enum": [False]},
    {"type": "file"},
    {"properties": {}, "patternProperties": {}},
    {"items": {}, "prefixItems": []},
]


@pytest.mark.parametrize(
    ("schema", "accepted", "left"),
    KEYWORDS,
)
def test_each_keyword_says_yes_to_what_fits(
    schema: dict[str, Any], accepted: list[object], left: list[object]
) -> None:
    """JSON Schema 2020-12."""
    accepts = compiled(schema)
    assert accepts is not None
    assert [value for value in accepted if not accepts(value)] == []
    assert [value for value in left if accepts(value)] == []


@pytest.mark.parametrize("schema", UNKNOWN)
def test_what_is_not_known_is_left_to_the_validator(schema: dict[str, Any]) -> None:
    """House 3: a keyword that is overlooked would let everything through."""
    assert compiled(schema) is None
