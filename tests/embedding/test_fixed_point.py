from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from graymatter_mcp.embedding.base import fixed_point_scale, to_fixed_point

DIMS = [1, 64, 384, 768, 1024, 4096]


def unit_rows(seed: int, rows: int, dim: int, near: float) -> NDArray[np.float32]:
    """Random unit vectors, the rows after the first mixed with it by the factor `near`."""
    raw = np.random.default_rng(seed).standard_normal((rows, dim))
    raw[1:] = near * raw[0] + (1 - near) * raw[1:]
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize(
    ("dim", "scale"), [(1, 4094), (64, 4091), (384, 4085), (768, 4081), (1024, 4079), (4096, 4063)]
)
def test_the_scale_leaves_room_for_rounding(dim: int, scale: int) -> None:
    """ADR 0001: 4096 - ceil(sqrt(dim) / 2) - 1, worked by hand."""
    assert fixed_point_scale(dim) == scale


@given(
    seed=st.integers(0, 2**32 - 1), dim=st.sampled_from(DIMS), near=st.sampled_from([0.0, 0.5, 1.0])
)
def test_dot_products_are_the_same_whole_number_however_they_are_summed(
    seed: int, dim: int, near: float
) -> None:
    """ADR 0001: one ranking on every platform, so no sum may depend on its order."""
    fixed = to_fixed_point(unit_rows(seed, 6, dim, near))
    exact = fixed.astype(np.int64) @ fixed.astype(np.int64).T
    as_float = fixed.astype(np.float32)
    order = np.random.default_rng(seed + 1).permutation(dim)
    blas = as_float @ as_float.T
    permuted = as_float[:, order] @ np.ascontiguousarray(as_float[:, order].T)
    one_by_one = np.cumsum(as_float[0] * as_float[1], dtype=np.float32)[-1]
    assert np.array_equal(blas.astype(np.int64), exact)
    assert np.array_equal(permuted.astype(np.int64), exact)
    assert int(one_by_one) == exact[0, 1]


@pytest.mark.parametrize("dim", DIMS)
def test_the_hardest_vectors_stay_below_the_limit_of_float32(dim: int) -> None:
    """ADR 0001: components that all round away from zero give the longest vectors there are."""
    scale = fixed_point_scale(dim)
    level = np.floor(scale / np.sqrt(dim) - 0.5)
    worst = np.full((1, dim), (level + 0.5 + 1e-3) / scale, np.float32)
    fixed = to_fixed_point(worst).astype(np.int64)
    assert fixed.min() == level + 1
    assert int((fixed**2).sum()) < 2**24


@given(seed=st.integers(0, 2**32 - 1), near=st.sampled_from([0.0, 0.5, 0.9]))
def test_rounding_moves_a_cosine_by_less_than_a_thousandth(seed: int, near: float) -> None:
    """ADR 0001: for 384 dimensions 1e-4 is typical, 1e-3 out of reach, 5e-3 impossible."""
    units = unit_rows(seed, 12, 384, near)
    fixed = to_fixed_point(units)
    true = units.astype(np.float64) @ units.astype(np.float64).T
    found = fixed.astype(np.float64) @ fixed.astype(np.float64).T / fixed_point_scale(384) ** 2
    assert fixed.dtype == np.int16
    assert fixed.shape == units.shape
    error = np.abs(found - true)
    assert error.max() <= 5e-3
    np.fill_diagonal(error, 0)
    assert error.max() <= 1e-3
    assert np.sqrt((error**2).mean()) <= 2.5e-4  # of twelve rows; over many it is 1e-4
