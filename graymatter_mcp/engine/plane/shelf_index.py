"""What hybrid search needs of each text beside its postings; kept from search to search."""

from __future__ import annotations

import threading
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary

import numpy as np

from graymatter_mcp.engine.plane.details import base_days_of, inferred_level, parsed_record
from graymatter_mcp.engine.plane.names import Names
from graymatter_mcp.model.times import from_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.ranking.hybrid.prior import CURRENT_STATE_TYPES
from graymatter_mcp.ranking.hybrid.text import content_tokens, holds_phrase
from graymatter_mcp.ranking.stamp import stamp_of, stamped_day
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import date

    from numpy.typing import NDArray

    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Edge, Snapshot

SUBJECT, DAY, MONTH, YEAR, LEVEL, IS_CURRENT, CONFIDENCE, TOKENS, BASE_DAYS = range(9)
"""Columns: id of the subject, parts of the day, inferred level, whether the type tells a present
state, the writer's confidence in billionths, content tokens of the text, and `baseEffectiveDays` of
the retention."""
_COLUMNS: Final = 9
NO_DETAILS: Final = -1
"""In `BASE_DAYS`: of a fact that the core wrote."""
NO_RETENTION: Final = 0
"""In `BASE_DAYS`: of a fact without a retention of its own."""
NO_SUBJECT: Final = 0
NO_NUMBER: Final = -1
"""Of a fact whose writer gave no confidence as a number."""
CERTAIN: Final = 1_000_000_000


