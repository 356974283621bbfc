"""Neighbours against the worked example and against every path tried."""

from __future__ import annotations

from collections import defaultdict
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.ranking.paths import STRONGEST, Graph, Neighbour, neighbours

Edges = list[tuple[str, str, float]]
EXAMPLE: Edges = [("a", "b", 0.9), ("b", "c", 0.8), ("a", "c", 0.6), ("c", "d", 0.5)]


def graph(edges: Edges, hidden: str = "", newest: str = "") -> Graph:
    """Build a graph; facts in `newest` changed last, in its order."""
    beside: dict[FactId, list[tuple[FactId, float]]] = defaultdict(list)
    for one, other, strength in edges:
        beside[FactId(one)].append((FactId(other), strength))
        beside[FactId(other)].append((FactId(one), strength))
    return Graph(
        edges=lambda ids: {fact: beside[fact] for fact in ids if fact in beside},
        visible=lambda fact: fact not in hidden,
        changed_at=newest.find,
    )


def found(edges: Edges, depth: int, hidden: str = "", k: int = 20) -> list[tuple[str, float]]:
    """Return (fact, score) of the neighbours of a."""
    result = neighbours(FactId("a"), depth=depth, k=k, graph=graph(edges, hidden))
    return [(one.fact_id, round(one.score, 9)) for one in result]


def test_the_worked_example() -> None:
    """Data-plane contract, example E6."""
    assert found(EXAMPLE, 1) == [("b", 0.9), ("c", 0.6)]
    assert found(EXAMPLE, 2) == [("b", 0.9), ("c", 0.72), ("d", 0.3)]
    assert found(EXAMPLE, 3) == [("b", 0.9), ("c", 0.72), ("d", 0.36)]
    assert found(EXAMPLE, 3, hidden="b") == [("c", 0.6), ("d", 0.3)]
    assert found(EXAMPLE, 3, k=1) == [("b", 0.9)]


def test_a_hidden_or_lonely_seed_has_no_neighbours() -> None:
    """Data-plane contract 3.10."""
    assert found(EXAMPLE, 3, hidden="a") == []
    assert found([("b", "c", 1.0)], 3) == []
    assert found([("a", "a", 1.0), ("a", "b", 0.0)], 3) == []


def test_the_strongest_of_several_edges_counts() -> None:
    """Data-plane contract 6."""
    assert found([("a", "b", 0.3), ("b", "a", 0.7), ("a", "b", 0.5)], 1) == [("b", 0.7)]


def test_equal_scores_come_by_hops_then_newest_then_id_descending() -> None:
    """Data-plane contract 6.1."""
    edges = [("a", "b", 1.0), ("b", "c", 1.0), ("a", "d", 1.0), ("a", "e", 1.0), ("b", "f", 1.0)]
    result = neighbours(FactId("a"), depth=2, k=9, graph=graph(edges, newest="xxd"))
    assert [(one.fact_id, one.hops) for one in result] == [
        ("d", 1), ("e", 1), ("b", 1), ("f", 2), ("c", 2),
    ]  # fmt: skip
    assert result[0] == Neighbour(fact_id=FactId("d"), score=1.0, hops=1)


def test_only_the_strongest_edges_are_followed_and_hidden_ones_take_no_place() -> None:
    """Data-plane contract 6.1: 64 a fact."""
    many = [("a", chr(0x4E00 + i), 0.9 if i < STRONGEST else 0.8) for i in range(STRONGEST + 2)]
    hidden = chr(0x4E00)
    assert len(found(many, 1, k=99)) == STRONGEST
    kept = found(many, 1, hidden=hidden, k=99)
    assert len(kept) == STRONGEST
    assert kept[-1] == (chr(0x4E00 + STRONGEST + 1), 0.8)


NAMES = "abcde"
SOME = st.lists(
    st.tuples(
        st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from([0.0, 0.25, 0.5, 1.0])
    ),
    max_size=10,
)


@given(SOME, st.integers(1, 3), st.sets(st.sampled_from("bcde")), st.randoms())
def test_each_score_is_that_of_the_best_simple_path(
    edges: Edges, depth: int, hidden: set[str], shuffler: st.DataObject
) -> None:
    """Data-plane contract 6.1, by trying all paths; the order of edges does not matter."""
    strengths: dict[tuple[str, str], float] = defaultdict(float)
    for one, other, strength in edges:
        for pair in ((one, other), (other, one)):
            strengths[pair] = max(strengths[pair], strength)
    expected: dict[str, tuple[float, int]] = {}
    for hops in range(1, depth + 1):
        for path in permutations(sorted(set("bcde") - hidden), hops):
            score = 1.0
            for pair in zip(("a", *path), path, strict=False):
                score *= strengths[pair]
            if score > expected.get(path[-1], (0.0, 0))[0]:
                expected[path[-1]] = (score, hops)
    ranked = sorted(expected, key=lambda n: (expected[n][0], -expected[n][1], n), reverse=True)
    shuffler.shuffle(edges)  # type: ignore[attr-defined] # the strategy gives a random.Random
    result = neighbours(FactId("a"), depth=depth, k=9, graph=graph(edges, "".join(hidden)))
    assert [(one.fact_id, one.score, one.hops) for one in result] == [
        (name, *expected[name]) for name in ranked
    ]
