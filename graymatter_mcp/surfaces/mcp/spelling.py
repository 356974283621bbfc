"""Harmless spellings of an argument, each turned into the one canonical value or into "absent".

A spelling takes the argument's name and its value (present, not null) and returns the canonical
value or `UNSET`; it raises `InvalidArgumentError` where dropping the value would lose data.
White space is what `str.isspace` says; zero-width characters are visible in this sense, so an
identity made of them is one, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, cast

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.ids import UNSET

Spelling = Callable[[str, object], object]

ALL: Final = 2**31 - 1
"""Stands for every count beyond it: no store holds more facts."""

_JSON_NUMBER: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def as_sent(name: str, value: object) -> object:
    """Keep the value; other checks decide about it."""
    del name
    return value


def non_empty_string(name: str, value: object) -> object:
    """Keep a string that is not empty; blank ones stay."""
    del name
    return value if isinstance(value, str) and value else UNSET


def visible_string(name: str, value: object) -> object:
    """Keep a string that holds a character that is not white space, untrimmed."""
    del name
    return value if isinstance(value, str) and is_visible(value) else UNSET


def optional_string(name: str, value: object) -> object:
    """Keep any string but the empty one; another type could hide which fact is meant."""
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name} must be a string")
    return value or UNSET


def strings(name: str, value: object) -> object:
    """Keep the items that are not blank, untrimmed; no array or nothing left counts as absent."""
    if not isinstance(value, list):
        return UNSET
    items = cast("list[object]", value)
    if not all(isinstance(item, str) for item in items):
        raise InvalidArgumentError(f"{name} must hold strings only")
    return [item for item in cast("list[str]", items) if is_visible(item)] or UNSET


def integer(name: str, value: object) -> object:
    """Truncate a number toward zero, read a string that holds a JSON number, cap at `ALL`."""
    del name
    if isinstance(value, str) and _JSON_NUMBER.fullmatch(value):
        # By way of float: int() refuses long digit strings, and nothing near ALL needs the rest.
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return UNSET
    return int(max(-ALL, min(ALL, value)))


def boolean(name: str, value: object) -> object:
    """Read true, false and these two words."""
    del name
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value, UNSET)
    return value if isinstance(value, bool) else UNSET


def is_visible(text: str) -> bool:
    """Tell whether a text holds a character that is not Unicode white space."""
    return text != "" and not text.isspace()
