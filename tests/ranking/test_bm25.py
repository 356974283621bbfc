"""BM25 against numbers written out by hand and against a plain loop."""

from __future__ import annotations

import math
from collections import Counter
from functools import partial

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graymatter_mcp.ranking.bm25 import bm25, idf
from graymatter_mcp.ranking.tokens import tokenize
from tests.ranking.printing import printed

A = "Deploys run on Tuesday"
B = "Rollback of deploys needs two approvals"
C = "The staging cluster lives in Frankfurt"


def score(facts: list[list[str]], query: list[str], keep: list[bool]) -> NDArray[np.float64]:
    """Index the kept facts as a store does, and score all rows."""
    counts = [Counter(f) if k else Counter[str]() for f, k in zip(facts, keep, strict=True)]
    kept = [len(f) for f, k in zip(facts, keep, strict=True) if k]
    postings: list[tuple[NDArray[np.int32], NDArray[np.float64]]] = []
    for term in query:
        rows = [row for row, count in enumerate(counts) if term in count]
        tf = [float(counts[row][term]) for row in rows]
        postings.append((np.array(rows, dtype=np.int32), np.array(tf)))
    return bm25(
        postings,
        size=len(facts),
        count=len(kept),
        lengths=np.array([float(len(f)) for f in facts]),
        mean_length=sum(kept) / len(kept) if kept else 0.0,
    )


def test_example_2_keyword_scores() -> None:
    """Contract 5.4, example 2."""
    assert printed([idf(3, 2)]) == "0.4700036292"
    assert printed([idf(3, 1)]) == "0.9808292530"
    facts = [list(tokenize(text)) for text in (A, B, C)]
    assert facts[1] == "rollback deploys needs two approvals".split()  # noqa: SIM905 - as printed
    scores = score(facts, ["deploys", "approvals"], [True, True, True])
    assert printed(scores.tolist()) == "0.4933739755 1.3852173248 0.0000000000"


def test_example_3_statistics_see_only_what_the_filter_left() -> None:
    """Contract 5.4, example 3."""
    assert printed([idf(2, 1)]) == "0.6931471806"
    facts = [list(tokenize(text)) for text in (A, B, C)]
    scores = score(facts, ["deploys", "approvals"], [True, False, True])
    assert printed(scores.tolist()) == "0.7124310279 0.0000000000 0.0000000000"


def test_an_empty_namespace_scores_nothing() -> None:
    """Contract 5.3."""
    empty = (np.array([], dtype=np.int32), np.array([], dtype=np.float64))
    scores = bm25([empty], size=0, count=0, lengths=np.array([]), mean_length=0.0)
    assert scores.tolist() == []


FACTS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), min_size=1, max_size=8)


@given(FACTS, st.lists(st.sampled_from("abcdef"), max_size=5), st.data())
def test_scores_equal_the_formula_and_filtering_equals_a_smaller_corpus(
    facts: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    """Contract 5.3: repeats of the query count; filter then rank equals rank on the filtered."""
    keep = data.draw(st.lists(st.booleans(), min_size=len(facts), max_size=len(facts)))
    kept = [f for f, k in zip(facts, keep, strict=True) if k]
    mean = sum(map(len, kept)) / max(1, len(kept))

    def expected(fact: list[str]) -> float:
        total = 0.0
        for term in query:
            df, tf = sum(term in f for f in kept), fact.count(term)
            if tf:
                weight = math.log(1 + (len(kept) - df + 0.5) / (df + 0.5))
                total += weight * tf * 1.9 / (tf + 0.9 * (0.6 + 0.4 * len(fact) / mean))
        return total

    wanted = [expected(f) if k else 0.0 for f, k in zip(facts, keep, strict=True)]
    scores = score(facts, query, keep)
    assert all(map(partial(math.isclose, rel_tol=1e-12), scores.tolist(), wanted))
    assert [s for s, k in zip(scores.tolist(), keep, strict=True) if k] == score(
        kept, query, [True] * len(kept)
    ).tolist()
