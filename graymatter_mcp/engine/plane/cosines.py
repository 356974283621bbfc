"""Cosines of a text with the facts of a shelf."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.embedding.base import fixed_point_scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from graymatter_mcp.store.base import Snapshot


def cosines(snapshot: Snapshot, windows: NDArray[np.int16]) -> NDArray[np.float64] | None:
    """Return the cosine of a text with each row, its best window counting.

    Args:
        snapshot: Of the shelf.
        windows: Of the text, in fixed point; shape (windows, dim).

    Returns:
        -inf where a row is not eligible or has no vector; None where none has.
    """
    products = snapshot.similarities(windows)
    if products is None:
        return None
    # Rounding to fixed point may leave a text a little nearer to itself than 1.
    return np.minimum(1.0, products / np.float64(fixed_point_scale(windows.shape[1])) ** 2)


def nearest_rows(
    snapshot: Snapshot, near: NDArray[np.float64], at_least: float, count: int
) -> list[int]:
    """Return the rows of at least a cosine, nearest first, then by id; at most so many."""
    close = np.flatnonzero(near >= at_least)
    order = np.lexsort((snapshot.id_order[close], -near[close]))
    return close[order][:count].tolist()
