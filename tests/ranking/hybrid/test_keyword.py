"""BM25 over the eligible rows of several shelves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graymatter_mcp.ranking.hybrid.abstain import evidence
from graymatter_mcp.ranking.hybrid.keyword import keyword_scores

DEPLOYS = (np.array([0, 1, 3], np.int32), np.array([1.0, 1.0, 2.0]))
APPROVALS = (np.array([1], np.int32), np.array([1.0]))
LENGTHS = np.array([3.0, 5.0, 4.0, 9.0])
ELIGIBLE = np.array([True, True, True, False])


def test_only_eligible_rows_count() -> None:
    """Data-plane contract 4.1, 4.2: N 3, df 2 and 1, mean length 4; row 3 lies outside.

    Row 0: 0.4700036292 x 1.9 / (1 + 0.9 x 0.9) = 0.4933739755.
    Row 1: (0.4700036292 + 0.9808292530) x 1.9 / (1 + 0.9 x 1.1) = 1.3852173248.
    """
    scores = keyword_scores([DEPLOYS, APPROVALS], eligible=ELIGIBLE, lengths=LENGTHS)
    assert scores.tolist() == pytest.approx([0.4933739755, 1.3852173248, 0.0, 0.0], abs=1e-9)


def test_a_quoted_phrase_keeps_out_rows_without_it() -> None:
    """Data-plane contract 4.2: the statistics stay those of the whole set."""
    scores = keyword_scores(
        [DEPLOYS, APPROVALS],
        eligible=ELIGIBLE,
        lengths=LENGTHS,
        holds_phrases=np.array([True, False, False, True]),
    )
    assert scores.tolist() == pytest.approx([0.4933739755, 0.0, 0.0, 0.0], abs=1e-9)


def test_nothing_eligible_scores_nothing() -> None:
    """Data-plane contract 4.1."""
    nothing = np.zeros(4, np.bool_)
    assert keyword_scores([DEPLOYS], eligible=nothing, lengths=LENGTHS).tolist() == [0.0] * 4


Corpus = tuple[list[tuple[NDArray[np.int32], NDArray[np.float64]]], NDArray[np.float64]]


def indexed(facts: list[list[str]]) -> Corpus:
    """Return the postings of a, b and c in these facts, and their lengths."""
    postings: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
    for term in "abc":
        rows = [row for row, fact in enumerate(facts) if term in fact]
        tf = [float(facts[row].count(term)) for row in rows]
        postings.append((np.array(rows, np.int32), np.array(tf, np.float64)))
    return postings, np.array([float(len(fact)) for fact in facts])


FACT = st.lists(st.sampled_from("abcd"), min_size=1, max_size=5)


@given(st.lists(st.tuples(FACT, st.booleans()), min_size=1, max_size=8))
def test_filter_then_score_equals_score_on_the_filtered_corpus(
    drawn: list[tuple[list[str], bool]],
) -> None:
    """Data-plane contract 4.1: BM25 and evidence see the eligible facts alone."""
    eligible = np.array([is_eligible for _, is_eligible in drawn])
    kept = [fact for fact, is_eligible in drawn if is_eligible]
    (whole, lengths), (part, part_lengths) = indexed([fact for fact, _ in drawn]), indexed(kept)
    every = np.ones(len(kept), np.bool_)
    scores = keyword_scores(whole, eligible=eligible, lengths=lengths)
    alone = keyword_scores(part, eligible=every, lengths=part_lengths)
    assert scores[eligible].tolist() == alone.tolist()
    assert not scores[~eligible].any()
    values = evidence([rows for rows, _ in whole], None, eligible)
    assert values[eligible].tolist() == evidence([rows for rows, _ in part], None, every).tolist()
