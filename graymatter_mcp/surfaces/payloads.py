"""The structured payloads of the core tools, field for field those of the output schemas.

No ``from __future__ import annotations`` here: with it Python 3.11 cannot tell ``NotRequired``
keys, and the parity test compares exactly those with the schema files.
"""

from typing import Literal, NotRequired, TypedDict

from graymatter_mcp.model.checkpoints import JsonObject


class RetrievalPayload(TypedDict):
    """Which confidence policy a recall applied."""

    min_confidence: NotRequired[str]
    confidence_weight: float
    policy: str
    kg: str


class RanksPayload(TypedDict):
    """Ranks from 1, 0 = that signal did not rank the fact."""

    vector_rank: int
    keyword_rank: int
    recency_rank: int
    fused_score: float
    k: float


class ProvenancePayload(TypedDict):
    """Where a fact comes from."""

    fact_id: str
    written_at: str
    superseded_by: NotRequired[str]
    confidence: NotRequired[str]
    pinned: NotRequired[bool]
    supersedes: NotRequired[list[str]]


class RankingPayload(TypedDict):
    """How the confidence factor moved a fact."""

    base_score: float
    final_score: float
    factor: float
    effective_confidence: str
    confidence_weight: float
    policy: str


class ReceiptPayload(TypedDict):
    """Why a fact was returned."""

    text: str
    weight: float
    age_days: float
    ranks: RanksPayload
    provenance: ProvenancePayload
    kg_links: NotRequired[list[str]]
    ranking: NotRequired[RankingPayload]


class SearchPayload(TypedDict):
    """Answer of ``memory_search``; `count` is the length of whichever list holds the facts."""

    retrieval: NotRequired[RetrievalPayload]
    agent_id: str
    query: str
    count: int
    facts: list[str]
    feedback: NotRequired[str]
    explained: NotRequired[list[ReceiptPayload]]


class BatchEntryPayload(TypedDict):
    """One query of a batch; `facts` is None when it failed, and `error` says why."""

    query: str
    facts: list[str] | None
    error: NotRequired[str]


class BatchPayload(TypedDict):
    """Answer of ``memory_search_batch``."""

    retrieval: NotRequired[RetrievalPayload]
    agent_id: str
    count: int
    merged: list[str]
    per_query: list[BatchEntryPayload]


class AddPayload(TypedDict):
    """Answer of ``memory_add``; the last two only after a labelled write."""

    agent_id: str
    stored: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


class AliasPayload(TypedDict):
    """Answer of ``memory_alias``."""

    agent_id: str
    term: str
    equivalents: list[str]
    stored: bool


class SavedPayload(TypedDict):
    """Answer of ``checkpoint_save``."""

    agent_id: str
    checkpoint_id: str
    created_at: str


class ResumedPayload(TypedDict):
    """Answer of ``checkpoint_resume`` when there is a checkpoint."""

    id: str
    created_at: str
    state: NotRequired[JsonObject]
    message_count: NotRequired[int]


class AbsentPayload(TypedDict):
    """Answer of ``checkpoint_resume`` when absence was asked to be a success."""

    found: Literal[False]
    agent_id: str


class ReflectPayload(TypedDict):
    """Answer of ``memory_reflect``; the last two after ``update`` and a labelled ``add``."""

    action: str
    agent: str
    ok: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


Payload = (
    SearchPayload
    | BatchPayload
    | AddPayload
    | AliasPayload
    | SavedPayload
    | ResumedPayload
    | AbsentPayload
    | ReflectPayload
)
