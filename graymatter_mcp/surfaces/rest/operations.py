"""The twelve operations: checked arguments to a request, a result to the body of an answer.

REST and the twins over MCP share these, so a body cannot differ between them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.model.ids import UNSET, FactId
from graymatter_mcp.model.plane import (
    Answered,
    EntryUpdate,
    NeighborsRequest,
    NewEntry,
    RecentRequest,
    SearchRequest,
    Where,
    Written,
)
from graymatter_mcp.policy.packs import GUIDANCE
from graymatter_mcp.surfaces.rest.bodies import item_json, pack_json, time_json
from graymatter_mcp.surfaces.rest.cuts import cut_context, cut_results
from graymatter_mcp.surfaces.rest.rules import read_as_of, read_time

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.plane import SearchResult
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.surfaces.rest.rules import Fields

TWIN_BYTES: Final = 40_000
"""What an answer over MCP may take unless the call says otherwise."""
CONTEXT_TOKENS: Final = 6000

SEARCH_FAILED: Final = (
    "search degraded: a backing tier was unavailable and no results could be produced"
)
CONTEXT_FAILED: Final = (
    "context degraded: a backing tier was unavailable and no relevant memories could be produced"
)
NEIGHBORS_FAILED: Final = (
    "neighbors degraded: graph traversal failed and no results could be produced"
)

RECAP_ARRAYS: Final = (
    ("decisions", "decisions", "decision"),
    ("setupFacts", "current-setup", "setup_fact"),
    ("rootCauses", "root-causes", "bug_root_cause"),
    ("preferences", "user", "user_preference"),
    ("projectConventions", "project-conventions", "project_convention"),
    ("safetyConstraints", "safety", "safety_constraint"),
    ("other", "memory", "general"),
)
"""Array of a recap, its usual shelf, the type of its items; in the order of processing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One call of an operation."""

    caller: Caller
    fields: Fields
    """Checked, by the names of REST, with the id of the path."""
    now: datetime
    key: CallKey | None = None
    max_bytes: int | None = None
    """Where the call does not say."""

    @property
    def bytes(self) -> int | None:
        """What the body may take; None for any size."""
        return self.fields.get("maxBytes", self.max_bytes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The body of an answer, and how it went."""

    body: JsonObject
    status: int = 200
    is_replayed: bool = False
    failure: str | None = None
    """What REST says beside the body where a leg was away and nothing was found."""


Operation = Callable[["DataPlane", Asked], Awaitable[Reply]]


async def search(plane: DataPlane, asked: Asked) -> Reply:
    """Find facts by words, meaning and links."""
    found = await plane.search(asked.caller, _search_request(asked, "query", 10))
    body = cut_results({**_ranked(found), **_flags(found)}, asked.bytes)
    failed = found.degraded and not found.results and found.had_candidates
    return Reply(body=body, failure=SEARCH_FAILED if failed else None)


async def context(plane: DataPlane, asked: Asked) -> Reply:
    """Ground a message."""
    request = _search_request(asked, "message", 10, max_tokens=CONTEXT_TOKENS)
    found = await plane.context(asked.caller, request)
    body: JsonObject = {
        "relevant": {**_ranked(found.relevant), **_flags(found.relevant)},
        "recent": {"results": [item_json(item) for item in found.recent]},
    }
    relevant = found.relevant
    failed = relevant.degraded and not relevant.results and relevant.had_candidates
    body |= {"contextPack": pack_json(found.pack), "guidance": GUIDANCE}
    return Reply(body=cut_context(body, asked.bytes), failure=CONTEXT_FAILED if failed else None)


def _ranked(found: SearchResult) -> JsonObject:
    return {"results": [item_json(item) for item in found.results]}


def _flags(found: SearchResult) -> JsonObject:
    return {"degraded": found.degraded, "abstained": found.abstained}


async def recent(plane: DataPlane, asked: Asked) -> Reply:
    """List the newest facts."""
    return await _recent(plane, asked, _time(asked.fields, "since"))


async def today(plane: DataPlane, asked: Asked) -> Reply:
    """List the facts of the last 24 hours."""
    return await _recent(plane, asked, asked.now - timedelta(hours=24))


