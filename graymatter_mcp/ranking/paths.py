"""Neighbours of a fact: the best path to each, through nothing that is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from graymatter_mcp.model.ids import FactId

STRONGEST: Final = 64
"""Edges that are followed from one fact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """What is asked of the graph and its facts."""

    edges: Callable[[Sequence[FactId]], Mapping[FactId, Iterable[tuple[FactId, float]]]]
    """Maps facts to (other fact, strength in [0, 1]), both ways; one without edges may be left out.
    Asked once for each step."""
    visible: Callable[[FactId], bool]
    """Whether the request may see a fact."""
    changed_at: Callable[[FactId], int]
    """Microseconds of the last change of content; asked of visible facts only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A fact that a path leads to."""

    fact_id: FactId
    score: float
    """Product of the strengths along its best path, in (0, 1]."""
    hops: int
    """Edges of the shortest of its best paths, from 1."""


def neighbours(seed: FactId, *, depth: int, k: int, graph: Graph) -> list[Neighbour]:
    """Return the best k facts within `depth` edges of the seed, without the seed.

    Every fact on a path must be visible, the seed too. From each the 64 strongest edges to visible
    facts are followed; between two facts only the strongest edge counts.

    Returns:
        By score descending, fewer hops, newest change first, id descending.

    Source: data-plane contract 6.1.
    """
    if not graph.visible(seed):
        return []
    # No strength is above 1, so a way round is never better and the best path repeats no fact.
    best: dict[FactId, Neighbour] = {seed: Neighbour(fact_id=seed, score=1.0, hops=0)}
    reached = [best[seed]]
    for hops in range(1, depth + 1):
        edges = graph.edges(sorted(node.fact_id for node in reached))
        improved: dict[FactId, Neighbour] = {}
        for node in reached:
            for other, strength in _strongest(edges.get(node.fact_id, ()), graph):
                score = node.score * strength
                if score > 0 and (other not in best or score > best[other].score):
                    best[other] = Neighbour(fact_id=other, score=score, hops=hops)
                    improved[other] = best[other]
        reached = list(improved.values())
        if not reached:
            break
    del best[seed]
    return sorted(best.values(), key=lambda one: _place(one, graph), reverse=True)[:k]


def _strongest(edges: Iterable[tuple[FactId, float]], graph: Graph) -> list[tuple[FactId, float]]:
    strengths: dict[FactId, float] = {}
    for other, strength in edges:
        # What is hidden must not take one of the places: that would tell of it.
        if graph.visible(other):
            strengths[other] = max(strength, strengths.get(other, 0.0))
    ordered = sorted(
        strengths.items(),
        key=lambda edge: (edge[1], graph.changed_at(edge[0]), edge[0]),
        reverse=True,
    )
    return ordered[:STRONGEST]


def _place(one: Neighbour, graph: Graph) -> tuple[float, int, int, FactId]:
    return one.score, -one.hops, graph.changed_at(one.fact_id), one.fact_id
