"""The suite any store must pass, unmodified.

A test module of a store subclasses `StoreConformance` under a collected name and gives it a fixture
``maker`` that yields a `StoreMaker`. A test that a store cannot pass is a capability it does not
advertise (`StoreMaker.persists`), never an override. It needs pytest and hypothesis, which only
development installs; nothing else of the package imports it.
"""

from __future__ import annotations

from graymatter_mcp.store.conformance.bookkeeping import Audit, BookKeeping
from graymatter_mcp.store.conformance.calls import Calls, Details
from graymatter_mcp.store.conformance.contents import Contents
from graymatter_mcp.store.conformance.decay import Fading
from graymatter_mcp.store.conformance.kit import StoreMaker
from graymatter_mcp.store.conformance.lasting import Lasting
from graymatter_mcp.store.conformance.patches import Patches
from graymatter_mcp.store.conformance.plane import (
    PlaneFacts,
    PlaneHistory,
    PlaneRecords,
    PlaneSessions,
)
from graymatter_mcp.store.conformance.races import Races
from graymatter_mcp.store.conformance.reads import Reads
from graymatter_mcp.store.conformance.records import Checkpoints, Graph
from graymatter_mcp.store.conformance.removal import Deletion, Pruning
from graymatter_mcp.store.conformance.snapshots import Isolation, Snapshots
from graymatter_mcp.store.conformance.vectors import Vectors
from graymatter_mcp.store.conformance.writes import Writes

__all__ = ["StoreConformance", "StoreMaker"]


class StoreConformance(
    Writes,
    Patches,
    Pruning,
    Deletion,
    Reads,
    Snapshots,
    Isolation,
    Vectors,
    Checkpoints,
    Graph,
    Audit,
    BookKeeping,
    Fading,
    Contents,
    Calls,
    Details,
    Races,
    Lasting,
    PlaneFacts,
    PlaneSessions,
    PlaneHistory,
    PlaneRecords,
):
    """Everything `graymatter_mcp.store.base` promises."""
