"""What the engine answers. Field names and JSON of receipts are those of the wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.ids import FactId, Namespace


class Degraded(StrEnum):
    """Why an answer was made without vectors."""

    MODEL_LOADING = "model_loading"
    MODEL_MISSING = "model_missing"
    REEMBEDDING = "reembedding"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalMetadata:
    """Which confidence policy a recall applied."""

    confidence_weight: float
    min_confidence: str | None = None
    policy: str = "confidence-v1"
    kg: str = "hints_without_confidence_receipts"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRanks:
    """Ranks start at 1; 0 means that signal did not rank the fact."""

    vector_rank: int
    keyword_rank: int
    recency_rank: int
    fused_score: float
    k: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallProvenance:
    """Where a fact comes from."""

    fact_id: FactId
    written_at: datetime
    superseded_by: str = ""
    confidence: str = ""
    pinned: bool = False
    supersedes: tuple[FactId, ...] = ()
    """Every fact retired in favour of this one, transitively, nearest first, then by id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceRanking:
    """How the confidence factor moved a fact."""

    base_score: float
    final_score: float
    factor: float
    effective_confidence: str
    confidence_weight: float
    policy: str = "confidence-v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallReceipt:
    """Why a fact was returned. `age_days` is rounded to two decimals."""

    text: str
    weight: float
    age_days: float
    ranks: RecallRanks
    provenance: RecallProvenance
    kg_links: tuple[str, ...] | None = None
    ranking: ConfidenceRanking | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """Texts, best first; graph hints after the ranked ones."""

    facts: tuple[str, ...]
    feedback: str = ""
    retrieval: RetrievalMetadata | None = None
    degraded: Degraded | None = None
    fact_ids: tuple[FactId, ...] = ()
    """Identities of the ranked facts, same order; hints have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallExplainResult:
    """Receipts, best first."""

    receipts: tuple[RecallReceipt, ...]
    retrieval: RetrievalMetadata | None = None
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchEntry:
    """The answer to one query of a batch; `facts` is None when it failed."""

    query: str
    facts: tuple[str, ...] | None
    error: str = ""
    fact_ids: tuple[FactId, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecallResult:
    """One entry a query in the order sent, and the distinct texts merged, best first."""

    merged: tuple[str, ...]
    per_query: tuple[BatchEntry, ...]
    retrieval: RetrievalMetadata | None = None
    degraded: Degraded | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """The replacement and what it retired."""

    replacement: Fact
    retired: tuple[Fact, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationReport:
    """What one run did; counts of facts."""

    decayed: int = 0
    summarised: int = 0
    pruned: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryStats:
    """Counts of one namespace; retired facts and aliases included."""

    agent_id: Namespace
    fact_count: int
    oldest_at: datetime | None
    newest_at: datetime | None
    avg_weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStatus:
    """One namespace as ``status`` shows it."""

    agent: Namespace
    live_facts: int
    recalls: int
    avg_weight: float
    oldest_at: datetime | None
    newest_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineStatus:
    """The whole store as ``status`` shows it."""

    total_live_facts: int
    total_tombstones: int
    pending_vector_ops: int
    consolidations: int
    facts_consumed: int
    pinned: int
    nodes: int
    edges: int
    auto_populate: bool
    model: str
    degraded: Degraded | None
    agents: tuple[AgentStatus, ...] = field(default_factory=tuple)
