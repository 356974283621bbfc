"""Fusion, order and floor: the worked examples, and equality with the full computation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graymatter_mcp.model.config import SignalWeights, default_signal_weights
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.ranking.confidence import factor
from graymatter_mcp.ranking.fusion import Ranking, rank, reciprocal_rank_fusion
from graymatter_mcp.ranking.merge import first_distinct
from graymatter_mcp.ranking.signals import Ranked, Signals
from graymatter_mcp.ranking.tokens import tokenize
from tests.ranking.printing import printed
from tests.ranking.recency import among_eligible
from tests.ranking.test_bm25 import A, B, C, score

NEVER = float("-inf")


def signals(
    newest_first: list[int],
    *,
    vector: dict[int, float] | None = None,
    keyword: dict[int, float] | None = None,
    levels: list[int] | None = None,
    eligible: list[bool] | None = None,
) -> Signals:
    """Build signals over rows 0..n-1 whose ids ascend with the row."""
    size = len(newest_first)
    age = np.zeros(size, dtype=np.int64)
    age[newest_first] = np.arange(size)[::-1]
    mask = np.array(eligible if eligible is not None else [True] * size)
    similarity = np.array([(vector or {}).get(row, NEVER) for row in range(size)], dtype=np.float32)
    bm25 = np.array([(keyword or {}).get(row, 0.0) for row in range(size)])
    order, places = among_eligible(np.array(newest_first, dtype=np.int32), mask)
    return Signals(
        size=size,
        eligible=mask,
        count=int(mask.sum()),
        recency_order=order,
        recency_rank=places,
        age_order=age,
        id_order=np.arange(size, dtype=np.int64),
        levels=np.array(levels or [1] * size, dtype=np.int8),
        keyword=None if keyword is None else bm25,
        similarity=None if vector is None else similarity,
        restrict=None,
    )


def ranks(ranked: Ranked) -> tuple[int, int, int]:
    """Return (vector, keyword, recency)."""
    return ranked.vector_rank, ranked.keyword_rank, ranked.recency_rank


def test_example_1_fused_scores() -> None:
    """Contract 5.4, example 1, C44."""
    f1, f2, f3, f4 = range(4)
    order = rank(
        signals([f3, f2, f1, f4], vector={f1: 3, f2: 2, f4: 1}, keyword={f2: 2, f1: 1}),
        default_signal_weights(),
    ).prefix(8)
    assert [(r.row, *ranks(r)) for r in order] == [
        (f2, 2, 1, 2),
        (f1, 1, 2, 3),
        (f4, 3, 0, 4),
        (f3, 0, 0, 1),
    ]
    assert printed(r.final_score for r in order) == (
        "0.0405869910 0.0404589828 0.0236855159 0.0081967213"
    )
    assert all(r.final_score == r.base_score and r.factor == 1.0 for r in order)


def test_example_2_keyword_only() -> None:
    """Contract 5.4, example 2, C45."""
    facts = [list(tokenize(text)) for text in (A, B, C)]
    bm25 = score(facts, ["deploys", "approvals"], [True] * 3)
    order = rank(replace(signals([2, 1, 0]), keyword=bm25), SignalWeights()).prefix(3)
    assert [(r.row, *ranks(r)) for r in order] == [(1, 0, 1, 2), (0, 0, 2, 3), (2, 0, 0, 1)]
    assert printed(r.final_score for r in order) == ("0.0244579588 0.0240655402 0.0081967213")


def test_example_3_a_filtered_fact_takes_no_rank() -> None:
    """Contract 5.4, example 3."""
    facts = [list(tokenize(text)) for text in (A, B, C)]
    keep = [True, False, True]
    bm25 = score(facts, ["deploys", "approvals"], keep)
    order = rank(
        replace(signals([2, 1, 0], eligible=keep, levels=[1, 0, 1]), keyword=bm25), SignalWeights()
    ).prefix(3)
    assert [(r.row, *ranks(r)) for r in order] == [(0, 0, 1, 2), (2, 0, 0, 1)]
    assert printed(r.final_score for r in order) == ("0.0244579588 0.0081967213")


def test_example_4_confidence_reorders() -> None:
    """Contract 5.5, example 4, C53."""
    p, q, r = range(3)
    given_ = signals(
        [q, p, r], vector={p: 3, q: 2, r: 1}, keyword={p: 3, q: 2, r: 1}, levels=[0, 1, 2]
    )
    plain = rank(given_, SignalWeights()).prefix(3)
    assert [x.row for x in plain] == [p, q, r]
    assert printed(x.base_score for x in plain) == ("0.0408514014 0.0404547858 0.0396825397")
    order = rank(given_, SignalWeights(), confidence_weight=0.2).prefix(3)
    assert [x.row for x in order] == [r, q, p]
    assert [x.factor for x in order] == [1.2, 1.0, 0.8]
    assert [x.level for x in order] == [2, 1, 0]
    assert printed(x.final_score for x in order) == ("0.0476190476 0.0404547858 0.0326811211")
    assert printed([order[0].base_score]) == "0.0396825397"


def test_example_5_equal_scores_come_oldest_first() -> None:
    """Contract 5.6, example 5."""
    x, y = range(2)
    given_ = signals([x, y], vector={x: 2, y: 1}, keyword={y: 2, x: 1})
    order = rank(given_, SignalWeights(vector=1.0, keyword=1.0, recency=0.0)).prefix(2)
    assert [(r.row, *ranks(r)) for r in order] == [(y, 2, 1, 2), (x, 1, 2, 1)]
    assert order[0].final_score == order[1].final_score
    assert printed([order[0].final_score]) == "0.0325224749"


def test_example_6_the_floor_cuts_and_repeated_texts_are_skipped() -> None:
    """Contract 5.7, example 6."""
    a, b, c, d = range(4)
    given_ = signals([d, c, b, a], vector={a: 2, b: 1}, keyword={a: 3, b: 2, c: 1})
    ranking = rank(given_, SignalWeights(), min_relevance=0.5)
    order = ranking.prefix(10)
    assert [(r.row, *ranks(r)) for r in order] == [(a, 1, 1, 4), (b, 2, 2, 3), (c, 0, 3, 2)]
    assert printed(r.final_score for r in order) == ("0.0405993852 0.0401945725 0.0239375320")
    assert printed([rank(given_, SignalWeights()).prefix(4)[3].final_score]) == "0.0081967213"
    assert first_distinct(["A", "A", "C"], 2) == [0, 2]
    assert first_distinct(["A", "B", "C"], 2) == [0, 1]
    assert first_distinct(["A"], 0) == []


@dataclass
class Case:
    """One random ranking problem."""

    signals: Signals
    weights: SignalWeights
    confidence_weight: float
    min_relevance: float
    first_depth: int | None = None

    def ranking(self) -> Ranking:
        """Rank as production does."""
        return rank(
            self.signals,
            self.weights,
            confidence_weight=self.confidence_weight,
            min_relevance=self.min_relevance,
            first_depth=self.first_depth,
        )


WEIGHT = st.sampled_from([0.0, 0.001, 0.5, 1.0, 3.0])


@st.composite
def cases(draw: st.DrawFn, max_size: int = 60) -> Case:
    """Draw signals with many ties, filters, restrictions and absent lists."""
    size = draw(st.integers(0, max_size))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    spread = draw(st.sampled_from([1, 3, 1000]))
    # Keys far apart: a mistake that only shows when they are not 0..n-1 must show here.
    age = np.sort(rng.choice(2**62, size, replace=False))[rng.permutation(size)]
    eligible = rng.random(size) < draw(st.sampled_from([0.0, 0.5, 1.0]))
    similarity = rng.integers(0, spread, size).astype(np.float32)
    similarity[rng.random(size) < draw(st.sampled_from([0.0, 0.4]))] = NEVER
    keyword = rng.integers(0, spread, size) / 7.0
    newest = np.argsort(-(age // draw(st.sampled_from([1, 2**60])))).astype(np.int32)
    order, places = among_eligible(newest, eligible)
    return Case(
        signals=Signals(
            size=size,
            eligible=eligible,
            count=int(eligible.sum()),
            recency_order=order,
            recency_rank=places,
            age_order=age.astype(np.int64),
            id_order=rng.permutation(size).astype(np.int64),
            levels=rng.integers(0, 3, size).astype(np.int8),
            keyword=keyword if draw(st.booleans()) else None,
            similarity=similarity if draw(st.booleans()) else None,
            restrict=rng.random(size) < 0.5 if draw(st.booleans()) else None,
        ),
        weights=SignalWeights(vector=draw(WEIGHT), keyword=draw(WEIGHT), recency=draw(WEIGHT)),
        confidence_weight=draw(st.sampled_from([0.0, 0.2, 0.5])),
        min_relevance=draw(st.sampled_from([0.0, 0.3, 0.9, 1.0])),
        first_depth=draw(st.sampled_from([None, 1, 5])),
    )


def naive(case: Case) -> list[Ranked]:
    """Rank every row with sorts and loops, as the contract words it."""
    s, w = case.signals, case.weights
    rows = [row for row in range(s.size) if s.eligible[row]]
    may = [row for row in rows if s.restrict is None or s.restrict[row]]
    vector: list[int] = []
    keyword: list[int] = []
    if s.similarity is not None:
        similar = s.similarity
        vector = [row for row in may if similar[row] > NEVER]
        vector.sort(key=lambda row: (-similar[row], s.id_order[row]))
    if s.keyword is not None:
        bm25 = s.keyword
        keyword = [row for row in may if bm25[row] > 0]
        keyword.sort(key=lambda row: (-bm25[row], s.age_order[row]))
    recency = [int(row) for row in s.recency_order]
    positions = [{row: i for i, row in enumerate(ls, 1)} for ls in (vector, keyword, recency)]
    found: list[Ranked] = []
    for row in rows:
        r_v, r_k, r_r = (position.get(row, 0) for position in positions)
        base = 0.0
        for weight, place in ((w.vector, r_v), (w.keyword, r_k), (w.recency, r_r)):
            base += weight / (60 + place) if place else 0.0
        level = int(s.levels[row])
        times = 1.0 + case.confidence_weight * (level - 1)
        found.append(
            Ranked(
                row=row,
                vector_rank=r_v,
                keyword_rank=r_k,
                recency_rank=r_r,
                base_score=base,
                factor=times,
                final_score=base * times,
                level=level,
            )
        )
    found.sort(key=lambda r: (-r.final_score, s.age_order[r.row]))
    for place, ranked in enumerate(found):
        if ranked.final_score < case.min_relevance * found[0].final_score:
            return found[:place]
    return found


@settings(max_examples=400)
@given(cases(), st.integers(0, 12))
def test_the_short_way_equals_the_full_computation(case: Case, n: int) -> None:
    """Contract 5.1: shortcuts are free when order, scores and ranks are equal, bit for bit."""
    ranking = case.ranking()
    expected = naive(case)
    assert ranking.prefix(n) == expected[:n]
    assert ranking.prefix(n // 2) == expected[: n // 2]
    assert ranking.prefix(100) == expected


@settings(max_examples=25)
@given(cases(max_size=3000), st.integers(1, 12))
def test_the_short_way_is_exact_where_it_sees_few_of_many_rows(case: Case, n: int) -> None:
    """Contract 5.1: as above, at sizes at which most rows are never candidates."""
    assert case.ranking().prefix(n) == naive(case)[:n]


@pytest.mark.parametrize("first_depth", [None, 1])
def test_a_sum_that_is_deep_in_every_list_still_comes_first(first_depth: int | None) -> None:
    """Contract 5.1: a depth proves nothing until the best beats all that lies deeper."""
    # Row 300 is 301st by vector and by recency; no row of the heads is in both.
    newest = list(range(3000))
    similar = {row: float(-row if row > 300 else 10_000 + row) for row in newest}
    levels = [0] * 300 + [2] + [0] * 2699
    case = Case(
        signals(newest, vector=similar, levels=levels),
        SignalWeights(vector=1.0, keyword=0.0, recency=1.0),
        0.5,
        0.0,
        first_depth,
    )
    assert case.ranking().prefix(3) == naive(case)[:3]


def test_equal_scores_beyond_the_first_depth_are_found_when_they_are_older() -> None:
    """Contract 5.6: a tie with a row not yet looked at is no proof."""
    oldest, older, newer = range(3)
    tied = signals(
        [newer, older, oldest], vector={newer: 3, older: 2}, keyword={oldest: 3, older: 2}
    )
    # newer: 61/61; older: 61/62 + 1/62. At depth 1 only `newer` and `oldest` are seen.
    case = Case(tied, SignalWeights(vector=61.0, keyword=1.0, recency=0.0), 0.0, 0.0, 1)
    assert [(r.row, r.final_score) for r in case.ranking().prefix(1)] == [(older, 1.0)]


def test_rows_that_score_nothing_come_oldest_first() -> None:
    """Contract 5.6: without recency most rows have score 0, and order is total all the same."""
    case = Case(
        signals(list(range(50)), keyword={3: 1.0}),
        SignalWeights(vector=1.0, keyword=1.0, recency=0.0),
        0.0,
        0.0,
        1,
    )
    assert [r.row for r in case.ranking().prefix(4)] == [3, 49, 48, 47]


@given(cases(max_size=30))
def test_rows_in_another_order_give_the_same_ranking(case: Case) -> None:
    """Contract 5.6, C47: order is total and ignores the order of insertion."""
    s = case.signals
    shuffle = np.random.default_rng(1).permutation(s.size)
    new_row = np.argsort(shuffle)
    moved = Signals(
        size=s.size,
        eligible=s.eligible[shuffle],
        count=s.count,
        recency_order=new_row[s.recency_order].astype(np.int32),
        recency_rank=s.recency_rank[shuffle],
        age_order=s.age_order[shuffle],
        id_order=s.id_order[shuffle],
        levels=s.levels[shuffle],
        keyword=None if s.keyword is None else s.keyword[shuffle],
        similarity=None if s.similarity is None else s.similarity[shuffle],
        restrict=None if s.restrict is None else s.restrict[shuffle],
    )
    before = rank(s, case.weights).prefix(30)
    after = rank(moved, case.weights).prefix(30)
    assert [replace(r, row=int(shuffle[r.row])) for r in after] == before


@given(cases(max_size=30))
def test_one_label_for_all_leaves_the_order_as_it_is(case: Case) -> None:
    """Contract 5.5: when all facts have one label, no weight changes the order."""
    same = replace(case.signals, levels=np.full(case.signals.size, 2, dtype=np.int8))
    plain = [r.row for r in rank(same, case.weights).prefix(30)]
    assert [r.row for r in rank(same, case.weights, confidence_weight=0.5).prefix(30)] == plain


@given(cases(max_size=30))
def test_a_list_of_weight_zero_keeps_its_ranks(case: Case) -> None:
    """Contract 5.4: an explicit zero switches a list off, its rank stays in the receipt."""
    off = rank(case.signals, SignalWeights(vector=0.0, keyword=0.0, recency=0.0)).prefix(30)
    on = {r.row: ranks(r) for r in rank(case.signals, SignalWeights()).prefix(30)}
    assert {r.row: ranks(r) for r in off} == on
    assert [r.final_score for r in off] == [0.0] * len(on)
    ages = [int(case.signals.age_order[r.row]) for r in off]
    assert ages == sorted(ages)


def test_an_identifier_found_first_beats_anything_unrelated() -> None:
    """Contract 5.3: 1/61 or more, where another fact has at most 0.5/61."""
    size = 1000
    only_oldest = np.zeros(size, dtype=np.bool_)
    only_oldest[0] = True
    given_ = replace(
        signals(
            list(range(size))[::-1],
            vector={row: float(row) for row in range(size)},
            keyword={row: 1.0 + row for row in range(size)},
        ),
        restrict=only_oldest,
    )
    order = rank(given_, SignalWeights()).prefix(2)
    assert [(r.row, *ranks(r)) for r in order] == [(0, 1, 1, 1000), (999, 0, 0, 1)]
    assert order[0].final_score >= 1 / 61
    assert order[1].final_score == 0.5 / 61


def test_an_empty_namespace_ranks_nothing() -> None:
    """Contract C48."""
    assert rank(signals([]), SignalWeights()).prefix(8) == []
    assert rank(signals([0], eligible=[False]), SignalWeights()).prefix(8) == []
    assert rank(signals([0]), SignalWeights()).prefix(-1) == []


@pytest.mark.parametrize(("level", "expected"), [(0, 0.8), (1, 1.0), (2, 1.2)])
def test_the_factor_of_a_label(level: int, expected: float) -> None:
    """Contract 4.4, C53."""
    assert factor(level, 0.2) == expected
    assert factor(np.array([level], dtype=np.int8), 0.2).tolist() == [expected]


@given(cases(max_size=30))
def test_a_ranking_reproduces_from_its_three_lists(case: Case) -> None:
    """Contract 5.4, C44: fused scores are those of plain reciprocal rank fusion."""
    w = case.weights
    order = rank(case.signals, w).prefix(30)
    lists = [
        [FactId(str(r.row)) for r in sorted(order, key=lambda r: ranks(r)[i]) if ranks(r)[i]]
        for i in range(3)
    ]
    fused = reciprocal_rank_fusion(lists, [w.vector, w.keyword, w.recency])
    assert {FactId(str(r.row)): r.base_score for r in order if r.base_score} == fused


@given(st.lists(st.sampled_from("abcdef").map(FactId), unique=True))
def test_a_zero_weight_signal_changes_nothing(ranking: list[FactId]) -> None:
    """Contract: weight 0 switches a signal off, so old callers keep their scores."""
    alone = reciprocal_rank_fusion([ranking], [1.0])
    with_off = reciprocal_rank_fusion([ranking, [FactId("z"), *ranking[::-1]]], [1.0, 0.0])
    assert with_off == alone


def test_lists_and_weights_must_match() -> None:
    """House guide: the signature's promise."""
    with pytest.raises(ValueError, match="shorter"):
        reciprocal_rank_fusion([[], []], [1.0])
