"""Accounts: who there is, what they reach, what they may write, and what is told of it."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from graymatter_mcp.engine.plane.audit import Audit
from graymatter_mcp.engine.plane.feed import Feed
from graymatter_mcp.engine.plane.ledger import Ledger
from graymatter_mcp.engine.plane.projects import Projects
from graymatter_mcp.engine.plane.quotas import Quotas
from graymatter_mcp.engine.plane.reach import Reach
from graymatter_mcp.engine.plane.refusals import Refusals
from graymatter_mcp.engine.plane.sessions import Sessions
from graymatter_mcp.engine.plane.tokens import Tokens
from graymatter_mcp.engine.plane.users import Users
from graymatter_mcp.model.accounts import NO_QUOTA

if TYPE_CHECKING:
    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.plane.quotas import EntriesOf
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.accounts import AuditPage, Quota
    from graymatter_mcp.store.base import MemoryStore


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountSettings:
    """What a server decides about all accounts."""

    quota: Quota = NO_QUOTA
    """For users for whom none is set."""
    changes_kept: timedelta = timedelta(days=30)
    audit_kept: timedelta = timedelta(days=180)


class Accounts:
    """The parts of one store's accounts. Synchronous and thread-safe; look-ups take no lock."""

    def __init__(
        self,
        store: MemoryStore,
        clock: Clock,
        entries_of: EntriesOf,
        settings: AccountSettings | None = None,
        *,
        turn: threading.RLock | None = None,
    ) -> None:
        """Read all accounts of a store.

        Args:
            store: Where they are kept; this process alone changes them.
            clock: Of the engine.
            entries_of: Counts the entries stored in some scopes.
            settings: The defaults where None.
            turn: Held by whoever writes facts too; see `Ledger`.

        Raises:
            CorruptRecordError: One cannot be decoded.
        """
        self._settings = settings or AccountSettings()
        self._store = store
        self._clock = clock
        ledger = Ledger(store, clock, threading.RLock() if turn is None else turn)
        self.once = ledger.once
        """See `Ledger`."""
        self.audit = Audit(store, clock)
        self.refusals = Refusals(store, self.audit)
        self.reach = Reach(ledger)
        self.users = Users(ledger, self.reach, self.audit)
        self.projects = Projects(ledger, self.reach, self.audit)
        self.tokens = Tokens(ledger, self.reach, self.audit)
        self.sessions = Sessions(ledger, self.audit)
        self.quotas = Quotas(ledger, self.reach, self._settings.quota, entries_of)
        self.feed = Feed(store, self.reach)

    def admin_audit(self, caller: Caller, after_seq: int, limit: int) -> AuditPage:
        """Return a part of the audit of the caller's tenant, oldest first.

        Raises:
            ForbiddenError: The caller is no admin.
        """
        self.reach.check_admin(caller)
        self.refusals.save()
        return self.audit.page(caller.tenant, after_seq, limit)

    def upkeep(self) -> None:
        """Keep what was noted, and drop what is past its time; to be called now and then."""
        if self._store.read_only:
            return
        self.tokens.save_uses()
        now = self._clock.now()
        self._store.forget_before(
            changes=now - self._settings.changes_kept, events=now - self._settings.audit_kept
        )
