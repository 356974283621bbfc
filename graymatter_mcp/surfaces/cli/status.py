"""`graymatter status`: counts of the whole store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.owner.client import RemoteMemory
from graymatter_mcp.surfaces.cli.door import call_memory
from graymatter_mcp.surfaces.codec import rfc3339_micros

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.results import EngineStatus
    from graymatter_mcp.surfaces.cli.app import Invocation


@click.command()
@click.pass_obj
def status(invocation: Invocation) -> None:
    """Count what is stored."""

    async def work(memory: Memory) -> tuple[EngineStatus, str]:
        mode = "owner" if isinstance(memory, RemoteMemory) else "in_process"
        return await memory.status(), mode

    found, mode = call_memory(invocation, work, may_create=False, may_start=False)
    invocation.show(status_document(found, mode=mode), _text(found))


def status_document(found: EngineStatus, *, mode: str) -> dict[str, Any]:
    """Return the JSON form.

    Args:
        found: What the engine counted.
        mode: How the command reached the memory.
    """
    document: dict[str, Any] = {
        "mode": mode,
        "store": {
            "total_agents": len(found.agents),
            "total_live_facts": found.total_live_facts,
            "total_tombstones": found.total_tombstones,
            "pending_vector_ops": found.pending_vector_ops,
            "consolidations": found.consolidations,
            "facts_consumed": found.facts_consumed,
            "pinned": found.pinned,
            "agents": [
                {
                    "agent": one.agent,
                    "live_facts": one.live_facts,
                    "recalls": one.recalls,
                    "avg_weight": one.avg_weight,
                    "oldest_at": _time(one.oldest_at),
                    "newest_at": _time(one.newest_at),
                }
                for one in found.agents
            ],
        },
        "kg": {"auto_populate": found.auto_populate, "nodes": found.nodes, "edges": found.edges},
    }
    if found.degraded is not None:
        document["degraded"] = found.degraded
    return document


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else rfc3339_micros(moment)


def _text(found: EngineStatus) -> str:
    lines = [
        f"{found.total_live_facts} live facts, {found.total_tombstones} retired,"
        f" {found.pinned} pinned, {found.pending_vector_ops} waiting for a vector"
    ]
    lines += [
        f"  {one.agent}: {one.live_facts} facts, {one.recalls} recalls" for one in found.agents
    ]
    return "\n".join(lines)
