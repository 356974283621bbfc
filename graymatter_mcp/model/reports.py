"""What reports, jobs and moves of the data plane hand over; times are UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.items import Tier


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportEntry:
    """One fact with everything that another store needs to hold it the same way."""

    id: FactId
    project_id: str | None
    content: str
    namespace: str
    """As the caller knows it."""
    source: str
    source_type: str | None
    captured_from: str | None
    agent_name: str | None
    confidence: float | None
    """As the data plane stored it; never derived from the label."""
    confidence_label: str | None
    """As the core stored it; never derived from the number."""
    metadata: JsonObject
    """The caller's keys and the server's own."""
    source_refs: tuple[str, ...]
    expires_at: datetime | None
    tier: Tier
    hits: int
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportPage:
    """A part of an export, ids ascending."""

    entries: tuple[ExportEntry, ...]
    next_after_id: FactId | None
    """None where nothing follows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportEntry:
    """One entry to take in; what was not sent has its default."""

    index: int
    """Its place in the request."""
    content: str
    id: str = ""
    """That it had where it comes from: only other entries of the request refer to it."""
    namespace: str = "default"
    source: str = "manual"
    source_type: str | None = None
    captured_from: str | None = None
    agent_name: str = ""
    confidence: float | None = None
    confidence_label: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    source_refs: tuple[str, ...] = ()
    expires_at: datetime | None = None
    tier: Tier = "warm"
    hits: int = 1
    created_at: datetime | None = None
    updated_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportFailure:
    """An entry that was not taken in, and why."""

    index: int
    error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What became of the entries of one request."""

    imported: int
    deduplicated: int
    failed: tuple[ImportFailure, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Decayed:
    """What one pass of upkeep changed."""

    demoted: int
    promoted: int
    expired: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneHealth:
    """How store and model are, for an admin."""

    store: str
    model: str
    pending_vectors: int
    oldest_pending_at: datetime | None
    last_decay_at: datetime | None
    commit_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LowValue:
    """A fact that says little; reason ``low_worthiness``."""

    fact_id: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A fact that may be over: ``current_state_review`` or ``copy_of_superseded``."""

    fact_id: str
    reason: str
    of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionCandidate:
    """Two facts that may contradict each other, in the order of the scan."""

    fact_ids: tuple[str, str]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneCounts:
    """How long the lists were before the cut."""

    scanned: int
    low_value: int
    stale: int
    duplicate_clusters: int
    contradiction_candidates: int
    orphan_candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneReport:
    """The five lists, each cut to k, and their lengths before."""

    counts: HygieneCounts
    low_value: tuple[LowValue, ...]
    stale: tuple[Stale, ...]
    duplicate_clusters: tuple[tuple[str, ...], ...]
    contradiction_candidates: tuple[ContradictionCandidate, ...]
    orphan_candidates: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationCase:
    """One check of an evaluation, and how it went."""

    name: str
    passed: bool
    is_skipped: bool = False
    """Then it counts as passed."""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """Of `evaluate`."""

    suite: str
    cases: tuple[EvaluationCase, ...]
    hygiene: HygieneReport

    @property
    def failed(self) -> int:
        """How many cases failed."""
        return sum(not case.passed for case in self.cases)
