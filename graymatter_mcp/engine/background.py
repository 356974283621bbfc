"""Consolidation that writes trigger: a few at once, never queued, never in the way."""

from __future__ import annotations

import logging
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import GraymatterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.model.ids import Namespace

logger = logging.getLogger(__name__)

_PAUSE: Final = timedelta(hours=1)
"""Between runs on one namespace: weights are a function of time, more runs change nothing."""


class Background:
    """Runs due consolidations in threads of its own."""

    def __init__(
        self,
        lacking: Callable[[Namespace], int],
        consolidate: Callable[[Namespace], object],
        clock: Clock,
        *,
        at_once: int,
    ) -> None:
        """Prepare.

        Args:
            lacking: Counts how many records a namespace is short of being due; it asks the store.
            consolidate: Does the work.
            clock: Tells how long ago the last run was.
            at_once: Runs at a time.
        """
        self._lacking = lacking
        self._consolidate = consolidate
        self._clock = clock
        self._free = threading.BoundedSemaphore(at_once)
        self._last_run: dict[Namespace, datetime] = {}
        self._written: Counter[Namespace] = Counter()
        self._due_at: dict[Namespace, int] = {}
        """How much must have been written before it is worth counting again."""
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="graymatter-consolidate")

    def note(self, namespace: Namespace) -> None:
        """Note one more record."""
        self._written[namespace] += 1

    def trigger(self, namespace: Namespace) -> None:
        """Note one more record, and consolidate soon if due; dropped when too many run already."""
        self.note(namespace)
        if self._written[namespace] < self._due_at.get(namespace, 0):
            return
        now = self._clock.now()
        last = self._last_run.get(namespace)
        if last is not None and now - last < _PAUSE:
            return
        if self._free.acquire(blocking=False):
            # The pool refuses when the memory was closed since the write; the write stands.
            with suppress(RuntimeError):
                self._pool.submit(self._run, namespace, now, self._written[namespace])
                return
            self._free.release()

    def _run(self, namespace: Namespace, now: datetime, written: int) -> None:
        try:
            lacking = self._lacking(namespace)
            # From what had been written before it was counted: too early a look costs little.
            self._due_at[namespace] = written + lacking
            if lacking <= 0:
                self._last_run[namespace] = now
                self._consolidate(namespace)
        except GraymatterError as exc:
            logger.warning("consolidation failed: %s", exc)
        finally:
            self._free.release()

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)
