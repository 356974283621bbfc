"""The reference snapshot: counts everything anew, from copies of the records."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.model.facts import LEVELS, FactKind, effective_confidence
from graymatter_mcp.store.base import Cooccurrence, Postings, RowDetails

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.model.facts import Alias, Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import Rows


class InMemorySnapshot:
    """Implements `graymatter_mcp.store.base.Snapshot`; every record is a row.

    Retired facts and aliases are rows that are never eligible.

    Args:
        facts: All records of one namespace.
        terms: Unstemmed tokens of each.
        vectors: Windows of the model in use by fact; int16, shape (windows, dim).
        min_level: Lowest effective level that is eligible.
        stem: Maps a token to its index term.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        terms: Sequence[Sequence[str]],
        vectors: Mapping[FactId, NDArray[np.int16]],
        *,
        min_level: int,
        stem: Callable[[str], str],
    ) -> None:
        self._facts = tuple(facts)
        self._counts = [Counter(map(stem, tokens)) for tokens in terms]
        self._vectors = dict(vectors)
        self.size = len(self._facts)
        self.levels = np.array([_level(fact) for fact in self._facts], np.int8)
        self.lengths = np.array([len(tokens) for tokens in terms], np.float64)
        self.eligible = np.array(
            [_is_live_content(fact) and _level(fact) >= min_level for fact in self._facts], np.bool_
        )
        self.count = int(self.eligible.sum())
        self.mean_length = (
            float(self.lengths[self.eligible].sum()) / self.count if self.count else 0.0
        )
        keys = {fact.text: row for row, fact in enumerate(self._facts)}
        self.text_keys = np.array([keys[fact.text] for fact in self._facts], np.int32)
        self.has_retired = any(fact.is_superseded for fact in self._facts)
        by_id = sorted(range(self.size), key=lambda row: self._facts[row].id)
        by_age = sorted(by_id, key=lambda row: self._facts[row].created_at)
        newest = sorted(by_id, key=lambda row: self._facts[row].created_at, reverse=True)
        self.id_order = _positions(by_id)
        self.age_order = _positions(by_age)
        eligible_newest = [row for row in newest if self.eligible[row]]
        self.recency_order: Rows = np.array(eligible_newest, np.int32)
        self.recency_rank = np.zeros(self.size, np.int32)
        for place, row in enumerate(eligible_newest, 1):
            self.recency_rank[row] = place
        self.aliases: Sequence[Alias] = tuple(
            fact.alias
            for fact in (self._facts[row] for row in by_age)
            if fact.alias is not None and not fact.is_superseded
        )

    def postings(self, terms: Sequence[str]) -> list[Postings]:
        """See the protocol."""
        return [self._postings(term) for term in terms]

    def _postings(self, term: str) -> Postings:
        rows = [row for row in self._eligible_rows() if term in self._counts[row]]
        tf = [self._counts[row][term] for row in rows]
        return Postings(rows=np.array(rows, np.int32), tf=np.array(tf, np.float64))

    def _eligible_rows(self) -> list[int]:
        return [row for row in range(self.size) if self.eligible[row]]

    def similarities(self, query: NDArray[np.int16]) -> NDArray[np.float32] | None:
        """See the protocol."""
        best = np.full(self.size, -np.inf, np.float32)
        for row in self._eligible_rows():
            windows = self._vectors.get(self._facts[row].id)
            if windows is not None:
                best[row] = (windows.astype(np.int64) @ query.astype(np.int64).T).max()
        return best if np.isfinite(best).any() else None

    def facts(self, rows: Sequence[int]) -> list[Fact]:
        """See the protocol."""
        return [self._facts[row] for row in rows]

    def details(self, rows: Sequence[int]) -> list[RowDetails]:
        """See the protocol."""
        return [
            RowDetails(
                fact_id=fact.id,
                text=fact.text,
                created_at=fact.created_at,
                confidence=fact.confidence,
                is_pinned=fact.pinned,
                weight=fact.weight,
            )
            for fact in self.facts(rows)
        ]

    def fact_ids(self, rows: Sequence[int]) -> list[FactId]:
        """See the protocol."""
        return [self._facts[row].id for row in rows]

    def texts(self, rows: Sequence[int]) -> list[str]:
        """See the protocol."""
        return [self._facts[row].text for row in rows]

    def cooccurring(self, seeds: Sequence[str]) -> list[Cooccurrence]:
        """See the protocol."""
        eligible = [set(self._counts[row]) for row in self._eligible_rows()]
        everywhere = _document_frequencies(eligible)
        beside = _document_frequencies(terms for terms in eligible if terms & set(seeds))
        return [
            Cooccurrence(term=term, with_seed=with_seed, df=everywhere[term])
            for term, with_seed in sorted(beside.items())
            if term not in seeds
        ]


def _level(fact: Fact) -> int:
    return LEVELS[effective_confidence(fact.confidence)]


def _is_live_content(fact: Fact) -> bool:
    return fact.kind == FactKind.CONTENT and not fact.is_superseded


def _positions(order: Sequence[int]) -> NDArray[np.int64]:
    positions = np.empty(len(order), np.int64)
    positions[list(order)] = np.arange(len(order))
    return positions


def _document_frequencies(documents: Iterable[set[str]]) -> Counter[str]:
    return Counter(term for terms in documents for term in terms)
