"""The in-memory index of one namespace: columns, postings, vectors; rebuilt at will.

One writer changes a mirror, under the store's lock; readers work on `Snapshot`s of it.
"""

from __future__ import annotations

from array import array
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.model.facts import LEVELS, Alias, effective_confidence
from graymatter_mcp.store.base import NEVER
from graymatter_mcp.store.duckdb.columns import Column
from graymatter_mcp.store.duckdb.read import MirrorDetails, MirrorRow
from graymatter_mcp.store.duckdb.sessions import Sessions
from graymatter_mcp.store.duckdb.vectors import Vectors
from graymatter_mcp.store.duckdb.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


_LOW: Final = (1 << 64) - 1
_ROW_BITS: Final = 32
_ROW_MASK: Final = (1 << _ROW_BITS) - 1
_MOST_GONE: Final = 1_000
_BASE_BYTES: Final = 16 * 1024
"""What an empty mirror takes: shelves that nobody wrote to can be asked for too."""
_ROW_BYTES: Final = 500
"""Objects and columns of a row, its text and vectors aside."""


class _TermIds(dict[str, int]):
    """Numbers of index terms by stored token: a look-up that costs no call where it is known."""

    def __init__(self, make: Callable[[str], int]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, stored: str) -> int:
        """Find the number of a token that is met for the first time."""
        term_id = self[stored] = self._make(stored)
        return term_id


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
        self.gone = Column(np.bool_)
        """Rows whose fact was erased, or has another row since its text changed."""
        self.gone_count = 0
        self.labelled = Column(np.bool_)
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
        self.sensitivity = Column(np.int8)
        self.content_at = Column(np.int64)
        self.expires_at = Column(np.int64)
        self.active = Column(np.bool_)
        self.cold = Column(np.bool_)
        self.agent_names = Column(np.int32)
        self.agent_codes: dict[str, int] = {"": 0}
        self.agent_list = [""]
        """Names by code."""
        self.sources: list[str] = []
        self._names: dict[str, str] = {}
        """The same words once: few programs write many facts."""
        self.records: list[str] = []
        """Of the details; grows in place, changes by copy."""
        self.sessions = Sessions()
        self.links_version = 0
        """Counts commits that brought edges."""
        self.aliases: dict[int, tuple[int, Alias]] = {}
        """Live aliases by id, with their time of creation."""
        self.terms: list[str] = []
        self.term_ids: dict[str, int] = {}
        self._vocabulary = Vocabulary()
        self._term_ids = _TermIds(self._new_term)
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

    def add(self, rows: Sequence[MirrorRow]) -> None:
        """Append content facts, none of which is here yet."""
        start = len(self.ids)
        numbers = [row.number for row in rows]
        times = [row.created_at for row in rows]
        self._note_order(numbers, times)
        self.row_of.update(zip(numbers, range(start, start + len(rows)), strict=True))
        self.ids.extend(numbers)
        self.texts.extend([row.text for row in rows])
        self.labels.extend([row.confidence for row in rows])
        self._text_bytes += sum(len(row.text) for row in rows)
        keys = self._keys
        self.text_keys.extend([keys.setdefault(row.text, at) for at, row in enumerate(rows, start)])
        self.pinned.extend([row.is_pinned for row in rows])
        self.created_at.extend(times)
        self.levels.extend([LEVELS[effective_confidence(row.confidence)] for row in rows])
        self.gone.extend([False] * len(rows))
        self.labelled.extend([row.confidence != "" for row in rows])
        self.live.extend([row.superseded_by == "" for row in rows])
        self.has_vectors.extend([False] * len(rows))
        self.access_count.extend([row.access_count for row in rows])
        self.accessed_at.extend([row.accessed_at for row in rows])
        self.weight.extend([row.weight for row in rows])
        self._add_details(rows)
        self._add_terms([row.terms.split() for row in rows], start)
        self.version += 1

    def _add_details(self, rows: Sequence[MirrorRow]) -> None:
        details = [row.details for row in rows]
        self.sensitivity.extend([-1 if one is None else one.sensitivity for one in details])
        self.content_at.extend(
            [
                row.created_at if one is None else one.content_at
                for row, one in zip(rows, details, strict=True)
            ]
        )
        self.expires_at.extend(
            [NEVER if one is None or one.expires_at is None else one.expires_at for one in details]
        )
        self.active.extend([one is None or one.is_active for one in details])
        self.cold.extend([one is not None and one.is_cold for one in details])
        codes = self.agent_codes
        names = ["" if one is None else one.agent_name for one in details]
        self.agent_list.extend(dict.fromkeys(name for name in names if name not in codes))
        self.agent_names.extend([codes.setdefault(name, len(codes)) for name in names])
        self.sources.extend([self._names.setdefault(row.source, row.source) for row in rows])
        self.records.extend(["" if one is None else one.record for one in details])
        for row, name in zip(rows, names, strict=True):
            if row.replaces is not None:
                self.sessions.replace(row.replaces)
                continue
            session = "" if row.details is None else row.details.session
            self.sessions.add(row.number, name, session, row.connection)

    def set_details(self, row: int, details: MirrorDetails) -> None:
        """Change the details of a row; its session and agent name are those it was born with."""
        for column, value in (
            (self.sensitivity, details.sensitivity),
            (self.content_at, details.content_at),
            (self.expires_at, NEVER if details.expires_at is None else details.expires_at),
            (self.active, details.is_active),
            (self.cold, details.is_cold),
        ):
            if column.view[row] != value:
                column.set(row, value)
        if self.records[row] != details.record:
            self.records = self.records.copy()
            self.records[row] = details.record
        self.version += 1

    def _note_order(self, numbers: Sequence[int], times: Sequence[int]) -> None:
        before = (self.created_at.view[-1], self.ids[-1]) if self.ids else (None, None)
        for number, time in zip(numbers, times, strict=True):
            if before[0] is not None and (time <= before[0] or number <= before[1]):
                self._is_chronological = False
                return
            before = (time, number)

    def _add_terms(self, texts: Sequence[Sequence[str]], start: int) -> None:
        """Index the stored tokens of rows that follow each other from `start`."""
        lengths = [len(tokens) for tokens in texts]
        self.lengths.extend(lengths)
        tokens = chain.from_iterable(texts)
        terms = np.fromiter(map(self._term_ids.__getitem__, tokens), np.int64, sum(lengths))
        rows = np.repeat(np.arange(start, start + len(texts)), lengths)
        # One number for both, so that one sort brings a term's rows together, ascending.
        pairs, counts = np.unique(terms << _ROW_BITS | rows, return_counts=True)
        terms, rows = pairs >> _ROW_BITS, (pairs & _ROW_MASK).astype(np.int32)
        counts = counts.astype(np.int32)
        firsts = np.flatnonzero(np.diff(terms, prepend=-1))
        found: list[int] = terms[firsts].tolist()
        bounds: list[int] = np.append(firsts, len(terms)).tolist()
        for term, first, end in zip(found, bounds, bounds[1:], strict=False):
            posted, frequencies = self.postings[term]
            posted.frombytes(rows[first:end].tobytes())
            frequencies.frombytes(counts[first:end].tobytes())
        by_row = np.argsort(rows, kind="stable")
        starts = np.searchsorted(rows[by_row], np.arange(start, start + len(texts)))
        self.forward_starts.extend(starts + len(self.forward))
        self.forward.extend(terms[by_row])

    def _new_term(self, stored: str) -> int:
        """Return the number of a stored token's index term, which may be new."""
        term = self._stem(stored)
        term_id = self.term_ids.get(term)
        if term_id is None:
            term_id = self.term_ids[term] = len(self.terms)
            self.terms.append(term)
            self.postings.append((array("i"), array("i")))
        return term_id

    def set_state(self, row: int, confidence: str, *, is_live: bool, is_pinned: bool) -> None:
        """Change label, life and pin of a row."""
        if self.labels[row] != confidence:
            self.labels = self.labels.copy()
            self.labels[row] = confidence
            self.labelled.set(row, confidence != "")
        if bool(self.pinned.view[row]) != is_pinned:
            self.pinned.set(row, is_pinned)
        level = LEVELS[effective_confidence(confidence)]
        if self.levels.view[row] != level:
            self.levels.set(row, level)
        if bool(self.live.view[row]) != is_live:
            self.live.poke(row, is_live)
        self.version += 1

    def erase(self, number: int) -> None:
        """Take a fact out, if it is here; its row stays, and is nobody's."""
        row = self.row_of.pop(number, None)
        if row is not None:
            self._leave(row)
            self.sessions.drop(row)

    def reword(self, number: int, text: str, terms: str) -> None:
        """Give a fact that is here another text: in a row of its own, without a vector."""
        row = self.row_of.pop(number)
        details = None
        if self.sensitivity.view[row] >= 0 or self.records[row]:
            expires_at = int(self.expires_at.view[row])
            details = MirrorDetails(
                sensitivity=int(self.sensitivity.view[row]),
                content_at=int(self.content_at.view[row]),
                expires_at=None if expires_at == NEVER else expires_at,
                is_active=bool(self.active.view[row]),
                is_cold=bool(self.cold.view[row]),
                agent_name=self.agent_list[int(self.agent_names.view[row])],
                session="",
                record=self.records[row],
            )
        was_live = bool(self.live.view[row])
        self._leave(row)
        self.add(
            [
                MirrorRow(
                    number=number,
                    kind="",
                    text=text,
                    terms=terms,
                    created_at=int(self.created_at.view[row]),
                    superseded_by="" if was_live else "retired",
                    confidence=self.labels[row],
                    is_pinned=bool(self.pinned.view[row]),
                    alias=None,
                    access_count=int(self.access_count.view[row]),
                    accessed_at=int(self.accessed_at.view[row]),
                    weight=float(self.weight.view[row]),
                    source=self.sources[row],
                    details=details,
                    replaces=row,
                )
            ]
        )

    def _leave(self, row: int) -> None:
        self.gone.poke(row, True)
        self.live.poke(row, False)
        self.gone_count += 1
        self.version += 1

    @property
    def vocabulary(self) -> str:
        """All index terms, each between two ends of line."""
        return self._vocabulary.of(self.terms)

    @property
    def is_worn(self) -> bool:
        """Whether so many rows are nobody's that it should be built anew."""
        return self.gone_count > max(_MOST_GONE, len(self.ids) // 4)

    def set_vitals(self, row: int, access_count: int, accessed_at: int, weight: float) -> None:
        """Change book-keeping, which no snapshot shows."""
        self.access_count.poke(row, access_count)
        self.accessed_at.poke(row, accessed_at)
        self.weight.poke(row, weight)

    def fade(self, now: int, half_life: int, by: float) -> None:
        """Lower weights as `Decay` says; times in microseconds."""
        idle = np.maximum(now - self.accessed_at.view, 0) / half_life
        rows = np.flatnonzero(~self.pinned.view & (np.exp2(-idle) < self.weight.view - by))
        # One by one: numpy's powers differ from the database's in the last bit.
        faded = np.array([2.0**-periods for periods in idle[rows].tolist()], np.float64)
        is_less = faded < self.weight.view[rows] - by
        self.weight.poke(rows[is_less], faded[is_less])

    def set_alias(
        self, number: int, created_at: int, alias: Alias | None, *, is_live: bool
    ) -> None:
        """Add, change or retire an alias."""
        if alias is not None and is_live:
            self.aliases[number] = (created_at, alias)
        else:
            self.aliases.pop(number, None)
        self.version += 1

    def add_vectors(self, rows: Sequence[int], windows: Sequence[NDArray[np.int16]]) -> None:
        """Add the vectors of rows that have none yet, one array of windows for each."""
        if not rows:
            return
        if self.vectors is None:
            self.vectors = Vectors(windows[0].shape[1])
        self.vectors.add(
            np.repeat(rows, [len(one) for one in windows]), np.concatenate(list(windows))
        )
        for row in rows:
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
        rows = self._text_bytes + 2 * self.forward.nbytes + _ROW_BYTES * len(self.ids)
        return _BASE_BYTES + vectors + rows + self._vocabulary.nbytes

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
