"""Ranks and heads of lists, against plain sorting."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.ranking.ranked_lists import RecencyList, ScoreList, SimilarityList
from tests.ranking.recency import among_eligible


@given(
    st.integers(0, 300),
    st.sampled_from([1, 3, 60, 100_000]),
    st.sampled_from([0.0, 0.3, 1.0]),
    st.integers(0, 2**32 - 1),
    st.sampled_from([ScoreList, SimilarityList]),
    st.data(),
)
def test_a_list_ranks_by_score_then_key(
    size: int,
    spread: int,
    share: float,
    seed: int,
    kind: type[ScoreList | SimilarityList],
    data: st.DataObject,
) -> None:
    """Contract 5.3: ties go by key, whether groups of equals are few, many or one."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(-spread, spread, size).astype(np.float32) / np.float32(4.0)
    scores[rng.random(size) < 0.1] = -0.0
    keys = rng.permutation(size).astype(np.int64)
    members = rng.random(size) < share
    order = sorted(np.flatnonzero(members), key=lambda row: (-scores[row], keys[row]))
    expected = np.zeros(size, dtype=np.int64)
    expected[order] = np.arange(1, len(order) + 1)

    ranked = kind(scores, members, keys)
    limit = data.draw(st.integers(1, size + 1))
    assert ranked.size == len(order)
    assert sorted(ranked.best(limit)) == sorted(order[:limit])
    few = rng.permutation(size)[:20]
    assert ranked.ranks(few).tolist() == expected[few].tolist()
    every = np.arange(size)
    assert ranked.ranks(every).tolist() == expected.tolist()


@pytest.mark.parametrize("levels", [1, 5, 100])
def test_ties_are_counted_alike_in_few_and_in_many_groups(levels: int) -> None:
    """Contract 5.3: the way to find equals depends on their number, the ranks do not."""
    size = 500
    rng = np.random.default_rng(levels)
    scores = rng.integers(0, levels, size).astype(np.float64)
    keys = rng.permutation(size).astype(np.int64)
    ranked = ScoreList(scores, np.ones(size, dtype=np.bool_), keys)
    expected = np.argsort(np.lexsort((keys, -scores))) + 1
    assert ranked.ranks(np.arange(size)).tolist() == expected.tolist()


def test_a_recency_list_counts_eligible_rows_only() -> None:
    """Contract 5.3: retired and filtered facts take no ranks."""
    order = np.array([2, 0, 3, 1], dtype=np.int32)
    ranked = RecencyList(*among_eligible(order, np.array([True, True, False, True])))
    assert ranked.size == 3
    assert ranked.best(2).tolist() == [0, 3]
    assert ranked.ranks(np.arange(4)).tolist() == [1, 3, 0, 2]
