"""The total order of hybrid search, worked out only as far as it is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

_FIRST_LOOK: Final = 64
_GROWTH: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Score descending, then newest change of content first, then id descending."""

    score: NDArray[np.float64]
    changed_at: NDArray[np.int64]
    """Microseconds of the last change of content."""
    id_order: Callable[[NDArray[np.intp]], NDArray[np.int64]]
    """Returns a sort key for id ascending for each of the rows it is given; no two alike."""
    among: NDArray[np.bool_]
    """Rows to order: the supported ones."""

    def top(self, k: int) -> NDArray[np.int64]:
        """Return the best k rows, best first; a smaller k gives a prefix of a larger one.

        Source: data-plane contract 4.8.
        """
        rows = np.flatnonzero(self.among)
        if k <= 0:
            return rows[:0]
        if k < rows.size:
            scores = self.score[rows]
            # Every row that ties with the last one taken stays, for the other keys to settle.
            least = np.partition(scores, rows.size - k)[rows.size - k]
            rows = rows[scores >= least]
        keys = (-self.id_order(rows), -self.changed_at[rows], -self.score[rows])
        return rows[np.lexsort(keys)][:k]

    def walk(self) -> Iterator[int]:
        """Yield all rows in order; those who stop early pay for little more than they took."""
        done, size = 0, _FIRST_LOOK
        while True:
            head = self.top(size)
            yield from head[done:].tolist()
            if head.size < size:
                return
            done, size = size, size * _GROWTH