async def _recent(plane: DataPlane, asked: Asked, since: datetime | None) -> Reply:
    fields = asked.fields
    ids = fields.get("ids")
    items = await plane.recent(
        asked.caller,
        RecentRequest(
            k=fields.get("k", 20),
            where=_where(fields),
            since=since,
            agent_name=fields.get("agentName"),
            max_sensitivity=fields.get("maxSensitivity", "private"),
            content_mode=fields.get("contentMode", "full"),
            as_of=_as_of(asked),
            ids=None if ids is None else tuple(FactId(one) for one in ids),
        ),
    )
    return Reply(body=cut_results({"results": [item_json(item) for item in items]}, asked.bytes))


async def neighbors(plane: DataPlane, asked: Asked) -> Reply:
    """Follow the links of a fact."""
    fields = asked.fields
    found = await plane.neighbors(
        asked.caller,
        NeighborsRequest(
            id=fields["id"],
            depth=fields.get("depth", 1),
            k=fields.get("k", 20),
            where=_where(fields),
            max_sensitivity=fields.get("maxSensitivity", "private"),
            as_of=_as_of(asked),
        ),
    )
    body: JsonObject = {
        "results": [item_json(item) for item in found.results],
        "degraded": found.degraded,
    }
    failed = found.degraded and not found.results
    return Reply(body=cut_results(body, asked.bytes), failure=NEIGHBORS_FAILED if failed else None)


async def remember(plane: DataPlane, asked: Asked) -> Reply:
    """Store a fact as it is."""
    new = _new_entry(asked.fields, source="manual", source_type=None, captured_from=None)
    return _written(await plane.remember(asked.caller, new, asked.key))


async def capture(plane: DataPlane, asked: Asked) -> Reply:
    """Store a fact where it is worth it."""
    new = _new_entry(
        asked.fields,
        source="memory_capture",
        source_type="chat",
        captured_from="memory_capture",
    )
    return _written(await plane.capture(asked.caller, new, asked.key))


def _written(told: Answered[Written]) -> Reply:
    written = told.answer
    return Reply(
        body=write_json(written),
        status=201 if written.is_inserted else 200,
        is_replayed=told.is_replayed,
    )


async def session_recap(plane: DataPlane, asked: Asked) -> Reply:
    """Store the outcomes of a session, all or none."""
    name = "memory_session_recap"
    items: list[NewEntry] = []
    for array, shelf_name, kind in RECAP_ARRAYS:
        for content in asked.fields.get(array, ()):
            metadata = {**asked.fields.get("metadata", {}), "memoryType": kind, "recap": True}
            namespace = asked.fields.get("namespace", shelf_name)
            fields = asked.fields | {
                "content": content,
                "namespace": namespace,
                "metadata": metadata,
            }
            items.append(_new_entry(fields, source=name, source_type="summary", captured_from=name))
    told = await plane.recap(asked.caller, items, asked.key)
    body: JsonObject = {
        "saved": sum(one.id is not None for one in told.answer),
        "results": [write_json(one) for one in told.answer],
    }
    inserted = any(one.is_inserted for one in told.answer)
    return Reply(body=body, status=201 if inserted else 200, is_replayed=told.is_replayed)


def write_json(written: Written) -> JsonObject:
    """Return what became of a write; flags stand only where they are true.

    Source: data-plane contract 2.7.
    """
    body: JsonObject = {"id": written.id}
    if written.rejected is not None:
        body["rejected"] = written.rejected
    if written.deduplicated:
        body["deduplicated"] = True
    if written.updated:
        body["updated"] = True
    if written.superseded:
        body["superseded"] = list(written.superseded)
    if written.id is not None:
        body["embedded"] = written.embedded
    return body


async def update(plane: DataPlane, asked: Asked) -> Reply:
    """Change a fact in place."""
    fields = asked.fields
    expires_at = _time(fields, "expiresAt")
    told = await plane.update(
        asked.caller,
        EntryUpdate(
            id=fields["id"],
            project=fields.get("project"),
            content=fields.get("content", UNSET),
            namespace=fields.get("namespace", UNSET),
            metadata=fields.get("metadata", UNSET),
            sensitivity=fields.get("sensitivity", UNSET),
            source_type=fields.get("sourceType", UNSET),
            captured_from=fields.get("capturedFrom", UNSET),
            confidence=fields.get("confidence", UNSET),
            expires_at=UNSET if expires_at is None else expires_at,
        ),
        asked.key,
    )
    updated = told.answer
    body: JsonObject = {
        "id": updated.id,
        "updated": True,
        "embeddingChanged": updated.embedding_changed,
    }
    return Reply(body=body, is_replayed=told.is_replayed)


