"""Who was turned away: told to the audit from a queue, so that no stranger moves the disk."""

from __future__ import annotations

import logging
import threading
from collections import deque
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.store.base import WriteBatch

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.audit import Audit
    from graymatter_mcp.store.base import Event, MemoryStore

logger = logging.getLogger(__name__)

MOST: Final = 1000
"""Entries that wait; of more the oldest are dropped, and counted."""
PAUSE_S: Final = 1.0
"""Between writes: what comes meanwhile is one more row of the next one."""
DROPPED: Final = "refusals_dropped"


class Refusals:
    """Takes entries at once, and keeps them a little later in a thread of its own."""

    def __init__(self, store: MemoryStore, audit: Audit, *, most: int = MOST) -> None:
        """Prepare; the thread starts with the first entry.

        Args:
            store: Keeps the audit.
            audit: Makes the entry that counts what was dropped.
            most: Entries that may wait.
        """
        self._store = store
        self._audit = audit
        self._waiting: deque[Event] = deque(maxlen=most)
        self._dropped = 0
        self._lock = threading.Lock()
        self._saving = threading.Lock()
        self._has_some = threading.Event()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, event: Event) -> None:
        """Take an entry; cheap enough for the event loop. None is kept of a store to read only."""
        if self._store.read_only:
            return
        with self._lock:
            self._dropped += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(event)
            if self._thread is None and not self._is_closing.is_set():
                self._thread = threading.Thread(
                    target=self._run, name="graymatter-refusals", daemon=True
                )
                self._thread.start()
        self._has_some.set()

    def save(self) -> None:
        """Keep what waits, best effort; whoever reads the audit asks for it first."""
        with self._saving:
            self._has_some.clear()
            with self._lock:
                events, dropped = list(self._waiting), self._dropped
                self._waiting.clear()
                self._dropped = 0
            if dropped:
                events.append(self._audit.event(None, DROPPED, str(dropped)))
            if not events:
                return
            try:
                batch = WriteBatch(at=events[-1].at, events=tuple(events), is_fresh=True)
                self._store.apply(batch)
            except GraymatterError as exc:
                logger.warning("%d entries of the audit were lost: %s", len(events), exc.code)

    def close(self) -> None:
        """Keep what waits, and end; the store stays open."""
        self._is_closing.set()
        self._has_some.set()
        if self._thread is not None:
            self._thread.join()
        self.save()

    def _run(self) -> None:
        while not self._is_closing.is_set():
            self._has_some.wait()
            self._is_closing.wait(PAUSE_S)
            self.save()
