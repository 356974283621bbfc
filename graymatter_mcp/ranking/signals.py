"""What goes into a ranking and what comes out of it, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Raw signals of one snapshot for one query; every array has `size` entries."""

    size: int
    eligible: NDArray[np.bool_]
    count: int
    """Eligible rows."""
    recency_order: NDArray[np.int32]
    """Eligible rows, newest first."""
    recency_rank: NDArray[np.int32]
    """Place of each row in it, from 1; 0 where not eligible."""
    age_order: NDArray[np.int64]
    """Distinct keys: (created_at, id) ascending."""
    id_order: NDArray[np.int64]
    """Distinct keys in [0, 2**32): id ascending."""
    levels: NDArray[np.int8]
    keyword: NDArray[np.float64] | None
    """BM25; 0.0 is not ranked. None: no list."""
    similarity: NDArray[np.float32] | None
    """Finite, or -inf for not ranked. None: no list."""
    restrict: NDArray[np.bool_] | None
    """The only rows that the vector and keyword lists may rank; None: all eligible ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """One row of the order with all that its receipt needs. Ranks start at 1, 0 = unranked."""

    row: int
    vector_rank: int
    keyword_rank: int
    recency_rank: int
    base_score: float
    factor: float
    final_score: float
    level: int
