"""What the data plane knows of a fact beside its text, and how the store keeps it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.model.times import EPOCH, from_microseconds, to_microseconds
from graymatter_mcp.policy.memory_types import MEMORY_TYPES, RETENTION
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.policy.sensitivity import inferred as inferred_sensitivity
from graymatter_mcp.store.base import FactDetails

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.ids import FactId, Namespace

ACTIVE: Final = "active"
SUPERSEDED: Final = "superseded"
DEPRECATED: Final = "deprecated"

SERVER_KEYS: Final = frozenset(
    {
        "memoryType",
        "worthiness",
        "retention",
        "sensitivity",
        "lifecycleStatus",
        "captureAction",
        "supersedes",
        "supersededBy",
        "supersededReason",
        "supersededAt",
        "updatedByCaptureAt",
        "expiresAt",
        "recap",
    }
)
"""Keys of metadata that are ours: stored apart from the caller's, and kept when those go."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Details:
    """Whole values; `DEFAULTS` are those of a fact that the core wrote."""

    source_type: str | None = None
    captured_from: str | None = None
    agent_name: str = ""
    session: str = ""
    metadata: JsonObject = field(default_factory=dict[str, Any])
    """The caller's own keys."""
    kept: JsonObject = field(default_factory=dict[str, Any])
    """Server-owned keys that no other field holds, by their names in `metadata`."""
    sensitivity: str = ""
    """Empty: to be inferred from the text."""
    is_sensitivity_explicit: bool = False
    confidence: float | None = None
    expires_at: datetime | None = None
    is_cold: bool = False
    is_active: bool = True
    content_at: datetime = EPOCH
    updated_at: datetime = EPOCH
    is_level_stored: bool = True
    """False where the level is found in the text at each read."""
    is_known: bool = True
    """False for a fact without details: the core wrote it."""

    def under(self, namespace: Namespace, fact_id: FactId) -> FactDetails:
        """Return what the store keeps."""
        record: dict[str, Any] = {
            "t": self.source_type,
            "f": self.captured_from,
            "m": self.metadata,
            "k": self.kept,
            "x": self.is_sensitivity_explicit,
            "c": self.confidence,
            "s": self.session,
            "u": to_microseconds(self.updated_at),
        }
        present = {
            key: value for key, value in record.items() if value not in (None, "", {}, False)
        }
        return FactDetails(
            namespace=namespace,
            fact_id=fact_id,
            sensitivity=SENSITIVITIES.index(self.sensitivity) if self.is_level_stored else -1,
            content_at=self.content_at,
            expires_at=self.expires_at,
            is_active=self.is_active,
            is_cold=self.is_cold,
            agent_name=self.agent_name,
            session=self.session,
            record=json.dumps(present, ensure_ascii=False, separators=(",", ":")),
        )

    def with_kept(self, **keys: Any) -> Details:
        """Return the details with server-owned keys set; None takes one away."""
        kept = {**self.kept, **keys}
        return replace(self, kept={key: value for key, value in kept.items() if value is not None})

    @property
    def memory_type(self) -> str | None:
        """The type that capture found, if it did."""
        found = self.kept.get("memoryType")
        return found if isinstance(found, str) else None

    @property
    def base_days(self) -> int | None:
        """How long a fact of this retention stays warm unread; None where none was given."""
        return base_days_of(self.kept)


@dataclass(frozen=True, slots=True)
class Row:
    """The columns of a snapshot that details are read from; times in microseconds."""

    record: str
    sensitivity: int
    expires_at: int | None
    is_active: bool
    is_cold: bool
    created_at: int
    content_at: int
    agent_name: str = ""


def read_details(row: Row, text: str) -> Details:
    """Build the details of a fact.

    Args:
        row: Of the snapshot.
        text: Of the fact: the level of one that the core wrote is found there.
    """
    content_at = from_microseconds(row.content_at)
    if not row.record:
        return Details(
            sensitivity=level_of(row.sensitivity, text),
            content_at=content_at,
            updated_at=content_at,
            is_level_stored=False,
            is_known=False,
        )
    record = parsed_record(row.record)
    return Details(
        source_type=record.get("t"),
        captured_from=record.get("f"),
        agent_name=row.agent_name,
        session=record.get("s", ""),
        metadata=record.get("m", {}),
        kept=record.get("k", {}),
        sensitivity=level_of(row.sensitivity, text),
        is_level_stored=row.sensitivity >= 0,
        is_sensitivity_explicit=record.get("x", False),
        confidence=record.get("c"),
        expires_at=None if row.expires_at is None else from_microseconds(row.expires_at),
        is_active=row.is_active,
        is_cold=row.is_cold,
        content_at=content_at,
        updated_at=from_microseconds(record["u"]),
    )


@lru_cache(1 << 16)
def parsed_record(record: str) -> dict[str, Any]:
    """Read a record; whoever gets it must not change it."""
    return cast("dict[str, Any]", json.loads(record))


def level_of(stored: int, text: str) -> str:
    """Return the level of a fact: as stored, or what its text gives away."""
    return SENSITIVITIES[stored] if stored >= 0 else inferred_level(text)


@lru_cache(1 << 17)
def inferred_level(text: str) -> str:
    """Return the level of a text that nobody gave one."""
    return inferred_sensitivity(None, None, text)[0]


def base_days_of(kept: Mapping[str, Any]) -> int | None:
    """Return `baseEffectiveDays` of the retention among server-owned keys, if there is one."""
    retention = kept.get("retention")
    days = cast("dict[str, Any]", retention).get("baseEffectiveDays") if retention else None
    return days if isinstance(days, int) else None


def own_keys(metadata: JsonObject) -> JsonObject:
    """Return the caller's keys of metadata: ours are dropped."""
    return {key: value for key, value in metadata.items() if key not in SERVER_KEYS}


def type_keys(memory_type: str) -> JsonObject:
    """Return the server-owned keys that follow from a type."""
    retention = RETENTION[memory_type]
    return {
        "memoryType": memory_type,
        "retention": {
            "policy": retention.policy,
            "baseEffectiveDays": retention.base_effective_days,
            "supersedeAggressively": retention.supersede_aggressively,
        },
    }


def legal_type(value: object) -> str | None:
    """Return a type that a caller sent, if it is one."""
    return value if isinstance(value, str) and value in MEMORY_TYPES else None
