"""The total order of hybrid search."""

from __future__ import annotations

from itertools import islice

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.ranking.hybrid.order import Order

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 0.25, 0.5]), st.integers(0, 2), st.booleans()), max_size=90
)


def order(rows: list[tuple[float, int, bool]], ids: list[int]) -> Order:
    """Order rows of (score, change, whether it takes part)."""
    return Order(
        score=np.array([row[0] for row in rows], np.float64),
        changed_at=np.array([row[1] for row in rows], np.int64),
        id_order=np.array(ids, np.int64).__getitem__,
        among=np.array([row[2] for row in rows], np.bool_),
    )


def test_score_then_change_then_id_all_descending() -> None:
    """Data-plane contract 4.8."""
    rows = [(0.5, 1, True), (0.9, 0, True), (0.5, 2, True), (0.5, 1, True), (1.0, 9, False)]
    ordered = order(rows, [0, 1, 2, 3, 4])
    assert ordered.top(9).tolist() == list(ordered.walk()) == [1, 2, 3, 0]
    assert ordered.top(3).tolist() == [1, 2, 3]
    assert ordered.top(0).tolist() == []


@given(ROWS, st.integers(0, 100), st.randoms(use_true_random=False))
def test_the_order_is_total_and_ignores_the_order_of_input(
    rows: list[tuple[float, int, bool]], k: int, shuffler: st.DataObject
) -> None:
    """House plan, property; every head is a prefix of the whole."""
    ids = list(range(len(rows)))
    taking_part = [row for row in ids if rows[row][2]]
    expected = sorted(taking_part, key=lambda row: (rows[row][0], rows[row][1], row), reverse=True)
    assert order(rows, ids).top(k).tolist() == expected[:k]
    assert list(islice(order(rows, ids).walk(), k)) == expected[:k]
    assert list(order(rows, ids).walk()) == expected
    shuffler.shuffle(ids)  # type: ignore[attr-defined] # the strategy gives a random.Random
    again = order([rows[i] for i in ids], ids)
    assert [ids[row] for row in again.walk()] == expected
