"""The data plane in the process that holds the store."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from graymatter_mcp.engine.plane.accounts import Accounts
from graymatter_mcp.engine.plane.changes import Changer
from graymatter_mcp.engine.plane.corpus import Corpora
from graymatter_mcp.engine.plane.evaluate import Evaluator
from graymatter_mcp.engine.plane.health import health
from graymatter_mcp.engine.plane.portability import Exporter, Importer
from graymatter_mcp.engine.plane.reads import Reader
from graymatter_mcp.engine.plane.reports import Reporter
from graymatter_mcp.engine.plane.search import Searcher
from graymatter_mcp.engine.plane.upkeep import SETTLING, Upkeep, Upkeeper
from graymatter_mcp.engine.plane.writes import Parts, PlaneSettings, Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import timedelta

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.models import ModelKeeper
    from graymatter_mcp.engine.plane.accounts import AccountSettings
    from graymatter_mcp.engine.plane.base import Answer
    from graymatter_mcp.engine.workers import Workers
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
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.ranking.hybrid.abstain import Calibration
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore


class LocalDataPlane:
    """Implements `engine.plane.base.DataPlane`: work runs in threads, the event loop only waits."""

    def __init__(
        self,
        store: MemoryStore,
        models: ModelKeeper,
        analyzer: Analyzer,
        clock: Clock,
        workers: Workers,
        settings: PlaneSettings | None = None,
        calibrations: Mapping[str, Calibration] | None = None,
        *,
        accounts: AccountSettings | None = None,
        scratch: Callable[[], MemoryStore] | None = None,
        upkeep_after: timedelta = SETTLING,
    ) -> None:
        """Compose; nothing is read but the accounts and the time of the last upkeep.

        Args:
            store: Shared with the core's engine, which closes it.
            models: Likewise.
            analyzer: The one that the store indexes with.
            clock: Of the engine.
            workers: Of the engine.
            settings: The defaults where None.
            calibrations: Constants by model key; none where None.
            accounts: The defaults where None.
            scratch: Makes an empty store in memory that indexes as `store` does, for evaluations;
                where None the cases that need one are skipped.
            upkeep_after: How long the first pass of upkeep waits at least.
        """
        turn = threading.RLock()
        corpora = Corpora(store, analyzer)
        self._accounts = Accounts(store, clock, self._entries_of, accounts, turn=turn)
        parts = Parts(
            store=store,
            corpora=corpora,
            models=models,
            analyzer=analyzer,
            clock=clock,
            accounts=self._accounts,
            turn=turn,
            settings=settings or PlaneSettings(),
        )
        self._parts = parts
        self._workers = workers
        searcher = Searcher(store, models, analyzer, calibrations or {})
        self._reader = Reader(parts, searcher, base_days=parts.settings.base_days)
        self._recorder = Recorder(parts)
        self._changer = Changer(parts, self._recorder)
        self._exporter = Exporter(parts)
        self._importer = Importer(parts, self._recorder)
        self._reporter = Reporter(parts)
        self._evaluator = Evaluator(parts, searcher, self._reporter, scratch)
        self._upkeep = Upkeep(parts)
        self._upkeeper = Upkeeper(parts, self._upkeep, settling=upkeep_after)
        self._started_at = time.monotonic()

    def _entries_of(self, scopes: Sequence[Scope]) -> int:
        return self._reader.entries_of(scopes)

    @property
    def accounts(self) -> Accounts:
        """See the protocol."""
        return self._accounts

    async def look_up(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """See the protocol."""
        return await self._workers.run(work, *args)

    async def alter(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """See the protocol."""
        return await self._workers.write(work, *args)

    async def search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """See the protocol."""
        return await self._workers.rank(self._reader.shaped_search, caller, request)

    async def context(self, caller: Caller, request: SearchRequest) -> ContextResult:
        """See the protocol."""
        return await self._workers.rank(self._reader.context, caller, request)

    async def recent(self, caller: Caller, request: RecentRequest) -> tuple[Item, ...]:
        """See the protocol."""
        return await self._workers.rank(self._reader.recent, caller, request)

    async def neighbors(self, caller: Caller, request: NeighborsRequest) -> NeighborsResult:
        """See the protocol."""
        return await self._workers.rank(self._reader.neighbors, caller, request)

    async def capture(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """See the protocol."""
        return await self._workers.write(self._recorder.capture, caller, new, key)

    async def recap(
        self, caller: Caller, items: Sequence[NewEntry], key: CallKey | None = None
    ) -> Answered[tuple[Written, ...]]:
        """See the protocol."""
        return await self._workers.write(self._recorder.recap, caller, items, key)

    async def remember(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """See the protocol."""
        return await self._workers.write(self._recorder.remember, caller, new, key)

    async def update(
        self, caller: Caller, update: EntryUpdate, key: CallKey | None = None
    ) -> Answered[Updated]:
        """See the protocol."""
        return await self._workers.write(self._changer.update, caller, update, key)

    async def forget(
        self, caller: Caller, name: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """See the protocol."""
        return await self._workers.write(self._changer.forget, caller, name, project, key)

    async def forget_source(
        self, caller: Caller, ref: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """See the protocol."""
        return await self._workers.write(self._changer.forget_source, caller, ref, project, key)

    async def stats(self, caller: Caller) -> PlaneStats:
        """See the protocol."""
        return await self._workers.rank(self._stats, caller)

    def _stats(self, caller: Caller) -> PlaneStats:
        uptime_ms = int((time.monotonic() - self._started_at) * 1000)
        last_decay_at = self._upkeep.last_decay_at(caller.tenant)
        return self._reader.stats(caller, last_decay_at=last_decay_at, uptime_ms=uptime_ms)

    async def hygiene(self, caller: Caller, k: int = 20) -> HygieneReport:
        """See the protocol."""
        return await self._workers.rank(self._reporter.hygiene, caller, k)

    async def evaluate(self, caller: Caller, suite: str = "core") -> Evaluation:
        """See the protocol."""
        return await self._workers.rank(self._evaluator.evaluate, caller, suite)

    async def export(self, caller: Caller, after_id: str = "", limit: int = 200) -> ExportPage:
        """See the protocol."""
        return await self._workers.rank(self._exporter.page, caller, after_id, limit)

    async def import_entries(
        self,
        caller: Caller,
        entries: Sequence[ImportEntry],
        failed: Sequence[ImportFailure] = (),
        project: str | None = None,
        key: CallKey | None = None,
    ) -> Answered[Imported]:
        """See the protocol."""
        return await self._workers.write(self._importer.take, caller, entries, failed, project, key)

    async def decay(self, caller: Caller, effective_days: int | None = None) -> Decayed:
        """See the protocol."""
        return await self._workers.write(self._upkeep.decay, caller, effective_days)

    async def health(self, caller: Caller) -> PlaneHealth:
        """See the protocol."""
        return await self._workers.run(health, self._parts, self._upkeep, caller)

    def close(self) -> None:
        """Finish what follows answers; the store stays open."""
        self._upkeeper.close()
        self._accounts.refusals.close()
        self._reader.close()
