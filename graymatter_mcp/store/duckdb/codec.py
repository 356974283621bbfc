"""Python values to columns and back."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from ulid import ULID

from graymatter_mcp.errors import CorruptRecordError
from graymatter_mcp.model.checkpoints import Checkpoint, Message
from graymatter_mcp.model.facts import Alias, Fact, Origin
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.times import from_microseconds, to_microseconds

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject

Row = tuple[Any, ...]

FACT_COLUMNS: Final = (
    "fact_id, namespace, kind, text, created_at, superseded_by, confidence, pinned_at, alias, "
    "alias_source, source, client, session, access_count, accessed_at, weight"
)

_IDS_KEPT: Final = 1 << 14
"""Ids whose 16-byte form is kept: a write names its fact several times, a search its answers."""


@lru_cache(_IDS_KEPT)
def to_uuid(fact_id: str) -> UUID:
    """Return the 16-byte form of a ULID.

    Raises:
        ValueError: It is not a ULID.
    """
    return ULID.from_str(fact_id).to_uuid()


def to_fact_id(number: int) -> FactId:
    """Return the 26-character form of a 128-bit ULID."""
    return FactId(str(ULID.from_int(number)))


def optional_microseconds(moment: datetime | None) -> int | None:
    """Return epoch microseconds, or None for None."""
    return None if moment is None else to_microseconds(moment)


def alias_to_json(alias: Alias | None) -> str | None:
    """Return the pair as compact JSON, or None for None."""
    if alias is None:
        return None
    return json.dumps([alias.term, *alias.equivalents], ensure_ascii=False)


def alias_from_json(text: str | None) -> Alias | None:
    """Read what `alias_to_json` wrote."""
    if text is None:
        return None
    term, *equivalents = json.loads(text)
    return Alias(term=term, equivalents=tuple(equivalents))


def fact_from_row(row: Row) -> Fact:
    """Build a fact from a row of `FACT_COLUMNS`."""
    (
        fact_id,
        namespace,
        kind,
        text,
        created_at,
        superseded_by,
        confidence,
        pinned_at,
        alias,
        alias_source,
        source,
        client,
        session,
        access_count,
        accessed_at,
        weight,
    ) = row
    return Fact(
        id=to_fact_id(fact_id.int),
        agent_id=Namespace(namespace),
        text=text,
        created_at=from_microseconds(created_at),
        accessed_at=from_microseconds(accessed_at),
        access_count=access_count,
        weight=weight,
        superseded_by=superseded_by,
        confidence=confidence,
        kind=kind,
        alias_source=alias_source,
        pinned=pinned_at is not None,
        pinned_at=None if pinned_at is None else from_microseconds(pinned_at),
        origin=Origin(source=source, client=client, session=session),
        alias=alias_from_json(alias),
    )


def checkpoint_to_json(checkpoint: Checkpoint) -> str:
    """Return state, messages and metadata as JSON; numbers keep their spelling."""
    return json.dumps(
        {
            "state": checkpoint.state,
            "messages": [[m.role, m.content] for m in checkpoint.messages],
            "metadata": dict(checkpoint.metadata),
        },
        ensure_ascii=False,
    )


def checkpoint_from_row(row: Row) -> Checkpoint:
    """Build a checkpoint from (checkpoint_id, namespace, created_at, record).

    Raises:
        CorruptRecordError: The record is damaged.
    """
    checkpoint_id, namespace, created_at, record = row
    identity = to_fact_id(checkpoint_id.int)
    try:
        body: dict[str, Any] = json.loads(record)
        return Checkpoint(
            id=identity,
            agent_id=Namespace(namespace),
            created_at=from_microseconds(created_at),
            state=_object_or_none(body["state"]),
            messages=tuple(
                Message(role=role, content=content) for role, content in body["messages"]
            ),
            metadata={str(key): str(value) for key, value in body["metadata"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as exc:
        raise CorruptRecordError(f"decode checkpoint {identity}: the record is damaged") from exc


def _object_or_none(state: JsonObject | None) -> JsonObject | None:
    if state is not None:
        state.keys()  # raises AttributeError for anything but an object
    return state
