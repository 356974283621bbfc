"""The feed of changes, as far as a caller reaches."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from graymatter_mcp.model.accounts import ChangePage, FactChange
from graymatter_mcp.model.scopes import owned

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.store.base import MemoryStore


class Feed:
    """Tells that facts changed, and never what they say."""

    def __init__(self, store: MemoryStore, reach: Reach) -> None:
        self._store = store
        self._reach = reach

    def page(
        self, caller: Caller, after_seq: int, since: datetime | None, limit: int
    ) -> ChangePage:
        """Return what changed in the caller's scopes, oldest first.

        Args:
            caller: Who.
            after_seq: Last number that they saw.
            since: Leaves out what is older.
            limit: Entries.

        Raises:
            ForbiddenError: See `Reach.pin`.
        """
        changes = tuple(islice(self._found(caller, after_seq, since), limit))
        return ChangePage(changes=changes, next_seq=changes[-1].seq if changes else after_seq)

    def _found(
        self, caller: Caller, after_seq: int, since: datetime | None
    ) -> Iterator[FactChange]:
        scopes = frozenset(self._reach.all_scopes(caller))
        for one in self._store.changes(after_seq, since):
            scope, _ = owned(one.namespace)
            if scope in scopes:
                yield FactChange(
                    seq=one.seq,
                    entry_id=one.fact_id,
                    project_id=scope.project_id,
                    change=one.change,
                    detail=one.detail or None,
                    at=one.at,
                )
