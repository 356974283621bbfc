"""Bodies of at most so many bytes: what is left out is named, so that it can be fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.model.snippets import snippet
from graymatter_mcp.surfaces.rest.bodies import encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.model.checkpoints import JsonObject

_OMITTED: Final = len(encoded({"omitted": []})) - 1
"""Bytes of the empty list and the comma before it, without the braces."""


def cut_results(body: JsonObject, max_bytes: int | None) -> JsonObject:
    """Return the answer of search, recent or neighbors within a number of bytes.

    Items are left out from the end and named in `omitted`. The first always stays, with a snippet
    for its content where it would be too much; the body may then still be larger.

    Args:
        body: With `results`; not changed.
        max_bytes: Of the encoded body; None for no limit.

    Source: data-plane contract 2.7.
    """
    if max_bytes is None:
        return body
    items = _sized(body["results"])
    rest = len(encoded({**body, "results": []}))
    kept = _most(len(items), max_bytes, lambda n: rest + _length(items[:n]) + _named(items[n:]))
    cut: JsonObject = {**body, "results": [one.item for one in items[:kept]]}
    if kept < len(items):
        cut["omitted"] = [one.id for one in items[kept:]]
    return _with_snippet(cut, "", max_bytes)


def cut_context(body: JsonObject, max_bytes: int | None) -> JsonObject:
    """Return the answer of context within a number of bytes.

    Facts are left out from the end, of the pack first, then of `recent`, then of `relevant`. What
    still stands in `relevant` or `recent` is not omitted. The first item always stays, with a
    snippet for its content where it would be too much.

    Args:
        body: With `relevant`, `recent` and, unless it is an error, `contextPack`; not changed.
        max_bytes: Of the encoded body; None for no limit.

    Source: data-plane contract 2.7.
    """
    if max_bytes is None:
        return body
    return _Context(body, max_bytes).cut()


class _Sized:
    """An item with what it costs in a list, and what its id costs among those omitted."""

    def __init__(self, item: JsonObject) -> None:
        self.item = item
        self.id = cast("str", item["id"])  # every item has one
        self.size = len(encoded(item))
        self.name_size = len(encoded(self.id))


class _Context:
    """The parts of a context, and what of them may stay."""

    def __init__(self, body: JsonObject, max_bytes: int) -> None:
        self._body = body
        self._max_bytes = max_bytes
        self._relevant = _sized(_part(body, "relevant")["results"])
        self._recent = _sized(_part(body, "recent")["results"])
        self._pack = {name: _sized(items) for name, items in _part(body, "contextPack").items()}
        self._packed = [one.id for one in self._pack.get("all", [])]
        self._rest = len(encoded(self._filled([], [], set(), [])))

    def cut(self) -> JsonObject:
        """Leave out as little as possible, in the order of the contract."""
        limit, relevant, recent = self._max_bytes, len(self._relevant), len(self._recent)
        packed = _most(len(self._packed), limit, lambda n: self._size(n, recent, relevant), 0)
        if packed == 0:
            least = 0 if relevant else 1
            recent = _most(recent, limit, lambda n: self._size(0, n, relevant), least)
            if recent == 0:
                relevant = _most(relevant, limit, lambda n: self._size(0, 0, n))
        body = self._filled(
            self._relevant[:relevant],
            self._recent[:recent],
            set(self._packed[:packed]),
            self._omitted(recent, relevant),
        )
        return _with_snippet(body, "relevant" if relevant else "recent", limit)

    def _size(self, packed: int, recent: int, relevant: int) -> int:
        kept = set(self._packed[:packed])
        sections = [[one for one in items if one.id in kept] for items in self._pack.values()]
        lists = (*sections, self._relevant[:relevant], self._recent[:recent])
        return self._rest + sum(map(_length, lists)) + _named(self._omitted(recent, relevant))

    def _omitted(self, recent: int, relevant: int) -> list[_Sized]:
        kept = {one.id for one in (*self._relevant[:relevant], *self._recent[:recent])}
        left = (*self._relevant[relevant:], *self._recent[recent:])
        return list({one.id: one for one in left if one.id not in kept}.values())

    def _filled(
        self,
        relevant: Sequence[_Sized],
        recent: Sequence[_Sized],
        packed: set[str],
        omitted: Sequence[_Sized],
    ) -> JsonObject:
        body: JsonObject = dict(self._body)
        for name, items in (("relevant", relevant), ("recent", recent)):
            body[name] = {**_part(self._body, name), "results": [one.item for one in items]}
        if self._pack:
            body["contextPack"] = {
                name: [one.item for one in items if one.id in packed]
                for name, items in self._pack.items()
            }
        if omitted:
            body["omitted"] = [one.id for one in omitted]
        return body


def _most(most: int, max_bytes: int, size: Callable[[int], int], least: int = 1) -> int:
    """Return how many items may stay; a name is always shorter than its item."""
    kept = most
    while kept > least and size(kept) > max_bytes:
        kept -= 1
    return kept


def _with_snippet(cut: JsonObject, part: str, max_bytes: int) -> JsonObject:
    """Shorten the first item of `part`, or of the body itself, if the body is still too large."""
    if len(encoded(cut)) <= max_bytes:
        return cut
    holder = _part(cut, part) if part else cut
    results = _items(holder["results"])
    content = results[0].get("content") if results else None
    if not isinstance(content, str):
        return cut
    shown, is_cut = snippet(content)
    if not is_cut:
        return cut
    first: JsonObject = {**results[0], "content": shown, "truncated": True}
    shortened: JsonObject = {**holder, "results": [first, *results[1:]]}
    return {**cut, part: shortened} if part else shortened


def _length(items: Sequence[_Sized]) -> int:
    return sum(one.size for one in items) + max(0, len(items) - 1)


def _named(left: Sequence[_Sized]) -> int:
    return _OMITTED + sum(one.name_size for one in left) + len(left) - 1 if left else 0


def _part(body: JsonObject, name: str) -> JsonObject:
    return cast("JsonObject", body.get(name, {}))  # the shape of the answer


def _sized(results: object) -> list[_Sized]:
    return [_Sized(item) for item in _items(results)]


def _items(results: object) -> list[JsonObject]:
    return cast("list[JsonObject]", results)  # the shape of the answer
