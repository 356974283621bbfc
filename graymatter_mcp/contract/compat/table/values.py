"""Rules about values: types, enums, bounds, defaults, words, and what nobody knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule, both_ways

if TYPE_CHECKING:
    from collections.abc import Sequence

_WORD: Final = {"type": "string"}
_IN_WIDENED: Final = (Level.ADDITIVE, Level.BREAKING)
_IN_NARROWED: Final = (Level.BREAKING, Level.ADDITIVE)
_ALWAYS: Final = (Level.BREAKING, Level.BREAKING)


def _enum(*values: Any) -> Document:
    return {"enum": list(values)}


def _word(**keywords: Any) -> Document:
    return {"type": "string", **keywords}


def _number(**keywords: Any) -> Document:
    return {"type": "number", **keywords}


def _bounds(what: str, looser: Pair, tighter: Pair) -> Sequence[Rule]:
    return [
        *both_ways(
            f"{what}-loosened",
            f"a bound was loosened ({what})",
            _IN_WIDENED,
            fails=looser,
            passes=tighter,
        ),
        *both_ways(
            f"{what}-tightened",
            f"a bound was tightened ({what})",
            _IN_NARROWED,
            fails=tighter,
            passes=looser,
        ),
    ]


_BOUNDS: Final[Sequence[Rule]] = [
    *_bounds(
        "minimum",
        Pair(_number(minimum=1), _number(minimum=0)),
        Pair(_number(), _number(minimum=0)),
    ),
    *_bounds(
        "maximum",
        Pair(_number(maximum=0.5), _number()),
        Pair(_number(maximum=0.5), _number(maximum=0.4)),
    ),
    *_bounds(
        "exclusiveMinimum",
        Pair(_number(exclusiveMinimum=1), _number(exclusiveMinimum=0)),
        Pair(_number(exclusiveMinimum=0), _number(exclusiveMinimum=1)),
    ),
    *_bounds(
        "exclusiveMaximum",
        Pair(_number(exclusiveMaximum=1), _number(exclusiveMaximum=2)),
        Pair(_number(exclusiveMaximum=2), _number(exclusiveMaximum=1)),
    ),
    *_bounds(
        "minLength",
        Pair(_word(minLength=1), _word()),
        Pair(_word(minLength=1), _word(minLength=2)),
    ),
    *_bounds(
        "maxLength",
        Pair(_word(maxLength=8), _word(maxLength=9)),
        Pair(_word(), _word(maxLength=9)),
    ),
    *_bounds(
        "minItems",
        Pair({"type": "array", "minItems": 1}, {"type": "array", "minItems": 0}),
        Pair({"type": "array"}, {"type": "array", "minItems": 1}),
    ),
    *_bounds(
        "maxItems",
        Pair({"type": "array", "maxItems": 1}, {"type": "array", "maxItems": 2}),
        Pair({"type": "array", "maxItems": 2}, {"type": "array", "maxItems": 1}),
    ),
]

RULES: Final[Sequence[Rule]] = [
    *both_ways(
        "type-widened",
        "more types are allowed",
        _IN_WIDENED,
        fails=Pair({"type": "string"}, {"type": ["string", "null"]}),
        passes=Pair({"type": ["string", "null"]}, {"type": ["null", "string"]}),
    ),
    *both_ways(
        "type-narrowed",
        "fewer types are allowed",
        _IN_NARROWED,
        fails=Pair({"type": "number"}, {"type": "integer"}),
        passes=Pair({"type": "integer"}, {"type": "number"}),
    ),
    *both_ways(
        "type-changed",
        "the type was replaced",
        _ALWAYS,
        fails=Pair(_WORD, {"type": "integer"}),
        passes=Pair(_WORD, {"type": ["integer", "string"]}),
    ),
    *both_ways(
        "enum-widened",
        "more values are allowed",
        _IN_WIDENED,
        fails=Pair(_enum("a"), _enum("a", "b")),
        passes=Pair(_enum("a", "b"), _enum("b", "a")),
    ),
    *both_ways(
        "enum-narrowed",
        "fewer values are allowed",
        _IN_NARROWED,
        fails=Pair(_WORD, _word(enum=["a"])),
        passes=Pair(_enum(1), {"const": 1.0}),
    ),
    *both_ways(
        "enum-changed",
        "allowed values were replaced",
        _ALWAYS,
        fails=Pair(_enum("a", "b"), _enum("a", "c")),
        passes=Pair(_enum("a", "b"), _enum("a")),
    ),
    *_BOUNDS,
    *both_ways(
        "pattern-removed",
        "a rule of form was lifted",
        _IN_WIDENED,
        fails=Pair(_word(pattern="^a"), _WORD),
        passes=Pair(_WORD, _word(pattern="^a")),
    ),
    *both_ways(
        "pattern-added",
        "a rule of form was added",
        _IN_NARROWED,
        fails=Pair(_WORD, _word(format="uuid")),
        passes=Pair(_word(format="uuid"), _WORD),
    ),
    *both_ways(
        "pattern-changed",
        "a rule of form was replaced",
        _ALWAYS,
        fails=Pair(_number(multipleOf=2), _number(multipleOf=3)),
        passes=Pair(_number(multipleOf=2), _number(multipleOf=2)),
    ),
    *both_ways(
        "default-changed",
        "the default was added, changed or removed",
        _ALWAYS,
        fails=Pair(_number(default=8), _number(default=10)),
        passes=Pair(_number(default=8), _number(default=8.0)),
    ),
    *both_ways(
        "prose-changed",
        "words for people changed",
        (Level.PROSE, Level.PROSE),
        fails=Pair(_word(description="One."), _word(description="Two.")),
        passes=Pair(_WORD, _word(minLength=1)),
    ),
    *both_ways(
        "unknown-keyword",
        "a part that changed holds a keyword of which the checker knows nothing",
        _ALWAYS,
        fails=Pair(_WORD, _word(contentEncoding="base64")),
        passes=Pair(_word(contentEncoding="base64"), _word(contentEncoding="base64")),
    ),
    *both_ways(
        "not-a-schema",
        "a schema was replaced by what is none",
        _ALWAYS,
        fails=Pair({"type": "array", "items": {}}, {"type": "array", "items": False}),
        passes=Pair({"type": "array", "items": True}, {"type": "array", "items": {}}),
    ),
]
