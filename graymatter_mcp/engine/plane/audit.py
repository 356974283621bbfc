"""The audit: who did what, and how it ended; ids and outcomes, never content."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.accounts import AuditEvent, AuditPage
from graymatter_mcp.model.scopes import LOCAL
from graymatter_mcp.store.base import Event, WriteBatch

if TYPE_CHECKING:
    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.store.base import MemoryStore, NumberedEvent

logger = logging.getLogger(__name__)

DONE: Final = "ok"
_ID: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


class Audit:
    """Writes and reads the audit of a store."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def event(
        self,
        caller: Caller | None,
        action: str,
        target: str | None = None,
        project_id: str | None = None,
        outcome: str = DONE,
        *,
        request_id: str = "",
    ) -> Event:
        """Return an entry, to be committed with what it tells of.

        Args:
            caller: Who; None for somebody unknown, whose entries go to the tenant `local`.
            action: Name of the operation.
            target: Id of what it was done to; what is no id is left out.
            project_id: The project in which it was done.
            outcome: `ok`, or the code of the error.
            request_id: Where no caller holds one.
        """
        entry = {
            "userId": None if caller is None else caller.user_id,
            "tokenId": None if caller is None else _id(caller.token_id),
            "action": action,
            "target": _id(target),
            "projectId": _id(project_id),
            "outcome": outcome,
            "requestId": _id(request_id if caller is None else caller.request_id),
        }
        return Event(
            at=self._clock.now(),
            tenant=LOCAL if caller is None else caller.tenant,
            text=json.dumps(entry, ensure_ascii=False, separators=(",", ":")),
        )

    def note(self, event: Event) -> None:
        """Keep an entry that tells of no change, best effort: nobody waits for it in vain."""
        try:
            self._store.apply(WriteBatch(at=event.at, events=(event,), is_fresh=True))
        except GraymatterError as exc:
            logger.warning("an entry of the audit was lost: %s", exc.code)

    def page(self, tenant: str, after_seq: int, limit: int) -> AuditPage:
        """Return what follows a number, oldest first."""
        events = tuple(map(_shown, self._store.events(tenant, after_seq, limit)))
        return AuditPage(events=events, next_seq=events[-1].seq if events else after_seq)


def _id(text: str | None) -> str | None:
    """Keep what can be an id: a caller may put anything in its place."""
    return text if text and _ID.fullmatch(text) else None


def _shown(numbered: NumberedEvent) -> AuditEvent:
    entry: dict[str, Any] = json.loads(numbered.event.text)
    return AuditEvent(
        seq=numbered.seq,
        at=numbered.event.at,
        user_id=entry["userId"],
        token_id=entry["tokenId"],
        action=entry["action"],
        target=entry["target"],
        project_id=entry["projectId"],
        outcome=entry["outcome"],
        request_id=entry["requestId"],
    )
