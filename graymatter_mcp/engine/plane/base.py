"""The door to the data plane: every surface calls this protocol and nothing below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.engine.plane.accounts import Accounts
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.items import Item
    from graymatter_mcp.model.plane import (
        Answered,
        ContextResult,
        EntryUpdate,
        Forgotten,
        NeighborsRequest,
        NeighborsResult,
        NewEntry,
        PlaneStats,
        RecentRequest,
        SearchRequest,
        SearchResult,
        Updated,
        Written,
    )
    from graymatter_mcp.model.reports import (
        Decayed,
        Evaluation,
        ExportPage,
        HygieneReport,
        Imported,
        ImportEntry,
        ImportFailure,
        PlaneHealth,
    )
    from graymatter_mcp.model.requests import CallKey


Answer = TypeVar("Answer")


class DataPlane(Protocol):
    """Twelve operations on facts, for a caller. Every failure is a `GraymatterError`.

    What a caller may reach is found here, so no surface can forget to ask. A write with a key takes
    effect once; with another request under the same key it is a `ConflictError`.
    """

    @property
    def accounts(self) -> Accounts:
        """Users, projects, tokens, quotas, feed and audit; synchronous."""
        ...

    async def look_up(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run in a thread what looks at the accounts."""
        ...

    async def alter(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run in a thread what changes the accounts."""
        ...

    async def search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Rank what may be seen; the returned facts count as read."""
        ...

    async def context(self, caller: Caller, request: SearchRequest) -> ContextResult:
        """Search, look at the newest, and sort both into sections."""
        ...

    async def recent(self, caller: Caller, request: RecentRequest) -> tuple[Item, ...]:
        """Return the newest facts first; nothing counts as read."""
        ...

    async def neighbors(self, caller: Caller, request: NeighborsRequest) -> NeighborsResult:
        """Return the facts that the graph leads to from one."""
        ...

    async def capture(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """Store a fact where it is worth it, in the place of what it takes back or says better."""
        ...

    async def recap(
        self, caller: Caller, items: Sequence[NewEntry], key: CallKey | None = None
    ) -> Answered[tuple[Written, ...]]:
        """Capture several facts: all of them or none."""
        ...

    async def remember(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """Store a fact as it is."""
        ...

    async def update(
        self, caller: Caller, update: EntryUpdate, key: CallKey | None = None
    ) -> Answered[Updated]:
        """Change a fact in place."""
        ...

    async def forget(
        self, caller: Caller, name: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """Erase a fact with all its versions."""
        ...

    async def forget_source(
        self, caller: Caller, ref: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """Erase all facts that carry a handle."""
        ...

    async def stats(self, caller: Caller) -> PlaneStats:
        """Count everything that the caller can see."""
        ...

    async def hygiene(self, caller: Caller, k: int = 20) -> HygieneReport:
        """List facts that deserve a look, each list cut to k; only reads."""
        ...

    async def evaluate(self, caller: Caller, suite: str = "core") -> Evaluation:
        """Check that memory keeps its promises; only reads.

        Args:
            caller: Who.
            suite: `core`, or `retrieval`.
        """
        ...

    async def export(self, caller: Caller, after_id: str = "", limit: int = 200) -> ExportPage:
        """Return a part of all that the caller owns or shares, ids ascending.

        Args:
            caller: Who.
            after_id: Last id of the page before; empty for the first one.
            limit: Length of the page.
        """
        ...

    async def import_entries(
        self,
        caller: Caller,
        entries: Sequence[ImportEntry],
        failed: Sequence[ImportFailure] = (),
        project: str | None = None,
        key: CallKey | None = None,
    ) -> Answered[Imported]:
        """Store entries of an export as they were; twice adds nothing.

        Args:
            caller: Who.
            entries: Checked.
            failed: Entries of the request that were not sound, for the answer.
            project: Reference that was sent.
            key: Of the call.
        """
        ...

    async def decay(self, caller: Caller, effective_days: int | None = None) -> Decayed:
        """Demote, promote and expire the facts of an admin's tenant now.

        Args:
            caller: An admin.
            effective_days: How long a fact without a retention stays warm; None for the setting.
        """
        ...

    async def health(self, caller: Caller) -> PlaneHealth:
        """Say how store and model are, to an admin."""
        ...
