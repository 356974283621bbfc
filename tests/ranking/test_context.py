"""Neighbours inside the lists: worked by hand, and the same as BM25 where nobody has one."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.ranking.bm25 import bm25, idf
from graymatter_mcp.ranking.context import (
    DEPTH,
    Neighbours,
    bm25_in_context,
    chain_steps,
    deep,
    join_steps,
)

ALL = np.ones(5, np.bool_)
CHAIN = np.array([-1, 0, 1, 2, 3], np.int32)


def scored(
    postings: list[tuple[list[int], list[float]]],
    previous: np.ndarray[tuple[int], np.dtype[np.int32]] = CHAIN,
    eligible: np.ndarray[tuple[int], np.dtype[np.bool_]] = ALL,
) -> list[float]:
    """Score five rows of four tokens each."""
    scores = bm25_in_context(
        [(np.array(rows, np.int32), np.array(tf, np.float64)) for rows, tf in postings],
        size=5,
        count=int(eligible.sum()),
        lengths=np.full(5, 4.0),
        mean_length=4.0,
        previous=previous,
        eligible=eligible,
    )
    return scores.tolist()


def test_a_word_that_a_row_lacks_counts_by_its_neighbours() -> None:
    """ADR 0047: rows 0 and 1 hold x, row 2 holds y; of mean length, so that the norm is 0.9."""
    found = scored([([0, 1], [1.0, 1.0]), ([2], [1.0])])
    x, y = idf(5, 2), idf(5, 1)
    assert found == pytest.approx(
        [
            x + y * 0.15 * 1.9 / (0.15 + 0.9),
            x + y * 0.3 * 1.9 / (0.3 + 0.9),
            x * 0.45 * 1.9 / (0.45 + 0.9) + y,
            0.0,
            0.0,
        ]
    )


def test_a_part_of_an_occurrence_is_lent_in_part() -> None:
    """ADR 0061: row 0 holds x, row 1 half of y, of which it lends 0.3."""
    found = scored([([0], [1.0]), ([1], [0.5])])
    x = y = idf(5, 1)
    assert found == pytest.approx(
        [
            x + y * 0.15 * 1.9 / (0.15 + 0.9),
            x * 0.3 * 1.9 / (0.3 + 0.9) + y * 0.5 * 1.9 / (0.5 + 0.9),
            0.0,
            0.0,
            0.0,
        ]
    )


def test_a_row_that_is_not_eligible_is_no_neighbour_and_no_bridge() -> None:
    """Contract 5.1: what is filtered out does not exist."""
    eligible = np.array([True, False, True, True, True])
    with_gap = scored([([0, 2], [1.0, 1.0])], eligible=eligible)
    alone = scored([([0, 2], [1.0, 1.0])], np.full(5, -1, np.int32), eligible)
    assert with_gap == alone


def test_what_neighbours_lend_is_the_best_of_them_and_never_below_nothing() -> None:
    """ADR 0047: 0.3 of the nearest, 0.15 of those two steps away."""
    lent = Neighbours(CHAIN, ALL, np.arange(5)).best(
        np.array([1.0, -1.0, 0.2, -1.0, -1.0, 0.0], np.float32)
    )
    assert lent.tolist() == pytest.approx([0.03, 0.3, 0.15, 0.06, 0.03])


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, unique=True), min_size=1, max_size=4))
def test_without_neighbours_it_is_bm25(rows_of: list[list[int]]) -> None:
    """Contract 5.3: the statistics and the sum are those of BM25."""
    postings = [(np.array(sorted(rows), np.int32), np.ones(len(rows))) for rows in rows_of]
    lengths = np.array([3.0, 4.0, 9.0, 1.0, 4.0])
    mean = float(lengths.mean())
    plain = bm25(postings, size=5, count=5, lengths=lengths, mean_length=mean)
    found = bm25_in_context(
        postings,
        size=5,
        count=5,
        lengths=lengths,
        mean_length=mean,
        previous=np.full(5, -1, np.int32),
        eligible=ALL,
    )
    assert found == pytest.approx(plain)


@given(st.permutations(range(5)), st.lists(st.integers(0, 4), min_size=1, unique=True))
def test_only_rows_that_hold_a_word_themselves_are_scored(
    chain: list[int], rows: list[int]
) -> None:
    """Contract 5.3: facts with score 0 are not ranked."""
    previous = np.full(5, -1, np.int32)
    for before, row in pairwise(chain):
        previous[row] = before
    found = scored([(sorted(rows), [1.0] * len(rows))], previous)
    assert [row for row, score in enumerate(found) if score > 0] == sorted(rows)


def test_only_the_best_rows_gain_and_all_that_tie_with_the_last_of_them() -> None:
    """ADR 0047: a million facts are not gone through for each query."""
    rows = np.arange(DEPTH + 3)
    scores = np.ones(DEPTH + 3)
    assert deep(scores, rows).size == DEPTH + 3
    scores[:5] = [0.5, 0.5, 0.5, 2.0, 2.0]
    assert deep(scores, rows).tolist() == rows[3:].tolist()
    assert deep(scores, rows[:3]).tolist() == [0, 1, 2]


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_neighbours_are_those_of_the_chain_whatever_its_order(
    chain: list[int], may_be_seen: list[bool]
) -> None:
    """ADR 0047: checked against a walk along the chain."""
    previous = np.full(6, -1, np.int32)
    for before, row in pairwise(chain):
        previous[row] = before
    eligible = np.array(may_be_seen)
    values = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0], np.float32)
    rows = np.flatnonzero(eligible)
    expected: list[float] = []
    for row in rows.tolist():
        at, lent = chain.index(row), [0.0]
        for step in (1, -1):
            for distance, part in ((1, 0.3), (2, 0.15)):
                place = at + step * distance
                way = [chain[at + step * d] for d in range(1, distance + 1) if 0 <= place < 6]
                if way and eligible[way].all():
                    lent.append(part * float(values[way[-1]]))
        expected.append(max(lent))
    assert Neighbours(previous, eligible, rows).best(values).tolist() == pytest.approx(expected)
    steps = chain_steps(previous, eligible)
    known = Neighbours(previous, eligible, rows, steps)
    assert known.best(values).tolist() == pytest.approx(expected)


@given(st.lists(st.booleans(), min_size=6, max_size=6), st.integers(0, 6))
def test_steps_of_two_shelves_are_those_of_one_that_holds_both(
    may_be_seen: list[bool], size: int
) -> None:
    """Data-plane contract 4.4: a request sees the shelves in its reach as one row of facts."""
    previous = np.array([-1, 0, 1, 2, 3, 4], np.int32)
    previous[size : size + 1] = -1
    eligible = np.array(may_be_seen)
    behind = np.where(previous[size:] < 0, -1, previous[size:] - size).astype(np.int32)
    parts = [(previous[:size], eligible[:size]), (behind, eligible[size:])]
    joined = join_steps([steps for part in parts if (steps := chain_steps(*part)) is not None])
    whole = chain_steps(previous, eligible)
    assert whole is not None
    assert joined.tolist() == whole.tolist()


def test_where_two_rows_follow_one_no_steps_are_told() -> None:
    """Data-plane contract 4.4: then there is more than one behind it."""
    previous = np.array([-1, 0, 0], np.int32)
    assert chain_steps(previous, np.ones(3, np.bool_)) is None
    assert chain_steps(previous, np.array([True, True, False])) is not None
