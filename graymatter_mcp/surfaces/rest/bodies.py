"""Items in the spelling of the wire."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject, JsonValue
    from graymatter_mcp.model.items import ContextPack, Item, PackItem, Signals

SECTIONS: Final = (
    ("userGlobal", "user_global"),
    ("projectScoped", "project_scoped"),
    ("userPreferences", "user_preferences"),
    ("currentSetup", "current_setup"),
    ("projectConventions", "project_conventions"),
    ("decisions", "decisions"),
    ("bugRootCauses", "bug_root_causes"),
    ("deploymentState", "deployment_state"),
    ("safetyConstraints", "safety_constraints"),
    ("pitfalls", "pitfalls"),
    ("recentDecisions", "recent_decisions"),
    ("all", "all"),
)
"""Name of each section of a pack on the wire, and in the model."""


def encoded(body: JsonValue) -> bytes:
    """Return the body as it is sent: compact JSON in UTF-8."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode()


def time_json(moment: datetime) -> str:
    """Return a UTC time as ``YYYY-MM-DDTHH:MM:SS.mmmZ``; what is finer is cut off."""
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def item_json(item: Item) -> JsonObject:
    """Return an item of search, recent or neighbors; what is not set is left out.

    Source: data-plane contract 2.7.
    """
    fields: JsonObject = {
        "id": item.id,
        "score": item.score,
        "content": item.content,
        "tier": item.tier,
        "namespace": item.namespace,
        "project": item.project,
        "source": item.source,
        "metadata": item.metadata,
        "sourceType": item.source_type,
        "capturedFrom": item.captured_from,
        "agentName": item.agent_name,
        "confidence": item.confidence,
        "createdAt": time_json(item.created_at),
        "updatedAt": time_json(item.updated_at),
        "truncated": True if item.truncated else None,
        "signals": None if item.signals is None else _signals_json(item.signals),
    }
    return {name: fields[name] for name in fields if fields[name] is not None or name == "project"}


def pack_json(pack: ContextPack) -> JsonObject:
    """Return a pack with all its sections, empty ones too.

    Source: data-plane contract 3.1.
    """
    return {
        name: [_pack_item_json(item) for item in getattr(pack, field)] for name, field in SECTIONS
    }


def _pack_item_json(item: PackItem) -> JsonObject:
    content: JsonObject = {} if item.content is None else {"content": item.content}
    return {
        "id": item.id,
        **content,
        "namespace": item.namespace,
        "project": item.project,
        "memoryType": item.memory_type,
        "createdAt": time_json(item.created_at),
    }


def _signals_json(signals: Signals) -> JsonObject:
    fields: JsonObject = {
        "keyword": signals.keyword,
        "vector": signals.vector,
        "graph": signals.graph,
        "recency": signals.recency,
        "entity": signals.entity,
    }
    return {name: value for name, value in fields.items() if value is not None}