async def forget(plane: DataPlane, asked: Asked) -> Reply:
    """Erase a fact, or all facts of a handle."""
    fields, project = asked.fields, asked.fields.get("project")
    if "id" in fields:
        told = await plane.forget(asked.caller, fields["id"], project, asked.key)
        body: JsonObject = {"deleted": bool(told.answer.ids), "coldDeleteOk": True}
        return Reply(body=body, is_replayed=told.is_replayed)
    told = await plane.forget_source(asked.caller, fields["sourceRef"], project, asked.key)
    ids = told.answer.ids
    body = {
        "sourceRef": fields["sourceRef"],
        "ids": list(ids),
        "count": len(ids),
        "coldDeleteOk": True,
    }
    return Reply(body=body, is_replayed=told.is_replayed)


async def stats(plane: DataPlane, asked: Asked) -> Reply:
    """Count what the caller can see."""
    found = await plane.stats(asked.caller)
    at = found.last_decay_at
    return Reply(
        body={
            "byNamespace": {
                name: {"warm": warm, "cold": cold}
                for name, (warm, cold) in found.by_namespace.items()
            },
            "totalWarm": found.total_warm,
            "totalCold": found.total_cold,
            "totalInactive": found.total_inactive,
            "pendingVectors": found.pending_vectors,
            "lastDecayAt": None if at is None else time_json(at),
            "uptimeMs": found.uptime_ms,
        }
    )


def _where(fields: Fields) -> Where:
    named, projects = fields.get("includeNamespaces"), fields.get("includeProjects")
    return Where(
        namespace=fields.get("namespace"),
        include_namespaces=None if named is None else tuple(named),
        project=fields.get("project"),
        include_projects=None if projects is None else tuple(projects),
    )


def _search_request(
    asked: Asked, query: str, k: int, max_tokens: int | None = None
) -> SearchRequest:
    fields = asked.fields
    return SearchRequest(
        query=fields[query],
        k=fields.get("k", k),
        where=_where(fields),
        weights=fields.get("weights", {}),
        agent_name=fields.get("agentName"),
        max_sensitivity=fields.get("maxSensitivity", "private"),
        content_mode=fields.get("contentMode", "full"),
        as_of=_as_of(asked),
        min_vector_score=fields.get("minVectorScore"),
        abstain_below=fields.get("abstainBelow"),
        max_tokens=fields.get("maxTokens", max_tokens),
    )


def _new_entry(
    fields: Fields, *, source: str, source_type: str | None, captured_from: str | None
) -> NewEntry:
    return NewEntry(
        content=fields["content"],
        namespace=fields.get("namespace", "default"),
        project=fields.get("project"),
        source=fields.get("source", source),
        source_type=fields.get("sourceType", source_type),
        captured_from=fields.get("capturedFrom", captured_from),
        is_captured_from_sent="capturedFrom" in fields,
        agent_name=fields.get("agentName", ""),
        metadata=cast("dict[str, Any]", fields.get("metadata", {})),
        sensitivity=fields.get("sensitivity"),
        confidence=fields.get("confidence"),
        expires_at=_time(fields, "expiresAt"),
        source_refs=tuple(fields.get("sourceRefs", ())),
        force=fields.get("force", False),
    )


def _as_of(asked: Asked) -> datetime | None:
    text = asked.fields.get("asOf")
    return read_as_of(text, asked.now) if isinstance(text, str) else None


def _time(fields: Fields, name: str) -> datetime | None:
    text = fields.get(name)
    return read_time(text) if isinstance(text, str) else None


OPERATIONS: Final[Mapping[str, Operation]] = {
    "context": context,
    "search": search,
    "capture": capture,
    "session-recap": session_recap,
    "remember": remember,
    "recent": recent,
    "neighbors": neighbors,
    "forget": forget,
    "update": update,
    "stats": stats,
}
"""By the name of the route."""

TWINS: Final[Mapping[str, Operation]] = {"memory_today": today}
"""By the name of the tool, where no route does quite the same."""
