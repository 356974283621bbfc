"""What a group of batches writes: preconditions, rows per table, one transaction."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import duckdb

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.duckdb.codec import checkpoint_to_json, to_uuid
from graymatter_mcp.store.duckdb.journal import NUMBER, Rows
from graymatter_mcp.store.duckdb.read import birth_texts, states
from graymatter_mcp.store.duckdb.states import StoredState, born, fits, patched

if TYPE_CHECKING:
    from types import TracebackType
    from uuid import UUID

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.store.base import NewFact, NewVectors, WriteBatch

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
}

_KEYS: Final = {"nodes": 2, "edges": 4}
"""How many leading columns identify a row of the guarded tables."""


def _insert(table: str) -> str:
    columns = ", ".join(f"unnest(?::{kind}[]) AS c{i}" for i, kind in enumerate(_TYPES[table]))
    if table in _GUARDS:
        return f"INSERT INTO {table} SELECT n.* FROM (SELECT {columns}) n {_GUARDS[table]}"
    return f"INSERT INTO {table} SELECT {columns}"


INSERTS: Final = {table: _insert(table) for table in _TYPES}
"""One statement a table; its parameters are whole columns."""

_ERASED: Final = ("facts", "fact_changes", "fact_vitals", "vectors")


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedBatch:
    """An accepted batch, with the state that each patch led to."""

    batch: WriteBatch
    states: tuple[StoredState, ...]
    is_reworded: bool
    """Whether texts changed, or facts left or came back: mirrors must be rebuilt."""
    vectors: tuple[NewVectors, ...]
    """Those that belong to the present text of their fact."""


@dataclass(slots=True)
class WriterMemory:
    """What the writing side remembers between groups."""

    model_ids: dict[str, int]
    """Known model keys."""
    seq: int
    """The last one given to a change or to vitals."""
    namespaces: set[str]
    """Every namespace that was ever written to."""
    group: int
    """Number of the last group in the journal."""
    receipts: set[str]
    """Keys of the calls that have a receipt."""
    reworded: dict[UUID, str | None]
    """Present text of facts whose text changed since the file was opened; None for erased ones."""


def is_plain(batch: WriteBatch) -> bool:
    """Whether a batch only adds rows: nothing in the tables decides whether it may."""
    return batch.is_fresh and not (
        batch.patches or batch.delete or batch.vectors or batch.nodes or batch.edges
    )


class GroupTransaction:
    """Gathers rows and writes them on leaving: all batches that were accepted, or none."""

    def __init__(
        self, connection: DuckDBPyConnection, memory: WriterMemory, backlog: Rows | None = None
    ) -> None:
        """Prepare, without touching the database.

        Args:
            connection: The writing one.
            memory: Brought up to date by the commit.
            backlog: Rows that were promised already; they go first.
        """
        self._connection = connection
        self._memory = memory
        self._model_ids = dict(memory.model_ids)
        self._reworded: dict[UUID, str | None] = {}
        self._namespaces: set[str] = set()
        self._receipts: set[str] = set()
        self._rows: Rows = {} if backlog is None else backlog
        self._is_open = False

    def __enter__(self) -> GroupTransaction:
        """Start; the transaction itself begins when a second statement is due."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Commit, or roll back when anything was raised."""
        try:
            if kind is None:
                if len(self._rows) > 1:
                    self._begin()
                self._flush()
                if self._is_open:
                    self._connection.execute("COMMIT")
                    self._is_open = False
                self._remember()
        finally:
            if self._is_open:
                # A commit that failed has ended the transaction already, and its error counts.
                with suppress(duckdb.Error):
                    self._connection.execute("ROLLBACK")

    def peek(self) -> Rows:
        """Return the rows gathered so far."""
        return self._rows

    def take(self) -> Rows:
        """Take the gathered rows out: they are durable elsewhere. Only of plain batches."""
        rows, self._rows = self._rows, {}
        self._remember()
        return rows

    def _remember(self) -> None:
        self._memory.model_ids = self._model_ids
        self._memory.reworded |= self._reworded
        self._memory.namespaces |= self._namespaces
        self._memory.receipts |= self._receipts

    def _begin(self) -> None:
        if not self._is_open:
            self._connection.execute("BEGIN")
            self._is_open = True

    def _flush(self) -> None:
        rows, self._rows = self._rows, {}
        for table, values in rows.items():
            if table in _KEYS:
                width = _KEYS[table]
                values = list({row[:width]: row for row in reversed(values)}.values())
            columns = [list(column) for column in zip(*values, strict=True)]
            self._connection.execute(INSERTS[table], columns)

    def _settle(self) -> None:
        """Make rows gathered so far visible to the statements that follow."""
        self._begin()
        self._flush()

    def _append(self, table: str, *row: Any) -> None:
        self._rows.setdefault(table, []).append(row)

    def add(self, batch: WriteBatch) -> AppliedBatch:
        """Check the batch's preconditions, then take its rows.

        Raises:
            FactChangedError: A precondition fails; nothing of the batch was taken.
        """
        receipt = batch.receipt
        if receipt is not None and (
            receipt.key in self._memory.receipts or receipt.key in self._receipts
        ):
            raise FactChangedError
        before, changed = self._changed_states(batch)
        reworded = [after for after in changed if before[after.fact_id].text != after.text]
        is_pruned = any(before[after.fact_id].pruned_at != after.pruned_at for after in changed)
        for namespace, fact_id in batch.delete:
            self._delete(namespace, to_uuid(fact_id))
        for new in batch.facts:
            self._append("facts", *_fact_row(new))
        for state in changed:
            self._append(
                "fact_changes", *_change_row(state, self._next_seq(), to_microseconds(batch.at))
            )
        for state in reworded:
            self._settle()
            self._connection.execute("DELETE FROM vectors WHERE fact_id = ?", [state.fact_id])
            self._reworded[state.fact_id] = state.text
        vectors = self._append_vectors(batch)
        self._append_namespaces(batch)
        self._append_others(batch)
        return AppliedBatch(
            batch=batch,
            states=tuple(changed),
            is_reworded=bool(reworded or batch.delete or is_pruned),
            vectors=vectors,
        )

    def _changed_states(
        self, batch: WriteBatch
    ) -> tuple[dict[UUID, StoredState], list[StoredState]]:
        """Return the states before, and one state a patch after it, or refuse."""
        if not batch.patches:
            return {}, []
        self._settle()
        before = states(
            self._connection, sorted({to_uuid(patch.fact_id) for patch in batch.patches})
        )
        before |= {state.fact_id: state for state in map(born, batch.facts)}
        current = dict(before)
        changed: list[StoredState] = []
        for patch in batch.patches:
            state = current.get(to_uuid(patch.fact_id))
            if state is None or state.namespace != patch.namespace or not fits(state, patch):
                raise FactChangedError
            state = current[state.fact_id] = patched(state, patch)
            changed.append(state)
        return before, changed

    def _delete(self, namespace: str, fact_id: UUID) -> None:
        self._settle()
        for table in _ERASED:
            self._connection.execute(
                f"DELETE FROM {table} WHERE fact_id = ? AND namespace = ?",
                [fact_id, namespace],
            )
        self._reworded[fact_id] = None

    def _append_vectors(self, batch: WriteBatch) -> tuple[NewVectors, ...]:
        if not batch.vectors:
            return ()
        self._settle()
        births = birth_texts(self._connection, [to_uuid(new.fact_id) for new in batch.vectors])
        reworded = self._memory.reworded | self._reworded
        fresh: list[NewVectors] = []
        for new in batch.vectors:
            fact_id = to_uuid(new.fact_id)
            namespace, text = births.get(fact_id, ("", None))
            if namespace == new.namespace and reworded.get(fact_id, text) == new.text:
                fresh.append(new)
        model_id = self._model_id(batch.model_key)
        for new in fresh:
            self._append(
                "vectors",
                to_uuid(new.fact_id),
                new.namespace,
                model_id,
                len(new.windows),
                new.windows.astype("<i2").tobytes(),
            )
        return tuple(fresh)

    def _model_id(self, model_key: str) -> int:
        model_id = self._model_ids.get(model_key)
        if model_id is None:
            model_id = self._model_ids[model_key] = len(self._model_ids) + 1
            self._append("models", model_id, model_key)
        return model_id

    def _next_seq(self) -> int:
        self._memory.seq += 1
        return self._memory.seq

    def _append_namespaces(self, batch: WriteBatch) -> None:
        named = {new.fact.agent_id for new in batch.facts}
        named |= {one.agent_id for one in batch.checkpoints}
        named |= {one.namespace for one in batch.nodes}
        for namespace in sorted(named - self._memory.namespaces - self._namespaces):
            self._namespaces.add(namespace)
            self._append("namespaces", namespace)

    def _append_others(self, batch: WriteBatch) -> None:
        for vitals in batch.vitals:
            self._append(
                "fact_vitals",
                to_uuid(vitals.fact_id),
                vitals.namespace,
                self._next_seq(),
                vitals.access_count,
                to_microseconds(vitals.accessed_at),
                vitals.weight,
            )
        for node in batch.nodes:
            self._append("nodes", node.namespace, node.id, node.label, node.type)
        for edge in batch.edges:
            created_at = to_microseconds(edge.created_at)
            self._append(
                "edges",
                edge.namespace,
                edge.source,
                edge.target,
                edge.relation,
                edge.weight,
                created_at,
            )
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


def _change_row(state: StoredState, seq: int, changed_at: int) -> tuple[Any, ...]:
    return (
        state.fact_id,
        state.namespace,
        seq,
        changed_at,
        state.text,
        state.terms,
        state.superseded_by,
        state.confidence,
        state.pinned_at,
        state.pruned_at,
        state.alias,
    )
