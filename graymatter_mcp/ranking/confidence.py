"""Policy ``confidence-v1``: how a declared label moves a score."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@overload
def factor(level: int, weight: float) -> float: ...
@overload
def factor(level: NDArray[np.int8], weight: float) -> NDArray[np.float64]: ...
def factor(level: int | NDArray[np.int8], weight: float) -> float | NDArray[np.float64]:
    """Return 1 + weight * (level - 1).

    Args:
        level: Effective confidence, 0 to 2 (`model.facts.LEVELS`); one or an array of them.
        weight: In [0, 0.5].

    Returns:
        In [0.5, 1.5]; exactly 1.0 at weight 0.

    Source: contract 4.4, 5.5.
    """
    if isinstance(level, int):
        return 1.0 + weight * (level - 1.0)
    return 1.0 + weight * (level.astype(np.float64) - 1.0)
