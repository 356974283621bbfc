"""The versioned part of a fact, and how a patch changes it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from graymatter_mcp.model.ids import UNSET
from graymatter_mcp.store.duckdb.codec import alias_to_json, optional_microseconds, to_uuid

if TYPE_CHECKING:
    from uuid import UUID

    from graymatter_mcp.store.base import FactPatch, NewFact


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """What versions record; times in microseconds, `alias` as JSON, `terms` space-separated."""

    fact_id: UUID
    namespace: str
    kind: str
    text: str
    terms: str
    superseded_by: str
    confidence: str
    pinned_at: int | None
    pruned_at: int | None
    alias: str | None


def born(new: NewFact) -> StoredState:
    """Return the first version of a fact."""
    fact = new.fact
    return StoredState(
        fact_id=to_uuid(fact.id),
        namespace=fact.agent_id,
        kind=fact.kind,
        text=fact.text,
        terms=" ".join(new.terms),
        superseded_by=fact.superseded_by,
        confidence=fact.confidence,
        pinned_at=optional_microseconds(fact.pinned_at),
        pruned_at=None,
        alias=alias_to_json(fact.alias),
    )


def fits(state: StoredState, patch: FactPatch) -> bool:
    """Whether the state is still the one that was read: text, kind and label, and live.

    A pinned fact is never pruned, and a pruned one takes no patch but its return.
    """
    expected = patch.expected
    if patch.pruned_at is UNSET:
        is_allowed = state.pruned_at is None
    else:
        is_allowed = patch.pruned_at is None or state.pinned_at is None
    if not is_allowed:
        return False
    return expected is None or (
        state.text == expected.text
        and state.kind == expected.kind
        and state.confidence == expected.confidence
        and state.superseded_by == ""
    )


def patched(state: StoredState, patch: FactPatch) -> StoredState:
    """Return the next version."""
    return replace(
        state,
        text=state.text if patch.text is UNSET else patch.text,
        terms=state.terms if patch.terms is UNSET else " ".join(patch.terms),
        superseded_by=state.superseded_by if patch.superseded_by is UNSET else patch.superseded_by,
        confidence=state.confidence if patch.confidence is UNSET else patch.confidence,
        pinned_at=state.pinned_at
        if patch.pinned_at is UNSET
        else optional_microseconds(patch.pinned_at),
        pruned_at=state.pruned_at
        if patch.pruned_at is UNSET
        else optional_microseconds(patch.pruned_at),
        alias=state.alias if patch.alias is UNSET else alias_to_json(patch.alias),
    )
