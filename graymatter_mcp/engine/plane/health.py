"""How store and model are, for an admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ulid import ULID

from graymatter_mcp.model.reports import PlaneHealth

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.upkeep import Upkeep
    from graymatter_mcp.engine.plane.writes import Parts
    from graymatter_mcp.model.access import Caller


def health(parts: Parts, upkeep: Upkeep, caller: Caller) -> PlaneHealth:
    """Return it; a model that fails is told, and is no failure.

    Raises:
        ForbiddenError: The caller is no admin.
        StoreUnavailableError: The store does not answer.
    """
    parts.accounts.reach.check_admin(caller)
    store, models = parts.store, parts.models
    store.ping()
    stats = store.stats()
    oldest = store.pending_vectors(1) if models.is_wanted else []
    working = "ready" if models.is_wanted else "off"
    return PlaneHealth(
        store="read-only" if store.read_only else "ok",
        model=working if models.degraded is None else models.degraded.value,
        pending_vectors=stats.pending_vectors if models.is_wanted else 0,
        oldest_pending_at=ULID.from_str(oldest[0].fact_id).datetime if oldest else None,
        last_decay_at=upkeep.last_decay_at(caller.tenant),
        commit_seq=stats.commit_seq,
    )
