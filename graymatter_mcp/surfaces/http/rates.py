"""Requests per minute: fixed windows of 60 s, counted in this process."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

WINDOW_S: Final = 60.0
MAX_KEYS: Final = 10_000
"""Callers that are told apart; more of them in one window share one count."""


@dataclass(frozen=True, slots=True)
class Window:
    """Where one caller stands."""

    limit: int
    remaining: int
    reset_s: int
    is_over: bool

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], ...]:
        """What a caller is told with each answer."""
        return (
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset_s),
        )


class RateWindows:
    """Counts requests by caller; all windows end together, so that forgetting is cheap."""

    def __init__(self, limit: int, now: Callable[[], float] = time.monotonic) -> None:
        """Prepare.

        Args:
            limit: Requests of one caller in a window; 0 is off.
            now: A clock in seconds.
        """
        self._limit = limit
        self._now = now
        self._ends_at = now() + WINDOW_S
        self._counts: dict[str, int] = {}

    def take(self, key: str) -> Window | None:
        """Count one request; None when there is no limit."""
        if self._limit <= 0:
            return None
        now = self._now()
        if now >= self._ends_at:
            self._counts.clear()
            # On the grid of the first window, or just ahead after a long silence.
            missed = math.floor((now - self._ends_at) / WINDOW_S) + 1
            self._ends_at += missed * WINDOW_S
        if key not in self._counts and len(self._counts) >= MAX_KEYS:
            key = ""
        count = self._counts[key] = self._counts.get(key, 0) + 1
        return Window(
            limit=self._limit,
            remaining=max(0, self._limit - count),
            reset_s=max(1, math.ceil(self._ends_at - now)),
            is_over=count > self._limit,
        )
