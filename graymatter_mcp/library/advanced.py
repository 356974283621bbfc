"""`AsyncAdvancedStore`: everything below the everyday methods."""

from __future__ import annotations

import builtins
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import SHARED_AGENT_ID, FactId, Namespace
from graymatter_mcp.model.requests import (
    BatchRecallRequest,
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import timedelta

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.model.checkpoints import Checkpoint, JsonObject, Message
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.results import (
        BatchRecallResult,
        MemoryStats,
        RecallExplainResult,
        RecallReceipt,
        RecallResult,
    )

LIBRARY = Origin(source="library")
_PLAIN = RecallOptions(confidence_weight=0.0)


class ConsolidateConfig(Protocol):
    """What consolidation reads of a configuration; `Config` fits it."""

    @property
    def consolidate_threshold(self) -> int:
        """Records a namespace must hold before `maybe_consolidate` runs."""
        ...

    @property
    def decay_half_life(self) -> timedelta:
        """Time untouched after which a weight is one half."""
        ...


class AsyncAdvancedStore:
    """Raw access to one memory; every failure is a `GraymatterError`."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    async def put(self, agent_id: str, text: str) -> None:
        """Store a fact; schedules nothing."""
        await self.put_returning_fact(agent_id, text)

    async def put_shared(self, text: str) -> None:
        """Store a fact that all agents share; schedules nothing."""
        await self.put(SHARED_AGENT_ID, text)

    async def put_returning_fact(self, agent_id: str, text: str) -> Fact:
        """Store a fact and return it as committed."""
        return await self.put_with_options_returning_fact(agent_id, text, WriteOptions())

    async def put_with_options_returning_fact(
        self, agent_id: str, text: str, options: WriteOptions
    ) -> Fact:
        """Store a fact with a label, in one transaction, and return it as committed."""
        return await self._memory.remember(
            RememberRequest(
                namespace=Namespace(agent_id),
                text=text,
                options=options,
                origin=LIBRARY,
                consolidate=False,
            )
        )

    async def revise_with_options(
        self, agent_id: str, target_text: str, text: str, options: WriteOptions
    ) -> Fact:
        """Replace every live fact of exactly this text; return the replacement."""
        revision = await self._memory.revise(
            Namespace(agent_id), target_text, text, options, LIBRARY
        )
        return revision.replacement

    async def revise_facts_with_options(
        self, agent_id: str, facts: Sequence[Fact], text: str, options: WriteOptions
    ) -> Fact:
        """Replace these facts, if none has changed since it was read; return the replacement."""
        revision = await self._memory.revise_facts(
            Namespace(agent_id), facts, text, options, LIBRARY
        )
        return revision.replacement

    async def retire(self, agent_id: str, fact_ids: Sequence[str]) -> None:
        """Forget facts by id, without a replacement."""
        await self._memory.retire(Namespace(agent_id), _ids(fact_ids))

    async def set_pinned(self, agent_id: str, fact_ids: Sequence[str], pinned: bool) -> None:
        """Pin or unpin facts by id."""
        await self._memory.pin_facts(Namespace(agent_id), _ids(fact_ids), pinned)

    async def recall(self, agent_id: str, query: str, top_k: int) -> builtins.list[str]:
        """Rank without confidence; `top_k` <= 0 gives an empty list."""
        if top_k <= 0:
            return []
        result = await self.recall_with_options(agent_id, query, _PLAIN, top_k)
        return list(result.facts)

    async def recall_shared(self, query: str, top_k: int) -> builtins.list[str]:
        """Rank the shared namespace as `recall` does."""
        return await self.recall(SHARED_AGENT_ID, query, top_k)

    async def recall_all(self, agent_id: str, query: str, top_k: int) -> builtins.list[str]:
        """Fuse the agent's ranking with the shared one; `top_k` <= 0 gives an empty list."""
        if top_k <= 0:
            return []
        result = await self.recall_all_with_options(agent_id, query, _PLAIN, top_k)
        return list(result.facts)

    async def recall_explain(
        self, agent_id: str, query: str, top_k: int
    ) -> builtins.list[RecallReceipt]:
        """Return receipts; `top_k` <= 0 gives an empty list."""
        if top_k <= 0:
            return []
        result = await self.recall_explain_with_options(agent_id, query, _PLAIN, top_k)
        # No option was asked for here, so no receipt speaks of one.
        return [replace(receipt, ranking=None) for receipt in result.receipts]

    async def recall_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Rank with options; `top_k` <= 0 means the default."""
        return await self._memory.recall(
            replace(_request(agent_id, query, options, top_k), learn=True)
        )

    async def recall_explain_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallExplainResult:
        """Return receipts; `top_k` <= 0 means the default."""
        return await self._memory.recall_explain(_request(agent_id, query, options, top_k))

    async def recall_shared_with_options(
        self, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Rank the shared namespace with options."""
        return await self.recall_with_options(SHARED_AGENT_ID, query, options, top_k)

    async def recall_all_with_options(
        self, agent_id: str, query: str, options: RecallOptions, top_k: int
    ) -> RecallResult:
        """Fuse the agent's ranking with the shared one, with options."""
        return await self._memory.recall_all(_request(agent_id, query, options, top_k))

    async def batch_recall_with_options(
        self, agent_id: str, queries: Sequence[str], options: RecallOptions, top_k: int
    ) -> BatchRecallResult:
        """Rank each query as it would alone, and merge."""
        return await self._memory.recall_batch(
            BatchRecallRequest(
                namespace=Namespace(agent_id),
                queries=tuple(queries),
                top_k=top_k,
                options=options,
            )
        )

    async def put_alias(self, agent_id: str, term: str, equivalents: Sequence[str]) -> Fact:
        """Declare that a term and its equivalents mean the same."""
        return await self._memory.add_alias(Namespace(agent_id), term, equivalents, LIBRARY)

    async def list(self, agent_id: str) -> builtins.list[Fact]:
        """Return all records, retired facts and aliases included, newest first."""
        return await self._memory.list_facts(Namespace(agent_id))

    async def list_agents(self) -> builtins.list[str]:
        """Return every namespace ever written to."""
        return [str(agent) for agent in await self._memory.list_agents()]

    async def stats(self, agent_id: str) -> MemoryStats:
        """Count one namespace."""
        return await self._memory.stats(Namespace(agent_id))

    async def update_fact(self, agent_id: str, fact: Fact) -> None:
        """Replace the record of an existing id; never creates, never revives a retired fact."""
        await self._memory.update_fact(Namespace(agent_id), fact)

    async def delete(self, agent_id: str, fact_id: str) -> None:
        """Erase one record for good."""
        await self._memory.delete(Namespace(agent_id), FactId(fact_id))

    async def maybe_consolidate(self, agent_id: str, config: ConsolidateConfig) -> None:
        """Consolidate if the namespace holds at least the threshold."""
        records = await self._memory.list_facts(Namespace(agent_id))
        if len(records) >= config.consolidate_threshold:
            await self.consolidate(agent_id, config)

    async def consolidate(self, agent_id: str, config: ConsolidateConfig) -> None:
        """Decay and prune now, by the half-life of `config`."""
        await self._memory.consolidate(Namespace(agent_id), config.decay_half_life)

    async def consolidation_counters(self) -> Mapping[str, int]:
        """Return lifetime counts: ``consolidations`` and ``facts_consolidated``."""
        status = await self._memory.status()
        return {
            "consolidations": status.consolidations,
            "facts_consolidated": status.facts_consumed,
        }

    async def default_confidence_weight(self) -> float:
        """Return the weight that an omitted option takes."""
        return await self._memory.default_confidence_weight()

    def set_graph(self, graph: GraphAccessor | None, extractor: EntityExtractor | None) -> None:
        """Replace the graph that hints and links use; None takes it away."""
        self._memory.set_graph(graph, extractor)

    async def save_checkpoint(
        self,
        agent_id: str,
        state: JsonObject | None = None,
        *,
        messages: Sequence[Message] = (),
        metadata: Mapping[str, str] | None = None,
    ) -> Checkpoint:
        """Save a new checkpoint; overwrites none."""
        return await self._memory.save_checkpoint(
            Namespace(agent_id), state, messages=messages, metadata=dict(metadata or {})
        )

    async def resume_checkpoint(self, agent_id: str) -> Checkpoint:
        """Return the newest checkpoint."""
        return await self._memory.resume_checkpoint(Namespace(agent_id))

    async def load_checkpoint(self, agent_id: str, checkpoint_id: str) -> Checkpoint:
        """Return one checkpoint by id."""
        return await self._memory.load_checkpoint(Namespace(agent_id), checkpoint_id)

    async def list_checkpoints(self, agent_id: str) -> builtins.list[Checkpoint]:
        """Return all checkpoints, newest first."""
        return await self._memory.list_checkpoints(Namespace(agent_id))


def _ids(fact_ids: Sequence[str]) -> list[FactId]:
    return [FactId(fact_id) for fact_id in fact_ids]


def _request(agent_id: str, query: str, options: RecallOptions, top_k: int) -> RecallRequest:
    return RecallRequest(
        namespace=Namespace(agent_id), query=query, top_k=top_k, options=options, hints=True
    )
