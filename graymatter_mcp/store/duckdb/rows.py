"""The rows that batches add, table by table, and what the writing side knows between groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.duckdb.codec import checkpoint_to_json, optional_microseconds, to_uuid
from graymatter_mcp.store.duckdb.journal import NUMBER, Rows
from graymatter_mcp.store.duckdb.states import born

if TYPE_CHECKING:
    from uuid import UUID

    from graymatter_mcp.store.base import FactDetails, NewFact, NewVectors, WriteBatch
    from graymatter_mcp.store.duckdb.states import StoredState

_TYPES: Final[dict[str, tuple[str, ...]]] = {
    "facts": (
        "UUID", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "VARCHAR", "VARCHAR",
        "BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BIGINT", "BIGINT",
        "DOUBLE",
    ),
    "fact_changes": (
        "UUID", "VARCHAR", "BIGINT", "BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "BIGINT",
        "BIGINT", "VARCHAR",
    ),
    "fact_vitals": ("UUID", "VARCHAR", "BIGINT", "BIGINT", "BIGINT", "DOUBLE"),
    "vectors": ("UUID", "VARCHAR", "INTEGER", "INTEGER", "BLOB"),
    "nodes": ("VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR"),
    "edges": ("VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "DOUBLE", "BIGINT"),
    "checkpoints": ("UUID", "VARCHAR", "BIGINT", "VARCHAR"),
    "audit": ("BIGINT", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR", "VARCHAR"),
    "counters": ("VARCHAR", "BIGINT"),
    "models": ("INTEGER", "VARCHAR"),
    "namespaces": ("VARCHAR",),
    "fact_details": (
        "UUID", "VARCHAR", "BIGINT", "BIGINT", "TINYINT", "BIGINT", "BIGINT", "BOOLEAN", "BOOLEAN",
        "VARCHAR", "VARCHAR", "VARCHAR",
    ),
    "source_refs": ("UUID", "VARCHAR", "VARCHAR"),
    "documents": ("BIGINT", "VARCHAR", "VARCHAR", "VARCHAR"),
    "changes": ("BIGINT", "VARCHAR", "UUID", "VARCHAR", "VARCHAR", "BIGINT"),
    "events": ("BIGINT", "BIGINT", "VARCHAR", "VARCHAR"),
    NUMBER: ("BIGINT",),
    "receipts": ("VARCHAR", "VARCHAR", "VARCHAR", "BIGINT"),
}  # fmt: skip

# Only rows without a twin are taken, so that a node or an edge that exists stays as it is.
_GUARDS: Final = {
    "nodes": (
        "WHERE NOT EXISTS (SELECT 1 FROM nodes t WHERE (t.namespace, t.node_id) = (n.c0, n.c1))"
    ),
    "edges": (
        "WHERE NOT EXISTS (SELECT 1 FROM edges t "
        "WHERE (t.namespace, t.source, t.target, t.relation) = (n.c0, n.c1, n.c2, n.c3))"
    ),
    "source_refs": (
        "WHERE NOT EXISTS (SELECT 1 FROM source_refs t WHERE (t.fact_id, t.ref) = (n.c0, n.c2))"
    ),
}


def _insert(table: str) -> str:
    columns = ", ".join(f"unnest(?::{kind}[]) AS c{i}" for i, kind in enumerate(_TYPES[table]))
    if table in _GUARDS:
        return f"INSERT INTO {table} SELECT n.* FROM (SELECT {columns}) n {_GUARDS[table]}"
    return f"INSERT INTO {table} SELECT {columns}"


INSERTS: Final = {table: _insert(table) for table in _TYPES}
"""One statement a table; its parameters are whole columns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedBatch:
    """An accepted batch, with the state that each patch led to."""

    batch: WriteBatch
    states: tuple[StoredState, ...]
    must_rebuild: bool
    """Whether facts came to a shelf that are not in the batch: its mirror must be built anew."""
    vectors: tuple[NewVectors, ...]
    """Those that belong to the present text of their fact."""
    promised: int
    """Rows that the ledger counts: those added less those erased."""


@dataclass(slots=True)
class WriterMemory:
    """What the writing side remembers between groups."""

    model_ids: dict[str, int]
    """Known model keys."""
    seq: int
    """The last one given to a change or to vitals; counted by the tables' thread alone."""
    feed: int
    """The last one given in the feed of changes; counted likewise."""
    events: int
    """The last one given in the audit; counted likewise."""
    namespaces: set[str]
    """Every namespace that was ever written to."""
    group: int
    """Number of the last group in the journal."""
    changed: int
    """Seq of the last changes that the journal may hold as well as the tables."""
    receipts: set[str]
    """Keys of the calls that have a receipt."""
    reworded: dict[UUID, str | None]
    """Present text of facts whose text has changed; None for those erased since the opening."""


def is_plain(batch: WriteBatch, memory: WriterMemory) -> bool:
    """Whether a batch only adds rows: nothing in the tables decides whether it may."""
    if batch.vectors and batch.model_key not in memory.model_ids:
        return False
    born = {new.fact.id for new in batch.facts}
    return (
        batch.is_fresh
        and all(new.fact_id in born for new in batch.vectors)
        and not _needs_tables(batch)
    )


def _needs_tables(batch: WriteBatch) -> bool:
    return bool(
        batch.patches
        or batch.delete
        or batch.emptied
        or batch.moves
        or batch.vitals
        or batch.decay
        or batch.nodes
        or batch.edges
        or batch.documents
        or batch.marks
    )


