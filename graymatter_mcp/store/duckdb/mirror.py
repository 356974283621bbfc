"""The in-memory index of one namespace: columns, postings, vectors; rebuilt at will.

One writer changes a mirror, under the store's lock; readers work on `Snapshot`s of it.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.model.facts import LEVELS, Alias, effective_confidence
from graymatter_mcp.store.duckdb.columns import Column
from graymatter_mcp.store.duckdb.vectors import Vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOW: Final = (1 << 64) - 1
_ROW_BYTES: Final = 500
"""Objects and columns of a row, its text and vectors aside."""


class Mirror:
    """Content facts as rows in order of arrival; aliases beside them."""

    def __init__(self, stem: Callable[[str], str]) -> None:
        self._stem = stem
        self.version = 0
        """Counts changes that a snapshot could see."""
        self.row_of: dict[int, int] = {}
        self.ids: list[int] = []
        self.texts: list[str] = []
        self.created_at = Column(np.int64)
        self.levels = Column(np.int8)
        self.live = Column(np.bool_)
        self.labels: list[str] = []
        """Confidence as stored; grows in place, changes by copy."""
        self.pinned = Column(np.bool_)
        self.text_keys = Column(np.int32)
        self._keys: dict[str, int] = {}
        self.lengths = Column(np.float64)
        self.access_count = Column(np.int64)
        self.accessed_at = Column(np.int64)
        self.weight = Column(np.float64)
        self.aliases: dict[int, tuple[int, Alias]] = {}
        """Live aliases by id, with their time of creation."""
        self.terms: list[str] = []
        self.term_ids: dict[str, int] = {}
        self._stored_term_ids: dict[str, int] = {}
        self.postings: list[tuple[array[int], array[int]]] = []
        """Per index term: rows ascending, and occurrences in each."""
        self.forward = Column(np.int32)
        """Distinct term ids of each row, one row's after the other's."""
        self.forward_starts = Column(np.int64)
        self.has_vectors = Column(np.bool_)
        self.vectors: Vectors | None = None
        self._text_bytes = 0
        self._is_chronological = True
        self._orders: tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]] | None = (
            None
        )

    def add(
        self,
        number: int,
        text: str,
        terms: Sequence[str],
        created_at: int,
        confidence: str,
        *,
        is_live: bool,
        is_pinned: bool,
    ) -> int:
        """Append one content fact and return its row; vitals follow by another call."""
        row = len(self.ids)
        if row and (created_at <= self.created_at.view[-1] or number <= self.ids[-1]):
            self._is_chronological = False
        self.row_of[number] = row
        self.ids.append(number)
        self.texts.append(text)
        self._text_bytes += len(text)
        self.text_keys.extend([self._keys.setdefault(text, row)])
        self.labels.append(confidence)
        self.pinned.extend([is_pinned])
        self.created_at.extend([created_at])
        self.lengths.extend([len(terms)])
        self.levels.extend([LEVELS[effective_confidence(confidence)]])
        self.live.extend([is_live])
        self.has_vectors.extend([False])
        self.access_count.extend([0])
        self.accessed_at.extend([created_at])
        self.weight.extend([1.0])
        counts = Counter(map(self._term_id, terms))
        for term_id, tf in counts.items():
            rows, frequencies = self.postings[term_id]
            rows.append(row)
            frequencies.append(tf)
        self.forward_starts.extend([len(self.forward)])
        self.forward.extend(list(counts))
        self.version += 1
        return row

    def _term_id(self, stored: str) -> int:
        term_id = self._stored_term_ids.get(stored)
        if term_id is None:
            term = self._stem(stored)
            term_id = self.term_ids.get(term)
            if term_id is None:
                term_id = self.term_ids[term] = len(self.terms)
                self.terms.append(term)
                self.postings.append((array("i"), array("i")))
            self._stored_term_ids[stored] = term_id
        return term_id

    def set_state(self, row: int, confidence: str, *, is_live: bool, is_pinned: bool) -> None:
        """Change label, life and pin of a row."""
        if self.labels[row] != confidence:
            self.labels = self.labels.copy()
            self.labels[row] = confidence
        if bool(self.pinned.view[row]) != is_pinned:
            self.pinned.set(row, is_pinned)
        level = LEVELS[effective_confidence(confidence)]
        if self.levels.view[row] != level:
            self.levels.set(row, level)
        if bool(self.live.view[row]) != is_live:
            self.live.poke(row, is_live)
        self.version += 1

    def set_vitals(self, row: int, access_count: int, accessed_at: int, weight: float) -> None:
        """Change book-keeping, which no snapshot shows."""
        self.access_count.poke(row, access_count)
        self.accessed_at.poke(row, accessed_at)
        self.weight.poke(row, weight)

    def set_alias(
        self, number: int, created_at: int, alias: Alias | None, *, is_live: bool
    ) -> None:
        """Add, change or retire an alias."""
        if alias is not None and is_live:
            self.aliases[number] = (created_at, alias)
        else:
            self.aliases.pop(number, None)
        self.version += 1

    def add_vectors(self, row: int, windows: NDArray[np.int16]) -> None:
        """Add the vectors of a row that has none yet."""
        if self.vectors is None:
            self.vectors = Vectors(windows.shape[1])
        self.vectors.add(row, windows)
        self.has_vectors.poke(row, True)
        self.version += 1

    @property
    def orders(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """Sort keys by age and by id, and the rows newest first (see `Snapshot`)."""
        size = len(self.ids)
        if self._orders is None or self._orders[0] != size:
            self._orders = (size, *self._compute_orders(size))
        return self._orders[1:]

    @property
    def nbytes(self) -> int:
        """About what this mirror takes in memory."""
        vectors = 0 if self.vectors is None else self.vectors.nbytes
        return vectors + self._text_bytes + 2 * self.forward.nbytes + _ROW_BYTES * len(self.ids)

    def _compute_orders(
        self, size: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        if self._is_chronological:
            order = np.arange(size, dtype=np.int64)
            return order, order, np.arange(size - 1, -1, -1, dtype=np.int32)
        high = np.fromiter((number >> 64 for number in self.ids), np.uint64, size)
        low = np.fromiter((number & _LOW for number in self.ids), np.uint64, size)
        stamps = self.created_at.view
        oldest_first = np.lexsort((low, high, stamps))
        newest_first = np.lexsort((low, high, -stamps)).astype(np.int32)
        return _inverse(oldest_first), _inverse(np.lexsort((low, high))), newest_first


def _inverse(permutation: NDArray[np.intp]) -> NDArray[np.int64]:
    ranks = np.empty(len(permutation), np.int64)
    ranks[permutation] = np.arange(len(permutation))
    return ranks
