"""Schemas as plain functions that say yes at once; whatever they do not say yes to is looked at.

They know the keywords that our files use, and only speed a check up: a schema with another keyword
has no such function, and a value that is not accepted goes to the validator, which knows why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

Accepts = Callable[[object], bool]
"""Whether a value, of JSON alone and without NaN, certainly fits."""

_NOTES: Final = frozenset({"$schema", "$id", "$comment", "title", "description", "default"})


def compiled(schema: object) -> Accepts | None:
    """Return the function of a schema; None where it has a keyword that is not known here."""
    try:
        return _compile(schema)
    except _UnknownError:
        return None


class _UnknownError(Exception):
    """A keyword, or a use of one, that is left to the validator."""


def _compile(schema: object) -> Accepts:
    if isinstance(schema, bool):
        return lambda _: schema
    if not isinstance(schema, dict):
        raise _UnknownError
    rules = cast("dict[str, Any]", schema)
    checks = [
        check
        for keyword in rules
        if keyword not in _NOTES and (check := _KEYWORDS.get(keyword, _unknown)(rules)) is not None
    ]
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def _unknown(_: Mapping[str, Any]) -> Accepts:
    raise _UnknownError


def _type(rules: Mapping[str, Any]) -> Accepts:
    named = rules["type"]
    names: list[str] = [named] if isinstance(named, str) else named
    if any(name not in _TYPES for name in names):
        raise _UnknownError
    kinds = frozenset(kind for name in names for kind in _TYPES[name])
    # By the very class: a bool is an int to Python, and a float may be an integer to JSON Schema,
    # which is left to the validator.
    return lambda value: type(value) in kinds


_TYPES: Final[Mapping[str, frozenset[type]]] = {
    "object": frozenset({dict}),
    "array": frozenset({list}),
    "string": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "null": frozenset({type(None)}),
}


def _enum(rules: Mapping[str, Any]) -> Accepts:
    values: list[object] = rules["enum"]
    if not all(isinstance(value, str) for value in values):
        raise _UnknownError
    allowed = frozenset(values)
    return lambda value: isinstance(value, str) and value in allowed


def _minimum(rules: Mapping[str, Any]) -> Accepts:
    least = rules["minimum"]
    return lambda value: not isinstance(value, int | float) or value >= least


def _maximum(rules: Mapping[str, Any]) -> Accepts:
    most = rules["maximum"]
    return lambda value: not isinstance(value, int | float) or value <= most


def _min_length(rules: Mapping[str, Any]) -> Accepts:
    least = rules["minLength"]
    return lambda value: not isinstance(value, str) or len(value) >= least


def _required(rules: Mapping[str, Any]) -> Accepts:
    names = frozenset(rules["required"])
    return lambda value: (
        not isinstance(value, dict) or names <= cast("dict[str, Any]", value).keys()
    )


def _items(rules: Mapping[str, Any]) -> Accepts:
    if "prefixItems" in rules:
        raise _UnknownError
    accepts = _compile(rules["items"])
    return lambda value: not isinstance(value, list) or all(map(accepts, cast("list[Any]", value)))


def _members(rules: Mapping[str, Any]) -> Accepts:
    if "patternProperties" in rules:
        raise _UnknownError
    known = {name: _compile(schema) for name, schema in rules.get("properties", {}).items()}
    other = _compile(rules.get("additionalProperties", True))

    def accepts(value: object) -> bool:
        if not isinstance(value, dict):
            return True
        members = cast("dict[str, object]", value)
        return all(known.get(name, other)(member) for name, member in members.items())

    return accepts


def _additional(rules: Mapping[str, Any]) -> Accepts | None:
    # With the properties, where there are some: one pass for both.
    return None if "properties" in rules else _members(rules)


_KEYWORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], Accepts | None]]] = {
    "type": _type,
    "enum": _enum,
    "minimum": _minimum,
    "maximum": _maximum,
    "minLength": _min_length,
    "required": _required,
    "items": _items,
    "properties": _members,
    "additionalProperties": _additional,
}
