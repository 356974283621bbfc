"""How the texts of a shelf begin: whom they speak of, and how much they say behind their stamp.

Light enough to be read at the first recall of a large shelf; the data plane knows more of its facts
(`engine.plane.shelf_index`).
"""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np

from graymatter_mcp.ranking.stamp import stamp_of
from graymatter_mcp.ranking.tokens import STOP_WORDS, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Snapshot

_SUBJECT_WORDS: Final = 4
_HEAD_CHARS: Final = 120
_WORD: Final = re.compile(r"[^\W\d_]\w*")
_NOBODY: Final = 0


class Heads:
    """Subjects and weights of the rows of one shelf, from the first on."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._codes: dict[str, int] = {"": _NOBODY}
        """Numbers of subjects by index term."""
        self._subjects = np.empty(0, np.int32)
        self._stamps = np.empty(0, np.float32)
        self._size = 0

    def catch_up(self, snapshot: Snapshot) -> None:
        """Read the texts that came since: a row's text never changes."""
        with self._lock:
            fresh = range(self._size, snapshot.size)
            if not fresh:
                return
            if snapshot.size > len(self._subjects):
                grown = max(snapshot.size, 2 * len(self._subjects))
                self._subjects = _grown(self._subjects, self._size, grown)
                self._stamps = _grown(self._stamps, self._size, grown)
            for row, text in zip(fresh, snapshot.texts(fresh), strict=True):
                stamp = stamp_of(text)
                word = subject_word(text, len(stamp))
                self._subjects[row] = self._code(word) if word else _NOBODY
                if stamp:
                    self._stamps[row] = _tokens_of_stamp(stamp)
            self._size = snapshot.size

    def _code(self, word: str) -> int:
        tokens = tokenize(word)
        if not tokens:
            return _NOBODY
        return self._codes.setdefault(self._analyzer.index_term(tokens[0]), len(self._codes))

    def about(self, terms: Iterable[str], size: int) -> NDArray[np.bool_] | None:
        """Return which rows speak of what a query names; None when none or all of them do."""
        codes = {self._codes[term] for term in terms if term in self._codes} - {_NOBODY}
        if not codes:
            return None
        subjects = self._subjects[:size]
        found = subjects == codes.pop()
        for code in codes:  # rarely more than one, and a comparison is cheaper than a set
            found |= subjects == code
        return None if found.all() else found

    def lengths(self, snapshot: Snapshot) -> NDArray[np.float32]:
        """Return the tokens of each row behind its stamp."""
        return snapshot.lengths.astype(np.float32) - self._stamps[: snapshot.size]


class AllHeads:
    """The heads of all shelves in memory; each goes with its rows."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._lock = threading.Lock()
        self._kept: WeakKeyDictionary[Any, Heads] = WeakKeyDictionary()

    def of(self, snapshot: Snapshot) -> Heads:
        """Return the heads of a snapshot's rows, up to date."""
        with self._lock:
            heads = self._kept.get(snapshot.rows_key)
            if heads is None:
                heads = self._kept[snapshot.rows_key] = Heads(self._analyzer)
        heads.catch_up(snapshot)
        return heads


def subject_word(text: str, start: int = 0) -> str:
    """Return the first capitalised word among the first four behind `start`, or ""."""
    for word in _first_words(text, start):
        if word[0].isupper() and word.casefold() not in STOP_WORDS:
            return word
    return ""


def _first_words(text: str, start: int) -> Iterator[str]:
    # Bounded: a text of megabytes without a word must not be read through.
    found = _WORD.finditer(text, start, start + _HEAD_CHARS)
    return (match[0] for match in islice(found, _SUBJECT_WORDS))


@lru_cache(4096)
def _tokens_of_stamp(stamp: str) -> int:
    return len(tokenize(stamp))


def _grown(column: NDArray[Any], size: int, capacity: int) -> NDArray[Any]:
    grown = np.zeros(capacity, column.dtype)
    grown[:size] = column[:size]
    return grown
