"""A consistent, filtered view of one mirror."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.model.times import from_microseconds
from graymatter_mcp.store.base import NEVER, SENSITIVE, Cooccurrence, Postings, RowDetails
from graymatter_mcp.store.duckdb.codec import to_fact_id, to_uuid
from graymatter_mcp.store.duckdb.vocabulary import words_with

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
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
        now: int = 0,
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
        self.is_labelled = mirror.labelled.view
        self._pinned = mirror.pinned.view
        # Life changes in place, so this instant needs a copy of its own.
        self.is_live: NDArray[np.bool_] = mirror.live.view.copy()
        # Shared: what goes later was retired or live above, and is counted as that.
        self.is_gone = mirror.gone.view
        self.is_pinned = self._pinned
        self.has_vector = mirror.has_vectors.view
        self.stored = len(mirror.row_of)
        self.has_retired = self.stored > int(np.count_nonzero(self.is_live))
        self.is_active = mirror.active.view
        self.is_cold = mirror.cold.view
        self.sensitivity = mirror.sensitivity.view
        self.expires_at = mirror.expires_at.view
        self.created_at = mirror.created_at.view
        self.content_at = mirror.content_at.view
        self.previous = mirror.sessions.previous
        self.agent_names = mirror.agent_names.view
        self._agent_codes = mirror.agent_codes
        self._records = mirror.records
        self.records_key: object = mirror.records
        self.rows_key: object = mirror
        self.links_version = mirror.links_version
        self.age_order, self.id_order, self._newest_first = mirror.orders
        self.valid_until = NEVER
        """Microsecond at which something expires that is eligible now."""
        self._narrow(self._for_core(min_level, now))
        self.aliases = [alias for _, (_, alias) in sorted(mirror.aliases.items(), key=_by_age)]
        self._vectors = None if mirror.vectors is None else mirror.vectors.view()
        self._forward = mirror.forward.view
        self._forward_starts = mirror.forward_starts.view

    def _for_core(self, min_level: int, now: int) -> NDArray[np.bool_]:
        eligible = self.is_live & (self.levels >= min_level)
        if not self._records_any():
            return eligible
        eligible &= self.is_active & (self.sensitivity < SENSITIVE) & (self.expires_at > now)
        if eligible.any():
            self.valid_until = int(self.expires_at[eligible].min())
        return eligible

    def _records_any(self) -> bool:
        """Whether some row has details."""
        return bool((self.sensitivity >= 0).any())

    def _narrow(self, eligible: NDArray[np.bool_]) -> None:
        self.eligible = eligible
        self.count = int(np.count_nonzero(eligible))
        self.mean_length = (
            float(self.lengths.sum(where=eligible)) / self.count if self.count else 0.0
        )
        newest_first = self._newest_first
        is_whole = self.count == self.size
        self.recency_order = newest_first if is_whole else newest_first[eligible[newest_first]]
        self.recency_rank = np.zeros(self.size, np.int32)
        self.recency_rank[self.recency_order] = np.arange(1, self.count + 1, dtype=np.int32)
        self._postings: dict[str, Postings] = {}

    def narrowed(self, eligible: NDArray[np.bool_]) -> MirrorSnapshot:
        """See the protocol."""
        other = copy(self)
        other._narrow(eligible)
        return other

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

    def may_hold(self, term: str) -> bool:
        """See the protocol."""
        return term in self.mirror.term_ids

    def terms_with(self, part: str) -> list[str]:
        """See the protocol."""
        with self._lock:
            vocabulary = self.mirror.vocabulary
        return words_with(vocabulary, part)

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
                source=mirror.sources[row],
            )
            for row in rows
        ]

    def rows_of(self, fact_ids: Sequence[FactId]) -> list[int]:
        """See the protocol."""
        rows = [self.mirror.row_of.get(to_uuid(fact_id).int, -1) for fact_id in fact_ids]
        return [row if row < self.size else -1 for row in rows]

    def agent_code(self, name: str) -> int:
        """See the protocol."""
        return self._agent_codes.get(name, -1)

    def agent_name(self, row: int) -> str:
        """See the protocol."""
        return self.mirror.agent_list[int(self.agent_names[row])]

    def records(self, rows: Sequence[int]) -> list[str]:
        """See the protocol."""
        return [self._records[row] for row in rows]

    def usage(self, rows: Sequence[int]) -> list[tuple[int, datetime]]:
        """See the protocol."""
        counts, times = self.mirror.access_count.view, self.mirror.accessed_at.view
        return [(int(counts[row]), from_microseconds(int(times[row]))) for row in rows]

    def vectors(self, row: int) -> NDArray[np.int16] | None:
        """See the protocol."""
        return None if self._vectors is None else self._vectors.of(row)

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
