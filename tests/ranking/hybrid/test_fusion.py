"""Fusion against the worked example, a plain loop, and what must hold for every corpus."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import fields, replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graymatter_mcp.ranking.context import chain_steps
from graymatter_mcp.ranking.hybrid.fusion import Fused, Inputs, fuse
from graymatter_mcp.ranking.hybrid.graph import Adjacency, graph_signal, next_pairs
from graymatter_mcp.ranking.hybrid.weights import Weights
from tests.ranking.hybrid.corpus import DEGRADED, EXAMPLE, A, B, C, D, corpora

near = partial(pytest.approx, abs=1e-6)


def listed(values: NDArray[np.float64]) -> list[float]:
    """Return the values of A, B, C and D."""
    return values.tolist()


def order(fused: Fused) -> list[int]:
    """Return the rows by score, best first; no two of them tie here."""
    return np.argsort(-fused.score).tolist()


def test_the_worked_example_with_all_signals() -> None:
    """Data-plane contract, example E1."""
    fused = fuse(EXAMPLE)
    assert listed(fused.keyword) == near([1.0, 0.5, 0.0, 0.0])
    assert listed(fused.vector) == near([0.885714, 0.571429, 0.142857, 1.0])
    assert listed(fused.graph) == near([0.0, 0.0, 0.942857, 0.0])
    assert listed(fused.entity) == near([0.0, 0.0, 0.0, 1.0])
    assert listed(fused.recency) == [0.0] * 4
    assert fused.supported.all()
    assert listed(fused.score) == near([0.673469, 0.382653, 0.253061, 0.428571])
    assert order(fused) == [A, D, B, C]


def test_the_worked_example_without_vectors() -> None:
    """Data-plane contract, example E1, degraded: the weight of the leg leaves the denominator."""
    fused = fuse(DEGRADED)
    assert listed(fused.vector) == [0.0] * 4
    assert listed(fused.graph) == near([0.0, 0.0, 1.0, 0.0])
    assert fused.supported.all()
    assert listed(fused.score) == near([0.555556, 0.277778, 0.333333, 0.111111])
    assert order(fused) == [A, C, B, D]


def test_a_fact_below_the_noise_floor_is_not_supported_without_its_neighbour() -> None:
    """Data-plane contract 4.6: C has a cosine of 0.10 and nothing else."""
    fused = fuse(replace(EXAMPLE, adjacency=Adjacency()))
    assert fused.supported.tolist() == [True, True, False, True]


def test_a_floor_of_nought_supports_every_fact() -> None:
    """Data-plane contract 4.6: those with a negative cosine and with none among them."""
    cosine = np.array([0.62, 0.8, -0.1, math.nan])
    inputs = replace(EXAMPLE, cosine=cosine, adjacency=Adjacency(), entity=np.zeros(4))
    assert fuse(replace(inputs, min_vector_score=0.0)).supported.all()
    assert not fuse(replace(inputs, min_vector_score=0.0, cosine=None)).supported[2:].any()


def test_a_pending_vector_has_no_signal_and_moves_no_other() -> None:
    """Data-plane contract 4.3."""
    for missing in (math.nan, -math.inf):
        cosine = np.array([0.62, missing, 0.10, 0.70])
        fused = fuse(replace(EXAMPLE, cosine=cosine))
        assert listed(fused.vector) == near([0.885714, 0.0, 0.142857, 1.0])
        assert fused.supported.all()


def test_negative_cosines_move_the_lower_end() -> None:
    """Data-plane contract 4.3: lo = -0.2, hi = 0.6, so 0 lies at a quarter."""
    fused = fuse(replace(EXAMPLE, cosine=np.array([0.6, 0.0, -0.2, 0.2])))
    assert listed(fused.vector) == near([1.0, 0.25, 0.0, 0.5])


def test_equal_vectors_below_nought_rank_nothing() -> None:
    """Data-plane contract 4.3: 0 when hi <= lo."""
    fused = fuse(replace(EXAMPLE, cosine=np.full(4, -0.5), content_tokens=np.full(4, 8)))
    assert listed(fused.vector) == [0.0] * 4


def test_recency_falls_with_age_and_supports_nothing() -> None:
    """Data-plane contract 4.5, 4.6: exp(-180/180) = 0.367879, weights 1.5 in all."""
    inputs = replace(
        EXAMPLE,
        adjacency=Adjacency(),
        weights=Weights(recency=0.1),
        age_days=np.array([0.0, 0.0, 180.0, 0.0]),
    )
    fused = fuse(inputs)
    assert listed(fused.recency) == near([1.0, 1.0, 0.367879, 1.0])
    assert fused.supported.tolist() == [True, True, False, True]
    assert listed(fused.score)[A] == near((0.942857 + 0.1) / 1.5)


def test_a_chain_reaches_two_steps_on_either_side() -> None:
    """Data-plane contract 4.4: the best neighbour within two `next` steps, never the fact."""
    inputs = replace(
        EXAMPLE,
        eligible=np.ones(7, np.bool_),
        bm25=np.array([0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0]),
        cosine=None,
        content_tokens=np.full(7, 9),
        adjacency=Adjacency(next=next_pairs(np.array([-1, 0, 1, 2, 3, 4, 5]))),
        entity=np.zeros(7),
        age_days=np.zeros(7),
    )
    assert fuse(inputs).graph.tolist() == [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0]
    hidden = np.array([True, True, True, True, False, True, True])
    assert fuse(replace(inputs, eligible=hidden)).graph.tolist() == [0, 1, 1, 0, 0, 0, 0]


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6), st.data())
def test_steps_lend_as_the_edges_do_that_they_stand_for(
    chain: list[int], may_be_seen: list[bool], data: st.DataObject
) -> None:
    """Data-plane contract 4.4: they are only quicker."""
    previous = np.full(6, -1, np.int32)
    for before, row in pairwise(chain[:4]):
        previous[row] = before
    eligible = np.array(may_be_seen)
    scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=6, max_size=6)
    base = np.where(eligible, np.array(data.draw(scores)), 0.0)
    by_edges = graph_signal(Adjacency(next=next_pairs(previous)), base, eligible)
    steps = chain_steps(previous, eligible)
    assert steps is not None
    by_steps = graph_signal(Adjacency(next_steps=steps), base, eligible)
    assert by_steps[eligible].tolist() == by_edges[eligible].tolist()
    assert not by_steps[~eligible].any()


def test_a_weak_neighbour_lends_over_two_steps_too() -> None:
    """Data-plane contract 4.4."""
    chain = Adjacency(next=np.array([[0, 1], [1, 2], [2, 3]]))
    signal = graph_signal(chain, np.array([0.2, 0.0, 0.1, 0.0]), np.ones(4, np.bool_))
    assert signal.tolist() == [0.1, 0.2, 0.2, 0.1]


def test_a_link_of_an_agent_lends_one_step_with_its_strength() -> None:
    """Data-plane contract 4.4 and 6: B is linked to A, and D to B, not to A."""
    links = Adjacency(links=np.array([[A, B], [B, D]]), link_strengths=np.array([0.5, 1.0]))
    graph = listed(fuse(replace(EXAMPLE, adjacency=links)).graph)
    assert graph == near([0.267857, 0.5, 0.0, 0.535714])


def test_a_search_of_the_graph_alone_starts_from_keyword_and_vector() -> None:
    """Data-plane contract 4.4: 0.5/0.5 when both weights are 0; they support nothing."""
    alone = Weights(keyword=0, vector=0, graph=1, entity=0)
    fused = fuse(replace(EXAMPLE, weights=alone))
    assert listed(fused.keyword) == listed(fused.vector) == [0.0] * 4
    assert listed(fused.score) == near([0.0, 0.0, 0.942857, 0.0])
    assert fused.supported.tolist() == [False, False, True, False]


def test_an_identifier_search_by_keyword_alone() -> None:
    """Data-plane contract D24."""
    fused = fuse(replace(EXAMPLE, weights=Weights(vector=0, graph=0, entity=0, keyword=1)))
    assert listed(fused.score) == near([1.0, 0.5, 0.0, 0.0])
    assert fused.supported.tolist() == [True, True, False, False]


def test_nothing_that_ran_scores_nothing() -> None:
    """Data-plane contract 4.12: failed legs contribute nothing."""
    nothing = replace(EXAMPLE, bm25=None, cosine=None, adjacency=None, entity=None)
    fused = fuse(nothing)
    assert not fused.supported.any()
    assert listed(fused.score) == [0.0] * 4


@given(corpora())
def test_the_score_equals_the_formulas_row_by_row(inputs: Inputs) -> None:
    """Data-plane contract 4.2 to 4.6, by plain loops."""
    assert fuse(inputs).score.tolist() == pytest.approx(plainly(inputs), abs=1e-9)


@given(corpora(), st.sampled_from(["keyword", "vector", "graph", "entity"]))
def test_weight_nought_equals_a_leg_that_did_not_run(inputs: Inputs, name: str) -> None:
    """Data-plane contract 4: a leg with weight 0 is configured out."""
    weights = replace(inputs.weights, keyword=0.5, vector=0.5)
    weights = replace(weights, **{name: 0.0})
    absent = {"keyword": "bm25", "vector": "cosine", "graph": "adjacency", "entity": "entity"}
    off = fuse(replace(inputs, weights=weights))
    gone = fuse(replace(inputs, weights=weights, **{absent[name]: None}))
    assert all_equal(off, gone)


@given(corpora())
def test_filter_then_rank_equals_rank_on_the_filtered_corpus(inputs: Inputs) -> None:
    """Data-plane contract 4.1: no statistic sees what is not eligible."""
    rows = np.flatnonzero(inputs.eligible)
    place = np.cumsum(inputs.eligible) - 1

    def cut(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if values is None else values[rows]

    adjacency = inputs.adjacency or Adjacency()
    kept = inputs.eligible[adjacency.links].all(axis=1)
    smaller = replace(
        inputs,
        eligible=inputs.eligible[rows],
        bm25=cut(inputs.bm25),
        cosine=cut(inputs.cosine),
        content_tokens=inputs.content_tokens[rows],
        adjacency=Adjacency(
            next=place[adjacency.next[inputs.eligible[adjacency.next].all(axis=1)]],
            links=place[adjacency.links[kept]],
            link_strengths=adjacency.link_strengths[kept],
        ),
        entity=cut(inputs.entity),
        age_days=inputs.age_days[rows],
    )
    whole, part = fuse(inputs), fuse(smaller)
    for one in fields(Fused):
        values = getattr(whole, one.name)
        assert values[rows].tolist() == getattr(part, one.name).tolist()
        assert not values[~inputs.eligible].any()


@given(corpora())
def test_every_signal_and_score_lies_between_nought_and_one(inputs: Inputs) -> None:
    """Data-plane contract 2.7: a signal above 1 would break the schema of the answer."""
    fused = fuse(inputs)
    for one in fields(Fused):
        values = getattr(fused, one.name)
        assert ((values >= 0) & (values <= 1)).all()


def test_a_clock_set_back_lifts_no_signal_above_one() -> None:
    """Data-plane contract 2.7."""
    inputs = replace(EXAMPLE, weights=Weights(recency=1), age_days=np.full(4, -1.0))
    assert listed(fuse(inputs).recency) == [1.0] * 4


def all_equal(one: Fused, other: Fused) -> bool:
    """Whether both hold the same bits."""
    names = [field.name for field in fields(Fused)]
    return all((getattr(one, n) == getattr(other, n)).all() for n in names)


def plainly(inputs: Inputs) -> list[float]:
    """Work out the score of each row without arrays."""
    weights, size = inputs.weights, len(inputs.eligible)
    rows = [row for row in range(size) if inputs.eligible[row]]
    keyword, vector = plain_keyword(inputs, rows), plain_vector(inputs, rows)
    entity = [0.0] * size
    if inputs.entity is not None and weights.entity > 0:
        entity = inputs.entity.tolist()
    is_both_off = weights.keyword == weights.vector == 0
    keyword_weight = 0.5 if is_both_off else weights.keyword
    vector_weight = 0.5 if is_both_off else weights.vector
    keyword_weight *= inputs.bm25 is not None
    vector_weight *= inputs.cosine is not None

    def lent(row: int) -> float:
        supported = entity[row] > 0 or (keyword_weight > 0 and keyword[row] > 0)
        if vector_weight > 0 and inputs.cosine is not None:
            is_near = inputs.cosine[row] >= inputs.min_vector_score
            supported = supported or is_near or inputs.min_vector_score == 0
        total = keyword_weight + vector_weight
        if not supported or total == 0:
            return 0.0
        return (keyword_weight * keyword[row] + vector_weight * vector[row]) / total

    near = plain_neighbours(inputs, rows)
    scores = [0.0] * size
    for row in rows:
        graph = max((strength * lent(other) for other, strength in near[row]), default=0.0)
        pairs = [
            (weights.keyword * (inputs.bm25 is not None), keyword[row]),
            (weights.vector * (inputs.cosine is not None), vector[row]),
            (weights.graph, graph),
            (weights.entity, entity[row]),
            (weights.recency, math.exp(-inputs.age_days[row] / 180)),
        ]
        total = sum(weight for weight, _ in pairs)
        scores[row] = sum(weight * signal for weight, signal in pairs) / total if total else 0.0
    return scores


def plain_keyword(inputs: Inputs, rows: list[int]) -> list[float]:
    """Return bm25 over its largest."""
    if inputs.bm25 is None:
        return [0.0] * len(inputs.eligible)
    largest = max((inputs.bm25[row] for row in rows), default=0.0)
    return [score / largest if largest else 0.0 for score in inputs.bm25.tolist()]


def plain_vector(inputs: Inputs, rows: list[int]) -> list[float]:
    """Return the damped cosines between their ends."""
    signal = [0.0] * len(inputs.eligible)
    if inputs.cosine is None:
        return signal
    damped = {
        row: inputs.cosine[row] * min(1.0, inputs.content_tokens[row] / 8)
        for row in rows
        if math.isfinite(inputs.cosine[row])
    }
    low, high = min([0.0, *damped.values()]), max(damped.values(), default=-2.0)
    for row, value in damped.items():
        signal[row] = (value - low) / (high - low) if high > low else 0.0
    return signal


def plain_neighbours(inputs: Inputs, rows: list[int]) -> dict[int, list[tuple[int, float]]]:
    """Return (row, strength) of all that stand beside each row."""
    beside: dict[int, set[int]] = defaultdict(set)
    found: dict[int, list[tuple[int, float]]] = defaultdict(list)
    adjacency = inputs.adjacency or Adjacency()
    for a, b in adjacency.next.tolist():
        if a in rows and b in rows and a != b:
            beside[a].add(b)
            beside[b].add(a)
    for row in rows:
        reached = beside[row].union(*(beside[other] for other in beside[row])) - {row}
        found[row] = [(other, 1.0) for other in reached]
    for (a, b), strength in zip(
        adjacency.links.tolist(), adjacency.link_strengths.tolist(), strict=True
    ):
        if a in rows and b in rows and a != b:
            found[a].append((b, strength))
            found[b].append((a, strength))
    return found
