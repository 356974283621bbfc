"""Hybrid search: five signals of a filtered corpus, joined into one score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.ranking.context import Neighbours, deep
from graymatter_mcp.ranking.hybrid.graph import graph_signal
from graymatter_mcp.ranking.hybrid.weights import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graymatter_mcp.ranking.context import Steps
    from graymatter_mcp.ranking.hybrid.graph import Adjacency

FULL_TOKENS: Final = 8
"""Content tokens from which the cosine of a text counts whole."""
RECENCY_DAYS: Final = 180.0

_HALVES: Final = Weights(keyword=0.5, vector=0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """What the legs found; every array has one entry per row of the corpus, shape (n,)."""

    eligible: NDArray[np.bool_]
    """Rows that exist for this request; every statistic is taken over them alone."""
    bm25: NDArray[np.float64] | None
    """>= 0; None when the leg did not run."""
    cosine: NDArray[np.float64] | None
    """In [-1, 1], NaN or -inf where a row has no vector; None when the leg did not run."""
    content_tokens: NDArray[np.int64]
    """Tokens of each text without stop words (`text.content_tokens`)."""
    adjacency: Adjacency | None
    """None when the leg did not run."""
    entity: NDArray[np.float64] | None
    """In [0, 1] (`entity.entity_signal`); None when the leg did not run."""
    age_days: NDArray[np.float64]
    """Days since the last change of content; below 0, for a clock set back, it counts as 0."""
    weights: Weights
    min_vector_score: float
    """Cosine from which a fact is supported; 0 supports every fact."""
    previous: NDArray[np.int32] | None = None
    """The row before each in its session, or -1, so that a fact counts in part the closeness of
    those told around it; None where nobody has one."""
    steps: Steps | None = None
    """Who stands beside each row, where `context.chain_steps` told it already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fused:
    """Signals in [0, 1] and the score; 0.0 on rows that are not eligible."""

    keyword: NDArray[np.float64]
    vector: NDArray[np.float64]
    graph: NDArray[np.float64]
    entity: NDArray[np.float64]
    recency: NDArray[np.float64]
    supported: NDArray[np.bool_]
    """Eligible rows above the noise floor: the others are never returned."""
    score: NDArray[np.float64]


def fuse(inputs: Inputs) -> Fused:
    """Join the signals: the sum of weight times signal over the weights of what could be computed.

    A signal of weight 0 is 0 and supports nothing. Keyword and vector lend to neighbours even when
    both are switched off, with equal parts, for then only the graph is asked and needs a start.

    Source: data-plane contract 4.2 to 4.6.
    """
    legs = _Legs(inputs)
    weights, zeros = inputs.weights, np.zeros(inputs.eligible.size, np.float64)
    graph = zeros
    if inputs.adjacency is not None and weights.graph > 0:
        graph = graph_signal(inputs.adjacency, legs.lent(), inputs.eligible)
    recency = zeros
    if weights.recency > 0:
        recency = np.where(
            inputs.eligible, np.exp(-np.maximum(inputs.age_days, 0.0) / RECENCY_DAYS), 0.0
        )
    signals = {
        "keyword": legs.keyword if weights.keyword > 0 else zeros,
        "vector": legs.vector if weights.vector > 0 else zeros,
        "graph": graph,
        "entity": legs.entity,
        "recency": recency,
    }
    ran = {
        "keyword": inputs.bm25 is not None,
        "vector": inputs.cosine is not None,
        "graph": inputs.adjacency is not None,
        "entity": inputs.entity is not None,
        "recency": True,
    }
    parts = [(float(getattr(weights, name)), signals[name]) for name in signals if ran[name]]
    total = sum(weight for weight, _ in parts)
    score = zeros.copy()
    for weight, signal in parts:
        if weight > 0:
            score += weight * signal
    return Fused(
        **signals,
        supported=legs.supported(weights) | (graph > 0),
        score=score / total if total > 0 else score,
    )


class _Legs:
    """The signals that a row has by itself."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._zeros = np.zeros(inputs.eligible.size, np.float64)
        self.keyword = self._zeros
        if inputs.bm25 is not None:
            self.keyword = keyword_signal(inputs.bm25, inputs.eligible)
        self.vector = self._zeros
        if inputs.cosine is not None:
            self.vector = vector_signal(
                inputs.cosine,
                inputs.content_tokens,
                inputs.eligible,
                inputs.previous,
                inputs.steps,
            )
        self.entity = self._zeros
        if inputs.entity is not None and inputs.weights.entity > 0:
            self.entity = np.where(inputs.eligible, inputs.entity, 0.0)

    def supported(self, weights: Weights) -> NDArray[np.bool_]:
        """Return the rows that stand above the noise floor without the graph."""
        floor, cosine = self._inputs.min_vector_score, self._inputs.cosine
        held = self.entity > 0
        if weights.keyword > 0:
            held |= self.keyword > 0
        if weights.vector > 0 and cosine is not None:
            # Cosines may be negative or missing, and a floor of 0 lets every fact through.
            held |= np.isfinite(cosine) & (cosine >= floor) if floor > 0 else True
        return held & self._inputs.eligible

    def lent(self) -> NDArray[np.float64]:
        """Return the score that each row gives its neighbours, 0.0 when it is not supported."""
        weights = self._inputs.weights
        if weights.keyword == 0 and weights.vector == 0:
            weights = _HALVES
        keyword = weights.keyword if self._inputs.bm25 is not None else 0.0
        vector = weights.vector if self._inputs.cosine is not None else 0.0
        if keyword + vector == 0:
            return self._zeros
        base = (keyword * self.keyword + vector * self.vector) / (keyword + vector)
        return np.where(self.supported(weights), base, 0.0)


def keyword_signal(bm25: NDArray[np.float64], eligible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return bm25 over the largest of the eligible rows; all 0.0 when none matches."""
    scores = np.where(eligible, bm25, 0.0)
    largest = scores.max(initial=0.0)
    return scores / largest if largest > 0 else scores


def vector_signal(
    cosine: NDArray[np.float64],
    content_tokens: NDArray[np.int64],
    eligible: NDArray[np.bool_],
    previous: NDArray[np.int32] | None = None,
    steps: Steps | None = None,
) -> NDArray[np.float64]:
    """Return the damped cosines, spread over [0, 1] between the least (at most 0) and the largest.

    A text of fewer than 8 content tokens counts in proportion: short ones are close to anything.
    The best 1024 rows gain what their neighbours lend.
    """
    ranked = np.flatnonzero(eligible & np.isfinite(cosine))
    signal = np.zeros(cosine.size, np.float64)
    damped = cosine[ranked] * np.minimum(1.0, content_tokens[ranked] / FULL_TOKENS)
    if previous is not None and ranked.size:
        lending = np.zeros(cosine.size + 1, np.float32)
        lending[ranked] = damped
        places = deep(damped, np.arange(ranked.size))
        damped[places] += Neighbours(previous, eligible, ranked[places], steps).best(lending)
    low, high = damped.min(initial=0.0), damped.max(initial=-1.0)
    if high > low:
        signal[ranked] = (damped - low) / (high - low)
    return signal
