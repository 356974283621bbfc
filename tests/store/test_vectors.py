"""The two ways of comparing vectors agree where both can be had."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.embedding.base import to_fixed_point
from graymatter_mcp.store.duckdb import codes
from graymatter_mcp.store.duckdb.vectors import Vectors

DIM = 96


def fixed(seed: int, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.int16]]:
    """Return random unit vectors in fixed point."""
    rows = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    return to_fixed_point(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def filled(vectors: np.ndarray[tuple[int, int], np.dtype[np.int16]], exact_up_to: int) -> Vectors:
    """Return an index of one vector a row."""
    index = Vectors(DIM, exact_up_to)
    for row, vector in enumerate(vectors):
        index.add(np.array([row]), vector[np.newaxis])
    return index


@given(seed=st.integers(0, 2**32 - 1), limit=st.integers(0, 40), hidden=st.sets(st.integers(0, 39)))
def test_both_ways_give_the_same_products_while_the_shortlist_holds_all(
    seed: int, limit: int, hidden: set[int]
) -> None:
    """Issue: exact products below the limit, codes and exact rescoring above it."""
    vectors, query = fixed(seed, 40), fixed(seed + 1, 2)
    eligible = np.array([row not in hidden for row in range(40)])
    exact = filled(vectors, 1000).view().similarities(query, eligible)
    coded = filled(vectors, limit).view().similarities(query, eligible)
    if not eligible.any():
        assert exact is None
        assert coded is None
    else:
        assert exact is not None
        assert coded is not None
        np.testing.assert_array_equal(exact, coded)


def test_codes_choose_the_nearest_and_keep_the_rest_below_them() -> None:
    """Issue: recall@8 >= .99 of what exact products give."""
    vectors, queries = fixed(7, 20_000), fixed(8, 20)
    for place, query in enumerate(queries):
        kin = slice(place * 10, place * 10 + 10)
        near = vectors[kin].astype(np.float32) + 0.8 * query.astype(np.float32)
        vectors[kin] = to_fixed_point(near / np.linalg.norm(near, axis=1, keepdims=True))
    everything = np.ones(len(vectors), np.bool_)
    packed = codes.sign_codes(vectors)
    found = total = 0
    for query in queries:
        truth = vectors.astype(np.int64) @ query.astype(np.int64)
        given_ = codes.similarities(vectors, packed, query, everything, shortlist=512)
        best = set(np.argsort(-truth, kind="stable")[:8].tolist())
        found += len(best & set(np.argsort(-given_, kind="stable")[:8].tolist()))
        total += 8
    assert found / total >= 0.99


def test_a_view_is_as_it_was_when_vectors_came_later() -> None:
    """Interface of Snapshot: later writes do not change a snapshot already taken."""
    vectors = fixed(3, 30)
    for limit in (1000, 10):
        index = filled(vectors[:20], limit)
        view = index.view()
        before = view.similarities(vectors[:1], np.ones(20, np.bool_))
        for row in range(20, 30):
            index.add(np.array([row]), vectors[row][np.newaxis])
        index.view()
        after = view.similarities(vectors[:1], np.ones(20, np.bool_))
        assert before is not None
        assert after is not None
        np.testing.assert_array_equal(before, after)
