"""The vectors of a mirror: exact products for many, sign codes before them for very many."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.store.duckdb.codes import exact_products, sign_codes, similarities
from graymatter_mcp.store.duckdb.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXACT_UP_TO: Final = 100_000
"""Vectors up to which every product is exact."""


class Vectors:
    """Fixed-point vectors of one model, each with the row it belongs to; grows, never changes."""

    def __init__(self, dim: int, exact_up_to: int = EXACT_UP_TO) -> None:
        self._exact_up_to = exact_up_to
        self._rows = Column(np.int32)
        self._whole: Column[np.float32] | None = Column(np.float32, dim)
        self._fixed = Column(np.int16, dim)
        self._codes: NDArray[np.uint64] = sign_codes(np.empty((0, dim), np.int16))

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self._rows)

    def add(self, rows: NDArray[np.int_], windows: NDArray[np.int16]) -> None:
        """Append windows, each with its row."""
        self._rows.extend(rows)
        if self._whole is not None and len(self._rows) <= self._exact_up_to:
            self._whole.extend(windows)
            return
        if self._whole is not None:
            # Half the memory, and codes beside it: what was there moves over once.
            self._fixed.extend(self._whole.view.astype(np.int16))
            self._whole = None
        self._fixed.extend(windows)

    def view(self) -> VectorsView:
        """Return what is there now; later vectors leave it alone."""
        if self._whole is None:
            self._code_the_rest()
        return VectorsView(
            self._rows.view,
            None if self._whole is None else self._whole.view,
            self._fixed.view,
            self._codes,
        )

    def _code_the_rest(self) -> None:
        done = self._codes.shape[1]
        if done < len(self._fixed):
            fresh = sign_codes(self._fixed.view[done:])
            self._codes = np.concatenate([self._codes, fresh], axis=1)

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        whole = 0 if self._whole is None else self._whole.nbytes
        return whole + self._fixed.nbytes + self._codes.nbytes + self._rows.nbytes


class VectorsView:
    """The vectors of a snapshot."""

    def __init__(
        self,
        rows: NDArray[np.int32],
        whole: NDArray[np.float32] | None,
        fixed: NDArray[np.int16],
        codes: NDArray[np.uint64],
    ) -> None:
        self._rows = rows
        self._whole = whole
        self._fixed = fixed
        self._codes = codes

    def similarities(
        self, query: NDArray[np.int16], eligible: NDArray[np.bool_]
    ) -> NDArray[np.float32] | None:
        """Return the best product of each row, -inf where it has no vector or is not eligible.

        Args:
            query: Shape (windows, dim).
            eligible: One entry a row of the snapshot.
        """
        is_one_to_one = len(self._rows) == len(eligible) and self._is_one_to_one
        wanted = eligible if is_one_to_one else eligible[self._rows]
        if not wanted.any():
            return None
        products = self._products(query[0], wanted)
        for window in query[1:]:
            np.maximum(products, self._products(window, wanted), out=products)
        best = np.full(len(eligible), -np.inf, dtype=np.float32)
        if is_one_to_one:
            np.copyto(best, products, where=eligible)
        else:
            np.maximum.at(best, self._rows[wanted], products[wanted])
        return best

    def _products(self, query: NDArray[np.int16], wanted: NDArray[np.bool_]) -> NDArray[np.float32]:
        if self._whole is not None:
            return exact_products(self._whole, query)
        return similarities(self._fixed, self._codes, query, wanted)

    def of(self, row: int) -> NDArray[np.int16] | None:
        """Return the windows of one row, shape (windows, dim); None where it has none."""
        at = np.flatnonzero(self._rows == row)
        if not len(at):
            return None
        kept = self._fixed if self._whole is None else self._whole
        return kept[at].astype(np.int16)

    @cached_property
    def _is_one_to_one(self) -> bool:
        """Whether every row from the first on has just one vector, in their order."""
        return bool((self._rows == np.arange(len(self._rows), dtype=np.int32)).all())
