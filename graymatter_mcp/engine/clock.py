"""The engine's clock: UTC, strictly rising, so that no two facts written here share a stamp."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ulid import ULID

from graymatter_mcp.model.ids import FactId

if TYPE_CHECKING:
    from collections.abc import Callable


def utc_now() -> datetime:
    """Return the system's time."""
    return datetime.now(UTC)


class Clock:
    """Gives stamps and identities that sort alike, from several threads."""

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self._now = now
        self._last = datetime.min.replace(tzinfo=UTC)
        self._last_id = 0
        self._lock = threading.Lock()

    def now(self) -> datetime:
        """Return the time, without moving the clock."""
        return self._now()

    def stamp(self) -> tuple[datetime, FactId]:
        """Return a time later, and a ULID larger, than any given before."""
        with self._lock:
            at = max(self._now(), self._last + timedelta(microseconds=1))
            self._last = at
            fresh = int(ULID.from_datetime(at))
            # Within one millisecond the random part decides; counting up keeps the order.
            self._last_id = fresh if fresh > self._last_id else self._last_id + 1
            return at, FactId(str(ULID.from_int(self._last_id)))
