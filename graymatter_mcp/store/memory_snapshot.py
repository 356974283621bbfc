"""The reference snapshot: counts everything anew, from copies of the records."""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np
from ulid import ULID

from graymatter_mcp.model.facts import LEVELS, FactKind, effective_confidence
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.base import NEVER, SENSITIVE, Cooccurrence, Postings, RowDetails

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.model.facts import Alias, Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import FactDetails, Rows

SESSION_BREAK_MS: Final = 30 * 60 * 1000
"""Time after which a connection counts as another session."""


class InMemorySnapshot:
    """Implements `graymatter_mcp.store.base.Snapshot`; every record is a row.

    Retired facts and aliases are rows that are never eligible.

    Args:
        facts: All records of one namespace.
        terms: Unstemmed tokens of each.
        vectors: Windows of the model in use by fact; int16, shape (windows, dim).
        min_level: Lowest effective level that is eligible.
        stem: Maps a token to its index term.
        details: Of the facts that have some.
        now: When what expires is eligible no more.
    """

    def __init__(
        self,
        facts: Sequence[Fact],
        terms: Sequence[Sequence[str]],
        vectors: Mapping[FactId, NDArray[np.int16]],
        *,
        min_level: int,
        stem: Callable[[str], str],
        details: Mapping[FactId, FactDetails] | None = None,
        now: datetime | None = None,
    ) -> None:
        self._facts = tuple(facts)
        self.rows_key: object = self
        self.records_key: object = self
        self.links_version = 0
        self._counts = [Counter(map(stem, tokens)) for tokens in terms]
        self._vectors = dict(vectors)
        self.has_vector = np.array([fact.id in self._vectors for fact in self._facts], np.bool_)
        self.size = len(self._facts)
        self.stored = sum(fact.kind == FactKind.CONTENT for fact in self._facts)
        self.levels = np.array([_level(fact) for fact in self._facts], np.int8)
        self.is_labelled = np.array([fact.confidence != "" for fact in self._facts], np.bool_)
        self.lengths = np.array([len(tokens) for tokens in terms], np.float64)
        self._add_details({} if details is None else details)
        at = 0 if now is None else to_microseconds(now)
        self.is_live = np.array([_is_live_content(fact) for fact in self._facts], np.bool_)
        self.is_gone = np.array([fact.kind != FactKind.CONTENT for fact in self._facts], np.bool_)
        self.eligible = (
            self.is_live
            & (self.levels >= min_level)
            & self.is_active
            & (self.sensitivity < SENSITIVE)
            & (self.expires_at > at)
        )
        keys = {fact.text: row for row, fact in enumerate(self._facts)}
        self.text_keys = np.array([keys[fact.text] for fact in self._facts], np.int32)
        self.has_retired = any(fact.is_superseded for fact in self._facts)
        by_id = sorted(range(self.size), key=lambda row: self._facts[row].id)
        by_age = sorted(by_id, key=lambda row: self._facts[row].created_at)
        newest = sorted(by_id, key=lambda row: self._facts[row].created_at, reverse=True)
        self.id_order = _positions(by_id)
        self.age_order = _positions(by_age)
        self._newest = newest
        self._narrow(self.eligible)
        self.aliases: Sequence[Alias] = tuple(
            fact.alias
            for fact in (self._facts[row] for row in by_age)
            if fact.alias is not None and not fact.is_superseded
        )

    def _add_details(self, details: Mapping[FactId, FactDetails]) -> None:
        self._details = [details.get(fact.id) for fact in self._facts]
        found = self._details
        births = [to_microseconds(fact.created_at) for fact in self._facts]
        self.created_at = np.array(births, np.int64)
        self.content_at = np.array(
            [
                birth if one is None else to_microseconds(one.content_at)
                for one, birth in zip(found, births, strict=True)
            ],
            np.int64,
        )
        self.sensitivity = np.array([-1 if o is None else o.sensitivity for o in found], np.int8)
        self.expires_at = np.array(
            [
                NEVER if one is None or one.expires_at is None else to_microseconds(one.expires_at)
                for one in found
            ],
            np.int64,
        )
        self.is_active = np.array([one is None or one.is_active for one in found], np.bool_)
        self.is_cold = np.array([one is not None and one.is_cold for one in found], np.bool_)
        self.is_pinned = np.array([fact.pinned for fact in self._facts], np.bool_)
        names = ["" if one is None else one.agent_name for one in found]
        self._codes = {"": 0}
        self.agent_names = np.array(
            [self._codes.setdefault(name, len(self._codes)) for name in names], np.int32
        )
        self.previous = self._chain()

    def _chain(self) -> NDArray[np.int32]:
        """Link each content fact to the one stored before it in its session."""
        previous = np.full(self.size, -1, np.int32)
        last: dict[tuple[str, str, str], tuple[int, int]] = {}
        for row in sorted(range(self.size), key=lambda row: self._facts[row].id):
            fact, details = self._facts[row], self._details[row]
            if fact.kind != FactKind.CONTENT:
                continue
            session = "" if details is None else details.session
            name = "" if details is None else details.agent_name
            key = (name, session, "" if session else fact.origin.session)
            stored_at = ULID.from_str(fact.id).milliseconds
            before = last.get(key)
            last[key] = (row, stored_at)
            if before is not None and (session or stored_at - before[1] <= SESSION_BREAK_MS):
                previous[row] = before[0]
        return previous

    def _narrow(self, eligible: NDArray[np.bool_]) -> None:
        self.eligible = eligible
        self.count = int(eligible.sum())
        self.mean_length = float(self.lengths[eligible].sum()) / self.count if self.count else 0.0
        newest = [row for row in self._newest if eligible[row]]
        self.recency_order: Rows = np.array(newest, np.int32)
        self.recency_rank = np.zeros(self.size, np.int32)
        for place, row in enumerate(newest, 1):
            self.recency_rank[row] = place

    def narrowed(self, eligible: NDArray[np.bool_]) -> InMemorySnapshot:
        """See the protocol."""
        other = copy(self)
        other._narrow(eligible)
        return other

    def rows_of(self, fact_ids: Sequence[FactId]) -> list[int]:
        """See the protocol."""
        known = {fact.id: row for row, fact in enumerate(self._facts)}
        return [known.get(fact_id, -1) for fact_id in fact_ids]

    def agent_code(self, name: str) -> int:
        """See the protocol."""
        return self._codes.get(name, -1)

    def agent_name(self, row: int) -> str:
        """See the protocol."""
        details = self._details[row]
        return "" if details is None else details.agent_name

    def records(self, rows: Sequence[int]) -> list[str]:
        """See the protocol."""
        found = [self._details[row] for row in rows]
        return ["" if one is None else one.record for one in found]

    def usage(self, rows: Sequence[int]) -> list[tuple[int, datetime]]:
        """See the protocol."""
        return [(self._facts[row].access_count, self._facts[row].accessed_at) for row in rows]

    def vectors(self, row: int) -> NDArray[np.int16] | None:
        """See the protocol."""
        return self._vectors.get(self._facts[row].id)

    def postings(self, terms: Sequence[str]) -> list[Postings]:
        """See the protocol."""
        return [self._postings(term) for term in terms]

    def _postings(self, term: str) -> Postings:
        rows = [row for row in self._eligible_rows() if term in self._counts[row]]
        tf = [self._counts[row][term] for row in rows]
        return Postings(rows=np.array(rows, np.int32), tf=np.array(tf, np.float64))

    def may_hold(self, term: str) -> bool:
        """See the protocol."""
        return any(term in counts for counts in self._counts)

    def terms_with(self, part: str) -> set[str]:
        """See the protocol."""
        return {term for counts in self._counts for term in counts if part in term}

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
                source=fact.origin.source,
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
