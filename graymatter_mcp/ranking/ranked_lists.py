"""Ranked lists that give exact ranks and best rows without sorting all rows one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_SCANS: Final = 32
"""Groups of equal scores up to which looking through all rows beats sorting them, at 100k rows."""


class RankedList(Protocol):
    """One signal's order over some rows of a snapshot."""

    size: int
    """Rows that the list ranks."""

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the rows of rank <= limit, in no order."""
        ...

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank of each row, from 1; 0 where the list does not rank it."""
        ...


class RecencyList:
    """All eligible rows in a given order.

    Args:
        order: Every row of the snapshot, best first.
        eligible: Shape (rows,).
    """

    def __init__(self, order: NDArray[np.int32], eligible: NDArray[np.bool_]) -> None:
        self._order = order if eligible.all() else order[eligible[order]]
        self.size = int(self._order.size)
        self._position = np.zeros(eligible.size, dtype=np.int32)
        self._position[self._order] = np.arange(1, self.size + 1, dtype=np.int32)

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the first `limit` rows."""
        return self._order[:limit].astype(np.int64)

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank of each row, 0 for one that is not eligible."""
        return self._position[rows].astype(np.int64)


class ScoreList:
    """Rows by score descending, equal scores by key ascending.

    Args:
        scores: Shape (rows,); finite for members.
        members: The rows that the list ranks.
        keys: Distinct tie-breakers; shape (rows,).
    """

    def __init__(
        self,
        scores: NDArray[np.float32] | NDArray[np.float64],
        members: NDArray[np.bool_],
        keys: NDArray[np.int64],
    ) -> None:
        self._scores = scores
        self._members = members
        self._keys = keys
        # Large temporaries cost more than the arithmetic here, so rows are named only on demand.
        self._ascending = scores[members]
        self._ascending.sort()
        self._by_score: NDArray[np.int64] | None = None
        self.size = int(self._ascending.size)

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the rows of rank <= limit, in no order."""
        if limit >= self.size:
            return np.flatnonzero(self._members)
        cut = self._ascending[self.size - limit]
        above = np.flatnonzero(self._members & (self._scores > cut))
        tied = np.flatnonzero(self._members & (self._scores == cut))
        missing = limit - above.size
        if missing < tied.size:
            tied = tied[np.argpartition(self._keys[tied], missing)[:missing]]
        return np.concatenate((above, tied))

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank of each row, 0 for one that is no member."""
        scores = self._scores[rows]
        members = self._members[rows]
        first = np.searchsorted(self._ascending, scores, "left")
        after = np.searchsorted(self._ascending, scores, "right")
        ranks = self.size - after + 1
        tied = members & (after - first > 1)
        if tied.any():
            ranks[tied] += self._ties_before(rows[tied], first[tied])
        ranks[~members] = 0
        return ranks

    def _ties_before(self, rows: NDArray[np.int64], first: NDArray[np.int64]) -> NDArray[np.int64]:
        """Count, for each row, the members of equal score and smaller key.

        Args:
            rows: Members.
            first: Where the score of each begins in `_ascending`.
        """
        before = np.empty(rows.size, dtype=np.int64)
        starts = np.unique(first)
        if starts.size > _MAX_SCANS and self._by_score is None:
            ranked = np.flatnonzero(self._members)
            self._by_score = ranked[np.argsort(self._scores[ranked])]
        for start in starts:
            keys = np.sort(self._keys[self._equals(int(start))])
            here = first == start
            before[here] = np.searchsorted(keys, self._keys[rows[here]])
        return before

    def _equals(self, start: int) -> NDArray[np.int64]:
        """Return the members whose score begins at `start` in `_ascending`."""
        score = self._ascending[start]
        if self._by_score is None:
            return np.flatnonzero(self._members & (self._scores == score))
        return self._by_score[start : np.searchsorted(self._ascending, score, "right")]
