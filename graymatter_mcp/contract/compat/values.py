"""Keywords about single values: type, enum, bounds, form."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.compat.same import ABSENT, is_number, same_json, scalar_key

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping

    from graymatter_mcp.contract.compat.rules import Document
    from graymatter_mcp.contract.compat.walk import Step

_LOWER: Final[Mapping[str, float]] = {
    "minimum": -math.inf,
    "exclusiveMinimum": -math.inf,
    "minLength": 0,
    "minItems": 0,
}
_UPPER: Final[Mapping[str, float]] = {
    "maximum": math.inf,
    "exclusiveMaximum": math.inf,
    "maxLength": math.inf,
    "maxItems": math.inf,
}
_FORM: Final = ("pattern", "format", "multipleOf")
_TYPES: Final = frozenset({"null", "boolean", "object", "array", "number", "string"})

KEYWORDS: Final = frozenset({"type", "enum", "const", *_LOWER, *_UPPER, *_FORM})


def compare(step: Step, old: Document, new: Document) -> None:
    """Report what changed about the values allowed here."""
    _compare_types(step, old, new)
    _compare_enums(step, old, new)
    for keyword, nothing in _LOWER.items():
        _compare_bounds(step, keyword, _bound(old, keyword, nothing), _bound(new, keyword, nothing))
    for keyword, nothing in _UPPER.items():
        # An upper bound turned round is a lower one.
        before, after = (_bound(schema, keyword, nothing) for schema in (old, new))
        _compare_bounds(step, keyword, _minus(before), _minus(after))
    for keyword in _FORM:
        _compare_form(step, old.get(keyword, ABSENT), new.get(keyword, ABSENT))


def types_of(schema: Document) -> frozenset[str] | None:
    """Return the types a schema allows, `integer` beside `number`; None when it is malformed."""
    named = schema.get("type", ABSENT)
    if named is ABSENT:
        return _TYPES | {"integer"}
    listed = cast("list[Any]", named if isinstance(named, list) else [named])
    if not all(isinstance(name, str) and name in _TYPES | {"integer"} for name in listed):
        return None
    names = frozenset(cast("list[str]", listed))
    return names | {"integer"} if "number" in names else names


def enum_of(schema: Document) -> frozenset[Hashable] | None:
    """Return keys of the values a schema lists; None when it lists none.

    Raises:
        TypeError: A value listed is no scalar, so its own parts would need rules.
    """
    found: frozenset[Hashable] | None = None
    if "enum" in schema:
        found = frozenset(map(scalar_key, schema["enum"]))
    if "const" in schema:
        only = frozenset({scalar_key(schema["const"])})
        found = only if found is None else found & only
    return found


def _compare_types(step: Step, old: Document, new: Document) -> None:
    before, after = types_of(old), types_of(new)
    if before is None or after is None:
        step.report("unknown-keyword", "type")
    elif before < after:
        step.report("type-widened")
    elif before > after:
        step.report("type-narrowed")
    elif before != after:
        step.report("type-changed")


def _compare_enums(step: Step, old: Document, new: Document) -> None:
    try:
        before, after = enum_of(old), enum_of(new)
    except TypeError:
        step.report("unknown-keyword", "enum")
        return
    if before == after:
        return
    if after is None or (before is not None and before < after):
        step.report("enum-widened")
    elif before is None or before > after:
        step.report("enum-narrowed")
    else:
        step.report("enum-changed")


def _bound(schema: Document, keyword: str, nothing: float) -> float | None:
    bound = schema.get(keyword, nothing)
    return bound if is_number(bound) else None


def _minus(bound: float | None) -> float | None:
    return None if bound is None else -bound


def _compare_bounds(step: Step, keyword: str, before: float | None, after: float | None) -> None:
    if before is None or after is None:
        step.report("unknown-keyword", keyword)
    elif after < before:
        step.report(f"{keyword}-loosened")
    elif after > before:
        step.report(f"{keyword}-tightened")


def _compare_form(step: Step, before: Any, after: Any) -> None:
    if same_json(before, after):
        return
    if before is ABSENT:
        step.report("pattern-added")
    elif after is ABSENT:
        step.report("pattern-removed")
    else:
        step.report("pattern-changed")
