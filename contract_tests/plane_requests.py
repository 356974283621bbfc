"""Requests made from the schema files: mostly what a route takes, here and there what it does not.

The strategies know the few keywords that the files use, and the few names whose values must be
known to be of any use; a keyword that they do not know is an error.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graymatter_mcp.contract.routes import RouteContract

    Draw = Callable[[st.SearchStrategy[Any]], Any]

_KNOWN: Final = {
    *("type", "properties", "required", "additionalProperties", "items", "enum", "default"),
    *("minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern"),
    *("description", "format", "title"),
}
_WORDS: Final = (
    "port",
    "7778",
    "the",
    "café",
    "Ω",
    "日本",
    "never",
    "ana",
    " ",
    "\n",
    "—",
    '"',
    "%",
)
_TIMES: Final = (
    *("2026-01-01T00:00:00Z", "2025-12-31T23:59:59.999+01:00", "2999-01-01T00:00:00Z"),
    *("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30T00:00:00Z", "noon"),
)
_NAMED: Final[Mapping[str, Sequence[Any]]] = {
    "since": _TIMES,
    "asOf": _TIMES,
    "expiresAt": _TIMES,
    "namespace": ("fuzz", "default", "decisions", "__shared__", "\x1fu/a/b\x1fc", "Ä b"),
    "project": ("web", "\x07", "01KDVDNA0046BZDQQADGVMYGAT"),
    "sourceRef": ("doc:1", " ", "doc:2"),
    "agentName": ("x", "y"),
}
_JUNK: Final = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=12),
    st.sampled_from(["8", "1e3", "\ud800", "\x00", "x" * 600]),
    st.lists(st.integers(), max_size=2),
    st.dictionaries(st.text(max_size=4), st.none(), max_size=2),
)


@dataclass(frozen=True, slots=True)
class Sent:
    """One request of a route."""

    method: str
    path: str
    body: bytes | None


@st.composite
def requests_of(draw: Draw, routes: Sequence[RouteContract], ids: Sequence[str]) -> Sent:
    """Make a request of one of the routes.

    Args:
        draw: Of hypothesis.
        routes: Whose files are read.
        ids: Of facts that are stored.
    """
    route: RouteContract = draw(st.sampled_from(routes))
    path: str = draw(st.sampled_from(route.paths))
    while "{" in path:
        start, end = path.index("{"), path.index("}") + 1
        step = draw(st.one_of(st.sampled_from([*ids, "unknown"]), st.text(min_size=1, max_size=9)))
        path = path[:start] + quote(step.encode("utf-8", "replace"), safe="") + path[end:]
    fields = draw(_object(route.request, ids))
    if route.takes == "query":
        known = {
            name: value for name, value in fields.items() if isinstance(value, str | int | float)
        }
        return Sent(route.method, f"{path}?{urlencode(known, errors='replace')}", None)
    if not route.takes_body:
        return Sent(route.method, path, None)
    whole = draw(_JUNK) if draw(st.integers(0, 30)) == 30 else fields
    return Sent(route.method, path, json.dumps(whole).encode())


def _value(name: str, schema: Mapping[str, Any], ids: Sequence[str]) -> st.SearchStrategy[Any]:
    unknown = schema.keys() - _KNOWN
    assert not unknown, f"the strategies do not know {unknown}"
    return st.integers(0, 14).flatmap(
        lambda number: _JUNK if number == 14 else _good(name, schema, ids)
    )


def _good(name: str, schema: Mapping[str, Any], ids: Sequence[str]) -> st.SearchStrategy[Any]:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if name in _NAMED:
        return st.sampled_from(_NAMED[name])
    if name in ("id", "ids"):
        return st.sampled_from([*ids, "unknown"])
    kind = schema["type"]
    if kind == "object":
        return _object(schema, ids)
    if kind == "array":
        return st.lists(
            _value(name, schema["items"], ids),
            min_size=schema.get("minItems", 0),
            max_size=min(schema.get("maxItems", 3), 3),
        )
    return _SCALARS[kind](schema)


def _text(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", 4096)
    phrases = st.lists(st.sampled_from(_WORDS), min_size=1, max_size=12).map(" ".join)
    return st.one_of(phrases, phrases, st.text(max_size=20)).map(
        lambda text: (text + "." * (shortest - len(text)))[:longest]
    )


def _integer(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    low, high = schema.get("minimum", -9), schema.get("maximum", 2**31)
    whole = st.integers(low, high)
    return st.one_of(whole, whole.map(str), whole.map(float))


def _number(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    return st.floats(schema.get("minimum", -9), schema.get("maximum", 9))


_SCALARS: Final[Mapping[str, Callable[[Mapping[str, Any]], st.SearchStrategy[Any]]]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _: st.booleans(),
}


@st.composite
def _object(draw: Draw, schema: Mapping[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    required = schema.get("required", ())
    fields: dict[str, Any] = {}
    for name, field in schema.get("properties", {}).items():
        # One in twenty leaves out what is needed; one in four brings what is not.
        if draw(st.integers(0, 19)) < (19 if name in required else 5):
            fields[name] = draw(_value(name, field, ids))
    if draw(st.integers(0, 9)) == 9 or schema.get("additionalProperties") is True:
        fields |= draw(st.dictionaries(st.text(max_size=8), _JUNK, max_size=2))
    return fields
