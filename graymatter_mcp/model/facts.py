"""Facts, their declared confidence and where they came from."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Final

from graymatter_mcp.model.ids import FactId, Namespace


class Confidence(StrEnum):
    """What the writer claims about a fact; nothing checks it, and it is no probability."""

    VERIFIED = "verified"
    INFERRED = "inferred"
    UNVERIFIED = "unverified"


LEVELS: Final[dict[Confidence, int]] = {
    Confidence.UNVERIFIED: 0,
    Confidence.INFERRED: 1,
    Confidence.VERIFIED: 2,
}
"""Order of the labels; a filter keeps facts whose level is at least its own."""


def effective_confidence(stored: str) -> Confidence:
    """Read a stored label: empty means inferred, unknown historical text means unverified."""
    if stored == "":
        return Confidence.INFERRED
    try:
        return Confidence(stored)
    except ValueError:
        return Confidence.UNVERIFIED


class FactKind(StrEnum):
    """Content is recalled; an alias is vocabulary and never a result."""

    CONTENT = ""
    ALIAS = "alias"


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who wrote a fact: all parts are claims of the writer, kept as sent, empty when unknown."""

    source: str = ""
    """Tool, command or method that wrote it, such as ``memory_add``."""
    client: str = ""
    """Name and version of the client program."""
    session: str = ""
    """Identity of the connection or session."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alias:
    """A term and its equivalents, as sent."""

    term: str
    equivalents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One stored text in its present version. Times are UTC with microseconds."""

    id: FactId
    agent_id: Namespace
    text: str
    created_at: datetime
    accessed_at: datetime
    access_count: int = 0
    weight: float = 1.0
    superseded_by: str = ""
    confidence: str = ""
    kind: str = FactKind.CONTENT
    alias_source: str = ""
    pinned: bool = False
    pinned_at: datetime | None = None
    origin: Origin = field(default_factory=Origin)
    alias: Alias | None = None

    @property
    def is_superseded(self) -> bool:
        """Whether the fact is retired: replaced or forgotten."""
        return self.superseded_by != ""
