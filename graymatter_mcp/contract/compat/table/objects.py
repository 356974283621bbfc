"""Rules about objects: which properties there are, which must be there, whether more may be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule, both_ways

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD: Final = {"type": "string"}
_ADDITIVE: Final = Level.ADDITIVE
_BREAKING: Final = Level.BREAKING


def _object(*required: str, **properties: Any) -> Document:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _open(document: Document) -> Document:
    return {key: value for key, value in document.items() if key != "additionalProperties"}


_ONE: Final = _object("a", a=_WORD)
_TWO: Final = _object("a", a=_WORD, b=_WORD)
_BOTH: Final = _object("a", "b", a=_WORD, b=_WORD)
_MAP: Final = {"type": "object", "additionalProperties": {"type": ["string", "null"]}}
_LIST: Final = {"type": "array", "items": _ONE}

RULES: Final[Sequence[Rule]] = [
    *both_ways(
        "property-added",
        "an optional property was added",
        (_ADDITIVE, _ADDITIVE),
        fails=Pair(_ONE, _TWO),
        passes=Pair(_ONE, _BOTH),
    ),
    *both_ways(
        "required-property-added",
        "a required property was added",
        (_BREAKING, _ADDITIVE),
        fails=Pair(_ONE, _BOTH),
        passes=Pair(_ONE, _TWO),
    ),
    *both_ways(
        "property-removed",
        "a property was removed or renamed",
        (_BREAKING, _BREAKING),
        fails=Pair(_TWO, _ONE),
        passes=Pair(_TWO, _BOTH),
    ),
    *both_ways(
        "made-required",
        "an optional property became required",
        (_BREAKING, _ADDITIVE),
        fails=Pair(_TWO, _BOTH),
        passes=Pair(_BOTH, {**_BOTH, "required": ["b", "a"]}),
    ),
    *both_ways(
        "made-optional",
        "a required property became optional",
        (_ADDITIVE, _BREAKING),
        fails=Pair(_BOTH, _TWO),
        passes=Pair(_TWO, _BOTH),
    ),
    *both_ways(
        "closed",
        "undeclared properties are no longer allowed",
        (_BREAKING, _ADDITIVE),
        fails=Pair(_open(_ONE), _ONE),
        passes=Pair({**_open(_ONE), "additionalProperties": True}, _open(_ONE)),
    ),
    *both_ways(
        "opened",
        "undeclared properties are now allowed",
        (_ADDITIVE, _BREAKING),
        fails=Pair(_ONE, _open(_ONE)),
        passes=Pair(_open(_ONE), {**_open(_ONE), "additionalProperties": {}}),
    ),
    *both_ways(
        "mapped-property-declared",
        "a property was declared that undeclared ones could stand for",
        (_BREAKING, _BREAKING),
        fails=Pair(_MAP, {**_MAP, "properties": {"a": _WORD}}),
        passes=Pair(_ONE, _TWO),
    ),
    *both_ways(
        "required-without-declaration",
        "a property is required that is not declared",
        (_BREAKING, _BREAKING),
        fails=Pair(_ONE, {**_ONE, "required": ["a", "z"]}),
        passes=Pair(_LIST, {**_LIST, "items": _TWO}),
    ),
]
