"""Requests without an answer, and how long they may stay so."""

from __future__ import annotations

import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.bridge.lines import JsonId

CALL_TIMEOUT_S = 30.0
"""Silence of an owner after which what waits is asked again, and the second time given up."""
_TICKS = 30
"""Looks within that time: the more, the less a look misses."""
_LONGEST = 10
"""The same for a call that others overtake, in time-outs: five minutes, whatever else is said."""


class Pending:
    """A request without an answer; `line` is what the owner gets, under a number of ours."""

    __slots__ = ("id", "is_call", "is_late", "is_read", "line", "sent_at_s", "was_sent")

    def __init__(self, request_id: JsonId, line: bytes, *, is_call: bool, is_read: bool) -> None:
        self.id = request_id
        self.line = line
        self.is_call = is_call
        self.is_read = is_read
        self.was_sent = False
        self.sent_at_s = 0.0
        self.is_late = False
        """Whether an owner has left it unanswered for the time of a call."""


class LivedTime:
    """Seconds that this process lived through, as far as somebody looked.

    While the machine sleeps, or a signal has stopped us, nobody else had a chance either.
    """

    def __init__(self, longest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        """Start at 0.

        Args:
            longest_s: The most that counts from one look to the next.
            clock: Seconds that never go back.
        """
        self._longest_s = longest_s
        self._clock = clock
        self._looked_at_s = clock()
        self.passed_s = 0.0

    def look(self) -> float:
        """Return the time passed, with what has passed since the last look."""
        now_s = self._clock()
        self.passed_s += min(now_s - self._looked_at_s, self._longest_s)
        self._looked_at_s = now_s
        return self.passed_s


class Patience:
    """Counts how long an owner is silent."""

    def __init__(
        self, timeout_s: float = CALL_TIMEOUT_S, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.tick_s = timeout_s / _TICKS
        self._timeout_s = timeout_s
        self._lived = LivedTime(2 * self.tick_s, clock)
        self._checked_at_s = 0.0
        self._heard_at_s = 0.0

    def look(self) -> bool:
        """Count the time since the last look; whether a tick has passed, so that a check is due."""
        if self._lived.look() - self._checked_at_s < self.tick_s:
            return False
        self._checked_at_s = self._lived.passed_s
        return True

    def heard(self) -> None:
        """Note a sign of life of the owner."""
        self._heard_at_s = self._lived.passed_s

    def send(self, pending: Pending) -> None:
        """Note that a request is on its way, from the first time on."""
        if not pending.was_sent:
            pending.was_sent = True
            pending.sent_at_s = self._lived.passed_s

    def is_over(self, pending: Pending) -> bool:
        """Whether a request has waited too long, for a sign of life or altogether."""
        silent_s = self._lived.passed_s - max(pending.sent_at_s, self._heard_at_s)
        return pending.was_sent and (silent_s >= self._timeout_s or self._is_overtaken(pending))

    def is_spent(self, pending: Pending) -> bool:
        """Whether asking again cannot help: it was in vain, or others were answered meanwhile."""
        return pending.is_late or self._is_overtaken(pending)

    def _is_overtaken(self, pending: Pending) -> bool:
        return self._lived.passed_s - pending.sent_at_s >= _LONGEST * self._timeout_s
