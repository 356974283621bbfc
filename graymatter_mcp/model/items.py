"""What reads of the data plane return: items, their signals, and the pack that sorts them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.ids import FactId

ContentMode = Literal["full", "snippet", "ids"]
"""How much of an item's text is returned."""

Tier = Literal["warm", "cold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Why an item was found, each in [0, 1]; neighbours have `graph` alone."""

    graph: float
    keyword: float | None = None
    vector: float | None = None
    recency: float | None = None
    entity: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One fact as a read returns it; None where a field is left out."""

    id: FactId
    score: float
    content: str | None
    tier: Tier
    namespace: str
    """As the caller knows it."""
    project: str | None
    """Id of the project that owns the fact; None for a user-global one."""
    source: str
    metadata: JsonObject | None
    """The caller's keys and the server's own."""
    source_type: str | None = None
    captured_from: str | None = None
    agent_name: str | None = None
    confidence: float | None = None
    """Of the source, in [0, 1]."""
    created_at: datetime
    updated_at: datetime
    truncated: bool = False
    signals: Signals | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PackItem:
    """A fact as the sections of a pack name it."""

    id: FactId
    content: str | None
    namespace: str
    project: str | None
    memory_type: str | None
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextPack:
    """Relevant and recent items by what they are; one may stand in several sections."""

    user_global: tuple[PackItem, ...]
    project_scoped: tuple[PackItem, ...]
    user_preferences: tuple[PackItem, ...]
    current_setup: tuple[PackItem, ...]
    project_conventions: tuple[PackItem, ...]
    decisions: tuple[PackItem, ...]
    bug_root_causes: tuple[PackItem, ...]
    deployment_state: tuple[PackItem, ...]
    safety_constraints: tuple[PackItem, ...]
    pitfalls: tuple[PackItem, ...]
    recent_decisions: tuple[PackItem, ...]
    all: tuple[PackItem, ...]
