"""A consistent, filtered view of one mirror."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.model.times import from_microseconds
from graymatter_mcp.store.base import Cooccurrence, Postings, RowDetails
from graymatter_mcp.store.duckdb.codec import to_fact_id

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from threading import RLock

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.duckdb.mirror import Mirror

_TERMS_KEPT: Final = 512
"""Terms whose postings are kept ready, between two requests; 12 bytes an occurrence."""


class MirrorSnapshot:
    """Implements `graymatter_mcp.store.base.Snapshot`; build it under the store's lock.

    Columns are views of arrays to which the writer only appends; `eligible` is a copy.
    """

    def __init__(
        self,
        mirror: Mirror,
        min_level: int,
        lock: RLock,
        fetch: Callable[[Sequence[FactId]], list[Fact]],
    ) -> None:
        self.mirror = mirror
        self.version = mirror.version
        self._lock = lock
        self._fetch = fetch
        self.size = len(mirror.ids)
        self.lengths = mirror.lengths.view
        self.levels = mirror.levels.view
        self.text_keys = mirror.text_keys.view
        self._labels = mirror.labels
        self._pinned = mirror.pinned.view
        self.has_retired = not mirror.live.view.all()
        self.eligible: NDArray[np.bool_] = mirror.live.view & (self.levels >= min_level)
        self.count = int(np.count_nonzero(self.eligible))
        self.mean_length = (
            float(self.lengths.sum(where=self.eligible)) / self.count if self.count else 0.0
        )
        self.age_order, self.id_order, newest_first = mirror.orders
        is_whole = self.count == self.size
        self.recency_order = newest_first if is_whole else newest_first[self.eligible[newest_first]]
        self.recency_rank = np.zeros(self.size, np.int32)
        self.recency_rank[self.recency_order] = np.arange(1, self.count + 1, dtype=np.int32)
        self.aliases = [alias for _, (_, alias) in sorted(mirror.aliases.items(), key=_by_age)]
        self._vectors = None if mirror.vectors is None else mirror.vectors.view()
        self._postings: dict[str, Postings] = {}
        self._forward = mirror.forward.view
        self._forward_starts = mirror.forward_starts.view

    def postings(self, terms: Sequence[str]) -> list[Postings]:
        """See the protocol; rows added since the snapshot are cut off."""
        # One search asks several times for the same terms, and so does the next one.
        if len(self._postings) > _TERMS_KEPT:
            self._postings = {}
        kept = self._postings
        for term in terms:
            if term not in kept:
                kept[term] = self._postings_of(term)
        return [kept[term] for term in terms]

    def _postings_of(self, term: str) -> Postings:
        with self._lock:
            term_id = self.mirror.term_ids.get(term)
            pair = ((), ()) if term_id is None else self.mirror.postings[term_id]
            rows = np.array(pair[0], dtype=np.int32)
            tf = np.array(pair[1], dtype=np.float64)
        end = int(rows.searchsorted(self.size))
        keep = self.eligible[rows[:end]]
        return Postings(rows=rows[:end][keep], tf=tf[:end][keep])

    def similarities(self, query: NDArray[np.int16]) -> NDArray[np.float32] | None:
        """See the protocol."""
        return None if self._vectors is None else self._vectors.similarities(query, self.eligible)

    def facts(self, rows: Sequence[int]) -> list[Fact]:
        """See the protocol."""
        ids = self.fact_ids(rows)
        found = {fact.id: fact for fact in self._fetch(ids)}
        return [found[fact_id] for fact_id in ids if fact_id in found]

    def fact_ids(self, rows: Sequence[int]) -> list[FactId]:
        """See the protocol."""
        return [to_fact_id(self.mirror.ids[row]) for row in rows]

    def details(self, rows: Sequence[int]) -> list[RowDetails]:
        """See the protocol."""
        mirror = self.mirror
        return [
            RowDetails(
                fact_id=to_fact_id(mirror.ids[row]),
                text=mirror.texts[row],
                created_at=from_microseconds(int(mirror.created_at.view[row])),
                confidence=self._labels[row],
                is_pinned=bool(self._pinned[row]),
                weight=float(mirror.weight.view[row]),
            )
            for row in rows
        ]

    def texts(self, rows: Sequence[int]) -> list[str]:
        """See the protocol."""
        return [self.mirror.texts[row] for row in rows]

    def cooccurring(self, seeds: Sequence[str]) -> list[Cooccurrence]:
        """See the protocol."""
        holders = [postings.rows for postings in self.postings(seeds)]
        rows = np.unique(np.concatenate(holders)) if holders else np.empty(0, np.int32)
        beside = self._counts(rows)
        everywhere = self._counts(np.flatnonzero(self.eligible))
        skip = {self.mirror.term_ids[seed] for seed in seeds if seed in self.mirror.term_ids}
        return [
            Cooccurrence(
                term=self.mirror.terms[term_id],
                with_seed=int(beside[term_id]),
                df=int(everywhere[term_id]),
            )
            for term_id in np.flatnonzero(beside).tolist()
            if term_id not in skip
        ]

    def _counts(self, rows: NDArray[np.int32] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Count, for each term id, the given rows that hold it."""
        starts = self._forward_starts
        ends = np.append(starts[1:], len(self._forward))
        lengths = (ends - starts)[rows]
        offsets = np.repeat(starts[rows] - np.append(0, np.cumsum(lengths)[:-1]), lengths)
        flat = self._forward[offsets + np.arange(len(offsets))]
        return np.bincount(flat, minlength=len(self.mirror.terms))


def _by_age(item: tuple[int, tuple[int, object]]) -> tuple[int, int]:
    number, (created_at, _) = item
    return created_at, number
