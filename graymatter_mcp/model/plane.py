"""What callers ask of the data plane, checked, and what they get; times are UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from graymatter_mcp.model.ids import UNSET, FactId, UnsetType

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from graymatter_mcp.model.items import ContentMode, ContextPack, Item

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Which shelves a read goes to; see data-plane contract 2.3 and 2.4."""

    namespace: str | None = None
    include_namespaces: tuple[str, ...] | None = None
    project: str | None = None
    include_projects: tuple[str, ...] | None = None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The shelves asked for; None for all."""
        if self.include_namespaces is not None:
            return self.include_namespaces
        return None if self.namespace is None else (self.namespace,)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """Of `search`; with a budget and another default also of `context`."""

    query: str
    k: int = 10
    where: Where = field(default_factory=Where)
    weights: Mapping[str, float] = field(default_factory=dict[str, float])
    agent_name: str | None = None
    max_sensitivity: str = "private"
    content_mode: ContentMode = "full"
    as_of: datetime | None = None
    min_vector_score: float | None = None
    abstain_below: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Of `search`."""

    results: tuple[Item, ...]
    degraded: bool
    abstained: bool
    had_candidates: bool
    """Whether anything could have been found: then an empty degraded answer is a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextResult:
    """Of `context`."""

    relevant: SearchResult
    recent: tuple[Item, ...]
    pack: ContextPack


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentRequest:
    """Of `recent`."""

    k: int = 20
    where: Where = field(default_factory=Where)
    since: datetime | None = None
    agent_name: str | None = None
    max_sensitivity: str = "private"
    content_mode: ContentMode = "full"
    as_of: datetime | None = None
    ids: tuple[FactId, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborsRequest:
    """Of `neighbors`."""

    id: str
    depth: int = 1
    k: int = 20
    where: Where = field(default_factory=Where)
    max_sensitivity: str = "private"
    as_of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighborsResult:
    """Of `neighbors`."""

    results: tuple[Item, ...]
    degraded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEntry:
    """One fact to store, by `remember`, `capture` or a recap."""

    content: str
    namespace: str = "default"
    project: str | None = None
    source: str = "manual"
    source_type: str | None = None
    captured_from: str | None = None
    is_captured_from_sent: bool = False
    """Whether the caller named it: then it tells the session too."""
    agent_name: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    sensitivity: str | None = None
    confidence: float | None = None
    expires_at: datetime | None = None
    source_refs: tuple[str, ...] = ()
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What became of one fact that was to be stored."""

    id: FactId | None
    rejected: str | None = None
    is_inserted: bool = False
    deduplicated: bool = False
    updated: bool = False
    superseded: tuple[FactId, ...] = ()
    embedded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryUpdate:
    """Of `update`: what is not given stays."""

    id: str
    project: str | None = None
    content: str | UnsetType = UNSET
    namespace: str | UnsetType = UNSET
    metadata: Mapping[str, Any] | UnsetType = UNSET
    sensitivity: str | UnsetType = UNSET
    source_type: str | UnsetType = UNSET
    captured_from: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    expires_at: datetime | UnsetType = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """Of `update`."""

    id: FactId
    embedding_changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneStats:
    """Of `stats`."""

    by_namespace: Mapping[str, tuple[int, int]]
    """Warm and cold active facts by shelf."""
    total_inactive: int
    pending_vectors: int
    last_decay_at: datetime | None
    uptime_ms: int

    @property
    def total_warm(self) -> int:
        """Active facts that are warm."""
        return sum(warm for warm, _ in self.by_namespace.values())

    @property
    def total_cold(self) -> int:
        """Active facts that are cold."""
        return sum(cold for _, cold in self.by_namespace.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Of `forget`."""

    ids: tuple[FactId, ...]
    """Erased facts, ascending."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered(Generic[Answer]):
    """The answer of a write, and whether it was given before."""

    answer: Answer
    is_replayed: bool = False
    """Whether the key of the call had taken effect already."""
