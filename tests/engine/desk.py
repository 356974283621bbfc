"""A memory on a desk: any store, any embedder, a clock that is set by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
from ulid import ULID

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.model.config import Config
from graymatter_mcp.model.facts import Fact, Origin
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.requests import (
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.store.base import NewFact, PendingVector, WriteBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.store.memory import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Embedder, Windows
    from graymatter_mcp.model.results import (
        RecallExplainResult,
        RecallReceipt,
        RecallResult,
        Revision,
    )
    from graymatter_mcp.store.base import MemoryStore

AGENT: Final = Namespace("ana")
START: Final = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
DEADLINE_S: Final = 60.0
QUIET: Final = Config(
    stem_keywords=False,
    async_consolidate=False,
    # Long: what these tests wait for must not come from the next look at the store.
    vector_reconcile_interval=timedelta(hours=1),
)
BY_HAND: Final = Origin(source="test", client="tests 1.0", session="one")


@dataclass
class HandClock:
    """Time that moves only when told."""

    now: datetime = START

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now

    def forward(self, **duration: float) -> None:
        """Let this much time pass."""
        self.now += timedelta(**duration)


class FailingEmbedder(HashedEmbedder):
    """Fails on texts that hold the word ``poison``."""

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, or fail."""
        if any("poison" in text for text in texts):
            raise EmbeddingError("a component is not finite")
        return super().embed(texts)


def make_store(kind: str, path: Path, config: Config = QUIET) -> MemoryStore:
    """Open a store of the kind; `path` is used by those that keep something."""
    analyzer = Analyzer(config.stem_language if config.stem_keywords else None)
    if kind == "memory":
        return InMemoryStore(stem=analyzer.index_term)
    return DuckDBStore(path, stem=analyzer.index_term)


class Desk:
    """One memory and short ways to use it from code that blocks."""

    def __init__(
        self,
        portal: BlockingPortal,
        store: MemoryStore,
        *,
        config: Config = QUIET,
        load: Callable[[], Embedder] | None = None,
        now: HandClock | None = None,
    ) -> None:
        self._portal = portal
        self.store = store
        self.now = now or HandClock()
        analyzer = Analyzer(config.stem_language if config.stem_keywords else None)
        self.memory = LocalMemory(store, load, analyzer, config, Clock(self.now))

    def run(self, call: Callable[..., Any], *args: Any) -> Any:
        """Await one call."""
        return self._portal.call(call, *args)

    def settle(self) -> None:
        """Wait until every fact has its vector."""
        assert self.run(self.memory.wait_until_settled, DEADLINE_S)

    def close(self) -> None:
        """Close the memory and its store."""
        self.run(self.memory.aclose)

    def add(self, text: str, *, agent: Namespace = AGENT, confidence: str = "") -> Fact:
        """Store one fact, a second after the one before."""
        self.now.forward(seconds=1)
        options = WriteOptions(confidence=confidence) if confidence else WriteOptions()
        request = RememberRequest(namespace=agent, text=text, options=options, origin=BY_HAND)
        return self.run(self.memory.remember, request)

    def update(self, target: str, text: str, **options: Any) -> Revision:
        """Replace a fact."""
        self.now.forward(seconds=1)
        return self.run(self.memory.revise, AGENT, target, text, WriteOptions(**options), BY_HAND)

    def alias(self, term: str, *equivalents: str) -> Fact:
        """Declare an alias."""
        return self.run(self.memory.add_alias, AGENT, term, equivalents, BY_HAND)

    def recall(self, query: str, **options: Any) -> RecallResult:
        """Search; options of the request and of `RecallOptions` alike."""
        return self.run(self.memory.recall, a_request(query, **options))

    def facts(self, query: str, **options: Any) -> list[str]:
        """Search and keep the texts."""
        return list(self.recall(query, **options).facts)

    def explain(self, query: str, **options: Any) -> RecallExplainResult:
        """Search with receipts."""
        return self.run(self.memory.recall_explain, a_request(query, **options))

    def receipts(self, query: str, **options: Any) -> tuple[RecallReceipt, ...]:
        """Search and keep the receipts."""
        return self.explain(query, **options).receipts

    def listed(self, agent: Namespace = AGENT) -> dict[str, Fact]:
        """Return all records by text; for texts that occur once."""
        return {fact.text: fact for fact in self.run(self.memory.list_facts, agent)}

    def consolidate(self) -> Any:
        """Decay and prune."""
        return self.run(self.memory.consolidate, AGENT)


def a_request(query: str, *, agent: Namespace = AGENT, **options: Any) -> RecallRequest:
    """Build a request from options of both kinds."""
    names = {"min_confidence", "confidence_weight"}
    recall = {name: value for name, value in options.items() if name in names}
    others = {name: value for name, value in options.items() if name not in names}
    return RecallRequest(namespace=agent, query=query, options=RecallOptions(**recall), **others)


_numbers = count(1)


def a_fact(text: str, *, at: datetime = START, number: int | None = None, **fields: Any) -> Fact:
    """Build a fact with a fixed identity and stamp."""
    number = next(_numbers) if number is None else number
    fact = Fact(
        id=FactId(str(ULID.from_int(number))),
        agent_id=AGENT,
        text=text,
        created_at=at,
        accessed_at=at,
    )
    return replace(fact, **fields)


def put(store: MemoryStore, *facts: Fact) -> None:
    """Store facts as they are, in one batch."""
    store.apply(
        WriteBatch(facts=tuple(NewFact(fact=fact, terms=tokenize(fact.text)) for fact in facts))
    )


def put_vectors(desk: Desk, *facts: Fact) -> None:
    """Embed facts that were put into the store behind the engine's back."""
    desk.settle()
    models = desk.memory.models
    for fact in facts:
        pending = PendingVector(namespace=fact.agent_id, fact_id=fact.id, text=fact.text)
        new = models.embed_now(pending)
        assert new is not None
        desk.store.apply(WriteBatch(vectors=(new,), model_key=models.model_key))


def until(is_so: Callable[[], bool]) -> None:
    """Wait for what a thread in the background brings about."""
    with anyio.from_thread.start_blocking_portal() as portal:
        portal.call(_until, is_so)


async def _until(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(DEADLINE_S):
        while not await anyio.to_thread.run_sync(is_so):
            await anyio.lowlevel.checkpoint()
