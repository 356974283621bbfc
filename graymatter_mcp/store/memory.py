"""The reference store: plain dictionaries, nothing kept after close.

Other stores are measured against it, so it prefers the obvious to the fast.
"""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

from ulid import ULID

from graymatter_mcp.errors import CapabilityUnsupportedError, ReadOnlyError, StoreClosedError
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import NamespaceStats, PendingVector, Place, Portion, StoreStats
from graymatter_mcp.store.memory_snapshot import InMemorySnapshot
from graymatter_mcp.store.memory_state import State, faded, oldest_first

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path

    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.checks import BackupReport, Check
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import (
        AuditEntry,
        Change,
        Decay,
        Document,
        Edge,
        Node,
        NumberedEvent,
        Receipt,
        Snapshot,
        WriteBatch,
    )
    from graymatter_mcp.store.memory_state import Record


def identity(token: str) -> str:
    """Return the token as it is: a store that does not stem."""
    return token


class InMemoryStore:
    """Implements `graymatter_mcp.store.base.MemoryStore` without a disk.

    Args:
        stem: Maps a stored token to its index term.
    """

    def __init__(self, *, stem: Callable[[str], str] = identity) -> None:
        self.read_only = False
        """May be set at any time; writes are refused while it is true."""
        self._stem = stem
        self._lock = RLock()
        self._state = State()
        self._history: list[tuple[datetime, State]] = []
        """Every state, with the moment from which it held."""
        self._model_key = ""
        self._is_closed = False

    @contextmanager
    def _opened(self) -> Generator[State]:
        with self._lock:
            if self._is_closed:
                raise StoreClosedError
            yield self._state

    def use_model(self, model_key: str) -> bool:
        """See the protocol; only facts that can be pending count."""
        with self._opened() as state:
            self._model_key = model_key
            return any(state.records[fact.id].vectors for fact in state.pending(model_key))

    def apply(self, batch: WriteBatch) -> None:
        """See the protocol."""
        with self._opened() as state:
            if self.read_only:
                raise ReadOnlyError
            draft = state.copy()
            draft.apply(batch)
            self._state = draft
            # What tells no time, such as a vector, happened no earlier than what came before it.
            since = max(batch.at, self._history[-1][0]) if self._history else batch.at
            self._history.append((since, draft))

    def receipt(self, key: str) -> Receipt | None:
        """See the protocol."""
        with self._lock:
            return self._state.receipts.get(key)

    def touch(self, namespace: Namespace, fact_ids: Sequence[FactId], at: datetime) -> None:
        """See the protocol."""
        with self._opened() as state:
            if self.read_only:
                return
            for fact_id in set(fact_ids):
                state.touch(namespace, fact_id, at)

    def snapshot(
        self, namespace: Namespace, min_level: int = 0, now: datetime | None = None
    ) -> Snapshot:
        """See the protocol."""
        with self._opened() as state:
            return self._snapshot(state, state.of(namespace), min_level, now)

    def snapshot_at(self, namespace: Namespace, at: datetime) -> Snapshot:
        """See the protocol; what was erased since is gone from the past as well."""
        with self._opened() as present:
            state = State()
            for since, one in self._history:
                if since <= at:
                    state = one
            held = [
                replace(r, vectors=now.vectors if r.fact.text == now.fact.text else {})
                for r in state.of(namespace)
                if (now := present.find(namespace, r.fact.id)) is not None
                and _stored_at(r.fact) <= at
            ]
            return self._snapshot(state, held, 0, at)

    def _snapshot(
        self, state: State, records: Sequence[Record], min_level: int, now: datetime | None
    ) -> Snapshot:
        model_key = self._model_key
        return InMemorySnapshot(
            [record.fact for record in records],
            [record.terms for record in records],
            {r.fact.id: r.vectors[model_key] for r in records if model_key in r.vectors},
            min_level=min_level,
            stem=self._stem,
            details=state.details,
            now=now,
        )

    def get(self, namespace: Namespace, ids: Sequence[FactId]) -> list[Fact]:
        """See the protocol; in the order of `ids`."""
        with self._opened() as state:
            found = [state.find_visible(namespace, fact_id) for fact_id in ids]
            return [record.fact for record in found if record is not None]

    def shelves_of(self, ids: Sequence[FactId]) -> dict[FactId, Namespace]:
        """See the protocol."""
        with self._opened() as state:
            return {one: state.records[one].fact.agent_id for one in ids if one in state.records}

    def find_text(self, namespace: Namespace, text: str) -> list[Fact]:
        """See the protocol."""
        with self._opened() as state:
            facts = [record.fact for record in state.of(namespace)]
            return oldest_first(fact for fact in facts if fact.text == text)

    def count(self, namespace: Namespace) -> int:
        """See the protocol."""
        return len(self.list(namespace))

    def mark(self, name: str) -> str:
        """See the protocol."""
        with self._opened() as state:
            return state.marks.get(name, "")

    def contents(self, namespace: Namespace, behind: Place | None, limit: int) -> Portion:
        """See the protocol."""
        with self._opened() as state:
            records = {record.fact.id: record for record in state.contents(namespace)}
        places = [place_of(record.fact) for record in records.values()]
        places = [one for one in places if behind is None or key_of(one) > key_of(behind)]
        places = sorted(places, key=key_of)[:limit]
        found = [records[place.fact_id] for place in places]
        return Portion(facts=[one.fact for one in found if one.pruned_at is None], places=places)

    def count_contents(self, namespace: Namespace, until: Place) -> int:
        """See the protocol."""
        with self._opened() as state:
            places = [place_of(record.fact) for record in state.contents(namespace)]
        return sum(key_of(place) <= key_of(until) for place in places)

    def count_fading(self, decay: Decay) -> int:
        """See the protocol."""
        with self._opened() as state:
            return len(state.fading(decay))

    def faint(
        self, namespace: Namespace, now: datetime, half_life: timedelta, below: float, limit: int
    ) -> list[Fact]:
        """See the protocol; newest first."""
        return [
            fact
            for fact in self.list(namespace)
            if not fact.pinned and faded(fact, now, half_life) < below
        ][:limit]

    def pruned(self, before: datetime) -> list[tuple[Namespace, FactId]]:
        """See the protocol; ascending."""
        with self._opened() as state:
            return sorted((r.fact.agent_id, r.fact.id) for r in state.pruned(before))

    def superseded_by(
        self, namespace: Namespace, heirs: Sequence[FactId]
    ) -> dict[FactId, list[FactId]]:
        """See the protocol."""
        with self._opened() as state:
            facts = [record.fact for record in state.of(namespace)]
        lineage = {
            heir: sorted(fact.id for fact in facts if fact.superseded_by == heir) for heir in heirs
        }
        return {heir: retired for heir, retired in lineage.items() if retired}

    def namespaces(self) -> list[Namespace]:
        """See the protocol."""
        with self._opened() as state:
            return sorted(state.namespaces)

    def pending_vectors(self, limit: int) -> list[PendingVector]:
        """See the protocol; equal stamps by id."""
        with self._opened() as state:
            return [
                PendingVector(namespace=fact.agent_id, fact_id=fact.id, text=fact.text)
                for fact in state.pending(self._model_key)[:limit]
            ]

    def checkpoints(self, namespace: Namespace) -> list[Checkpoint]:
        """See the protocol."""
        with self._opened() as state:
            found = [c for c in state.checkpoints if c.agent_id == namespace]
        return deepcopy(sorted(found, key=lambda c: (c.created_at, c.id), reverse=True))

    def neighbours(self, namespace: Namespace, node_ids: Sequence[str]) -> list[Node]:
        """See the protocol; a node reached by several edges counts with the heaviest."""
        seeds = set(node_ids)
        with self._opened() as state:
            weights: dict[str, float] = {}
            for edge in state.edges.values():
                for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
                    if edge.namespace == namespace and near in seeds and far not in seeds:
                        weights[far] = max(edge.weight, weights.get(far, 0.0))
            order = sorted(weights, key=lambda node_id: (-weights[node_id], node_id))
            found = [state.nodes.get((namespace, node_id)) for node_id in order]
            return [node for node in found if node is not None]

    def links(self, namespace: Namespace, relation: str, at: datetime | None) -> list[Edge]:
        """See the protocol."""
        with self._opened() as state:
            return [
                edge
                for edge in state.edges.values()
                if (edge.namespace, edge.relation) == (namespace, relation)
                and (at is None or edge.created_at <= at)
            ]

    def with_source_ref(self, ref: str) -> list[tuple[Namespace, FactId]]:
        """See the protocol."""
        with self._opened() as state:
            found = sorted(fact_id for fact_id, refs in state.refs.items() if ref in refs)
            return [(state.records[fact_id].fact.agent_id, fact_id) for fact_id in found]

    def source_refs(self, fact_ids: Sequence[FactId]) -> dict[FactId, tuple[str, ...]]:
        """See the protocol."""
        with self._opened() as state:
            return {one: tuple(sorted(state.refs[one])) for one in fact_ids if one in state.refs}

    def documents(self) -> list[Document]:
        """See the protocol."""
        with self._opened() as state:
            return list(state.documents.values())

    def changes(self, after: int, since: datetime | None) -> Iterator[Change]:
        """See the protocol."""
        with self._opened() as state:
            found = [c for c in state.changes if c.seq > after]
        return iter([c for c in found if since is None or c.at >= since])

    def events(self, tenant: str, after: int, limit: int) -> list[NumberedEvent]:
        """See the protocol."""
        with self._opened() as state:
            found = [e for e in state.events if e.seq > after and e.event.tenant == tenant]
            return found[:limit]

    def forget_before(self, changes: datetime, events: datetime) -> None:
        """See the protocol."""
        with self._opened() as state:
            state.changes = [
                *(c for c in state.changes[:-1] if c.at >= changes),
                *state.changes[-1:],
            ]
            state.events = [
                *(e for e in state.events[:-1] if e.event.at >= events),
                *state.events[-1:],
            ]

    def audit(self, limit: int) -> list[AuditEntry]:
        """See the protocol."""
        with self._opened() as state:
            return state.audit[::-1][:limit]

    def stats(self) -> StoreStats:
        """See the protocol."""
        with self._opened() as state:
            return StoreStats(
                namespaces=tuple(
                    _count(namespace, [record.fact for record in state.of(namespace)])
                    for namespace in sorted(state.namespaces)
                ),
                pending_vectors=len(state.pending(self._model_key)),
                nodes=len(state.nodes),
                edges=len(state.edges),
                counters=dict(state.counters),
                commit_seq=state.changes[-1].seq if state.changes else 0,
            )

    def backup(self, target: Path) -> BackupReport:
        """See the protocol; there is no file."""
        raise CapabilityUnsupportedError("a memory without a file has no backup")

    def check(self, *, full: bool) -> tuple[Check, ...]:
        """See the protocol; dictionaries have nothing to disagree with."""
        del full
        return ()

    def ping(self) -> None:
        """See the protocol."""
        with self._opened():
            pass

    def close(self) -> None:
        """See the protocol."""
        with self._lock:
            self._is_closed = True

    def list(self, namespace: Namespace) -> list[Fact]:
        """See the protocol; equal stamps by id descending."""
        with self._opened() as state:
            return oldest_first(record.fact for record in state.of(namespace))[::-1]