def is_kept_twice(batch: WriteBatch) -> bool:
    """Whether the rows that a batch leads to, once the tables have it, are all there is to it."""
    return bool(batch.patches or batch.details) and not (
        batch.delete
        or batch.emptied
        or batch.moves
        or batch.vitals
        or batch.decay
        or batch.nodes
        or batch.edges
        or batch.documents
        or batch.marks
    )


class Gathering:
    """Gathers the rows of plain batches; touches no database."""

    def __init__(self, memory: WriterMemory) -> None:
        """Start with no rows; `memory` learns of them when they are kept."""
        self._memory = memory
        self._namespaces: set[str] = set()
        self._receipts: set[str] = set()
        self._rows: Rows = {}

    def peek(self) -> Rows:
        """Return the rows gathered so far."""
        return self._rows

    def keep(self) -> Rows:
        """Take the rows out: they are durable."""
        rows, self._rows = self._rows, {}
        self._remember()
        return rows

    def add(self, batch: WriteBatch) -> AppliedBatch:
        """Take the batch's rows.

        Raises:
            FactChangedError: Its call has a receipt already; nothing of the batch was taken.
        """
        self._check_receipt(batch)
        self._append_facts(batch)
        self._append_records(batch)
        for new in batch.vectors:
            self._append_vector(new, self._memory.model_ids[batch.model_key])
        return AppliedBatch(
            batch=batch,
            states=(),
            must_rebuild=False,
            vectors=batch.vectors,
            promised=promised_rows(batch),
        )

    def _remember(self) -> None:
        self._memory.namespaces |= self._namespaces
        self._memory.receipts |= self._receipts

    def _append(self, table: str, *row: Any) -> None:
        self._rows.setdefault(table, []).append(row)

    def _check_receipt(self, batch: WriteBatch) -> None:
        receipt = batch.receipt
        if receipt is not None and (
            receipt.key in self._memory.receipts or receipt.key in self._receipts
        ):
            raise FactChangedError

    def _append_vector(self, new: NewVectors, model_id: int) -> None:
        self._append(
            "vectors",
            to_uuid(new.fact_id),
            new.namespace,
            model_id,
            len(new.windows),
            new.windows.astype("<i2").tobytes(),
        )

    def _append_facts(self, batch: WriteBatch) -> None:
        for new in batch.facts:
            self._append("facts", *_fact_row(new))

    def _append_records(self, batch: WriteBatch) -> None:
        """Take what stands beside the facts and depends on nothing in the tables."""
        self._append_namespaces(batch)
        for checkpoint in batch.checkpoints:
            self._append(
                "checkpoints",
                to_uuid(checkpoint.id),
                checkpoint.agent_id,
                to_microseconds(checkpoint.created_at),
                checkpoint_to_json(checkpoint),
            )
        if batch.receipt is not None:
            receipt = batch.receipt
            at = to_microseconds(receipt.at)
            self._receipts.add(receipt.key)
            self._append("receipts", receipt.key, receipt.digest, receipt.outcome, at)
        for name, amount in batch.counters:
            self._append("counters", name, amount)
        self._append_details(batch)
        for event in batch.events:
            # Numbered when the tables take it: two threads gather, and one of them commits.
            self._append("events", 0, to_microseconds(event.at), event.tenant, event.text)
        for entry in batch.audit:
            self._append(
                "audit",
                to_microseconds(entry.at),
                entry.namespace,
                entry.action,
                entry.old_text,
                entry.new_text,
                entry.source,
            )

    def _append_details(self, batch: WriteBatch) -> None:
        born = {new.fact.id for new in batch.facts}
        at = to_microseconds(batch.at)
        for details in batch.details:
            seq = 0 if details.fact_id in born else self._next_seq()
            self._append("fact_details", *_details_row(details, seq, at))
        for namespace, fact_id, ref in batch.source_refs:
            self._append("source_refs", to_uuid(fact_id), namespace, ref)

    def _next_seq(self) -> int:
        """Give a seq; only to what no plain batch holds."""
        self._memory.seq += 1
        return self._memory.seq

    def _append_namespaces(self, batch: WriteBatch) -> None:
        named = {new.fact.agent_id for new in batch.facts}
        named |= {one.agent_id for one in batch.checkpoints}
        named |= {one.namespace for one in batch.nodes}
        for namespace in sorted(named):
            self._name(namespace)

    def _name(self, namespace: str) -> None:
        """Note a namespace that may be new."""
        if namespace not in self._memory.namespaces and namespace not in self._namespaces:
            self._namespaces.add(namespace)
            self._append("namespaces", namespace)


def promised_rows(batch: WriteBatch) -> int:
    """Return how many rows of new facts and checkpoints a batch brings."""
    return len(batch.facts) + len(batch.checkpoints)


def _details_row(details: FactDetails, seq: int, changed_at: int) -> tuple[Any, ...]:
    return (
        to_uuid(details.fact_id),
        details.namespace,
        seq,
        changed_at,
        details.sensitivity,
        to_microseconds(details.content_at),
        optional_microseconds(details.expires_at),
        details.is_active,
        details.is_cold,
        details.agent_name,
        details.session,
        details.record,
    )


def _fact_row(new: NewFact) -> tuple[Any, ...]:
    fact, state = new.fact, born(new)
    return (
        state.fact_id,
        state.namespace,
        state.kind,
        state.text,
        state.terms,
        to_microseconds(fact.created_at),
        state.superseded_by,
        state.confidence,
        state.pinned_at,
        state.alias,
        fact.alias_source,
        fact.origin.source,
        fact.origin.client,
        fact.origin.session,
        fact.access_count,
        to_microseconds(fact.accessed_at),
        fact.weight,
    )
