"""`Memory` and `AdvancedStore`: the async core for code that blocks; safe from several threads."""

from __future__ import annotations

import builtins
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from anyio.from_thread import start_blocking_portal

from graymatter_mcp.errors import StoreClosedError
from graymatter_mcp.library.aio import AsyncMemory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import TracebackType

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.library.advanced import AsyncAdvancedStore, ConsolidateConfig
    from graymatter_mcp.model.checkpoints import Checkpoint, JsonObject, Message
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.requests import RecallOptions, WriteOptions
    from graymatter_mcp.model.results import (
        BatchRecallResult,
        MemoryStats,
        RecallExplainResult,
        RecallReceipt,
        RecallResult,
    )

Answer = TypeVar("Answer")


class _Loop:
    """An event loop in a thread of its own, on which the async core lives."""

    def __init__(self) -> None:
        self._context = start_blocking_portal()
        self._portal: BlockingPortal | None = self._context.__enter__()
        self._lock = threading.Lock()

    def run(self, call: Callable[..., Awaitable[Answer]], *args: Any, **kwargs: Any) -> Answer:
        """Run one call on the loop and wait for its answer."""
        portal = self._portal
        if portal is None:
            raise StoreClosedError
        try:
            return portal.call(partial(call, *args, **kwargs))
        except RuntimeError as exc:
            if self._portal is None:  # stopped since the look above
                raise StoreClosedError from exc
            raise

    def stop(self) -> None:
        """End the loop; twice is fine."""
        with self._lock:
            portal, self._portal = self._portal, None
        if portal is not None:
            self._context.__exit__(None, None, None)


class Memory:
    """One memory, open from construction on. See `AsyncMemory` for what each method does."""

    def __init__(self, data_dir: str | Path | None = None, *, config: Config | None = None) -> None:
        """Open the memory of a directory.

        Raises:
            GraymatterError: It cannot be opened; see `compose.open_memory`.
        """
        self._memory = AsyncMemory(data_dir, config=config)
        self._loop = _Loop()
        try:
            self._loop.run(self._memory.__aenter__)
        except BaseException:
            self._loop.stop()
            raise

    @classmethod
    def open(cls, config: Config) -> Memory:
        """Open with a full configuration."""
        return cls(config=config)

    def __enter__(self) -> Memory:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def config(self) -> Config:
        """Return a copy of the configuration."""
        return self._memory.config()

    def advanced(self) -> AdvancedStore:
        """Return the methods below the everyday ones."""
        return AdvancedStore(self._memory.advanced(), self._loop)

    def remember(self, agent_id: str, text: str) -> None:
        """Store a fact."""
        self._loop.run(self._memory.remember, agent_id, text)

    def remember_with_options(self, agent_id: str, text: str, options: WriteOptions) -> Fact:
        """Store a fact and return it exactly as committed."""
        return self._loop.run(self._memory.remember_with_options, agent_id, text, options)

    def remember_shared(self, text: str) -> None:
        """Store a fact that all agents share."""
        self._loop.run(self._memory.remember_shared, text)

    def remember_shared_with_options(self, text: str, options: WriteOptions) -> Fact:
        """Store a shared fact and return it."""
        return self._loop.run(self._memory.remember_shared_with_options, text, options)

    def recall(self, agent_id: str, query: str) -> list[str]:
        """Return the best facts."""
        return self._loop.run(self._memory.recall, agent_id, query)

    def recall_shared(self, query: str) -> list[str]:
        """Rank the shared namespace."""
        return self._loop.run(self._memory.recall_shared, query)

    def recall_all(self, agent_id: str, query: str) -> list[str]:
        """Fuse the agent's ranking with the shared one."""
        return self._loop.run(self._memory.recall_all, agent_id, query)

    def recall_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallResult:
        """Rank with options."""
        return self._loop.run(self._memory.recall_with_options, agent_id, query, options)

    def recall_shared_with_options(self, query: str, options: RecallOptions) -> RecallResult:
        """Rank the shared namespace with options."""
        return self._loop.run(self._memory.recall_shared_with_options, query, options)

    def recall_all_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallResult:
        """Fuse the agent's ranking with the shared one, with options."""
        return self._loop.run(self._memory.recall_all_with_options, agent_id, query, options)

    def recall_explain_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallExplainResult:
        """Return receipts instead of texts."""
        return self._loop.run(self._memory.recall_explain_with_options, agent_id, query, options)

    def consolidate(self, agent_id: str) -> None:
        """Decay and prune now."""
        self._loop.run(self._memory.consolidate, agent_id)

    def wait_until_settled(self, timeout_s: float = 60.0) -> bool:
        """Wait until the model is loaded and every fact has its vector; False when time ran out."""
        return self._loop.run(self._memory.wait_until_settled, timeout_s)

    def close(self) -> None:
        """Flush and release the directory; twice is fine, anything after it raises."""
        try:
            self._loop.run(self._memory.close)
        except StoreClosedError:
            return
        self._loop.stop()


