"""Which fact came before which in the same session: the edges `next` of the data plane.

Source: data-plane contract 6.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.store.duckdb.columns import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STAMP_BITS: Final = 80
"""Bits of an id below its millisecond."""
_BREAK_MS: Final = 30 * 60 * 1000
"""Time after which a connection counts as another session."""

Key = tuple[str, str, str]
"""Agent name, named session, connection; the last is empty beside a named session."""


class Sessions:
    """The chains of one namespace, over rows in order of their ids: the order of storing."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._keys: list[Key | None] = []
        """None for a row that is gone."""
        self._next: dict[int, int] = {}
        """Of rows in ascending order, the one after each in its session."""
        self._known: dict[Key, Key] = {}
        self._last: dict[Key, tuple[int, int]] = {}
        self._highest = 0
        self._is_ascending = True
        self._previous = Column(np.int32)
        self._sorted: NDArray[np.int32] | None = None

    def add(self, number: int, agent_name: str, session: str, connection: str) -> None:
        """Append a row.

        Args:
            number: Of the id; its upper bits say when the fact was stored, whatever its creation.
            agent_name: Facts of two agents are never of one session.
            session: As named by the writer; "" where it was not.
            connection: Where the fact came in; "" for none.
        """
        key = (agent_name, session, "" if session else connection)
        key = self._known.setdefault(key, key)
        self._is_ascending = self._is_ascending and number > self._highest
        self._highest = max(self._highest, number)
        row = len(self._numbers)
        self._numbers.append(number)
        self._keys.append(key)
        self._sorted = None
        if self._is_ascending:
            before = _linked(self._last, key, row, number)
            self._previous.extend([before])
            if before >= 0:
                self._next[before] = row

    def drop(self, row: int) -> None:
        """Take a row out: who came after it follows who came before it."""
        key, self._keys[row] = self._keys[row], None
        self._sorted = None
        if key is None or not self._is_ascending:
            return
        before, after = int(self._previous.view[row]), self._next.pop(row, -1)
        self._next.pop(before, None)
        if after < 0:
            # A row before a break has none after it either, and is not the last of its key.
            if self._last.get(key, (-1, 0))[0] == row:
                del self._last[key]
                if before >= 0:
                    self._last[key] = (before, self._numbers[before] >> _STAMP_BITS)
            return
        gap = (self._numbers[after] >> _STAMP_BITS) - (self._numbers[before] >> _STAMP_BITS)
        if before >= 0 and (key[1] or gap <= _BREAK_MS):
            self._previous.set(after, before)
            self._next[before] = after
        else:
            self._previous.set(after, -1)

    def replace(self, old: int) -> None:
        """Append a row that takes the place of another: the same fact in other words."""
        row = len(self._numbers)
        key, self._keys[old] = self._keys[old], None
        self._numbers.append(self._numbers[old])
        self._keys.append(key)
        self._sorted = None
        if not self._is_ascending:
            return
        before, after = int(self._previous.view[old]), self._next.pop(old, -1)
        self._previous.extend([before])
        if before >= 0:
            self._next[before] = row
        if after >= 0:
            self._previous.set(after, row)
            self._next[row] = after
        elif key is not None and self._last.get(key, (-1, 0))[0] == old:
            self._last[key] = (row, self._numbers[row] >> _STAMP_BITS)

    @property
    def previous(self) -> NDArray[np.int32]:
        """The row before each in its session, -1 for the first; do not write."""
        if self._is_ascending:
            return self._previous.view
        if self._sorted is None:
            found = np.full(len(self._numbers), -1, np.int32)
            last: dict[Key, tuple[int, int]] = {}
            for row in sorted(range(len(self._numbers)), key=self._numbers.__getitem__):
                key = self._keys[row]
                if key is not None:
                    found[row] = _linked(last, key, row, self._numbers[row])
            self._sorted = found
        return self._sorted


def _linked(last: dict[Key, tuple[int, int]], key: Key, row: int, number: int) -> int:
    """Return the row before this one, which becomes the last of its session."""
    stamp = number >> _STAMP_BITS
    before = last.get(key)
    last[key] = (row, stamp)
    if before is None or (not key[1] and stamp - before[1] > _BREAK_MS):
        return -1
    return before[0]
