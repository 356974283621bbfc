"""The four facts of the worked example, in the order A, B, C, D, and random corpora."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from hypothesis import strategies as st

from graymatter_mcp.ranking.hybrid.fusion import Inputs
from graymatter_mcp.ranking.hybrid.graph import Adjacency
from graymatter_mcp.ranking.hybrid.weights import Weights

A, B, C, D = range(4)

EXAMPLE: Final = Inputs(
    eligible=np.ones(4, np.bool_),
    bm25=np.array([6.0, 3.0, 0.0, 0.0]),
    cosine=np.array([0.62, 0.80, 0.10, 0.70]),
    content_tokens=np.array([10, 4, 9, 12]),
    adjacency=Adjacency(next=np.array([[A, C]])),
    entity=np.array([0.0, 0.0, 0.0, 1.0]),
    age_days=np.zeros(4),
    weights=Weights(),
    min_vector_score=0.25,
)
DEGRADED: Final = replace(EXAMPLE, cosine=None)


@st.composite
def corpora(draw: st.DrawFn) -> Inputs:
    """Draw a small corpus; one leg or another may not have run."""
    size = draw(st.integers(1, 8))
    unit = st.floats(0, 1, width=16)

    def column(values: st.SearchStrategy[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(draw(st.lists(values, min_size=size, max_size=size)), np.float64)

    row = st.integers(0, size - 1)
    edges = st.lists(st.tuples(row, row), max_size=8)
    links = draw(edges)
    lists = st.lists(st.booleans(), min_size=size, max_size=size)
    cosine = st.one_of(st.floats(-1, 1, width=16), st.sampled_from([np.nan, -np.inf]))
    weight = st.sampled_from([0.0, 0.3, 0.5, 2.0])
    return Inputs(
        eligible=np.array(draw(lists), np.bool_),
        bm25=draw(st.one_of(st.none(), st.builds(column, st.just(st.floats(0, 9, width=16))))),
        cosine=draw(st.one_of(st.none(), st.builds(column, st.just(cosine)))),
        content_tokens=column(st.integers(0, 12).map(float)).astype(np.int64),
        adjacency=Adjacency(
            next=np.array(draw(edges), np.int64).reshape(-1, 2),
            links=np.array(links, np.int64).reshape(-1, 2),
            link_strengths=np.array([0.5] * len(links)),
        ),
        entity=column(unit),
        age_days=column(st.floats(0, 400, width=16)),
        weights=draw(
            st.builds(
                Weights,
                keyword=weight, vector=weight, graph=weight, entity=weight, recency=weight,
            )
        ),
        min_vector_score=draw(st.sampled_from([0.0, 0.25])),
    )  # fmt: skip
