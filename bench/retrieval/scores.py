"""How well a ranking holds the evidence, and how sure a mean over conversations is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from bench.retrieval.conversations import Question

_SEED: Final = 20260301
_RESAMPLES: Final = 2_000
_TAILS: Final = (2.5, 97.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Of one question."""

    METRICS: ClassVar = ("R@5", "R@8", "R@10", "MRR", "nDCG@10")
    conversation: str
    category: str
    values: dict[str, float]


def score(ranked: Sequence[str], question: Question, conversation: str) -> Score:
    """Score one answer.

    R@k is the share of the evidence among the first k; MRR the reciprocal rank of the first piece
    of evidence among the first ten, 0 without one; nDCG@10 takes each piece as equally relevant.
    """
    is_evidence = [key in question.evidence for key in ranked[:10]]
    wanted = len(question.evidence)
    gained = sum(1 / math.log2(rank + 1) for rank, is_it in enumerate(is_evidence, 1) if is_it)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(wanted, 10) + 1))
    first = next((rank for rank, is_it in enumerate(is_evidence, 1) if is_it), None)
    values = {f"R@{k}": sum(is_evidence[:k]) / wanted for k in (5, 8, 10)}
    values |= {"MRR": 1 / first if first else 0.0, "nDCG@10": gained / best}
    return Score(conversation=conversation, category=question.category, values=values)


def mean(scores: Sequence[Score], metric: str) -> float:
    """Return the mean over questions."""
    return sum(one.values[metric] for one in scores) / len(scores)


def interval(scores: Sequence[Score], metric: str) -> tuple[float, float]:
    """Return the 95 % interval of the mean for other conversations of this kind.

    A bootstrap in two stages: conversations are drawn with replacement, then questions of each;
    questions of one conversation are not independent of each other.
    """
    groups: list[NDArray[np.float64]] = [
        np.array([one.values[metric] for one in scores if one.conversation == name], np.float64)
        for name in sorted({one.conversation for one in scores})
    ]
    random = np.random.default_rng(_SEED)
    means = np.empty(_RESAMPLES)
    for at in range(_RESAMPLES):
        places: list[int] = random.integers(len(groups), size=len(groups)).tolist()
        drawn = [groups[place] for place in places]
        values = [group[random.integers(group.size, size=group.size)] for group in drawn]
        means[at] = np.concatenate(values).mean()
    low, high = np.percentile(means, _TAILS)
    return float(low), float(high)