class AdvancedStore:
    """See `AsyncAdvancedStore` for what each method does."""

    def __init__(self, store: AsyncAdvancedStore, loop: _Loop) -> None:
        self._store = store
        self._loop = loop

    def put(self, agent_id: str, text: str) -> None:
        """Store a fact; schedules nothing."""
        self._loop.run(self._store.put, agent_id, text)

    def put_shared(self, text: str) -> None:
        """Store a shared fact; schedules nothing."""
        self._loop.run(self._store.put_shared, text)

    def put_returning_fact(self, agent_id: str, text: str) -> Fact:
        """Store a fact and return it."""
        return self._loop.run(self._store.put_returning_fact, agent_id, text)

    def put_with_options_returning_fact(
        self, agent_id: str, text: str, options: WriteOptions
    ) -> Fact:
        """Store a fact with a label and return it."""
        return self._loop.run(self._store.put_with_options_returning_fact, agent_id, text, options)

    def revise_with_options(
        self, agent_id: str, target_text: str, text: str, options: WriteOptions
    ) -> Fact:
        """Replace every live fact of exactly this text."""
        return self._loop.run(self._store.revise_with_options, agent_id, target_text, text, options)

    def revise_facts_with_options(
        self, agent_id: str, facts: Sequence[Fact], text: str, options: WriteOptions
    ) -> Fact:
        """Replace these facts, if none has changed."""
        return self._loop.run(self._store.revise_facts_with_options, agent_id, facts, text, options)

    def retire(self, agent_id: str, fact_ids: Sequence[str]) -> None:
        """Forget facts by id."""
        self._loop.run(self._store.retire, agent_id, fact_ids)

    def set_pinned(self, agent_id: str, fact_ids: Sequence[str], pinned: bool) -> None:
        """Pin or unpin facts by id."""
        self._loop.run(self._store.set_pinned, agent_id, fact_ids, pinned)

    def recall(self, agent_id: str, query: str, top_k: int) -> builtins.list[str]:
        """Rank without confidence; `top_k` <= 0 gives an empty list."""
        return self._loop.run(self._store.recall, agent_id, query, top_k)

    def recall_shared(self, query: str, top_k: int) -> builtins.list[str]:
        """Rank the shared namespace without confidence."""
        return self._loop.run(self._store.recall_shared, query, top_k)

    def recall_all(self, agent_id: str, query: str, top_k: int) -> builtins.list[str]:
        """Fuse the agent's ranking with the shared one, without confidence."""
        return self._loop.run(self._store.recall_all, agent_id, query, top_k)

    def recall_explain(self, agent_id: str, query: str, top_k: int) -> builtins.list[RecallReceipt]:
        """Return receipts; `top_k` <= 0 gives an empty list."""
        return self._loop.run(self._store.recall_explain, agent_id, query, top_k)

    def recall_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Rank with options."""
        return self._loop.run(self._store.recall_with_options, agent_id, query, options, top_k)

    def recall_explain_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallExplainResult:
        """Return receipts, with options."""
        return self._loop.run(
            self._store.recall_explain_with_options, agent_id, query, options, top_k
        )

    def recall_shared_with_options(
        self, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Rank the shared namespace with options."""
        return self._loop.run(self._store.recall_shared_with_options, query, options, top_k)

    def recall_all_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Fuse the agent's ranking with the shared one, with options."""
        return self._loop.run(self._store.recall_all_with_options, agent_id, query, options, top_k)

    def batch_recall_with_options(
        self, agent_id: str, queries: Sequence[str], options: RecallOptions, top_k: int
    ) -> BatchRecallResult:
        """Rank each query as it would alone, and merge."""
        return self._loop.run(
            self._store.batch_recall_with_options, agent_id, queries, options, top_k
        )

    def put_alias(self, agent_id: str, term: str, equivalents: Sequence[str]) -> Fact:
        """Declare that a term and its equivalents mean the same."""
        return self._loop.run(self._store.put_alias, agent_id, term, equivalents)

    def list(self, agent_id: str) -> builtins.list[Fact]:
        """Return all records, newest first."""
        return self._loop.run(self._store.list, agent_id)

    def list_agents(self) -> builtins.list[str]:
        """Return every namespace ever written to."""
        return self._loop.run(self._store.list_agents)

    def stats(self, agent_id: str) -> MemoryStats:
        """Count one namespace."""
        return self._loop.run(self._store.stats, agent_id)

    def update_fact(self, agent_id: str, fact: Fact) -> None:
        """Replace the record of an existing id."""
        self._loop.run(self._store.update_fact, agent_id, fact)

    def delete(self, agent_id: str, fact_id: str) -> None:
        """Erase one record for good."""
        self._loop.run(self._store.delete, agent_id, fact_id)

    def maybe_consolidate(self, agent_id: str, config: ConsolidateConfig) -> None:
        """Consolidate if the namespace holds at least the threshold."""
        self._loop.run(self._store.maybe_consolidate, agent_id, config)

    def consolidate(self, agent_id: str, config: ConsolidateConfig) -> None:
        """Decay and prune now."""
        self._loop.run(self._store.consolidate, agent_id, config)

    def consolidation_counters(self) -> Mapping[str, int]:
        """Return lifetime counts."""
        return self._loop.run(self._store.consolidation_counters)

    def default_confidence_weight(self) -> float:
        """Return the weight that an omitted option takes."""
        return self._loop.run(self._store.default_confidence_weight)

    def set_graph(self, graph: GraphAccessor | None, extractor: EntityExtractor | None) -> None:
        """Replace the graph that hints and links use."""
        self._store.set_graph(graph, extractor)

    def save_checkpoint(
        self,
        agent_id: str,
        state: JsonObject | None = None,
        *,
        messages: Sequence[Message] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> Checkpoint:
        """Save a new checkpoint."""
        return self._loop.run(
            self._store.save_checkpoint, agent_id, state, messages=messages, metadata=metadata
        )

    def resume_checkpoint(self, agent_id: str) -> Checkpoint:
        """Return the newest checkpoint."""
        return self._loop.run(self._store.resume_checkpoint, agent_id)

    def load_checkpoint(self, agent_id: str, checkpoint_id: str) -> Checkpoint:
        """Return one checkpoint by id."""
        return self._loop.run(self._store.load_checkpoint, agent_id, checkpoint_id)

    def list_checkpoints(self, agent_id: str) -> builtins.list[Checkpoint]:
        """Return all checkpoints, newest first."""
        return self._loop.run(self._store.list_checkpoints, agent_id)
