"""When what failed is tried again, and how often that is told.

Source: data-plane contract 7.4.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

logger = logging.getLogger(__name__)

FIRST_S: Final = 1.0
LONGEST_S: Final = 600.0
_TOLD_EVERY_S: Final = 60.0


class Retries:
    """Waits that double from failure to failure, and begin anew once nothing fails."""

    def __init__(
        self, first_s: float = FIRST_S, elapsed_s: Callable[[], float] = time.monotonic
    ) -> None:
        """Prepare.

        Args:
            first_s: The first wait; a second at most.
            elapsed_s: A clock that nobody sets back.
        """
        self._first_s = min(first_s, FIRST_S)
        self._elapsed_s = elapsed_s
        self._wait_s = 0.0
        self._due_s: float | None = None
        self._told_s = -_TOLD_EVERY_S

    def note(self, failed: int) -> None:
        """Note how many texts are without a vector because something failed; 0 ends the waits."""
        if not failed:
            self._wait_s, self._due_s = 0.0, None
            return
        now = self._elapsed_s()
        # What fails meanwhile joins the next try and does not put it off.
        if self._due_s is None:
            self._wait_s = min(2 * self._wait_s, LONGEST_S) if self._wait_s else self._first_s
            self._due_s = now + self._wait_s
        if now - self._told_s >= _TOLD_EVERY_S:
            self._told_s = now
            logger.error("%d texts got no vector; they will be tried again", failed)

    def begin(self) -> None:
        """Note that all of it is tried again now."""
        self._due_s = None

    def left_s(self) -> float | None:
        """Return how long to wait still; None when nothing waits to be tried again."""
        return None if self._due_s is None else max(self._due_s - self._elapsed_s(), 0.0)
