"""Types of what the tools take and answer.

Made from the schema files by `python -m graymatter_mcp.contract`; do not edit.
"""

# Without postponed evaluation, which would hide from readers at run time which keys are required.
from typing import Any, Final, Literal, NotRequired, TypedDict


class MemorySearchInput(TypedDict):
    """Arguments of memory_search."""

    agent_id: str
    query: str
    top_k: NotRequired[float]
    explain: NotRequired[bool]
    min_confidence: NotRequired[Literal["verified", "inferred", "unverified"]]
    confidence_weight: NotRequired[float]


class Retrieval(TypedDict):
    """Part retrieval."""

    min_confidence: NotRequired[str | None]
    confidence_weight: float
    policy: str
    kg: str


class Ranks(TypedDict):
    """Part ranks."""

    vector_rank: int
    keyword_rank: int
    recency_rank: int
    fused_score: float
    k: float


class Provenance(TypedDict):
    """Part provenance."""

    fact_id: str
    written_at: str
    superseded_by: NotRequired[str]
    confidence: NotRequired[str]
    pinned: NotRequired[bool]
    supersedes: NotRequired[list[str] | None]


class Ranking(TypedDict):
    """Part ranking."""

    base_score: float
    final_score: float
    factor: float
    effective_confidence: str
    confidence_weight: float
    policy: str


class Explained(TypedDict):
    """Part explained."""

    text: str
    weight: float
    age_days: float
    ranks: Ranks
    provenance: Provenance
    kg_links: NotRequired[list[str] | None]
    ranking: NotRequired[Ranking | None]


class MemorySearchOutput(TypedDict):
    """Result of memory_search."""

    retrieval: NotRequired[Retrieval | None]
    agent_id: str
    query: str
    count: int
    facts: list[str] | None
    feedback: NotRequired[str]
    explained: NotRequired[list[Explained] | None]


class MemorySearchBatchInput(TypedDict):
    """Arguments of memory_search_batch."""

    agent_id: str
    queries: list[str]
    top_k: NotRequired[float]
    min_confidence: NotRequired[Literal["verified", "inferred", "unverified"]]
    confidence_weight: NotRequired[float]


class PerQuery(TypedDict):
    """Part per_query."""

    query: str
    facts: list[str] | None
    error: NotRequired[str]


class MemorySearchBatchOutput(TypedDict):
    """Result of memory_search_batch."""

    retrieval: NotRequired[Retrieval | None]
    agent_id: str
    count: int
    merged: list[str] | None
    per_query: list[PerQuery] | None


class MemoryAddInput(TypedDict):
    """Arguments of memory_add."""

    agent_id: str
    text: str
    confidence: NotRequired[Literal["verified", "inferred", "unverified"]]


class MemoryAddOutput(TypedDict):
    """Result of memory_add."""

    agent_id: str
    stored: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


class MemoryAliasInput(TypedDict):
    """Arguments of memory_alias."""

    agent_id: str
    term: str
    equivalents: list[str]


class MemoryAliasOutput(TypedDict):
    """Result of memory_alias."""

    agent_id: str
    term: str
    equivalents: list[str] | None
    stored: bool


class CheckpointSaveInput(TypedDict):
    """Arguments of checkpoint_save."""

    agent_id: str
    state: NotRequired[str]


class CheckpointSaveOutput(TypedDict):
    """Result of checkpoint_save."""

    agent_id: str
    checkpoint_id: str
    created_at: str


class CheckpointResumeInput(TypedDict):
    """Arguments of checkpoint_resume."""

    agent_id: str
    on_missing: NotRequired[Literal["error", "empty"]]


class CheckpointResumeOutput1(TypedDict):
    """Result of checkpoint_resume."""

    id: str
    created_at: str
    state: NotRequired[dict[str, Any]]
    message_count: NotRequired[int]


class CheckpointResumeOutput2(TypedDict):
    """Result of checkpoint_resume."""

    found: Literal[False]
    agent_id: str


class MemoryReflectInput(TypedDict):
    """Arguments of memory_reflect."""

    action: Literal["add", "update", "forget", "link", "pin", "unpin"]
    agent_id: NotRequired[str]
    agent: NotRequired[str]
    text: NotRequired[str]
    target: NotRequired[str]
    confidence: NotRequired[Literal["verified", "inferred", "unverified"]]


class MemoryReflectOutput(TypedDict):
    """Result of memory_reflect."""

    action: str
    agent: str
    ok: bool
    fact_id: NotRequired[str]
    confidence: NotRequired[str]


CheckpointResumeOutput = CheckpointResumeOutput1 | CheckpointResumeOutput2


TOOLS: Final = (
    "memory_search",
    "memory_search_batch",
    "memory_add",
    "memory_alias",
    "checkpoint_save",
    "checkpoint_resume",
    "memory_reflect",
)
"""Every tool, in the order of the list."""
