"""Schemas, near relatives of them, and values that fit: made up, for the claim of the checker."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final, cast

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from hypothesis.strategies import DrawFn, SearchStrategy

Schema = dict[str, Any]

_NAMES: Final = ("a", "b", "c")
_SCALARS: Final = (None, False, True, 0, 1, 2, 0.5, 1.5, -1, "", "x", "xy", "xyz")
_TYPES: Final = ("null", "boolean", "integer", "number", "string", "array", "object")
_BOUNDS: Final = {
    "minimum": (0, 1, 0.5),
    "maximum": (0, 1, 1.5),
    "exclusiveMinimum": (-1, 0),
    "exclusiveMaximum": (1, 2),
    "minLength": (0, 1, 2),
    "maxLength": (0, 1, 2),
    "minItems": (0, 1),
    "maxItems": (0, 1, 2),
    "pattern": ("x", "^xy"),
    "multipleOf": (1, 2),
}


@st.composite
def schemas(draw: DrawFn, depth: int = 2, *, unions: bool = True) -> Schema:
    """Make a schema of the keywords that ours hold, and of the others that the checker knows."""
    kind = draw(st.sampled_from(["scalar", "array", "object", "union"] if depth else ["scalar"]))
    if kind == "object" or (kind == "union" and not unions):
        return draw(_objects(depth))
    if kind == "array":
        schema: Schema = {"type": draw(st.sampled_from(["array", ["null", "array"]]))}
        if draw(st.booleans()):
            schema["items"] = draw(schemas(depth - 1, unions=unions))
        return {**schema, **draw(_bounds(("minItems", "maxItems")))}
    if kind == "union":
        branches = [draw(_objects(depth - 1)) for _ in range(draw(st.integers(1, 2)))]
        for branch, name in zip(branches, ("left", "right"), strict=False):
            if draw(st.integers(0, 4)):
                branch["properties"][name] = {"enum": [True]}
                branch["required"] = [*branch["required"], name]
                branch["additionalProperties"] = False
        return {"type": "object", "oneOf": branches}
    return draw(_scalars())


@st.composite
def _scalars(draw: DrawFn) -> Schema:
    schema: Schema = {}
    if draw(st.integers(0, 3)):
        chosen = draw(st.lists(st.sampled_from(_TYPES), min_size=1, max_size=3, unique=True))
        schema["type"] = chosen[0] if len(chosen) == 1 else chosen
    if draw(st.booleans()):
        schema["enum"] = draw(st.lists(st.sampled_from(_SCALARS), min_size=1, max_size=4))
    return {**schema, **draw(_bounds(tuple(_BOUNDS)))}


@st.composite
def _bounds(draw: DrawFn, names: tuple[str, ...]) -> Schema:
    chosen = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return {name: draw(st.sampled_from(_BOUNDS[name])) for name in chosen}


@st.composite
def _objects(draw: DrawFn, depth: int) -> Schema:
    names = draw(st.lists(st.sampled_from(_NAMES), max_size=3, unique=True))
    part = schemas(max(depth - 1, 0), unions=False)
    schema: Schema = {
        "type": "object",
        "properties": {name: draw(part) for name in names},
        "required": [name for name in names if draw(st.booleans())],
    }
    rest = draw(st.sampled_from(["closed", "closed", "open", "map"]))
    if rest != "open":
        schema["additionalProperties"] = False if rest == "closed" else draw(part)
    return schema


@st.composite
def pairs(draw: DrawFn) -> tuple[Schema, Schema]:
    """Make a schema and a near relative: near, so that the checker often has to say yes."""
    schema = draw(schemas())
    other = deepcopy(schema)
    for _ in range(draw(st.integers(0, 3))):
        _edit(draw, other)
    return (schema, other) if draw(st.booleans()) else (other, schema)


def _edit(draw: DrawFn, schema: Schema) -> None:
    node = draw(st.sampled_from(list(_nodes(schema))))
    draw(st.sampled_from([_edit_keyword, _edit_properties, _edit_required, _edit_rest]))(draw, node)


def _nodes(schema: Any) -> Iterator[Schema]:
    if isinstance(schema, dict):
        node = cast("Schema", schema)
        yield node
        children: list[Any] = [*node.get("properties", {}).values(), *node.get("oneOf", [])]
        for child in [*children, node.get("items"), node.get("additionalProperties")]:
            yield from _nodes(child)


def _edit_keyword(draw: DrawFn, node: Schema) -> None:
    if "oneOf" in node:
        return
    fresh = draw(_scalars())
    if fresh and draw(st.booleans()):
        name = draw(st.sampled_from(sorted(fresh)))
        node[name] = fresh[name]
    elif node.keys() & {"enum", *_BOUNDS}:
        node.pop(draw(st.sampled_from(sorted(node.keys() & {"enum", *_BOUNDS}))))


def _edit_properties(draw: DrawFn, node: Schema) -> None:
    properties: Schema = node.get("properties", {})
    name = draw(st.sampled_from(_NAMES))
    if name in properties and draw(st.booleans()):
        del properties[name]
        node["required"] = [one for one in node["required"] if one != name]
    else:
        properties[name] = draw(_scalars())


def _edit_required(draw: DrawFn, node: Schema) -> None:
    if node.get("properties"):
        name = draw(st.sampled_from(sorted(node["properties"])))
        node["required"] = sorted({*node["required"]} ^ {name})


def _edit_rest(draw: DrawFn, node: Schema) -> None:
    if "properties" in node:
        node["additionalProperties"] = draw(st.sampled_from([False, True, {"type": "string"}]))


def values(schema: Any, *, extra: bool) -> SearchStrategy[Any]:
    """Make values that mostly fit a schema; who needs them to fit must filter.

    Args:
        schema: What to fit.
        extra: Whether an object may hold properties that are not declared.
    """
    if not isinstance(schema, dict) or not schema:
        return _anything()
    node = cast("Schema", schema)
    if "oneOf" in node:
        return st.one_of([values(branch, extra=extra) for branch in node["oneOf"]])
    if "enum" in node:
        return st.sampled_from(node["enum"])
    types: Any = node.get("type", _TYPES)
    makers: dict[str, Callable[[], SearchStrategy[Any]]] = {
        "array": lambda: st.lists(values(node.get("items", {}), extra=extra), max_size=2),
        "object": lambda: _mappings(node, extra=extra),
    }
    names: list[str] = [types] if isinstance(types, str) else list(types)
    return st.one_of(
        [makers[name]() if name in makers else st.sampled_from(_SCALARS) for name in names]
    )


def _anything() -> SearchStrategy[Any]:
    return st.sampled_from([*_SCALARS, [], {}, [1], {"a": "x"}])


@st.composite
def _mappings(draw: DrawFn, node: Schema, *, extra: bool) -> dict[str, Any]:
    properties: Schema = node.get("properties", {})
    made = {
        name: draw(values(part, extra=extra))
        for name, part in properties.items()
        if name in node.get("required", []) or draw(st.booleans())
    }
    if extra and node.get("additionalProperties", True) is not False and draw(st.booleans()):
        name = draw(st.sampled_from(["z", *_NAMES]))
        made.setdefault(name, draw(values(node.get("additionalProperties", {}), extra=extra)))
    return made


def without_undeclared(schema: Any, value: Any, fits: Callable[[Schema, Any], bool]) -> Any:
    """Take away, at every depth, the properties that a closed object does not declare.

    Args:
        schema: What the reader of the value holds.
        value: What was sent.
        fits: Whether a value fits a schema; it chooses the branch of a union.
    """
    if not isinstance(schema, dict):
        return value
    node = cast("Schema", schema)
    if isinstance(value, list):
        items: Any = node.get("items", {})
        return [without_undeclared(items, one, fits) for one in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    sent = cast("dict[str, Any]", value)
    if "oneOf" in node:
        branches: list[Schema] = node["oneOf"]
        read = [without_undeclared(branch, sent, fits) for branch in branches]
        places = [place for place, branch in enumerate(branches) if fits(branch, read[place])]
        return read[places[0]] if places else sent
    properties: Schema = node.get("properties", {})
    rest = node.get("additionalProperties", True)
    return {
        name: without_undeclared(properties.get(name, rest), child, fits)
        for name, child in sent.items()
        if name in properties or rest is not False
    }
