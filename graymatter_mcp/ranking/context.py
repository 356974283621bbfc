"""What a fact gains from those told just before and after it: inside a list, before it ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.ranking.bm25 import K1, bm25, idf, length_norm

if TYPE_CHECKING:
    from collections.abc import Sequence

Steps = NDArray[np.intp]
"""The rows before and behind each, at one step and at two, shape (4, rows); `rows` is nobody."""

ONE_STEP: Final = 0.3
"""Part of a neighbour's word or closeness that counts as a fact's own."""
TWO_STEPS: Final = 0.15
DEPTH: Final = 1024
"""Best rows of a list, by themselves, that gain by their neighbours: none behind would come to be
seen, and a million facts must not be gone through for each query."""


def chain_steps(previous: NDArray[np.int32], eligible: NDArray[np.bool_]) -> Steps | None:
    """Return who stands beside each row, worked out once for many searches.

    Args:
        previous: The row before each in its session, or -1; shape (rows,).
        eligible: Rows that exist: no other is a neighbour or leads to one.

    Returns:
        None where two rows follow the same one, so that there is more than one behind it.
    """
    nobody = previous.size
    followers = np.flatnonzero((previous >= 0) & eligible)
    followers = followers[eligible[previous[followers]]]
    before, behind = np.full((2, nobody + 1), nobody, np.intp)
    before[followers], behind[previous[followers]] = previous[followers], followers
    if not np.array_equal(behind[previous[followers]], followers):
        return None
    return np.stack((before, behind, before[before], behind[behind]))[:, :-1]


def join_steps(parts: Sequence[Steps]) -> Steps:
    """Put the rows of several shelves behind each other."""
    if len(parts) == 1:
        return parts[0]
    size = sum(part.shape[1] for part in parts)
    joined: list[Steps] = [np.empty((4, 0), np.intp)]
    start = 0
    for part in parts:
        rows = part.shape[1]
        joined.append(np.where(part == rows, size, part + start))
        start += rows
    return np.concatenate(joined, axis=1)


class Neighbours:
    """The eligible rows up to two steps before and behind some rows of one session.

    Where there is none, a row's neighbour is the row behind the last, which holds nothing.

    Args:
        previous: The row before each in its session, or -1; shape (size,).
        eligible: Rows that exist: no other is a neighbour or leads to one.
        rows: Whose neighbours; distinct.
        steps: The same of all rows, where somebody knows it already.
    """

    def __init__(
        self,
        previous: NDArray[np.int32],
        eligible: NDArray[np.bool_],
        rows: NDArray[np.int64],
        steps: Steps | None = None,
    ) -> None:
        if steps is not None:
            before, behind, far_before, far_behind = steps[:, rows]
            self._near, self._far = (before, behind), (far_before, far_behind)
            return
        # One more at the end, so that nobody has a row of their own: -1 finds it too.
        self._previous = np.append(previous, np.int32(-1))
        self._eligible = np.append(eligible, np.bool_(False))
        before, behind = self._before(rows), self._behind(rows)
        self._near = (before, behind)
        self._far = (self._before(before), self._behind(behind))

    def _before(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        found = self._previous[rows].astype(np.int64)
        return np.where(
            self._eligible[found] & self._eligible[rows], found, self._eligible.size - 1
        )

    def _behind(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        nobody = self._eligible.size - 1
        is_asked = np.zeros(nobody + 1, np.bool_)
        is_asked[rows] = True
        is_asked &= self._eligible
        followers = np.flatnonzero(is_asked[self._previous] & self._eligible)
        behind = np.full(nobody + 1, nobody, np.int64)
        behind[self._previous[followers]] = followers
        return behind[rows]

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


def deep(scores: NDArray[np.floating], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return those of some rows that are among the best 1024, with all that tie with the last."""
    if rows.size <= DEPTH:
        return rows
    values = scores[rows]
    return rows[values >= np.partition(values, rows.size - DEPTH)[rows.size - DEPTH]]


def bm25_in_context(
    postings: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
    *,
    size: int,
    count: int,
    lengths: NDArray[np.float64],
    mean_length: float,
    previous: NDArray[np.int32],
    eligible: NDArray[np.bool_],
    steps: Steps | None = None,
) -> NDArray[np.float64]:
    """Score every row against a query; a row that itself holds none of its terms scores 0.0.

    A row that holds some term of the query, but not this one, counts each neighbour that holds it
    as 0.3 of an occurrence, one two steps away as 0.15; of a part of an occurrence it counts that
    part. All else is `bm25`, and so is everything for rows that are not among its best 1024.

    Args:
        postings: One (rows, tf) per query token, in query order, repeats repeated; rows are
            distinct and eligible, tf > 0.
        size: Rows in the snapshot.
        count: Eligible rows (N).
        lengths: Tokens of each row; shape (size,).
        mean_length: Mean of `lengths` over eligible rows.
        previous: See `Neighbours`.
        eligible: Rows that exist.
        steps: See `Neighbours`.

    Returns:
        Shape (size,), >= 0; sums run in query order, so equal input gives equal bits.

    Source: contract 5.3 and the decision on neighbours inside the lists.
    """
    scores = bm25(postings, size=size, count=count, lengths=lengths, mean_length=mean_length)
    own = deep(scores, np.flatnonzero(scores))
    if own.size == 0:
        return scores
    neighbours = Neighbours(previous, eligible, own, steps)
    norms = length_norm(lengths[own], mean_length)
    held = np.zeros(size + 1, np.float64)
    for rows, tf in postings:
        if rows.size == 0:
            continue
        held[rows] = np.minimum(tf, 1.0)
        lent = np.where(held[own] > 0, 0.0, neighbours.held(held))
        scores[own] += idf(count, rows.size) * lent * (K1 + 1.0) / (lent + norms)
        held[rows] = 0.0
    return scores
