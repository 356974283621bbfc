"""How a typed program uses the library: checked by pyright, never run."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, assert_type

from graymatter_mcp import (
    SHARED_AGENT_ID,
    SUPERSEDED_BY_AGENT,
    UNSET,
    AdvancedStore,
    AsyncAdvancedStore,
    AsyncMemory,
    BatchRecallResult,
    Checkpoint,
    CommittedButFailedError,
    Config,
    EmbeddingMode,
    ErrorCode,
    Fact,
    GraymatterError,
    Memory,
    MemoryStats,
    Message,
    RecallExplainResult,
    RecallOptions,
    RecallReceipt,
    RecallResult,
    RetrievalMetadata,
    SignalWeights,
    WriteOptions,
    default_config,
    default_signal_weights,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp import ConsolidateConfig, EntityExtractor, GraphAccessor


def settings() -> Config:
    """Every field by keyword."""
    return Config(
        data_dir=Path("memory"),
        top_k=5,
        signal_weights=SignalWeights(vector=1, keyword=1, recency=0),
        min_relevance=0.1,
        confidence_weight=0.2,
        embedding_mode=EmbeddingMode.KEYWORD,
        model="none",
        stem_keywords=True,
        stem_language="english",
        decay_half_life=timedelta(days=30),
        consolidate_threshold=20,
        async_consolidate=True,
        max_async_consolidations=2,
        vector_reconcile_interval=timedelta(seconds=30),
        knowledge_graph=False,
        usage_alias=False,
        usage_alias_affinity=3,
        read_only=False,
        strict_write=False,
    )


def blocking() -> None:
    """The everyday methods."""
    assert_type(default_config(), Config)
    assert_type(default_signal_weights(), SignalWeights)
    with Memory("memory") as memory, Memory.open(settings()) as other:
        assert_type(memory, Memory)
        assert_type(other, Memory)
        memory.remember("ana", "text")
        memory.remember_shared("text")
        write = WriteOptions(confidence="verified")
        assert_type(memory.remember_with_options("ana", "text", write), Fact)
        assert_type(memory.remember_shared_with_options("text", WriteOptions()), Fact)
        assert_type(memory.recall("ana", "query"), list[str])
        assert_type(memory.recall_shared("query"), list[str])
        assert_type(memory.recall_all("ana", "query"), list[str])
        read = RecallOptions(min_confidence="inferred", confidence_weight=UNSET)
        result = memory.recall_with_options("ana", "query", read)
        assert_type(result, RecallResult)
        assert_type(result.facts, tuple[str, ...])
        assert_type(result.feedback, str)
        assert_type(result.retrieval, RetrievalMetadata | None)
        assert_type(memory.recall_shared_with_options("query", read), RecallResult)
        assert_type(memory.recall_all_with_options("ana", "query", read), RecallResult)
        explained = memory.recall_explain_with_options("ana", "query", read)
        assert_type(explained, RecallExplainResult)
        receipt = explained.receipts[0]
        assert_type(receipt, RecallReceipt)
        assert_type(receipt.ranks.vector_rank, int)
        assert_type(receipt.ranks.fused_score, float)
        assert_type(receipt.provenance.written_at, datetime)
        memory.consolidate("ana")
        assert_type(memory.config(), Config)
        assert_type(memory.advanced(), AdvancedStore)


def raw(store: AdvancedStore, graph: GraphAccessor, extractor: EntityExtractor) -> None:
    """The methods below the everyday ones."""
    store.put("ana", "text")
    store.put_shared("text")
    fact = store.put_returning_fact("ana", "text")
    assert_type(fact.created_at, datetime)
    assert_type(fact.is_superseded, bool)
    store.put_with_options_returning_fact("ana", "text", WriteOptions())
    assert_type(store.revise_with_options("ana", "old", "new", WriteOptions()), Fact)
    assert_type(store.revise_facts_with_options("ana", [fact], "new", WriteOptions()), Fact)
    store.retire("ana", [fact.id, "an id from elsewhere"])
    store.set_pinned("ana", (fact.id,), True)
    assert_type(store.recall("ana", "query", 3), list[str])
    assert_type(store.recall_explain("ana", "query", 3), list[RecallReceipt])
    batch = store.batch_recall_with_options("ana", ["one", "two"], RecallOptions(), 3)
    assert_type(batch, BatchRecallResult)
    assert_type(batch.per_query[0].facts, tuple[str, ...] | None)
    assert_type(store.put_alias("ana", "term", ["equivalent"]), Fact)
    assert_type(store.list("ana"), list[Fact])
    assert_type(store.list_agents(), list[str])
    assert_type(store.stats(SHARED_AGENT_ID), MemoryStats)
    store.update_fact("ana", fact)
    store.delete("ana", fact.id)
    fits: ConsolidateConfig = settings()
    store.maybe_consolidate("ana", fits)
    counters: Mapping[str, int] = store.consolidation_counters()
    assert_type(counters["consolidations"], int)
    assert_type(store.default_confidence_weight(), float)
    store.set_graph(graph, extractor)
    store.set_graph(None, None)
    saved = store.save_checkpoint(
        "ana",
        {"step": 1, "nested": {"list": [1, None, "x"]}},
        messages=[Message(role="user", content="hi")],
        metadata={"source": "me"},
    )
    assert_type(saved, Checkpoint)
    found: Sequence[Checkpoint] = store.list_checkpoints("ana")
    assert_type(found[0].messages, tuple[Message, ...])


async def asynchronous() -> None:
    """The same names, awaited."""
    async with AsyncMemory("memory") as memory:
        await memory.remember("ana", "text")
        assert_type(await memory.recall("ana", "query"), list[str])
        store = memory.advanced()
        assert_type(store, AsyncAdvancedStore)
        assert_type(await store.list("ana"), list[Fact])
    other = await AsyncMemory.open(settings())
    assert_type(other, AsyncMemory)
    await other.close()


def failures(memory: Memory) -> str:
    """One family of errors, a stable code each."""
    try:
        memory.remember("ana", "text")
    except CommittedButFailedError as exc:
        return exc.committed.id
    except GraymatterError as exc:
        assert_type(exc.code, ErrorCode)
        return exc.code
    return SUPERSEDED_BY_AGENT


def refused(memory: Memory) -> None:
    """What a type checker must not let pass: an unneeded ignore is an error itself."""
    memory.recall_with_options("ana", "query", RecallOptions(confidence_weight=None))  # pyright: ignore[reportArgumentType] - None is not "not given"
    memory.remember_with_options("ana", "text", WriteOptions("verified"))  # pyright: ignore[reportCallIssue] - options are keyword-only
    memory.recall("ana")  # pyright: ignore[reportCallIssue] - a query is required
