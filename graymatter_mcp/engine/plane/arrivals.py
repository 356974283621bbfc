"""What becomes of imported entries: stored as they were, under new ids, once.

See ADR 0042 for what the contract leaves open.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.engine.plane.details import (
    ACTIVE,
    DEPRECATED,
    SUPERSEDED,
    Details,
    legal_type,
    own_keys,
)
from graymatter_mcp.engine.plane.draft import Entry
from graymatter_mcp.engine.plane.items import lifecycle
from graymatter_mcp.engine.write import checked_text
from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import Fact, FactKind, Origin
from graymatter_mcp.model.ids import SUPERSEDED_BY_AGENT, FactId
from graymatter_mcp.model.reports import ImportFailure
from graymatter_mcp.model.scopes import shelf
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES, inferred

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.plane.draft import Draft
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.reports import ImportEntry
    from graymatter_mcp.model.scopes import Scope

LONGEST_DAYS: Final = 36_500
"""Retention that an entry may bring, in days."""
_TEXT: Final = 256
"""Characters of a server-owned value at most."""
_PARTS_OF_WORTH: Final = frozenset(
    {"durable", "reuseLikelihood", "userRelevance", "confidence", "overall"}
)


class Arrivals:
    """The entries of one request, one after the other, on a draft."""

    def __init__(self, draft: Draft, clock: Clock, scope: Scope) -> None:
        self._draft = draft
        self._clock = clock
        self._scope = scope
        self.imported = 0
        self.deduplicated = 0
        self.failed: list[ImportFailure] = []
        self._ids: dict[str, FactId] = {}
        """Id here of each entry, by the id that it came with."""
        self._born: list[tuple[Entry, Mapping[str, Any]]] = []
        """New facts with the metadata that they came with."""
        self._seen: dict[tuple[Namespace, str, str], FactId] = {}

    def take(self, one: ImportEntry) -> None:
        """Store an entry, unless its twin is there or it cannot be stored."""
        try:
            checked_text(one.content.strip(), "content")
            namespace = shelf(self._scope, one.namespace)
        except InvalidArgumentError as exc:
            self.failed.append(ImportFailure(index=one.index, error=str(exc)))
            return
        status = _status(one)
        key = (namespace, one.content.strip(), status)
        twin = self._seen.get(key) or self._stored_twin(*key)
        if twin is None:
            self._seen[key] = self._insert(one, namespace, status)
            self.imported += 1
        else:
            self._seen[key] = twin
            self.deduplicated += 1
        if one.id:
            self._ids[one.id] = self._seen[key]

    def _stored_twin(self, namespace: Namespace, stripped: str, status: str) -> FactId | None:
        """Return the oldest fact of a shelf with this content in this state of life."""
        part = self._draft.part(namespace)
        snapshot = part.snapshot
        now = to_microseconds(self._draft.now)
        for row in part.index.rows_with(stripped):
            if row >= snapshot.size or snapshot.expires_at[row] <= now:
                continue
            for fact in snapshot.facts([row]):
                is_same = fact.kind == FactKind.CONTENT and fact.text.strip() == stripped
                if is_same and lifecycle(fact, part.details(row, fact.text)) == status:
                    return fact.id
        return None

    def _insert(self, one: ImportEntry, namespace: Namespace, status: str) -> FactId:
        at, fact_id = self._clock.stamp()
        created_at = at if one.created_at is None else min(one.created_at, at)
        updated_at = created_at if one.updated_at is None else min(one.updated_at, at)
        changed_at = max(created_at, updated_at)
        # When it was last read is not told. A cold fact that counted as read now would be warm
        # again with the next pass.
        is_read = one.hits > 1 and one.tier == "warm"
        fact = Fact(
            id=fact_id,
            agent_id=namespace,
            text=one.content,
            created_at=created_at,
            accessed_at=at if is_read else changed_at,
            access_count=one.hits - 1,
            confidence=one.confidence_label,
            # Heirs have no id before all entries are taken; see `link`.
            superseded_by=SUPERSEDED_BY_AGENT if status == SUPERSEDED else "",
            origin=Origin(source=one.source),
        )
        level, is_explicit = _level(one)
        details = Details(
            source_type=one.source_type,
            captured_from=one.captured_from,
            agent_name=one.agent_name,
            session=_session(one),
            metadata=own_keys(dict(one.metadata)),
            kept=kept_keys(one.metadata),
            sensitivity=level,
            is_sensitivity_explicit=is_explicit,
            confidence=one.confidence,
            expires_at=one.expires_at,
            is_cold=one.tier == "cold",
            is_active=status != DEPRECATED,
            content_at=changed_at,
            updated_at=changed_at,
        )
        entry = Entry(
            fact=fact,
            details=details,
            is_new=True,
            text=fact.text,
            superseded_by=fact.superseded_by,
            refs=list(one.source_refs),
        )
        self._draft.now = at
        self._draft.add(entry)
        self._born.append((entry, one.metadata))
        return fact_id

    def link(self) -> None:
        """Join the new facts to those of the request that took their place, or that they replaced.

        An id from outside the request names nothing here, and is dropped.
        """
        for entry, metadata in self._born:
            heir = self._ids.get(_text(metadata.get("supersededBy")) or "")
            if entry.superseded_by and heir is not None and heir != entry.fact.id:
                entry.superseded_by = heir
            replaced = metadata.get("supersedes")
            named = cast("list[object]", replaced) if isinstance(replaced, list) else []
            ids = [self._ids[one] for one in named if isinstance(one, str) and one in self._ids]
            entry.details = entry.details.with_kept(supersedes=ids or None)


def _status(one: ImportEntry) -> str:
    sent = one.metadata.get("lifecycleStatus")
    return sent if sent in (SUPERSEDED, DEPRECATED) else ACTIVE


def _level(one: ImportEntry) -> tuple[str, bool]:
    """Return how guarded the fact is, and whether somebody said so.

    An export does not tell the two apart: a level that the text gives anyway counts as found there.
    """
    found, _ = inferred(None, None, one.content)
    sent = one.metadata.get("sensitivity")
    return (sent, sent != found) if sent in SENSITIVITIES else (found, False)


def _session(one: ImportEntry) -> str:
    named = _text(one.metadata.get("session"))
    if named:
        return named
    by_default = one.captured_from in ("memory_capture", "memory_session_recap")
    return "" if by_default else one.captured_from or ""


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and len(value) <= _TEXT else None


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _retention(value: object) -> dict[str, Any] | None:
    if not isinstance(value, dict):
        return None
    sent = cast("dict[str, Any]", value)
    policy, days = _text(sent.get("policy")), sent.get("baseEffectiveDays")
    if policy is None or not isinstance(days, int) or isinstance(days, bool):
        return None
    if not 0 < days <= LONGEST_DAYS:
        return None
    return {
        "policy": policy,
        "baseEffectiveDays": days,
        "supersedeAggressively": sent.get("supersedeAggressively") is True,
    }


def _worth(value: object) -> dict[str, Any] | None:
    sent = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
    is_whole = sent.keys() == _PARTS_OF_WORTH and all(
        isinstance(part, (int, float)) and not isinstance(part, bool) and 0 <= part <= 1
        for part in sent.values()
    )
    return sent if is_whole else None


_KEPT: Final[Mapping[str, Callable[[object], object]]] = {
    "memoryType": legal_type,
    "worthiness": _worth,
    "retention": _retention,
    "captureAction": _text,
    "supersededReason": _text,
    "supersededAt": _text,
    "updatedByCaptureAt": _text,
    "recap": _flag,
}
"""Server-owned keys that an entry may bring, and what reads them; the rest have fields."""


def kept_keys(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the server-owned keys of an entry that are what the server would have written."""
    read = {name: reader(metadata.get(name)) for name, reader in _KEPT.items()}
    return {name: value for name, value in read.items() if value is not None}
