"""What a fact gains from those told just before and after it: inside a list, before it ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.ranking.bm25 import K1, idf, length_norm

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ONE_STEP: Final = 0.3
"""Part of a neighbour's word or closeness that counts as a fact's own."""
TWO_STEPS: Final = 0.15


class Neighbours:
    """The eligible rows up to two steps before and behind some rows of one session.

    Where there is none, a row's neighbour is the row behind the last, which holds nothing.

    Args:
        previous: The row before each in its session, or -1; shape (size,).
        eligible: Rows that exist: no other is a neighbour or leads to one.
        rows: Whose neighbours; None for all.
    """

    def __init__(
        self,
        previous: NDArray[np.int32],
        eligible: NDArray[np.bool_],
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        nobody = previous.size
        before = np.full(nobody + 1, nobody, np.int32)
        linked = np.flatnonzero((previous >= 0) & eligible)
        linked = linked[eligible[previous[linked]]]
        before[linked] = previous[linked]
        behind = np.full(nobody + 1, nobody, np.int32)
        behind[previous[linked]] = linked
        one_before = before[:-1] if rows is None else before[rows]
        one_behind = behind[:-1] if rows is None else behind[rows]
        self._near = (one_before, one_behind)
        self._far = (before[one_before], behind[one_behind])

    def best(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the most that a neighbour lends each row: never below 0.

        Args:
            values: Of every row, and 0.0 behind the last; shape (size + 1,).
        """
        near = np.maximum(values[self._near[0]], values[self._near[1]])
        far = np.maximum(values[self._far[0]], values[self._far[1]])
        lent = np.maximum(np.float32(ONE_STEP) * near, np.float32(TWO_STEPS) * far)
        return np.maximum(lent, np.float32(0.0))

    def held(self, holds: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how often a word counts for each row that lacks it, since its neighbours hold it.

        Args:
            holds: 1.0 for every row that holds it, 0.0 for others and behind the last.
        """
        near = holds[self._near[0]] + holds[self._near[1]]
        return ONE_STEP * near + TWO_STEPS * (holds[self._far[0]] + holds[self._far[1]])


def bm25_in_context(
    postings: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
    *,
    size: int,
    count: int,
    lengths: NDArray[np.float64],
    mean_length: float,
    previous: NDArray[np.int32],
    eligible: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Score every row against a query; a row that itself holds none of its terms scores 0.0.

    A row that holds some term of the query, but not this one, counts each neighbour that holds it
    as 0.3 of an occurrence, one two steps away as 0.15. All else is `bm25`.

    Args:
        postings: One (rows, tf) per query token, in query order, repeats repeated; rows are
            distinct and eligible, tf >= 1.
        size: Rows in the snapshot.
        count: Eligible rows (N).
        lengths: Tokens of each row; shape (size,).
        mean_length: Mean of `lengths` over eligible rows.
        previous: See `Neighbours`.
        eligible: Rows that exist.

    Returns:
        Shape (size,), >= 0; sums run in query order, so equal input gives equal bits.

    Source: contract 5.3 and the decision on neighbours inside the lists.
    """
    scores = np.zeros(size, np.float64)
    held = np.zeros(size + 1, np.float64)
    for rows, _ in postings:
        held[rows] = 1.0
    own = np.flatnonzero(held)
    if own.size == 0:
        return scores
    neighbours = Neighbours(previous, eligible, own)
    norms = length_norm(lengths[own], mean_length)
    summed = np.zeros(own.size, np.float64)
    place = np.zeros(size, np.int32)
    place[own] = np.arange(own.size, dtype=np.int32)
    for rows, tf in postings:
        if rows.size == 0:
            continue
        held[:] = 0.0
        held[rows] = 1.0
        counted = neighbours.held(held)
        counted[place[rows]] = tf
        summed += idf(count, rows.size) * counted * (K1 + 1.0) / (counted + norms)
    scores[own] = summed
    return scores
