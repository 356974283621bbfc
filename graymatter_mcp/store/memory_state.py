"""What the reference store holds, and what a batch does to it."""

from __future__ import annotations

from collections import Counter
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.ids import UNSET, FactId, Namespace, UnsetType
from graymatter_mcp.store.base import Change, NumberedEvent

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.base import (
        AuditEntry,
        Decay,
        Document,
        Edge,
        FactDetails,
        FactPatch,
        NewFact,
        NewVectors,
        Node,
        Receipt,
        Vitals,
        WriteBatch,
    )

AUDIT_LIMIT: Final = 10_000
"""Audit entries kept."""

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One fact in its present version; `vectors` by model key. Never changed, only replaced."""

    fact: Fact
    terms: tuple[str, ...]
    vectors: Mapping[str, NDArray[np.int16]]
    pruned_at: datetime | None = None
    """From then on only `State.pruned` and a patch of this very field know the record."""


@dataclass(slots=True)
class State:
    """All that is stored. A batch changes a copy, which then takes the place of the original."""

    records: dict[FactId, Record] = field(default_factory=dict[FactId, Record])
    nodes: dict[tuple[Namespace, str], Node] = field(
        default_factory=dict[tuple[Namespace, str], "Node"]
    )
    edges: dict[tuple[Namespace, str, str, str], Edge] = field(
        default_factory=dict[tuple[Namespace, str, str, str], "Edge"]
    )
    checkpoints: list[Checkpoint] = field(default_factory=list["Checkpoint"])
    audit: list[AuditEntry] = field(default_factory=list["AuditEntry"])
    namespaces: set[Namespace] = field(default_factory=set[Namespace])
    counters: Counter[str] = field(default_factory=Counter[str])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, "Receipt"])
    details: dict[FactId, FactDetails] = field(default_factory=dict[FactId, "FactDetails"])
    refs: dict[FactId, tuple[str, ...]] = field(default_factory=dict[FactId, tuple[str, ...]])
    documents: dict[tuple[str, str], Document] = field(
        default_factory=dict[tuple[str, str], "Document"]
    )
    events: list[NumberedEvent] = field(default_factory=list["NumberedEvent"])
    changes: list[Change] = field(default_factory=list["Change"])
    marks: dict[str, str] = field(default_factory=dict[str, str])

    def copy(self) -> State:
        """Copy the containers; what they hold is immutable."""
        return State(
            records=self.records.copy(),
            nodes=self.nodes.copy(),
            edges=self.edges.copy(),
            checkpoints=self.checkpoints.copy(),
            audit=self.audit.copy(),
            namespaces=self.namespaces.copy(),
            counters=self.counters.copy(),
            receipts=self.receipts.copy(),
            details=self.details.copy(),
            refs=self.refs.copy(),
            documents=self.documents.copy(),
            events=self.events.copy(),
            changes=self.changes.copy(),
            marks=self.marks.copy(),
        )

    def of(self, namespace: Namespace) -> list[Record]:
        """Return the namespace's records in order of arrival."""
        return [r for r in self.visible() if r.fact.agent_id == namespace]

    def visible(self) -> list[Record]:
        """Return all records that were not pruned, in order of arrival."""
        return [r for r in self.records.values() if r.pruned_at is None]

    def contents(self, namespace: Namespace) -> list[Record]:
        """Return the namespace's content facts, pruned ones included."""
        return [
            record
            for record in self.records.values()
            if record.fact.agent_id == namespace and record.fact.kind == FactKind.CONTENT
        ]

    def pruned(self, before: datetime) -> list[Record]:
        """Return the records pruned earlier than `before`."""
        return [
            r for r in self.records.values() if r.pruned_at is not None and r.pruned_at < before
        ]

    def find(self, namespace: Namespace, fact_id: FactId) -> Record | None:
        """Return one record, pruned or not, or None when the namespace has none of this id."""
        record = self.records.get(fact_id)
        return record if record is not None and record.fact.agent_id == namespace else None

    def find_visible(self, namespace: Namespace, fact_id: FactId) -> Record | None:
        """Return one record, or None when the namespace has none of this id, or pruned it."""
        record = self.find(namespace, fact_id)
        return record if record is not None and record.pruned_at is None else None

    def apply(self, batch: WriteBatch) -> None:
        """Make every change of the batch.

        Raises:
            FactChangedError: The state is then half changed and must be thrown away.
        """
        self._keep(batch.receipt)
        for namespace, fact_id in batch.delete:
            self._erase(namespace, fact_id, batch)
        self._empty(frozenset(batch.emptied))
        for new in batch.facts:
            self._add(new)
        self._tell_updates(batch)
        for patch in batch.patches:
            self._check(patch)
        for patch in batch.patches:
            self._patch(patch)
        for vitals in batch.vitals:
            self._set_vitals(vitals)
        self._fade(batch.decay)
        for vectors in batch.vectors:
            self._set_vectors(vectors, batch.model_key)
        self._link(batch)
        self._add_plane(batch)
        self._move(batch)
        self.checkpoints.extend(map(deepcopy, batch.checkpoints))
        self.audit = [*self.audit, *batch.audit][-AUDIT_LIMIT:]
        self._count(batch)

    def _erase(self, namespace: Namespace, fact_id: FactId, batch: WriteBatch) -> None:
        if self.find(namespace, fact_id) is None:
            return
        self._tell(namespace, fact_id, batch.delete_as, batch.at)
        del self.records[fact_id]
        self.details.pop(fact_id, None)
        self.refs.pop(fact_id, None)
        node = fact_id.lower()
        # On every shelf: links stay behind where the fact has moved.
        self.nodes = {key: one for key, one in self.nodes.items() if key[1] != node}
        self.edges = {
            key: edge for key, edge in self.edges.items() if node not in (edge.source, edge.target)
        }

    def _empty(self, shelves: frozenset[Namespace]) -> None:
        if not shelves:
            return
        self.nodes = {key: one for key, one in self.nodes.items() if one.namespace not in shelves}
        self.edges = {key: one for key, one in self.edges.items() if one.namespace not in shelves}
        self.checkpoints = [one for one in self.checkpoints if one.agent_id not in shelves]
        self.audit = [one for one in self.audit if one.namespace not in shelves]

    def _tell_updates(self, batch: WriteBatch) -> None:
        told: dict[FactId, tuple[Namespace, str, str]] = {
            one.fact_id: (one.namespace, "updated", "") for one in batch.details
        }
        for patch in batch.patches:
            heir = "" if patch.superseded_by is UNSET else patch.superseded_by
            known = self.records.get(patch.fact_id)
            old = "" if known is None else known.fact.superseded_by
            is_new = heir not in ("", old)
            told[patch.fact_id] = (
                patch.namespace,
                "superseded" if is_new else "updated",
                heir if is_new else "",
            )
        for new in batch.facts:
            told.pop(new.fact.id, None)
        for fact_id, (namespace, change, detail) in told.items():
            self._tell(namespace, fact_id, change, batch.at, detail)

    def _tell(
        self, namespace: Namespace, fact_id: FactId, change: str, at: datetime, detail: str = ""
    ) -> None:
        seq = self.changes[-1].seq + 1 if self.changes else 1
        self.changes.append(
            Change(
                seq=seq, namespace=namespace, fact_id=fact_id, change=change, detail=detail, at=at
            )
        )

    def _move(self, batch: WriteBatch) -> None:
        for source, fact_id, target in batch.moves:
            record = self.find(source, fact_id)
            if record is None:
                raise FactChangedError
            self.records[fact_id] = replace(record, fact=replace(record.fact, agent_id=target))
            self.namespaces.add(target)
            if fact_id in self.details:
                self.details[fact_id] = replace(self.details[fact_id], namespace=target)

    def _add_plane(self, batch: WriteBatch) -> None:
        for one in batch.details:
            self.details[one.fact_id] = one
        for _, fact_id, ref in batch.source_refs:
            self.refs[fact_id] = tuple(dict.fromkeys((*self.refs.get(fact_id, ()), ref)))
        for document in batch.documents:
            key = (document.kind, document.key)
            if document.text is None:
                self.documents.pop(key, None)
            else:
                self.documents[key] = document
        for event in batch.events:
            seq = self.events[-1].seq + 1 if self.events else 1
            self.events.append(NumberedEvent(seq=seq, event=event))

    def _count(self, batch: WriteBatch) -> None:
        for name, amount in batch.counters:
            self.counters[name] += amount
        self.marks.update(batch.marks)
        self.namespaces.update(new.fact.agent_id for new in batch.facts)
        self.namespaces.update(checkpoint.agent_id for checkpoint in batch.checkpoints)
        self.namespaces.update(part.namespace for part in (*batch.nodes, *batch.edges))

    def _keep(self, receipt: Receipt | None) -> None:
        if receipt is not None:
            if receipt.key in self.receipts:
                raise FactChangedError
            self.receipts[receipt.key] = receipt

    def _add(self, new: NewFact) -> None:
        if new.fact.id in self.records:
            raise FactChangedError
        self.records[new.fact.id] = Record(fact=new.fact, terms=new.terms, vectors={})
        if new.fact.kind == FactKind.CONTENT:
            self._tell(new.fact.agent_id, new.fact.id, "created", new.fact.created_at)

    def _check(self, patch: FactPatch) -> None:
        record = self.find(patch.namespace, patch.fact_id)
        if record is None or (record.pruned_at is not None and patch.pruned_at is UNSET):
            raise FactChangedError
        if record.fact.pinned and patch.pruned_at not in {UNSET, None}:
            raise FactChangedError
        now, expected = record.fact, patch.expected
        if expected is None:
            return
        is_same = (now.text, now.kind, now.confidence) == (
            expected.text,
            expected.kind,
            expected.confidence,
        )
        if now.is_superseded or not is_same:
            raise FactChangedError

    def _patch(self, patch: FactPatch) -> None:
        old = self.records[patch.fact_id]
        pinned_at = _given(patch.pinned_at, old.fact.pinned_at)
        fact = replace(
            old.fact,
            text=_given(patch.text, old.fact.text),
            superseded_by=_given(patch.superseded_by, old.fact.superseded_by),
            confidence=_given(patch.confidence, old.fact.confidence),
            pinned_at=pinned_at,
            pinned=pinned_at is not None,
            alias=_given(patch.alias, old.fact.alias),
        )
        self.records[patch.fact_id] = Record(
            fact=fact,
            terms=_given(patch.terms, old.terms),
            vectors=old.vectors if fact.text == old.fact.text else {},
            pruned_at=_given(patch.pruned_at, old.pruned_at),
        )

    def _set_vitals(self, vitals: Vitals) -> None:
        record = self.find(vitals.namespace, vitals.fact_id)
        if record is None:
            return
        fact = replace(
            record.fact,
            access_count=vitals.access_count,
            accessed_at=vitals.accessed_at,
            weight=vitals.weight,
        )
        self.records[vitals.fact_id] = replace(record, fact=fact)

    def fading(self, decay: Decay) -> list[Record]:
        """Return the records that the decay changes, its limit aside."""
        return [
            record
            for record in self.of(decay.namespace)
            if not record.fact.pinned
            and faded(record.fact, decay.now, decay.half_life) < record.fact.weight - decay.by
        ]

    def _fade(self, decay: Decay | None) -> None:
        if decay is None:
            return
        for record in self.fading(decay)[: decay.limit]:
            weight = faded(record.fact, decay.now, decay.half_life)
            fact = replace(record.fact, weight=weight)
            self.records[fact.id] = replace(record, fact=fact)

    def _set_vectors(self, new: NewVectors, model_key: str) -> None:
        record = self.find(new.namespace, new.fact_id)
        if record is None or record.fact.text != new.text:
            return
        vectors = {**record.vectors, model_key: new.windows.copy()}
        self.records[new.fact_id] = replace(record, vectors=vectors)

    def _link(self, batch: WriteBatch) -> None:
        for node in batch.nodes:
            self.nodes.setdefault((node.namespace, node.id), node)
        for edge in batch.edges:
            key = (edge.namespace, edge.source, edge.target, edge.relation)
            self.edges.setdefault(key, edge)

    def touch(self, namespace: Namespace, fact_id: FactId, at: datetime) -> None:
        """Count one access of a live fact."""
        record = self.find_visible(namespace, fact_id)
        if record is None or record.fact.is_superseded:
            return
        fact = replace(
            record.fact,
            access_count=record.fact.access_count + 1,
            accessed_at=max(record.fact.accessed_at, at),
        )
        self.records[fact_id] = replace(record, fact=fact)

    def pending(self, model_key: str) -> list[Fact]:
        """Return the live content facts without a vector of the model, oldest first."""
        if model_key == "":
            return []
        return oldest_first(
            record.fact
            for record in self.visible()
            if record.fact.kind == FactKind.CONTENT
            and not record.fact.is_superseded
            and model_key not in record.vectors
        )


def _given(value: _Value | UnsetType, current: _Value) -> _Value:
    return current if value is UNSET else value


def faded(fact: Fact, now: datetime, half_life: timedelta) -> float:
    """Return the weight that the fact has by now."""
    idle = max(now - fact.accessed_at, timedelta(0))
    return min(fact.weight, 2.0 ** -(idle / half_life))


def oldest_first(facts: Iterable[Fact]) -> list[Fact]:
    """Sort by time of creation, then by id."""
    return sorted(facts, key=lambda fact: (fact.created_at, fact.id))
