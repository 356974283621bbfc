"""Decay and pruning: weight is a function of time, not of how often the job ran."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.results import ConsolidationReport
from graymatter_mcp.store.base import AuditEntry, Decay, FactPatch, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable
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
DECAYED = 10_000
"""Records of a portion: the tables take it in some 50 ms; fewer in tests."""
PRUNED = 200
"""The same of those that fell below the floor, which are looked at one by one."""
ERASED = 50
"""The same of those whose time is over: each costs a scan of the tables."""


class Consolidator:
    """Runs the steps of contract 8.2; synchronous, for worker threads."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def lacking(self, namespace: Namespace, threshold: int) -> int:
        """Return how many records the namespace is short of `threshold`."""
        return threshold - self._store.count(namespace)

    def consolidate(
        self,
        namespace: Namespace,
        half_life: timedelta,
        *,
        by: float = 0.0,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> ConsolidationReport:
        """Decay every unpinned fact, then prune what fell below the floor; in portions.

        Args:
            namespace: Whose facts.
            half_life: Of a weight, untouched.
            by: Leaves weights alone that would fall by no more than this: time will go on.
            goes_on: Asked behind each portion; what is left when it says no waits for the next run.
        """
        now = self._clock.now()
        decayed = self._decay(namespace, now, half_life, by, goes_on)
        pruned = self._prune(namespace, now, half_life, goes_on)
        self._erase(now - PRUNE_GRACE, goes_on)
        return ConsolidationReport(decayed=decayed, pruned=pruned)

    def _decay(
        self,
        namespace: Namespace,
        now: datetime,
        half_life: timedelta,
        by: float,
        goes_on: Callable[[], bool],
    ) -> int:
        decay = Decay(namespace=namespace, now=now, half_life=half_life, by=by, limit=DECAYED)
        fading = self._store.count_fading(decay)
        for done in range(0, fading, DECAYED):
            self._store.apply(WriteBatch(at=now, decay=decay))
            if not goes_on():
                return min(done + DECAYED, fading)
        return fading

    def _prune(
        self,
        namespace: Namespace,
        now: datetime,
        half_life: timedelta,
        goes_on: Callable[[], bool],
    ) -> int:
        pruned = 0
        while faint := self._store.faint(namespace, now, half_life, PRUNE_BELOW, PRUNED):
            patches = tuple(
                FactPatch(namespace=namespace, fact_id=fact.id, pruned_at=now) for fact in faint
            )
            audit = tuple(_audit(fact, now) for fact in faint)
            self._store.apply(WriteBatch(at=now, patches=patches, audit=audit))
            pruned += len(faint)
            if not goes_on():
                break
        return pruned

    def _erase(self, before: datetime, goes_on: Callable[[], bool]) -> None:
        pruned = self._store.pruned(before)
        for first in range(0, len(pruned), ERASED):
            self._store.apply(WriteBatch(delete=tuple(pruned[first : first + ERASED])))
            if not goes_on():
                return


def _audit(fact: Fact, at: datetime) -> AuditEntry:
    return AuditEntry(
        at=at,
        action="prune",
        namespace=fact.agent_id,
        old_text=fact.text,
        new_text="",
        source=f"weight below {PRUNE_BELOW}",
    )
