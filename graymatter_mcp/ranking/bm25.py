"""BM25 over postings of one filtered snapshot."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

K1: Final = 0.9
B: Final = 0.4


def idf(count: int, df: int) -> float:
    """Return ln(1 + (count - df + 0.5) / (df + 0.5)), > 0.

    Args:
        count: Number of eligible facts.
        df: How many of them hold the term, in [0, count].
    """
    return math.log(1.0 + (count - df + 0.5) / (df + 0.5))


def bm25(
    postings: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
    *,
    size: int,
    count: int,
    lengths: NDArray[np.float64],
    mean_length: float,
) -> NDArray[np.float64]:
    """Score every row against a query; a row that holds none of its terms scores 0.0.

    Args:
        postings: One (rows, tf) per query token, in query order, repeats repeated; rows are
            distinct and eligible, tf > 0.
        size: Rows in the snapshot.
        count: Eligible rows (N).
        lengths: Tokens of each row; shape (size,).
        mean_length: Mean of `lengths` over eligible rows.

    Returns:
        Shape (size,), >= 0; sums run in query order, so equal input gives equal bits.

    Source: contract 5.3.
    """
    scores = np.zeros(size, dtype=np.float64)
    norms: NDArray[np.float64] | None = None
    if sum(rows.size for rows, _ in postings) > size:
        # Cheaper once for all rows than again for each word; the same bits either way.
        norms = length_norm(lengths, mean_length)
    for rows, tf in postings:
        if rows.size == 0:
            continue
        norm = length_norm(lengths[rows], mean_length) if norms is None else norms[rows]
        scores[rows] += idf(count, rows.size) * tf * (K1 + 1.0) / (tf + norm)
    return scores


def length_norm(lengths: NDArray[np.float64], mean_length: float) -> NDArray[np.float64]:
    """Return what stands beside tf in the denominator: k1 * (1 - b + b * length / mean)."""
    return K1 * (1.0 - B + B * lengths / mean_length)
