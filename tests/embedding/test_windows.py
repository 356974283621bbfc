from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.windows import token_windows, unit_vector


@pytest.mark.parametrize(
    ("count", "windows"),
    [
        (0, [(0, 0)]),
        (1, [(0, 1)]),
        (10, [(0, 10)]),
        (11, [(0, 10), (7, 11)]),
        (17, [(0, 10), (7, 17)]),
        (18, [(0, 10), (7, 17), (14, 18)]),
    ],
)
def test_windows_of_ten_share_three(count: int, windows: list[tuple[int, int]]) -> None:
    """Design 4: text beyond the model's limit is embedded in windows; worked by hand."""
    found = token_windows(count, 10, overlap=3)
    assert [(window.start, window.stop) for window in found] == windows


@given(count=st.integers(0, 2000), size=st.integers(2, 300), data=st.data())
def test_every_token_is_in_a_window_and_every_window_adds_some(
    count: int, size: int, data: st.DataObject
) -> None:
    """Design 4: nothing is cut silently, nothing is embedded twice for nothing."""
    overlap = data.draw(st.integers(0, size - 1))
    windows = token_windows(count, size, overlap)
    assert windows[0].start == 0
    assert windows[-1].stop == count
    for before, after in pairwise(windows):
        assert before.stop - after.start == overlap
        assert after.stop > before.stop
    assert all(window.stop - window.start <= size for window in windows)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf, 3e38])
def test_a_vector_without_a_finite_length_is_a_failure_of_the_model(bad: float) -> None:
    """Contract 5.3: a similarity that is not finite is a failure of the model."""
    with pytest.raises(EmbeddingError, match="some-model"):
        unit_vector(np.full(4, bad, np.float32), "some-model")
