"""Recency as stores give it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def among_eligible(
    newest_first: NDArray[np.int32], eligible: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the eligible rows newest first, and the place of each row in it, 0 for none."""
    order = newest_first[eligible.astype(np.bool_)[newest_first]]
    places = np.zeros(eligible.size, np.int32)
    places[order] = np.arange(1, order.size + 1)
    return order, places
