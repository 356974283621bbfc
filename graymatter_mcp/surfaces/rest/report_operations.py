"""Reports, jobs and moves: checked arguments to a call, a result to the body of an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.engine.plane.details import SERVER_KEYS
from graymatter_mcp.model.reports import ImportEntry, ImportFailure
from graymatter_mcp.surfaces.adoption import adoption
from graymatter_mcp.surfaces.rest.operations import Reply
from graymatter_mcp.surfaces.rest.report_bodies import (
    entry_json,
    evaluation_json,
    health_json,
    hygiene_json,
)
from graymatter_mcp.surfaces.rest.rules import check_fields, read_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.surfaces.adoption import Served
    from graymatter_mcp.surfaces.rest.operations import Asked, Operation
    from graymatter_mcp.surfaces.rest.rules import Fields

PAGE: Final = 200
"""Entries of a page of an export."""
_ENTRY: Final = "defs/plane/import_entry"


async def hygiene(plane: DataPlane, asked: Asked) -> Reply:
    """List facts that deserve a look."""
    found = await plane.hygiene(asked.caller, asked.fields.get("k", 20))
    return Reply(body=hygiene_json(found))


async def evaluate(plane: DataPlane, asked: Asked) -> Reply:
    """Check that memory keeps its promises."""
    found = await plane.evaluate(asked.caller, asked.fields.get("suite", "core"))
    return Reply(body=evaluation_json(found))


async def export(plane: DataPlane, asked: Asked) -> Reply:
    """Read everything, page by page."""
    fields = asked.fields
    page = await plane.export(asked.caller, fields.get("afterId", ""), fields.get("limit", PAGE))
    return Reply(
        body={
            "entries": [entry_json(one) for one in page.entries],
            "nextAfterId": page.next_after_id,
        }
    )


async def import_entries(plane: DataPlane, asked: Asked) -> Reply:
    """Store entries of an export; 400 when every one failed."""
    entries: list[ImportEntry] = []
    failed: list[ImportFailure] = []
    for index, sent in enumerate(asked.fields["entries"]):
        read = _entry(index, sent, asked.now)
        if isinstance(read, ImportFailure):
            failed.append(read)
        else:
            entries.append(read)
    told = await plane.import_entries(
        asked.caller, entries, failed, asked.fields.get("project"), asked.key
    )
    done = told.answer
    body: JsonObject = {
        "imported": done.imported,
        "deduplicated": done.deduplicated,
        "failed": [{"index": one.index, "error": one.error} for one in done.failed],
    }
    is_refused = not (done.imported or done.deduplicated)
    status = 201 if done.imported else 200
    return Reply(body=body, status=400 if is_refused else status, is_replayed=told.is_replayed)


def _entry(index: int, sent: Fields, now: datetime) -> ImportEntry | ImportFailure:
    metadata: Any = sent.get("metadata")
    own = metadata
    if isinstance(metadata, dict):
        # Limits count what a caller could have sent; an export shows the server's keys too.
        sent_keys = cast("dict[str, Any]", metadata)
        own = {key: value for key, value in sent_keys.items() if key not in SERVER_KEYS}
    fields, issues = check_fields(_ENTRY, {**sent, "metadata": own}, now)
    if issues:
        first = issues[0]
        return ImportFailure(index=index, error=f"{first.path}: {first.message}")
    return ImportEntry(
        index=index,
        content=fields["content"],
        id=fields.get("id", ""),
        namespace=fields.get("namespace", "default"),
        source=fields.get("source", "manual"),
        source_type=fields.get("sourceType"),
        captured_from=fields.get("capturedFrom"),
        agent_name=fields.get("agentName", ""),
        confidence=fields.get("confidence"),
        confidence_label=fields.get("confidenceLabel", ""),
        metadata=cast("dict[str, Any]", metadata or {}),
        source_refs=tuple(fields.get("sourceRefs", ())),
        expires_at=_time(fields, "expiresAt"),
        tier=fields.get("tier", "warm"),
        hits=fields.get("hits", 1),
        created_at=_time(fields, "createdAt"),
        updated_at=_time(fields, "updatedAt"),
    )


def _time(fields: Fields, name: str) -> datetime | None:
    text = fields.get(name)
    return read_time(text) if isinstance(text, str) else None


async def decay(plane: DataPlane, asked: Asked) -> Reply:
    """Demote, promote and expire now."""
    done = await plane.decay(asked.caller, asked.fields.get("effectiveDays"))
    return Reply(body={"demoted": done.demoted, "promoted": done.promoted, "expired": done.expired})


async def admin_health(plane: DataPlane, asked: Asked) -> Reply:
    """Show how store and model are."""
    return Reply(body=health_json(await plane.health(asked.caller)))


def adoption_of(served: Served) -> Operation:
    """Return the operation that compares a client with what is served here."""

    async def compare(plane: DataPlane, asked: Asked) -> Reply:
        # Nothing of the memory is read, but whoever has left learns nothing either.
        await plane.look_up(plane.accounts.reach.pin, asked.caller)
        return Reply(body=adoption(served, asked.fields))

    return compare


REPORTS: Final[Mapping[str, Operation]] = {
    "hygiene": hygiene,
    "evaluate": evaluate,
    "export": export,
    "import": import_entries,
    "decay": decay,
    "admin-health": admin_health,
}
"""By the name of the route; `adoption_of` makes the one that is left."""
