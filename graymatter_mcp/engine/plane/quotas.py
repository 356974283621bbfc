"""How much a user may write: in a minute, and in all."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import QuotaError
from graymatter_mcp.model.accounts import NO_QUOTA, Quota, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.engine.plane.ledger import Ledger
    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.scopes import Scope

    EntriesOf = Callable[[Sequence[Scope]], int]

WINDOW_S: Final = 60


class Quotas:
    """Counts the writes of this process; the entries are counted by whoever keeps them."""

    def __init__(
        self, ledger: Ledger, reach: Reach, defaults: Quota, entries_of: EntriesOf
    ) -> None:
        """Prepare.

        Args:
            ledger: Holds what was set for single users.
            reach: Knows which scopes count for a user.
            defaults: For everybody else.
            entries_of: Counts the entries stored in some scopes.
        """
        self._ledger = ledger
        self._reach = reach
        self._defaults = defaults
        self._entries_of = entries_of
        self._lock = threading.Lock()
        self._window = -1
        self._writes: dict[str, int] = {}
        """Of the present window, by user."""

    def of(self, user_id: str) -> Quota:
        """Return what holds for a user."""
        own = self._ledger.book.quotas.get(user_id) or NO_QUOTA
        entries, writes = own.max_entries, own.writes_per_minute
        return Quota(
            max_entries=self._defaults.max_entries if entries is None else entries,
            writes_per_minute=self._defaults.writes_per_minute if writes is None else writes,
        )

    def usage(self, caller: Caller) -> Usage:
        """Return what the caller has stored and may store."""
        self._reach.user(caller)
        entries = self._entries_of(self._reach.owned_scopes(caller))
        return Usage(entries=entries, quota=self.of(caller.user_id))

    def check(self, caller: Caller, at_most: int) -> None:
        """Refuse what could be too much; nothing is charged.

        To be held in one turn of the writer with `note_writes`, so that no two share what is left.

        Args:
            caller: Who.
            at_most: How many entries the request may write.

        Raises:
            QuotaError: It could.
        """
        quota = self.of(caller.user_id)
        per_minute, entries = quota.writes_per_minute, quota.max_entries
        if per_minute is not None:
            now = self._ledger.clock.now().timestamp()
            if self._written(caller.user_id) + at_most > per_minute:
                raise QuotaError(
                    f"write quota exceeded: {per_minute} writes/minute"
                    " — retry after the window resets",
                    math.ceil(WINDOW_S - now % WINDOW_S),
                )
        if entries is not None:
            stored = self._entries_of(self._reach.owned_scopes(caller))
            if stored + at_most > entries:
                raise QuotaError(
                    f"entry quota exceeded: {entries} stored entries — forget something first"
                )

    def note_writes(self, caller: Caller, count: int) -> None:
        """Charge what was inserted or rewritten."""
        with self._lock:
            self._turn_over()
            self._writes[caller.user_id] = self._writes.get(caller.user_id, 0) + count

    def _written(self, user_id: str) -> int:
        with self._lock:
            self._turn_over()
            return self._writes.get(user_id, 0)

    def _turn_over(self) -> None:
        window = int(self._ledger.clock.now().timestamp() // WINDOW_S)
        if window != self._window:
            self._window, self._writes = window, {}
