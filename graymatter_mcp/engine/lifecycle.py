"""Decay and pruning: weight is a function of time, not of how often the job ran."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.results import ConsolidationReport
from graymatter_mcp.store.base import AuditEntry, FactPatch, Vitals, WriteBatch

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.store.base import MemoryStore

PRUNE_BELOW: Final = 0.01
NOTICEABLE: Final = 0.01
"""Weight that a background run takes off at least, so that it does not write every fact."""
PRUNE_GRACE: Final = timedelta(days=30)
"""How long a pruned record can be brought back."""


def decayed_weight(weight: float, idle: timedelta, half_life: timedelta) -> float:
    """Return min(weight, exp(-ln 2 * idle / half_life)); it never rises.

    Source: contract 8.2.
    """
    # The quotient first: a product of a float and a duration is rounded to microseconds.
    return min(weight, math.exp(-math.log(2) * (max(idle, timedelta(0)) / half_life)))


class Consolidator:
    """Runs the steps of contract 8.2; synchronous, for worker threads."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def is_due(self, namespace: Namespace, threshold: int) -> bool:
        """Whether the namespace holds at least `threshold` records."""
        return self._store.count(namespace) >= threshold

    def consolidate(
        self, namespace: Namespace, half_life: timedelta, *, by: float = 0.0
    ) -> ConsolidationReport:
        """Decay every unpinned fact, then prune what fell below the floor.

        Args:
            namespace: Whose facts.
            half_life: Of a weight, untouched.
            by: Leaves weights alone that would fall by no more than this: time will go on.
        """
        now = self._clock.now()
        facts = self._store.fading(namespace, now, half_life, by, PRUNE_BELOW)
        weights = {
            fact.id: decayed_weight(fact.weight, now - fact.accessed_at, half_life)
            for fact in facts
        }
        lighter = [fact for fact in facts if weights[fact.id] < fact.weight]
        pruned = [fact for fact in facts if weights[fact.id] < PRUNE_BELOW]
        self._store.apply(
            WriteBatch(
                at=now,
                vitals=tuple(_vitals(fact, weights[fact.id]) for fact in lighter),
                patches=tuple(
                    FactPatch(namespace=namespace, fact_id=fact.id, pruned_at=now)
                    for fact in pruned
                ),
                audit=tuple(_audit(fact, now) for fact in pruned),
                delete=tuple(self._store.pruned(now - PRUNE_GRACE)),
            )
        )
        return ConsolidationReport(decayed=len(lighter), pruned=len(pruned))


def _vitals(fact: Fact, weight: float) -> Vitals:
    return Vitals(
        namespace=fact.agent_id,
        fact_id=fact.id,
        access_count=fact.access_count,
        accessed_at=fact.accessed_at,
        weight=weight,
    )


def _audit(fact: Fact, at: datetime) -> AuditEntry:
    return AuditEntry(
        at=at,
        action="prune",
        namespace=fact.agent_id,
        old_text=fact.text,
        new_text="",
        source=f"weight below {PRUNE_BELOW}",
    )
