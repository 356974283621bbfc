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
        self._keys: list[Key] = []
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
            self._previous.extend([_linked(self._last, key, row, number)])

    @property
    def previous(self) -> NDArray[np.int32]:
        """The row before each in its session, -1 for the first; do not write."""
        if self._is_ascending:
            return self._previous.view
        if self._sorted is None:
            found = np.full(len(self._numbers), -1, np.int32)
            last: dict[Key, tuple[int, int]] = {}
            for row in sorted(range(len(self._numbers)), key=self._numbers.__getitem__):
                found[row] = _linked(last, self._keys[row], row, self._numbers[row])
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
