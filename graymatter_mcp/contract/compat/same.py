"""Equality of JSON values: 8 is 8.0, true is not 1, absent is not null."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Hashable


class Absent(Enum):
    """Type of the marker for a keyword that is not there."""

    KEYWORD = "absent"


ABSENT: Final = Absent.KEYWORD


def same_json(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal; the order of keys is no part of a value."""
    if isinstance(one, dict) and isinstance(other, dict):
        left, right = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return left.keys() == right.keys() and all(same_json(left[key], right[key]) for key in left)
    if isinstance(one, list) and isinstance(other, list):
        lefts, rights = cast("list[Any]", one), cast("list[Any]", other)
        return len(lefts) == len(rights) and all(map(same_json, lefts, rights))
    if _is_container(one) or _is_container(other):
        return False
    return one is other if ABSENT in (one, other) else scalar_key(one) == scalar_key(other)


def scalar_key(value: Any) -> Hashable:
    """Return a key that is equal exactly for equal JSON scalars.

    Raises:
        TypeError: The value is an array or an object.
    """
    if _is_container(value):
        raise TypeError("a scalar is wanted")
    if isinstance(value, bool) or value is None:
        return (type(value).__name__, value)
    return ("number", value) if isinstance(value, (int, float)) else ("string", value)


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_container(value: Any) -> bool:
    return isinstance(value, (dict, list))
