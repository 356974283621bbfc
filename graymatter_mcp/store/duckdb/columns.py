"""Growable numpy columns: append in place, hand out views that later appends leave alone."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)

_FIRST_CAPACITY = 64
_LARGE = 64 * 1024 * 1024
"""Bytes."""


class Column(Generic[Scalar]):
    """A one- or two-dimensional array that grows along its first axis."""

    def __init__(self, dtype: type[Scalar], width: int | None = None) -> None:
        shape = (_FIRST_CAPACITY,) if width is None else (_FIRST_CAPACITY, width)
        self._array: NDArray[Scalar] = np.empty(shape, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._size

    def extend(self, values: NDArray[Any] | list[Any]) -> None:
        """Append rows; a view taken before never sees them."""
        end = self._size + len(values)
        if end > len(self._array):
            # Twice the size while it is small; of a large one a quarter is enough to waste.
            small = self._array.nbytes < _LARGE
            more = len(self._array) if small else len(self._array) // 4
            grown = np.empty(
                (max(end, len(self._array) + more), *self._array.shape[1:]), self._array.dtype
            )
            grown[: self._size] = self._array[: self._size]
            self._array = grown
        self._array[self._size : end] = values
        self._size = end

    def set(self, row: int, value: Any) -> None:
        """Change one row by copy, so that views already handed out stay as they were."""
        self._array = self._array.copy()
        self._array[row] = value

    def poke(self, row: int | NDArray[np.intp], value: Any) -> None:
        """Change one row, or several, in place; only for columns of which no view is handed out."""
        self._array[row] = value

    @property
    def view(self) -> NDArray[Scalar]:
        """The rows so far, shape (size,) or (size, width); do not write."""
        return self._array[: self._size]

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return self._array.nbytes
