"""A data plane on a real store, with a clock that is set by hand, for code that blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.models import ModelKeeper
from graymatter_mcp.engine.plane.local import LocalDataPlane
from graymatter_mcp.engine.workers import Workers
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import NewEntry, SearchRequest, Where
from graymatter_mcp.model.reports import ImportEntry
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.store.base import FactPatch, NewFact, WriteBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore
from tests.engine.desk import DEADLINE_S, HandClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.items import Item
    from graymatter_mcp.model.plane import Written
    from graymatter_mcp.model.reports import ExportEntry, Imported
    from graymatter_mcp.store.base import MemoryStore

_NEVER_S: Final = 3600.0


class Brain:
    """One data plane and short ways to use it."""

    def __init__(
        self,
        portal: BlockingPortal,
        path: Path,
        *,
        with_model: bool = False,
        now: HandClock | None = None,
        store: MemoryStore | None = None,
        **options: Any,
    ) -> None:
        self._portal = portal
        self.now = now or HandClock()
        analyzer = Analyzer("english")
        self.store = store or DuckDBStore(path, stem=analyzer.index_term)
        self.models = ModelKeeper(self.store, HashedEmbedder if with_model else None, _NEVER_S)
        if with_model:
            assert self.models.wait_until_settled(DEADLINE_S)
        self.clock = Clock(self.now)
        workers = Workers(lambda: None, lambda: True)
        self.plane = LocalDataPlane(
            self.store, self.models, analyzer, self.clock, workers, **options
        )

    def close(self) -> None:
        """Close plane, model and store."""
        self.plane.close()
        self.models.close()
        self.store.close()

    def run(self, call: Callable[..., Any], *args: Any) -> Any:
        """Await one call."""
        return self._portal.call(call, *args)

    def user(self, name: str) -> Caller:
        """Make a user, and return them as they call."""
        self.now.forward(seconds=1)
        user = self.plane.accounts.users.create(LOCAL_CALLER, name)
        return Caller(tenant=user.tenant, user_id=user.id)

    def capture(self, content: str, caller: Caller = LOCAL_CALLER, **fields: Any) -> Written:
        """Capture one fact, a second after the one before."""
        return self._write(self.plane.capture, content, caller, fields)

    def remember(self, content: str, caller: Caller = LOCAL_CALLER, **fields: Any) -> Written:
        """Store one fact as it is."""
        return self._write(self.plane.remember, content, caller, fields)

    def _write(
        self, call: Callable[..., Any], content: str, caller: Caller, fields: dict[str, Any]
    ) -> Written:
        self.now.forward(seconds=1)
        return self.run(call, caller, NewEntry(content=content, **fields)).answer

    def core(self, text: str, label: str = "") -> FactId:
        """Store a fact as the core does, on the shelf `default`."""
        self.now.forward(seconds=1)
        at, fact_id = self.clock.stamp()
        fact = Fact(
            id=fact_id,
            agent_id=Namespace("default"),
            text=text,
            created_at=at,
            accessed_at=at,
            confidence=label,
        )
        self.store.apply(WriteBatch(at=at, facts=(NewFact(fact=fact, terms=tokenize(text)),)))
        return fact_id

    def pin(self, fact_id: FactId) -> None:
        """Pin a fact as the core does."""
        pin = FactPatch(namespace=Namespace("default"), fact_id=fact_id, pinned_at=self.now.now)
        self.store.apply(WriteBatch(at=self.now.now, patches=(pin,)))

    def search(self, query: str, caller: Caller = LOCAL_CALLER, **fields: Any) -> list[Item]:
        """Search; the returned facts count as read."""
        where = Where(namespace=fields.pop("namespace", None))
        request = SearchRequest(query=query, where=where, **fields)
        return list(self.run(self.plane.search, caller, request).results)

    def exported(self, caller: Caller = LOCAL_CALLER, limit: int = 200) -> list[ExportEntry]:
        """Export everything, page by page."""
        found: list[ExportEntry] = []
        after = ""
        while True:
            page = self.run(self.plane.export, caller, after, limit)
            found += page.entries
            if page.next_after_id is None:
                return found
            after = page.next_after_id

    def entry(self, fact_id: FactId | None, caller: Caller = LOCAL_CALLER) -> ExportEntry:
        """Return one fact as it is exported."""
        return next(one for one in self.exported(caller) if one.id == fact_id)

    def take(
        self, entries: Sequence[ImportEntry], caller: Caller = LOCAL_CALLER, *more: Any
    ) -> Imported:
        """Import."""
        self.now.forward(seconds=1)
        return self.run(self.plane.import_entries, caller, entries, *more).answer


def as_import(entries: Sequence[ExportEntry]) -> list[ImportEntry]:
    """Return what an export gave as it is sent to an import."""
    return [
        ImportEntry(
            index=index,
            id=one.id,
            content=one.content,
            namespace=one.namespace,
            source=one.source,
            source_type=one.source_type,
            captured_from=one.captured_from,
            agent_name=one.agent_name or "",
            confidence=one.confidence,
            confidence_label=one.confidence_label or "",
            metadata=one.metadata,
            source_refs=one.source_refs,
            expires_at=one.expires_at,
            tier=one.tier,
            hits=one.hits,
            created_at=one.created_at,
            updated_at=one.updated_at,
        )
        for index, one in enumerate(entries)
    ]


def without_id(entry: ExportEntry) -> ExportEntry:
    """Return an entry without what an import gives anew."""
    metadata = {k: v for k, v in entry.metadata.items() if k not in ("supersedes", "supersededBy")}
    return replace(entry, id=entry.id[:0], metadata=metadata)
