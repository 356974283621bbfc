"""The edges between facts, found when they are asked for: nothing is stored that could go stale.

`next` follows from sessions, `mentions` from what texts name, `co_occurs` from vectors; only the
links of agents are records. See ADR 0041.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.cosines import cosines, nearest_rows
from graymatter_mcp.engine.plane.search import MANY, links_of
from graymatter_mcp.engine.write import as_fact_id
from graymatter_mcp.ranking.paths import Graph, neighbours

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from graymatter_mcp.engine.plane.corpus import Corpus
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import MemoryStore

FAN_OUT: Final = 3
"""Nearest facts that a fact stands beside by its meaning."""
NEAR: Final = 0.5
"""Cosine from which it does."""
_REVERSE: Final = 16
"""Near facts that are asked whether this one is among their own nearest."""


class FactGraph:
    """The graph of a corpus; rows are facts."""

    def __init__(
        self, store: MemoryStore, corpus: Corpus, as_of: datetime | None, *, fan_out: int = FAN_OUT
    ) -> None:
        self._store = store
        self._corpus = corpus
        self._as_of = as_of
        self._fan_out = fan_out
        self._followers: dict[int, dict[int, list[int]]] = {}

    def neighbours(self, seed: str, *, depth: int, k: int) -> list[tuple[int, float]]:
        """Return (row, score) of the facts near a fact, best first; none for an unknown one."""
        fact_id = as_fact_id(seed)
        row = None if fact_id is None else self._row_of(fact_id)
        if fact_id is None or row is None:
            return []
        corpus = self._corpus
        graph = Graph(
            edges=self._edges,
            visible=lambda one: self._row_of(one) is not None,
            changed_at=lambda one: int(corpus.content_at[self._row_of(one) or 0]),
        )
        found = neighbours(fact_id, depth=depth, k=k, graph=graph)
        return [(row, one.score) for one in found if (row := self._row_of(one.fact_id)) is not None]

    def _row_of(self, fact_id: FactId) -> int | None:
        """Return the row of a visible fact."""
        for part, start in zip(self._corpus.parts, self._corpus.starts, strict=False):
            (row,) = part.snapshot.rows_of([fact_id])
            if row >= 0:
                return row + start if part.snapshot.eligible[row] else None
        return None

    def _edges(self, ids: Sequence[FactId]) -> dict[FactId, list[tuple[FactId, float]]]:
        found: dict[FactId, list[tuple[FactId, float]]] = {}
        for fact_id in ids:
            row = self._row_of(fact_id)
            if row is not None:
                found[fact_id] = [
                    (self._id_of(other), strength) for other, strength in self._beside(row)
                ]
        return found

    def _id_of(self, row: int) -> FactId:
        part, at = self._corpus.locate(row)
        (fact_id,) = part.snapshot.fact_ids([at])
        return fact_id

    def _beside(self, row: int) -> Iterable[tuple[int, float]]:
        """Return (row, strength) of every edge of a row."""
        at = int(np.searchsorted(self._corpus.starts, row, side="right")) - 1
        start = self._corpus.starts[at]
        local = row - start
        for other, strength in (
            *self._next(at, local),
            *self._near(at, local),
        ):
            yield other + start, strength
        yield from self._links.get(row, ())
        yield from self._mentioning(at, local)

    def _next(self, at: int, row: int) -> list[tuple[int, float]]:
        snapshot = self._corpus.parts[at].snapshot
        if at not in self._followers:
            followers = self._followers[at] = defaultdict(list)
            for after in np.flatnonzero(snapshot.previous >= 0).tolist():
                followers[int(snapshot.previous[after])].append(after)
        before = int(snapshot.previous[row])
        rows = [*self._followers[at].get(row, ()), *([before] if before >= 0 else [])]
        return [(other, 1.0) for other in rows]

    @cached_property
    def _links(self) -> dict[int, list[tuple[int, float]]]:
        links: defaultdict[int, list[tuple[int, float]]] = defaultdict(list)
        for a, b, strength in links_of(self._store, self._corpus, self._as_of):
            links[a].append((b, strength))
            links[b].append((a, strength))
        return links

    def _near(self, at: int, row: int) -> list[tuple[int, float]]:
        """Return the nearest facts of the shelf, and those whose nearest this one is."""
        near = self._nearest(at, row, max(_REVERSE, self._fan_out) if self._fan_out else 0)
        found = near[: self._fan_out]
        for other, cosine in near[self._fan_out :]:
            if any(one == row for one, _ in self._nearest(at, other, self._fan_out)):
                found.append((other, cosine))
        return found

    def _nearest(self, at: int, row: int, count: int) -> list[tuple[int, float]]:
        snapshot = self._corpus.parts[at].snapshot
        windows = snapshot.vectors(row) if count else None
        near = None if windows is None else cosines(snapshot, windows)
        if near is None:
            return []
        near[row] = -np.inf
        rows = nearest_rows(snapshot, near, NEAR, count)
        return [(other, float(near[other])) for other in rows]

    def _mentioning(self, at: int, row: int) -> Iterable[tuple[int, float]]:
        """Yield the facts of the same owner that name some of the same things."""
        here = self._corpus.parts[at]
        named = here.index.entities[row]
        for part, start in zip(self._corpus.parts, self._corpus.starts, strict=False):
            if part.scope != here.scope:
                continue
            shared: dict[int, int] = defaultdict(int)
            for entity in named:
                rows = part.index.rows_naming.get(entity, ())
                if len(rows) <= MANY:
                    for other in rows:
                        shared[other] += 1
            for other, count in shared.items():
                if other < part.snapshot.size and (part is not here or other != row):
                    larger = max(len(named), len(part.index.entities[other]))
                    yield other + start, count / larger
