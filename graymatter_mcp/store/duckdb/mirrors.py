"""All mirrors of one store: loaded when asked for, kept in step, dropped on doubt."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import Vitals
from graymatter_mcp.store.duckdb.codec import to_fact_id, to_uuid
from graymatter_mcp.store.duckdb.mirror import Mirror
from graymatter_mcp.store.duckdb.replay import (
    Vital,
    namespaces_of,
    replay,
    set_vital,
)
from graymatter_mcp.store.duckdb.snapshot import MirrorSnapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import WriteBatch
    from graymatter_mcp.store.duckdb.rows import AppliedBatch

    Fetch = Callable[..., list[Fact]]


logger = logging.getLogger(__name__)

DEFAULT_MAX_BYTES: Final = 1 << 30


@dataclass(slots=True)
class _Slot:
    """One namespace's mirror, or the commits that came while it was being loaded."""

    mirror: Mirror | None = None
    backlog: list[AppliedBatch] = field(default_factory=list["AppliedBatch"])
    loading: threading.Lock = field(default_factory=threading.Lock)
    snapshots: dict[int, MirrorSnapshot] = field(default_factory=dict[int, "MirrorSnapshot"])


class Mirrors:
    """Thread-safe; the lock is never held while the database is read."""

    def __init__(
        self, load: Callable[[Namespace], Mirror], max_bytes: int = DEFAULT_MAX_BYTES
    ) -> None:
        """Start empty.

        Args:
            load: Builds the mirror of a namespace, with vectors of the model in use.
            max_bytes: What all mirrors may take together; the one in use always may.
        """
        self._load = load
        self._lock = threading.RLock()
        self._slots: OrderedDict[Namespace, _Slot] = OrderedDict()
        self._max_bytes = max_bytes
        self._unsaved: dict[Namespace, dict[int, Vital]] = {}
        self.model_key = ""
        self.seq = 0
        """The last change that mirrors show."""

    def snapshot(
        self, namespace: Namespace, min_level: int, now: int, fetch: Fetch
    ) -> MirrorSnapshot:
        """Return a view of the namespace as of now, from the last one when nothing changed."""
        slot, mirror = self._loaded(namespace)
        with self._lock:
            kept = slot.snapshots.get(min_level)
            is_fresh = (
                kept is not None
                and kept.mirror is mirror
                and kept.version == mirror.version
                and now < kept.valid_until
            )
            if kept is None or not is_fresh:
                as_of = partial(fetch, namespace, as_of=self.seq)
                kept = slot.snapshots[min_level] = MirrorSnapshot(
                    mirror, min_level, self._lock, as_of, now
                )
            return kept

    def _loaded(self, namespace: Namespace) -> tuple[_Slot, Mirror]:
        """Return the mirror as it is now; a later doubt may drop it from the slot at any time."""
        while True:
            with self._lock:
                slot = self._slots.setdefault(namespace, _Slot())
                self._slots.move_to_end(namespace)
                if slot.mirror is not None:
                    return slot, slot.mirror
            with slot.loading:
                if slot.mirror is None:
                    self._fill(namespace, slot)

    def _fill(self, namespace: Namespace, slot: _Slot) -> None:
        """Build the mirror, then replay what was committed meanwhile; twice is harmless."""
        with self._lock:
            slot.backlog.clear()
            model_key = self.model_key
        mirror = self._load(namespace)
        with self._lock:
            if model_key != self.model_key or any(applied.must_rebuild for applied in slot.backlog):
                return
            for applied in slot.backlog:
                replay(mirror, namespace, applied, self.model_key)
            slot.backlog.clear()
            self._show_unsaved(namespace, mirror)
            if self._slots.get(namespace) is slot:
                slot.mirror = mirror
                self._evict(namespace)

    def _evict(self, kept: Namespace) -> None:
        """Drop the mirrors that were asked for longest ago until the rest fits."""
        sizes = {
            namespace: slot.mirror.nbytes
            for namespace, slot in self._slots.items()
            if slot.mirror is not None
        }
        total = sum(sizes.values())
        for namespace, size in sizes.items():
            if total <= self._max_bytes:
                return
            if namespace != kept:
                total -= size
                del self._slots[namespace]

    def committed(self, applied: Iterable[AppliedBatch], seq: int) -> None:
        """Bring mirrors in step with what was just committed; 0 as `seq` where none was given."""
        with self._lock:
            self.seq = max(self.seq, seq)
            for one in applied:
                self._follow(one.batch)
                for namespace in namespaces_of(one):
                    self._catch_up(namespace, one)

    def _follow(self, batch: WriteBatch) -> None:
        """Let counts go with facts that were erased, and along with those that were moved."""
        for namespace, fact_id in batch.delete:
            self._unsaved.get(namespace, {}).pop(to_uuid(fact_id).int, None)
        for source, fact_id, target in batch.moves:
            number = to_uuid(fact_id).int
            vital = self._unsaved.get(source, {}).pop(number, None)
            if vital is not None:
                self._unsaved.setdefault(target, {})[number] = vital

    def _catch_up(self, namespace: Namespace, applied: AppliedBatch) -> None:
        for vitals in applied.batch.vitals:
            if vitals.namespace == namespace:
                self._settle(vitals)
        slot = self._slots.get(namespace)
        if slot is None:
            return
        if slot.mirror is None:
            slot.backlog.append(applied)
        elif applied.must_rebuild or slot.mirror.is_worn:
            # With its slot, which would gather all that is written until somebody reads.
            del self._slots[namespace]
        else:
            self._replay(slot.mirror, namespace, applied)

    def _replay(self, mirror: Mirror, namespace: Namespace, applied: AppliedBatch) -> None:
        try:
            replay(mirror, namespace, applied, self.model_key)
        except Exception as exc:  # noqa: BLE001 - committed already: nobody may hear that it failed
            # Only the type: the text may hold a fact.
            logger.error("a mirror fell out of step: %s", type(exc).__name__)  # noqa: TRY400
            del self._slots[namespace]
            return
        if applied.batch.vitals:
            self._show_unsaved(namespace, mirror)

    def _settle(self, stored: Vitals) -> None:
        """Forget a count that is stored now, unless more was counted while it was on its way."""
        unsaved = self._unsaved.get(stored.namespace, {})
        number = to_uuid(stored.fact_id).int
        vital = unsaved.pop(number, None)
        if vital is not None and vital.access_count > stored.access_count:
            unsaved[number] = replace(vital, weight=stored.weight)

    def _show_unsaved(self, namespace: Namespace, mirror: Mirror) -> None:
        for number, vital in self._unsaved.get(namespace, {}).items():
            set_vital(mirror, number, vital)

    def use_model(self, model_key: str) -> None:
        """Drop all mirrors when the model changes: their vectors are of another key."""
        with self._lock:
            if model_key != self.model_key:
                self.model_key = model_key
                self._slots.clear()

    def touch(self, namespace: Namespace, fact_ids: Sequence[FactId], at: datetime) -> None:
        """Count one access of each live row, in memory."""
        _, mirror = self._loaded(namespace)
        with self._lock:
            unsaved = self._unsaved.setdefault(namespace, {})
            for fact_id in fact_ids:
                number = to_uuid(fact_id).int
                row = mirror.row_of.get(number)
                if row is None or not mirror.live.view[row]:
                    continue
                vital = Vital(
                    int(mirror.access_count.view[row]) + 1,
                    max(int(mirror.accessed_at.view[row]), to_microseconds(at)),
                    float(mirror.weight.view[row]),
                )
                set_vital(mirror, number, vital)
                unsaved[number] = vital

    def take_unsaved(self) -> tuple[Vitals, ...]:
        """Return the counts that are only in memory; they leave it once committed."""
        with self._lock:
            return tuple(
                Vitals(
                    namespace=namespace,
                    fact_id=to_fact_id(number),
                    access_count=vital.access_count,
                    accessed_at=from_microseconds(vital.accessed_at),
                    weight=vital.weight,
                )
                for namespace, numbers in self._unsaved.items()
                for number, vital in numbers.items()
            )

    def with_vitals(self, facts: Sequence[Fact]) -> list[Fact]:
        """Overlay counts that are only in memory."""
        with self._lock:
            if not any(self._unsaved.values()):
                return list(facts)
            return [self._with_vital(fact) for fact in facts]

    def _with_vital(self, fact: Fact) -> Fact:
        vital = self._unsaved.get(fact.agent_id, {}).get(to_uuid(fact.id).int)
        if vital is None:
            return fact
        return replace(
            fact,
            access_count=vital.access_count,
            accessed_at=from_microseconds(vital.accessed_at),
            weight=vital.weight,
        )
