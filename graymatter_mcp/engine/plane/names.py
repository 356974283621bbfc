"""What the rows of one shelf name, the same in whatever order they were read.

A capitalised word that begins a sentence is a name where the shelf knows it as a subject, and any
row may make it known or take that away: so the rows that ask for it are read again then.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from graymatter_mcp.policy.entities import entities
from graymatter_mcp.ranking.hybrid.text import subject_of
from graymatter_mcp.ranking.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator


class _Noting(Collection[str]):
    """Knows nothing, and notes what it was asked for."""

    def __init__(self) -> None:
        self.asked: dict[str, None] = {}

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str) and name not in STOP_WORDS:
            self.asked.setdefault(name)
        return False

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


class Names:
    """Entities of the rows, and the subjects that the shelf knows; one caller at a time."""

    def __init__(self) -> None:
        self.entities: list[tuple[str, ...]] = []
        self.rows_naming: dict[str, list[int]] = {}
        """Rows that mention an entity."""
        self._told: dict[int, str] = {}
        """The subject that the writer of a row gave."""
        self._plain: dict[int, str] = {}
        """The subject of a row whatever the shelf knows, folded."""
        self._asked: dict[int, tuple[str, ...]] = {}
        """Names that a row mentions where the shelf knows them."""
        self._asking: dict[str, dict[int, None]] = {}
        """The rows of each such name."""
        self._tellers: dict[str, int] = {}
        """How many rows have each plain subject."""
        self._fresh: dict[int, tuple[str, ...]] = {}
        """Entities of the rows read since the last `settle`, as if nothing were known."""
        self._changed: set[str] = set()
        """Names that became known since then, or unknown."""

    @property
    def known(self) -> Collection[str]:
        """The subjects that the shelf knows, folded."""
        return self._tellers.keys()

    def read(self, row: int, text: str, told: str | None) -> None:
        """Read a row, for the first time or anew; `settle` says what follows from it."""
        noting = _Noting()
        named = entities(text, known=noting)
        self._forget(row)
        self.entities += [()] * (row + 1 - len(self.entities))
        self._fresh[row] = named
        if told is not None:
            self._told[row] = told
        if noting.asked:
            self._asked[row] = tuple(noting.asked)
            for name in noting.asked:
                self._asking.setdefault(name, {})[row] = None
        subject = (subject_of(text, told, named) or "").casefold()
        if subject and subject not in STOP_WORDS:
            self._plain[row] = subject
            self._count(subject, 1)

    def drop(self, row: int) -> None:
        """Take a row out."""
        self._forget(row)
        self._mention(row, ())

    def settle(self) -> list[int]:
        """Return the rows to be named, ascending: those just read, and those that asked."""
        asking = (self._asking.get(name, {}) for name in self._changed)
        rows = sorted(set(self._fresh).union(*asking))
        self._changed = set()
        return rows

    def name(self, row: int, text: str) -> str:
        """Note what a row mentions; return its subject, or "" for none."""
        plain = self._fresh.pop(row, None)
        is_known = any(name in self._tellers for name in self._asked.get(row, ()))
        named = entities(text, known=self.known) if plain is None or is_known else plain
        self._mention(row, named)
        return subject_of(text, self._told.get(row), named) or ""

    def _mention(self, row: int, named: tuple[str, ...]) -> None:
        # Lists are exchanged, since a search may be reading the old ones.
        if row < len(self.entities):
            for entity in self.entities[row]:
                left = [one for one in self.rows_naming[entity] if one != row]
                if left:
                    self.rows_naming[entity] = left
                else:
                    del self.rows_naming[entity]
            self.entities[row] = named
        for entity in named:
            self.rows_naming.setdefault(entity, []).append(row)

    def _forget(self, row: int) -> None:
        self._fresh.pop(row, None)
        self._told.pop(row, None)
        for name in self._asked.pop(row, ()):
            self._asking[name].pop(row)
            if not self._asking[name]:
                del self._asking[name]
        subject = self._plain.pop(row, None)
        if subject is not None:
            self._count(subject, -1)

    def _count(self, subject: str, by: int) -> None:
        had = self._tellers.get(subject, 0)
        if had + by:
            self._tellers[subject] = had + by
        else:
            del self._tellers[subject]
        if not (had and had + by):
            self._changed.add(subject)