def _stored_at(fact: Fact) -> datetime:
    """Return when a fact was stored: by its id where its time of creation is another."""
    stamp = ULID.from_str(fact.id).milliseconds
    is_same = to_microseconds(fact.created_at) // 1000 == stamp
    return fact.created_at if is_same else from_microseconds(stamp * 1000)


def place_of(fact: Fact) -> Place:
    """Return the place behind a fact."""
    return Place(created_at=fact.created_at, fact_id=fact.id)


def key_of(place: Place) -> tuple[datetime, FactId]:
    """Return what places are ordered by."""
    return place.created_at, place.fact_id


def _count(namespace: Namespace, facts: Sequence[Fact]) -> NamespaceStats:
    stamps = [fact.created_at for fact in facts]
    aliases = [fact for fact in facts if fact.kind == FactKind.ALIAS and not fact.is_superseded]
    retired = [fact for fact in facts if fact.is_superseded]
    return NamespaceStats(
        namespace=namespace,
        live=len(facts) - len(retired) - len(aliases),
        retired=len(retired),
        aliases=len(aliases),
        pinned=sum(fact.pinned for fact in facts),
        recalls=sum(fact.access_count for fact in facts),
        mean_weight=sum(fact.weight for fact in facts) / len(facts) if facts else 0.0,
        oldest_at=min(stamps, default=None),
        newest_at=max(stamps, default=None),
    )
