"""What is said of a store as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.model.results import AgentStatus, EngineStatus, MemoryStats

if TYPE_CHECKING:
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.store.base import StoreStats


def memory_stats(store: StoreStats, namespace: Namespace) -> MemoryStats:
    """Return the figures of one namespace; zeros where nothing was ever written to it."""
    for one in store.namespaces:
        if one.namespace == namespace:
            return MemoryStats(
                agent_id=namespace,
                fact_count=one.total,
                oldest_at=one.oldest_at,
                newest_at=one.newest_at,
                avg_weight=one.mean_weight,
            )
    return MemoryStats(
        agent_id=namespace, fact_count=0, oldest_at=None, newest_at=None, avg_weight=0.0
    )


def engine_status(
    store: StoreStats, *, auto_populate: bool, model: str, degraded: Degraded | None
) -> EngineStatus:
    """Return the figures of all namespaces, and of the engine.

    Args:
        store: As counted now.
        auto_populate: Whether consolidation fills the graph.
        model: Key of the model in use; empty without one.
        degraded: Why answers come without vectors, if they do.
    """
    return EngineStatus(
        total_live_facts=sum(one.live for one in store.namespaces),
        total_tombstones=sum(one.retired for one in store.namespaces),
        pending_vector_ops=store.pending_vectors,
        consolidations=store.counters.get("consolidations", 0),
        facts_consumed=store.counters.get("facts_consolidated", 0),
        pinned=sum(one.pinned for one in store.namespaces),
        nodes=store.nodes,
        edges=store.edges,
        auto_populate=auto_populate,
        model=model,
        degraded=degraded,
        agents=tuple(
            AgentStatus(
                agent=one.namespace,
                live_facts=one.live,
                recalls=one.recalls,
                avg_weight=one.mean_weight,
                oldest_at=one.oldest_at,
                newest_at=one.newest_at,
            )
            for one in store.namespaces
        ),
    )
