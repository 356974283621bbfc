"""What callers ask of the engine: checked values, defaults not yet settled."""

from __future__ import annotations

from dataclasses import dataclass, field

from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import UNSET, Namespace, UnsetType


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    """Options of a write. An explicit None is an error, as on the wire."""

    confidence: str | UnsetType = UNSET
    """``verified``, ``inferred`` or ``unverified``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallOptions:
    """Options of a recall. An explicit None is an error, as on the wire."""

    min_confidence: str | UnsetType = UNSET
    """Keep only facts whose effective label is at least this one."""
    confidence_weight: float | UnsetType = UNSET
    """In [0, 0.5]; not given means the configured default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """One query over one namespace."""

    namespace: Namespace
    query: str
    top_k: int | None = None
    """None or <= 0 means the configured default."""
    options: RecallOptions = field(default_factory=RecallOptions)
    hints: bool = True
    """Whether graph hints may follow the ranked facts."""
    learn: bool = False
    """Whether this recall may feed usage aliases."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchRecallRequest:
    """Several queries over one namespace, with one effective weight."""

    namespace: Namespace
    queries: tuple[str, ...]
    top_k: int | None = None
    options: RecallOptions = field(default_factory=RecallOptions)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallKey:
    """Identity of one call, so that carrying it out twice has one effect."""

    key: str
    """128 random bits in hex, or what the client chose."""
    digest: str
    """SHA-256 of what was asked: the same key with another request is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RememberRequest:
    """One fact to store, byte for byte."""

    namespace: Namespace
    text: str
    options: WriteOptions = field(default_factory=WriteOptions)
    origin: Origin = field(default_factory=Origin)
    consolidate: bool = True
    """Whether the write may trigger the consolidation check."""
    call_key: CallKey | None = None
    is_curation: bool = False
    """Whether the write is kept in the audit log, as all of `memory_reflect` is."""
