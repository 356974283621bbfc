"""Reciprocal rank fusion, the confidence factor and the total order, exact without a full sort."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.ranking.confidence import factor
from graymatter_mcp.ranking.ranked_lists import RecencyList, ScoreList, SimilarityList
from graymatter_mcp.ranking.signals import Ranked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.model.config import SignalWeights
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.ranking.ranked_lists import RankedList
    from graymatter_mcp.ranking.signals import Signals

RRF_K: Final = 60
_GROWTH: Final = 4
_MAX_FIRST_DEPTH: Final = 1024


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[FactId]], weights: Sequence[float], *, rrf_k: int = RRF_K
) -> dict[FactId, float]:
    """Fuse ranked lists into one score per fact.

    score(f) = sum over lists i of weights[i] / (rrf_k + rank_i(f)), ranks from 1;
    a list without f adds nothing.

    Args:
        rankings: One list per signal, best first, no repeats; shape (signals, <= n).
        weights: One per list, >= 0, unitless; a list of weight 0 brings in no fact.
        rrf_k: Damping, in ranks; a larger value flattens the head.

    Returns:
        Unordered scores in [0, sum(weights) / (rrf_k + 1)].

    Raises:
        ValueError: Lengths differ.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009.
    """
    fused: dict[FactId, float] = {}
    for ranking, weight in zip(rankings, weights, strict=True):
        if weight == 0.0:
            continue
        for rank_, fact_id in enumerate(ranking, start=1):
            fused[fact_id] = fused.get(fact_id, 0.0) + weight / (rrf_k + rank_)
    return fused


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """The rows that lead the order, best first; all arrays have the same length."""

    rows: NDArray[np.int64]
    ranks: list[NDArray[np.int64]]
    base: NDArray[np.float64]
    factor: NDArray[np.float64]
    final: NDArray[np.float64]


class Ranking:
    """The order of all eligible rows, worked out as far as it is asked for."""

    def __init__(
        self,
        signals: Signals,
        weights: SignalWeights,
        *,
        confidence_weight: float,
        min_relevance: float,
        rrf_k: int,
        first_depth: int | None,
    ) -> None:
        self._signals = signals
        self._confidence_weight = confidence_weight
        self._min_relevance = min_relevance
        self._rrf_k = rrf_k
        self._first_depth = first_depth
        vector, keyword = _score_lists(signals)
        recency = RecencyList(signals.recency_order, signals.recency_rank)
        self._lists: list[tuple[float, RankedList]] = [
            (weights.vector, vector),
            (weights.keyword, keyword),
            (weights.recency, recency),
        ]
        self._count = recency.size
        self._settled = 0
        self._head: _Head | None = None

    def prefix(self, n: int) -> list[Ranked]:
        """Return the best n rows, fewer where the order or the relevance floor ends before.

        A smaller n always gives a prefix of a larger one.
        """
        return self.at(range(len(self.rows(n))))

    def rows(self, n: int) -> NDArray[np.int64]:
        """Return only the rows of `prefix`, without what a receipt needs."""
        wanted = min(n, self._count)
        if wanted <= 0:
            return np.empty(0, np.int64)
        if self._head is None or self._settled < wanted:
            self._head = self._settle(wanted)
            self._settled = wanted
        head = self._head
        floor = self._min_relevance * head.final[0]
        # `final` descends, so counting is cutting; the best stays whatever the product rounds to.
        kept = max(1, int(np.count_nonzero(head.final[:wanted] >= floor)))
        return head.rows[:kept]

    def at(self, positions: Iterable[int]) -> list[Ranked]:
        """Return places of the order, from 0, as far as `rows` has worked it out."""
        head = self._head
        if head is None:
            return []
        vector, keyword, recency = head.ranks
        return [
            Ranked(
                row=int(head.rows[i]),
                vector_rank=int(vector[i]),
                keyword_rank=int(keyword[i]),
                recency_rank=int(recency[i]),
                base_score=float(head.base[i]),
                factor=float(head.factor[i]),
                final_score=float(head.final[i]),
                level=int(self._signals.levels[head.rows[i]]),
            )
            for i in positions
        ]

    def _settle(self, wanted: int) -> _Head:
        """Order the best rows of each list until no other row can be among the `wanted` best."""
        limit = max(wanted, self._first_depth or self._likely_depth(wanted))
        while True:
            head = self._order(self._candidates(limit, wanted), wanted)
            bound = self._bound(limit)
            # At bound 0 the others all score 0, and the oldest of those are candidates.
            if limit >= self._count or bound == 0.0 or head.final[-1] > bound:
                return head
            limit *= _GROWTH

    def _likely_depth(self, wanted: int) -> int:
        """Return a depth at which the best `wanted` rows of one list already beat the bound.

        The row at rank `wanted` of a list has at least W / (k + wanted) * (1 - w); solve
        `_bound` < that for the list with the largest W.
        """
        w = self._confidence_weight
        heaviest = max(weight for weight, ranked in self._lists if ranked.size >= wanted)
        if heaviest == 0.0:
            return _MAX_FIRST_DEPTH
        total = sum(weight for weight, _ in self._lists)
        depth = total * (1.0 + w) * (self._rrf_k + wanted) / (heaviest * (1.0 - w)) - self._rrf_k
        return math.ceil(min(depth, max(_MAX_FIRST_DEPTH, _GROWTH * wanted)))

    def _bound(self, limit: int) -> float:
        """Return the most that a row beyond rank `limit` in every list can score.

        Rounded operations keep order, so the bound holds for the floats, not only on paper.
        """
        base = 0.0
        for weight, ranked in self._lists:
            if ranked.size > limit:
                base += weight / (self._rrf_k + limit + 1)
        return base * (1.0 + self._confidence_weight)

    def _candidates(self, limit: int, wanted: int) -> NDArray[np.int64]:
        if limit >= self._count:
            return np.flatnonzero(self._signals.eligible)
        best = [ranked.best(limit) for weight, ranked in self._lists if weight > 0.0]
        if self._lists[-1][0] == 0.0:
            best.append(self._oldest(wanted))
        return np.unique(np.concatenate(best))

    def _oldest(self, wanted: int) -> NDArray[np.int64]:
        rows = np.flatnonzero(self._signals.eligible)
        return rows[np.argpartition(self._signals.age_order[rows], wanted - 1)[:wanted]]

    def _order(self, rows: NDArray[np.int64], wanted: int) -> _Head:
        ranks = [ranked.ranks(rows) for _, ranked in self._lists]
        base = np.zeros(rows.size, dtype=np.float64)
        for (weight, _), rank_ in zip(self._lists, ranks, strict=True):
            base += np.where(rank_ > 0, weight / (self._rrf_k + rank_), 0.0)
        factors = factor(self._signals.levels[rows], self._confidence_weight)
        final = base * factors
        order = np.lexsort((self._signals.age_order[rows], -final))[:wanted]
        return _Head(
            rows=rows[order],
            ranks=[rank_[order] for rank_ in ranks],
            base=base[order],
            factor=factors[order],
            final=final[order],
        )


def rank(
    signals: Signals,
    weights: SignalWeights,
    *,
    confidence_weight: float = 0.0,
    min_relevance: float = 0.0,
    rrf_k: int = RRF_K,
    first_depth: int | None = None,
) -> Ranking:
    """Order eligible rows by final score descending, then age, then id.

    base = W_v / (k + r_v) + W_k / (k + r_k) + W_r / (k + r_r), a term of rank 0 left out;
    final = base * (1 + confidence_weight * (level - 1)).

    Args:
        signals: Filtered before: only eligible rows take ranks.
        weights: Checked by the settings.
        confidence_weight: In [0, 0.5].
        min_relevance: In [0, 1]; above 0 the order ends before the first final score below this
            share of the best.
        rrf_k: Damping, in ranks.
        first_depth: Ranks of each list to look at first, >= 1. It changes the work, never the
            result; None picks a depth that is nearly always enough.

    Source: contract 5.4 to 5.7.
    """
    return Ranking(
        signals,
        weights,
        confidence_weight=confidence_weight,
        min_relevance=min_relevance,
        rrf_k=rrf_k,
        first_depth=first_depth,
    )


def _score_lists(signals: Signals) -> tuple[SimilarityList, ScoreList]:
    allowed = signals.eligible
    if signals.restrict is not None:
        allowed = allowed & signals.restrict
    nobody = np.zeros(signals.size, dtype=np.bool_)
    if signals.similarity is None:
        vector = SimilarityList(np.zeros(signals.size, np.float32), nobody, signals.id_order)
    else:
        ranked = allowed & (signals.similarity > -np.inf)
        vector = SimilarityList(signals.similarity, ranked, signals.id_order)
    if signals.keyword is None:
        keyword = ScoreList(np.zeros(signals.size, dtype=np.float64), nobody, signals.age_order)
    else:
        keyword = ScoreList(signals.keyword, allowed & (signals.keyword > 0.0), signals.age_order)
    return vector, keyword
