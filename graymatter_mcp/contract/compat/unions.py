"""The keyword `oneOf`: branches are compared place by place, so they must be told apart."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.compat.levels import Direction
from graymatter_mcp.contract.compat.objects import is_closed, properties_of, required_of
from graymatter_mcp.contract.compat.same import same_json
from graymatter_mcp.contract.compat.values import enum_of, types_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.contract.compat.rules import Document
    from graymatter_mcp.contract.compat.walk import Step

KEYWORDS: Final = frozenset({"oneOf"})
_BESIDE: Final = frozenset({"oneOf", "type"})


def compare(step: Step, old: Document, new: Document) -> None:
    """Report what changed about the branches here."""
    if "oneOf" not in old and "oneOf" not in new:
        return
    if step.direction is Direction.INPUT:
        step.report("union")
    elif "oneOf" not in old:
        step.report("union-added")
    elif "oneOf" not in new:
        step.report("union-removed")
    elif (old.keys() | new.keys()) - _BESIDE:
        step.report("union-not-alone")
    else:
        _compare_branches(step, _branches(old), _branches(new))


def _branches(schema: Document) -> list[Any]:
    return cast("list[Any]", schema["oneOf"])


def _compare_branches(step: Step, before: list[Any], after: list[Any]) -> None:
    if same_json(before, after):
        return
    if _is_permutation(before, after):
        step.report("branches-reordered")
        return
    if not are_told_apart(before) or not are_told_apart(after):
        step.report("branches-overlap")
        return
    for place, (one, other) in enumerate(zip(before, after, strict=False)):
        step.down("oneOf", place).compare(one, other)
    for place in range(len(before), len(after)):
        part = step.down("oneOf", place)
        asked_for = part.path in step.on_request
        part.report("branch-added-on-request" if asked_for else "branch-added")
    for place in range(len(after), len(before)):
        step.down("oneOf", place).report("branch-removed")


def _is_permutation(before: Sequence[Any], after: Sequence[Any]) -> bool:
    left = list(after)
    for one in before:
        place = next((at for at, other in enumerate(left) if same_json(one, other)), None)
        if place is None:
            return False
        del left[place]
    return not left


def are_told_apart(branches: Sequence[Any]) -> bool:
    """Whether no value can fit two of the branches, as far as their own keywords prove it."""
    return all(
        isinstance(one, dict)
        and isinstance(other, dict)
        and _exclude_each_other(cast("Document", one), cast("Document", other))
        for one, other in combinations(branches, 2)
    )


def _exclude_each_other(one: Document, other: Document) -> bool:
    types, others = types_of(one), types_of(other)
    if types is None or others is None:
        return False
    if not types & others:
        return True
    if types | others != frozenset({"object"}):
        return False
    return (
        _needs_what_is_refused(one, other)
        or _needs_what_is_refused(other, one)
        or any(
            _have_no_common_value(properties_of(one).get(name), properties_of(other).get(name))
            for name in required_of(one) & required_of(other)
        )
    )


def _needs_what_is_refused(one: Document, other: Document) -> bool:
    return is_closed(other) and bool(required_of(one) - properties_of(other).keys())


def _have_no_common_value(one: Any, other: Any) -> bool:
    if not isinstance(one, dict) or not isinstance(other, dict):
        return False
    try:
        values = enum_of(cast("Document", one)), enum_of(cast("Document", other))
    except TypeError:
        return False
    return values[0] is not None and values[1] is not None and not values[0] & values[1]
