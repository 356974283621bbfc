"""Consolidation that writes trigger: a few at once, never queued, never in the way."""

from __future__ import annotations

import logging
import threading
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
        is_due: Callable[[Namespace], bool],
        consolidate: Callable[[Namespace], object],
        clock: Clock,
        *,
        at_once: int,
    ) -> None:
        self._is_due = is_due
        self._consolidate = consolidate
        self._clock = clock
        self._free = threading.BoundedSemaphore(at_once)
        self._last_run: dict[Namespace, datetime] = {}
        self._pool = ThreadPoolExecutor(at_once, thread_name_prefix="graymatter-consolidate")

    def trigger(self, namespace: Namespace) -> None:
        """Consolidate the namespace soon if it is due; dropped when too many run already."""
        now = self._clock.now()
        last = self._last_run.get(namespace)
        if last is not None and now - last < _PAUSE:
            return
        if self._free.acquire(blocking=False):
            # The pool refuses when the memory was closed since the write; the write stands.
            with suppress(RuntimeError):
                self._pool.submit(self._run, namespace, now)
                return
            self._free.release()

    def _run(self, namespace: Namespace, now: datetime) -> None:
        try:
            if self._is_due(namespace):
                self._last_run[namespace] = now
                self._consolidate(namespace)
        except GraymatterError as exc:
            logger.warning("consolidation failed: %s", exc)
        finally:
            self._free.release()

    def close(self) -> None:
        """Wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)
