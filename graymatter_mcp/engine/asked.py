"""A query held against the facts of one shelf: what the core's lists rank by."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.engine.compounds import lent_by_compounds
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.ranking.context import bm25_in_context
from graymatter_mcp.ranking.core_lists import keyword_scores, similarities
from graymatter_mcp.ranking.days import asked_days
from graymatter_mcp.ranking.hybrid.stop_words import is_stop_word
from graymatter_mcp.ranking.hybrid.weights import asks_for_newest
from graymatter_mcp.ranking.names import without_shared_names
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from numpy.typing import NDArray

    from graymatter_mcp.engine.heads import Heads
    from graymatter_mcp.ranking.days import Days
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Snapshot


def content_terms(tokens: Sequence[str], analyzer: Analyzer) -> Sequence[str]:
    """Return the index terms of the words with content; of all where none has any."""
    content = [token for token in tokens if not is_stop_word(token)]
    return analyzer.index_terms(content or tokens)


def share_of(word: str, snapshots: Sequence[Snapshot], analyzer: Analyzer) -> float:
    """Return the share of the eligible facts that hold all tokens of a word."""
    terms = analyzer.index_terms(tokenize(word))
    count = sum(snapshot.count for snapshot in snapshots)
    if not terms or not count:
        return 0.0
    return sum(min(len(one.rows) for one in snap.postings(terms)) for snap in snapshots) / count


@dataclass(frozen=True)
class Asked:
    """A query and the snapshot that answers it."""

    snapshot: Snapshot
    heads: Heads
    query: str
    terms: Sequence[str]
    """See `content_terms`; of the effective query."""
    today: date
    effective: str
    """The query with what aliases add to it."""
    analyzer: Analyzer
    """The one that the store indexes with."""

    @cached_property
    def about(self) -> NDArray[np.bool_] | None:
        """The facts that begin with what the query names."""
        return self.heads.about(self.terms, self.snapshot.size)

    @cached_property
    def newness(self) -> NDArray[np.float64] | None:
        """1 for the newest fact, less for each older one, where the query asks for it."""
        if not asks_for_newest(self.query) or not self.snapshot.count:
            return None
        return 1.0 - (self.snapshot.recency_rank - 1) / self.snapshot.count

    def without_shared_names(self) -> str:
        """Return what of the query is embedded."""
        return without_shared_names(
            self.query, lambda word: share_of(word, [self.snapshot], self.analyzer)
        )

    def close(self, products: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what the vector list ranks by."""
        return similarities(
            products,
            tokens=self.heads.lengths(self.snapshot),
            previous=self.snapshot.previous,
            eligible=self.snapshot.eligible,
            about=self.about,
            newness=self.newness,
        )

    def keyword(
        self, restrict: NDArray[np.bool_] | None, *, is_alone: bool
    ) -> NDArray[np.float64] | None:
        """Return what the keyword list ranks by; None where there is nothing to rank.

        Args:
            restrict: The only rows that may be ranked; None for all.
            is_alone: Whether there is no vector list.
        """
        snapshot = self.snapshot
        if not self.terms or not snapshot.count:
            return None
        distinct = list(dict.fromkeys(self.terms))
        found = {
            term: (one.rows, one.tf)
            for term, one in zip(distinct, snapshot.postings(distinct), strict=True)
        }
        missing = {term for term, (rows, _) in found.items() if not rows.size}
        if missing:
            found |= lent_by_compounds(snapshot, self.effective, missing, self.analyzer)
        postings = [found[term] for term in self.terms]
        days = asked_days(self.query, self.today)
        if days is not None:
            postings.append(_told_on(snapshot, days))
        scores = bm25_in_context(
            postings,
            size=snapshot.size,
            count=snapshot.count,
            lengths=snapshot.lengths,
            mean_length=snapshot.mean_length,
            previous=snapshot.previous,
            eligible=snapshot.eligible,
        )
        return keyword_scores(
            scores,
            about=self.about,
            newness=self.newness,
            restrict=restrict,
            is_alone=is_alone,
        )


def _told_on(snapshot: Snapshot, days: Days) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the facts that were told on some days, as if each held one word for them."""
    start = to_microseconds(datetime.combine(days[0], time.min, UTC))
    end = to_microseconds(datetime.combine(days[1], time.max, UTC))
    told = (snapshot.created_at >= start) & (snapshot.created_at <= end) & snapshot.eligible
    rows = np.flatnonzero(told).astype(np.int32)
    return rows, np.ones(rows.size, np.float64)
