"""Keywords about objects: properties, required, additionalProperties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.compat.same import same_json

if TYPE_CHECKING:
    from graymatter_mcp.contract.compat.rules import Document
    from graymatter_mcp.contract.compat.walk import Step

KEYWORDS: Final = frozenset({"properties", "required", "additionalProperties"})


def compare(step: Step, old: Document, new: Document) -> None:
    """Report what changed about the properties of an object."""
    before, after = properties_of(old), properties_of(new)
    had_to, has_to = required_of(old), required_of(new)
    for name in sorted(before.keys() | after.keys()):
        part = step.down("properties", name)
        if name not in after:
            part.report("property-removed")
        elif name not in before:
            part.report("required-property-added" if name in has_to else "property-added")
            if _is_map(old) or _is_map(new):
                part.report("mapped-property-declared")
        else:
            part.compare(before[name], after[name])
            if name in has_to - had_to:
                part.report("made-required")
            elif name in had_to - has_to:
                part.report("made-optional")
    for name in sorted((had_to ^ has_to) - before.keys() - after.keys()):
        step.down("required", name).report("required-without-declaration")
    _compare_the_rest(step, _rest(old), _rest(new))


def properties_of(schema: Document) -> dict[str, Any]:
    """Return the declared properties."""
    return cast("dict[str, Any]", schema.get("properties", {}))


def required_of(schema: Document) -> frozenset[str]:
    """Return the names that must be there."""
    return frozenset(cast("list[str]", schema.get("required", [])))


def is_closed(schema: Document) -> bool:
    """Whether undeclared properties are refused."""
    return _rest(schema) is None


def _rest(schema: Document) -> Document | None:
    """Return what an undeclared property must fit; None when there may be none."""
    rest = schema.get("additionalProperties", True)
    if rest is True:
        return {}
    return None if rest is False else rest


def _is_map(schema: Document) -> bool:
    return bool(_rest(schema))


def _compare_the_rest(step: Step, before: Document | None, after: Document | None) -> None:
    if same_json(before, after):
        return
    if after is None:
        step.report("closed")
    elif before is None:
        step.report("opened")
    else:
        step.down("additionalProperties").compare(before, after)
