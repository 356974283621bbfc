"""One transaction on the tables: preconditions, the rows of a group of batches, one commit."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import duckdb

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.duckdb.codec import to_uuid
from graymatter_mcp.store.duckdb.journal import NUMBER
from graymatter_mcp.store.duckdb.read import birth_texts, fade, states
from graymatter_mcp.store.duckdb.records import set_mark
from graymatter_mcp.store.duckdb.rows import (
    INSERTS,
    AppliedBatch,
    Gathering,
    WriterMemory,
    is_kept_twice,
    promised_rows,
)
from graymatter_mcp.store.duckdb.states import StoredState, born, fits, patched

if TYPE_CHECKING:
    from types import TracebackType
    from uuid import UUID

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import NewVectors, WriteBatch
    from graymatter_mcp.store.duckdb.journal import Rows

_KEYS: Final = {"nodes": 2, "edges": 4, "source_refs": 3}
"""How many leading columns identify a row of the guarded tables."""


_COUNTED: Final = ("facts", "fact_changes")
_KEPT: Final = frozenset(
    {
        "facts",
        "fact_changes",
        "fact_details",
        "source_refs",
        "checkpoints",
        "namespaces",
        "receipts",
        "counters",
        "audit",
        "changes",
        "events",
    }
)
"""Tables whose rows the journal keeps of a change; a vector that is lost is made again."""
_ERASED: Final = (*_COUNTED, "fact_vitals", "vectors", "fact_details", "source_refs")


class GroupTransaction(Gathering):
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
        super().__init__(memory)
        self._connection = connection
        self._model_ids = dict(memory.model_ids)
        self._reworded: dict[UUID, str | None] = {}
        self._rows = {} if backlog is None else backlog
        self._kept: Rows = {}
        self._is_kept = False
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
                # New facts bring their entries in the feed.
                if len(self._rows) > 1 or "facts" in self._rows:
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

    def _remember(self) -> None:
        super()._remember()
        self._memory.model_ids = self._model_ids
        self._memory.reworded |= self._reworded

    def _append(self, table: str, *row: Any) -> None:
        super()._append(table, *row)
        if self._is_kept and table in _KEPT:
            self._kept.setdefault(table, []).append(row)

    def seal(self) -> Rows:
        """Number the changes, so that their rows can be told from lacking ones; return the rows.

        A number below zero: those of the journal's own groups rise, and tell of plain rows alone.
        """
        kept, self._kept = self._kept, {}
        if not kept:
            return {}
        number = (-self._next_seq(),)
        self._append(NUMBER, *number)
        return kept | {NUMBER: [number]}

    def _begin(self) -> None:
        if not self._is_open:
            self._connection.execute("BEGIN")
            self._is_open = True

    def _flush(self) -> None:
        rows, self._rows = self._rows, {}
        self._number(rows)
        for table, values in rows.items():
            if table in _KEYS:
                width = _KEYS[table]
                values = list({row[:width]: row for row in reversed(values)}.values())
            columns = [list(column) for column in zip(*values, strict=True)]
            self._connection.execute(INSERTS[table], columns)

    def _number(self, rows: Rows) -> None:
        """Give the feed its new facts, and feed and audit their numbers, in order of commit."""
        created = [
            (0, namespace, fact_id, "created", "", created_at)
            for fact_id, namespace, kind, _, _, created_at, *_ in rows.get("facts", ())
            if kind == ""
        ]
        if created:
            rows["changes"] = [*created, *rows.get("changes", ())]
        memory = self._memory
        for at, row in enumerate(rows.get("changes", ())):
            memory.feed += 1
            rows["changes"][at] = (memory.feed, *row[1:])
        for at, row in enumerate(rows.get("events", ())):
            memory.events += 1
            rows["events"][at] = (memory.events, *row[1:])

    def _settle(self) -> None:
        """Make rows gathered so far visible to the statements that follow."""
        self._begin()
        self._flush()

    def reconcile(self, seq: int) -> None:
        """Fit changes that come from the journal to what the tables have.

        A change between them may be lost: of a text, whose vectors must not stay, a move, or an
        erasure.

        Args:
            seq: The last one that the tables had.
        """
        self._settle()
        for table in ("fact_changes", "fact_details"):
            self._connection.execute(
                f"DELETE FROM {table} WHERE seq > ?"
                " AND (fact_id, namespace) NOT IN (SELECT fact_id, namespace FROM facts)",
                [seq],
            )
        self._connection.execute(
            "DELETE FROM vectors WHERE fact_id IN (SELECT c.fact_id FROM fact_changes c"
            " JOIN facts f ON f.fact_id = c.fact_id WHERE c.seq > ? AND c.text <> f.text)",
            [seq],
        )

    def add(self, batch: WriteBatch) -> AppliedBatch:
        """Check the batch's preconditions, then take its rows.

        Raises:
            FactChangedError: A precondition fails; nothing of the batch was taken.
        """
        self._check_receipt(batch)
        before, changed = self._changed_states(batch)
        reworded = [after for after in changed if before[after.fact_id].text != after.text]
        has_returned = any(
            before[after.fact_id].pruned_at is not None and after.pruned_at is None
            for after in changed
        )
        self._is_kept = is_kept_twice(batch) and not reworded
        erased = sum(self._delete(namespace, fact_id, batch) for namespace, fact_id in batch.delete)
        erased += sum(map(self._empty, batch.emptied))
        self._append_facts(batch)
        at = to_microseconds(batch.at)
        for state in changed:
            self._append("fact_changes", *_change_row(state, self._next_seq(), at))
        self._tell_changes(batch, before, changed, at)
        for state in reworded:
            self._settle()
            self._connection.execute("DELETE FROM vectors WHERE fact_id = ?", [state.fact_id])
            self._reworded[state.fact_id] = state.text
        vectors = self._append_vectors(batch)
        self._append_records(batch)
        self._append_vitals(batch)
        if batch.decay is not None:
            self._settle()
            fade(self._connection, batch.decay, self._next_seq())
        self._append_graph(batch)
        self._move(batch)
        self._is_kept = False
        for name, value in batch.marks:
            self._settle()
            set_mark(self._connection, name, value)
        return AppliedBatch(
            batch=batch,
            states=tuple(changed),
            must_rebuild=has_returned or bool(batch.moves),
            vectors=vectors,
            promised=promised_rows(batch) + len(changed) - erased,
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

    def _tell_changes(
        self,
        batch: WriteBatch,
        before: dict[UUID, StoredState],
        changed: list[StoredState],
        at: int,
    ) -> None:
        """Put into the feed what became of facts that were there."""
        told: dict[UUID, tuple[Any, ...]] = {}
        for details in batch.details:
            fact_id = to_uuid(details.fact_id)
            told[fact_id] = (0, details.namespace, fact_id, "updated", "", at)
        for state in changed:
            is_new = state.superseded_by not in ("", before[state.fact_id].superseded_by)
            change = "superseded" if is_new else "updated"
            detail = state.superseded_by if is_new else ""
            told[state.fact_id] = (0, state.namespace, state.fact_id, change, detail, at)
        for born_id in {to_uuid(new.fact.id) for new in batch.facts}:
            told.pop(born_id, None)
        for row in told.values():
            self._append("changes", *row)
        for document in batch.documents:
            self._append("documents", self._next_seq(), document.kind, document.key, document.text)

    def _delete(self, namespace: str, name: FactId, batch: WriteBatch) -> int:
        """Erase a fact; return how many rows that the ledger counts went with it."""
        self._settle()
        fact_id = to_uuid(name)
        erased = 0
        for table in _ERASED:
            ((rows,),) = self._connection.execute(
                f"DELETE FROM {table} WHERE fact_id = ? AND namespace = ?",
                [fact_id, namespace],
            ).fetchall()
            erased += rows if table in _COUNTED else 0
        if erased:
            # On every shelf: links stay behind where the fact has moved.
            node = name.lower()
            self._connection.execute(
                "DELETE FROM edges WHERE source = ? OR target = ?", [node, node]
            )
            self._connection.execute("DELETE FROM nodes WHERE node_id = ?", [node])
        self._reworded[fact_id] = None
        if erased:
            self._append(
                "changes", 0, namespace, fact_id, batch.delete_as, "", to_microseconds(batch.at)
            )
        return erased

    def _empty(self, namespace: str) -> int:
        """Erase what is no fact on a shelf; return how many rows that the ledger counts went."""
        self._settle()
        for table in ("nodes", "edges", "audit"):
            self._connection.execute(f"DELETE FROM {table} WHERE namespace = ?", [namespace])
        ((checkpoints,),) = self._connection.execute(
            "DELETE FROM checkpoints WHERE namespace = ?", [namespace]
        ).fetchall()
        return checkpoints

    def _move(self, batch: WriteBatch) -> None:
        """Give facts another shelf, with all their rows.

        Raises:
            FactChangedError: One is not where it should be.
        """
        for source, name, target in batch.moves:
            self._settle()
            fact_id = to_uuid(name)
            for table in _ERASED:
                ((rows,),) = self._connection.execute(
                    f"UPDATE {table} SET namespace = ? WHERE fact_id = ? AND namespace = ?",
                    [target, fact_id, source],
                ).fetchall()
                if table == "facts" and not rows:
                    raise FactChangedError
            self._name(target)

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
            self._append_vector(new, model_id)
        return tuple(fresh)

    def _model_id(self, model_key: str) -> int:
        model_id = self._model_ids.get(model_key)
        if model_id is None:
            model_id = self._model_ids[model_key] = len(self._model_ids) + 1
            self._append("models", model_id, model_key)
        return model_id

    def _append_vitals(self, batch: WriteBatch) -> None:
        for vitals in batch.vitals:
            fact_id = to_uuid(vitals.fact_id)
            if self._reworded.get(fact_id, self._memory.reworded.get(fact_id, "")) is None:
                # Counted before it was erased, and saved after it.
                continue
            self._append(
                "fact_vitals",
                fact_id,
                vitals.namespace,
                self._next_seq(),
                vitals.access_count,
                to_microseconds(vitals.accessed_at),
                vitals.weight,
            )

    def _append_graph(self, batch: WriteBatch) -> None:
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