class ShelfIndex:
    """Subjects, entities, days and inferred levels of the rows of one shelf, from the first on."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._records: object = None
        self._known: list[str] = []
        """The records that rows were read with."""
        self.subjects: list[str] = [""]
        """Folded; the first stands for none."""
        self.subject_terms: list[tuple[str, ...]] = [()]
        """Index terms of each subject."""
        self._subject_ids: dict[str, int] = {"": NO_SUBJECT}
        self.subjects_with: dict[str, list[int]] = {}
        """Subjects that hold an index term."""
        self._names = Names()
        self._columns = np.empty((_COLUMNS, 0), np.int32)
        self._updated_at = np.empty(0, np.int64)
        self._size = 0
        self._stored = 0
        """Rows of the last snapshot that are somebody's."""
        self._is_in = np.empty(0, np.bool_)
        self._by_text: dict[str, list[int]] = {}
        self._links: tuple[int, list[Edge]] | None = None

    def catch_up(self, snapshot: Snapshot) -> None:
        """Read the rows that came since, and those whose details changed; drop what is gone.

        What is known then depends on the rows alone, not on the order in which they came.
        """
        with self._lock:
            size = snapshot.size
            is_same = snapshot.records_key is self._records
            if size == self._size and is_same and snapshot.stored == self._stored:
                return
            rows = list(range(self._size, size))
            if not is_same:
                known = range(min(size, self._size))
                seen = zip(known, snapshot.records(known), self._known, strict=False)
                rows = [row for row, record, before in seen if record != before] + rows
            self._grow(size)
            for row in np.flatnonzero(self._is_in[:size] & snapshot.is_gone).tolist():
                self._drop(row, snapshot)
            rows = [row for row in rows if not snapshot.is_gone[row]]
            for row, text, record in zip(
                rows, snapshot.texts(rows), snapshot.records(rows), strict=True
            ):
                self._read(row, text, record, int(snapshot.created_at[row]))
                self._known[row] = record
            named = self._names.settle()
            for row, text in zip(named, snapshot.texts(named), strict=True):
                self._columns[SUBJECT, row] = self._subject(self._names.name(row, text))
            self._records, self._stored = snapshot.records_key, snapshot.stored

    def _grow(self, size: int) -> None:
        if size > self._is_in.size:
            length = max(size, 2 * self._is_in.size)
            self._columns = _grown(self._columns, self._size, length)
            self._updated_at = _grown(self._updated_at, self._size, length)
            self._is_in = _grown(self._is_in, self._size, length)
        self._known += [""] * max(size - self._size, 0)
        self._size = max(size, self._size)

    def _drop(self, row: int, snapshot: Snapshot) -> None:
        """Take out a row that is nobody's any more."""
        self._names.drop(row)
        self._is_in[row] = False
        stripped = snapshot.texts([row])[0].strip()
        left = [one for one in self._by_text.pop(stripped, ()) if one != row]
        if left:
            self._by_text[stripped] = left

    def _read(self, row: int, text: str, record: str, created_at: int) -> None:
        parsed = parsed_record(record) if record else {}
        metadata = cast("dict[str, Any]", parsed.get("m", {}))
        kept = cast("dict[str, Any]", parsed.get("k", {}))
        kind = kept.get("memoryType")
        sure = parsed.get("c")
        day = _day_of(metadata.get("occurredAt"), text, created_at)
        level = SENSITIVITIES.index(inferred_level(text))
        if not self._is_in[row]:
            self._by_text.setdefault(text.strip(), []).append(row)
            self._is_in[row] = True
        self._names.read(row, text, _text_of(metadata.get("subject")))
        self._columns[:, row] = (
            self._columns[SUBJECT, row],  # told by `catch_up`, once all rows are read
            day.day,
            day.month,
            day.year,
            level,
            kind in CURRENT_STATE_TYPES,
            NO_NUMBER if sure is None else round(sure * CERTAIN),
            content_tokens(tokenize(text[len(stamp_of(text)) :])),
            base_days_of(kept) or NO_RETENTION if record else NO_DETAILS,
        )
        self._updated_at[row] = parsed.get("u", 0)

    def _subject(self, subject: str) -> int:
        folded = subject.casefold()
        number = self._subject_ids.get(folded)
        if number is None:
            number = self._subject_ids[folded] = len(self.subjects)
            self.subjects.append(folded)
            terms = self._analyzer.index_terms(tokenize(folded))
            self.subject_terms.append(terms)
            for term in dict.fromkeys(terms):
                self.subjects_with.setdefault(term, []).append(number)
        return number

    @property
    def known(self) -> Collection[str]:
        """The subjects that a name at the start of a sentence may be, folded."""
        return self._names.known

    @property
    def entities(self) -> list[tuple[str, ...]]:
        """What each row mentions."""
        return self._names.entities

    @property
    def rows_naming(self) -> dict[str, list[int]]:
        """Rows that mention an entity."""
        return self._names.rows_naming

    def rows_with(self, stripped: str) -> list[int]:
        """Return the rows whose text, stripped, is exactly this."""
        return self._by_text.get(stripped, [])

    def subjects_in(self, tokens: Sequence[str]) -> list[int]:
        """Return the subjects that unstemmed tokens of a query name, word for word."""
        terms = set(self._analyzer.index_terms(tokens))
        near = dict.fromkeys(n for term in terms for n in self.subjects_with.get(term, ()))
        return [
            number
            for number in near
            if terms.issuperset(self.subject_terms[number])
            and holds_phrase(tokens, tokenize(self.subjects[number]))
        ]

    def links(self, snapshot: Snapshot, load: Callable[[], list[Edge]]) -> list[Edge]:
        """Return what agents linked on the shelf, asked once for each state of it."""
        kept = self._links
        if kept is None or kept[0] != snapshot.links_version:
            kept = self._links = (snapshot.links_version, load())
        return kept[1]

    def column(self, number: int, size: int) -> NDArray[np.int32]:
        """Return one of the columns named below, of the first rows."""
        return self._columns[number, :size]

    def is_about(self, subjects: Sequence[int], size: int) -> NDArray[np.bool_]:
        """Return which of the first rows have one of some subjects."""
        of_rows, wanted = self.subjects_of(size), np.array(subjects, np.intp)
        is_meant = np.zeros(len(self.subjects), np.bool_)
        is_meant[wanted] = True
        return is_meant[of_rows]

    def subjects_of(self, size: int) -> NDArray[np.int32]:
        """Return the subject of the first rows: a copy, which only names subjects known by now."""
        return self.column(SUBJECT, size).copy()

    def updated_at(self, snapshot: Snapshot) -> NDArray[np.int64]:
        """Return the microsecond of each row's last change of content or fields."""
        return np.maximum(self._updated_at[: snapshot.size], snapshot.content_at)


class ShelfIndexes:
    """The indexes of all shelves that are in memory; each goes with its rows."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[Any, ShelfIndex] = WeakKeyDictionary()

    def of(self, snapshot: Snapshot) -> ShelfIndex:
        """Return the index of a snapshot's rows, up to date."""
        with self._lock:
            index = self._kept.get(snapshot.rows_key)
            if index is None:
                index = self._kept[snapshot.rows_key] = ShelfIndex(self._analyzer)
        index.catch_up(snapshot)
        return index


def _grown(column: NDArray[Any], size: int, length: int) -> NDArray[Any]:
    grown = np.zeros((*column.shape[:-1], length), column.dtype)
    grown[..., :size] = column[..., :size]
    return grown


def _text_of(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _day_of(occurred_at: object, text: str, created_at: int) -> date:
    """Return the day that a fact speaks of: as its writer said, in metadata or in a stamp.

    Else that of its creation.
    """
    if isinstance(occurred_at, str):
        try:
            return datetime.fromisoformat(occurred_at).date()
        except ValueError:
            pass
    return stamped_day(text) or from_microseconds(created_at).date()
