"""Ranked lists that give exact ranks and best rows without sorting all rows one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_SCANS: Final = 8
"""Groups of equal scores up to which looking through all rows beats sorting them."""
_MAX_COUNTS: Final = 16
"""The same for limits below which keys are counted."""


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
    """All eligible rows, newest first.

    Args:
        order: The eligible rows, best first.
        ranks: Shape (rows,); 0 for a row that is not eligible.
    """

    def __init__(self, order: NDArray[np.int32], ranks: NDArray[np.int32]) -> None:
        self._order = order
        self._position = ranks
        self.size = int(order.size)

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the first `limit` rows."""
        return self._order[:limit].astype(np.int64)

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank of each row, 0 for one that is not eligible."""
        return self._position[rows].astype(np.int64)


class SimilarityList:
    """Rows by similarity descending, equal ones by key ascending.

    Score and key go into one whole number, so that sorting it leaves no ties: fixed-point products
    of very many facts are often equal.

    Args:
        scores: Shape (rows,); finite for members.
        members: The rows that the list ranks.
        keys: Distinct tie-breakers in [0, 2**32); shape (rows,).
    """

    def __init__(
        self, scores: NDArray[np.float32], members: NDArray[np.bool_], keys: NDArray[np.int64]
    ) -> None:
        # The bits of a float sort like the float, but for those of negative ones, and for -0.0.
        bits = (scores + np.float32(0.0)).view(np.int32)
        bits ^= (bits >> 31) & np.int32(0x7FFFFFFF)
        self._packed = (bits.astype(np.int64) << 32) - keys
        self._members = members
        self._ascending = self._packed if members.all() else self._packed[members]
        self._ascending = np.sort(self._ascending)
        self.size = int(self._ascending.size)

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the rows of rank <= limit, in no order."""
        if limit >= self.size:
            return np.flatnonzero(self._members)
        cut = self._ascending[self.size - limit]
        return np.flatnonzero((self._packed >= cut) & self._members)

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rank of each row, 0 for one that is no member."""
        ranks = self.size - np.searchsorted(self._ascending, self._packed[rows], "left")
        ranks[~self._members[rows]] = 0
        return ranks


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
        # Words occur in few facts: what follows looks at those alone.
        self._ranked = np.flatnonzero(members)
        self._values = scores[self._ranked]
        self._ascending = np.sort(self._values)
        self._ranked_keys: NDArray[np.int64] | None = None
        self._keys_by_score: NDArray[np.int64] | None = None
        self.size = int(self._ascending.size)

    def best(self, limit: int) -> NDArray[np.int64]:
        """Return the rows of rank <= limit, in no order."""
        if limit >= self.size:
            return self._ranked
        cut = self._ascending[self.size - limit]
        above = self._ranked[self._values > cut]
        tied = self._ranked[self._values == cut]
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
        if self._ranked_keys is None:
            self._ranked_keys = self._keys[self._ranked]
        if starts.size > _MAX_SCANS and self._keys_by_score is None:
            self._keys_by_score = self._ranked_keys[np.argsort(self._values)]
        for start in starts.tolist():
            here = np.flatnonzero(first == start)
            before[here] = _count_below(self._equals(start), self._keys[rows[here]])
        return before

    def _equals(self, start: int) -> NDArray[np.int64]:
        """Return the keys of the members whose score begins at `start` in `_ascending`."""
        score = self._ascending[start]
        if self._keys_by_score is not None:
            return self._keys_by_score[start : np.searchsorted(self._ascending, score, "right")]
        assert self._ranked_keys is not None
        return self._ranked_keys[self._values == score]


def _count_below(keys: NDArray[np.int64], limits: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count, for each limit, the keys that are smaller."""
    if limits.size > _MAX_COUNTS:
        return np.searchsorted(np.sort(keys), limits)
    return np.array([np.count_nonzero(keys < limit) for limit in limits], np.int64)
