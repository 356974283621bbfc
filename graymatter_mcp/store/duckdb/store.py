"""The DuckDB store: tables for the record, mirrors for ranking, one writer."""

from __future__ import annotations

import threading
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import duckdb

from graymatter_mcp.errors import ReadOnlyError, StoreClosedError, StoreUnavailableError
from graymatter_mcp.model.checks import BackupReport
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import (
    AuditEntry,
    Change,
    Decay,
    Document,
    Edge,
    Node,
    NumberedEvent,
    PendingVector,
    Place,
    Portion,
    Receipt,
    StoreStats,
    WriteBatch,
)
from graymatter_mcp.store.duckdb import plane_records, read, records
from graymatter_mcp.store.duckdb.backup import copy_database
from graymatter_mcp.store.duckdb.checks import run_checks
from graymatter_mcp.store.duckdb.codec import to_fact_id, to_uuid
from graymatter_mcp.store.duckdb.damaged import drop_vectors
from graymatter_mcp.store.duckdb.database import Database
from graymatter_mcp.store.duckdb.journal import Journal, read_groups
from graymatter_mcp.store.duckdb.mirrors import Mirrors
from graymatter_mcp.store.duckdb.opening import (
    insert_promised,
    lacking,
    remembered,
    tidy_if_possible,
)
from graymatter_mcp.store.duckdb.recovery import (
    COUNT_PROMISED,
    Ledger,
    beside_unusable,
    explain,
    is_disk_full,
    report,
)
from graymatter_mcp.store.duckdb.replay import built
from graymatter_mcp.store.duckdb.requests import DISK_FULL
from graymatter_mcp.store.duckdb.schema import check_version, create, migrate
from graymatter_mcp.store.duckdb.snapshot import MirrorSnapshot
from graymatter_mcp.store.duckdb.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path

    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.checks import Check
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.base import Snapshot
    from graymatter_mcp.store.duckdb.mirror import Mirror
    from graymatter_mcp.store.duckdb.rows import AppliedBatch

_FLUSH_INTERVAL_S: Final = 2.0

Answer = TypeVar("Answer")


class DuckDBStore:
    """Implements `graymatter_mcp.store.base.MemoryStore` on one DuckDB file.

    DuckDB's own lock is of the fcntl kind: nothing here may open the database file but DuckDB
    itself, or that lock is lost without a word.
    """

    def __init__(
        self, path: Path, *, stem: Callable[[str], str] = str, read_only: bool = False
    ) -> None:
        """Open the file, create it if need be, and bring its schema up to date.

        Args:
            path: The database file; its directory must exist.
            stem: Maps a stored token to its index term.
            read_only: Take no writes.

        Raises:
            StoreUnavailableError: It cannot be opened, or a newer version wrote it.
        """
        self.read_only = read_only
        self._path = path
        self._is_closed = threading.Event()
        self._is_disk_full = False
        self._ledger: Ledger | None = None
        self._journal: Journal | None = None
        self._writer: Writer | None = None
        with ExitStack() as undo:
            try:
                if not read_only and not path.exists():
                    create(path)
                self._database = Database(path, read_only=read_only)
                undo.callback(self._release)
                self._open(path, stem)
            except duckdb.Error as exc:
                raise explain(exc) from exc
            except OSError as exc:
                raise beside_unusable(exc) from exc
            undo.pop_all()

    def _open(self, path: Path, stem: Callable[[str], str]) -> None:
        with self._database.use() as connection:
            if self.read_only:
                check_version(connection)
            else:
                migrate(connection, path)
                tidy_if_possible(connection)
            self._memory = remembered(connection)
        self._stem = stem
        self._mirrors = Mirrors(self._load)
        journal = path.with_suffix(".journal")
        if not self.read_only:
            self._recover(journal)
        if self.read_only:
            self._show_promised(journal)
        self._mirrors.seq = self._memory.seq
        if self._journal is not None:
            self._ledger = Ledger(path)
            held = self._count_promised()
            self._database.salvage.settle(self._ledger.promised(), held)
            self._ledger.note(held)
            self._writer = Writer(self._database, self._journal, self._memory, self._committed)
        self._flusher = threading.Thread(
            target=self._flush_often, name="graymatter-flusher", daemon=True
        )
        self._flusher.start()

    def _count_promised(self) -> int:
        with self._database.use() as connection:
            return connection.execute(COUNT_PROMISED).fetchall()[0][0]

    def _committed(self, applied: Sequence[AppliedBatch], seq: int) -> None:
        self._mirrors.committed(applied, seq)
        if self._ledger is not None:
            self._ledger.committed(applied)

    def _recover(self, path: Path) -> None:
        """Give the tables what was promised before the last process died.

        Where the disk has no room for it, the store is for reading until it is opened again.
        """
        self._journal = journal = Journal(path)
        try:
            insert_promised(self._database, self._memory, journal.read())
        except duckdb.Error as exc:
            if not is_disk_full(exc):
                raise
            report(self._path, "opened for reading only: the disk was full")
            # The copy of the log takes room that is wanted for more.
            self._database.salvage.give_up()
            self.read_only = self._is_disk_full = True
            self._journal = None
            journal.close()
            return
        if journal.size and self._database.checkpoint():
            journal.drop(journal.end)

    def _show_promised(self, journal: Path) -> None:
        """Add what the journal holds to a copy in memory: the tables cannot be written."""
        promised = read_groups(journal.read_bytes()) if journal.exists() else []
        if lacking(self._memory, promised):
            self._database.close()
            self._database = Database(self._path, read_only=True, in_memory=True)
            insert_promised(self._database, self._memory, promised)

    def _query(self, query: str, parameters: object = None) -> list[tuple[Any, ...]]:
        return self._read(lambda connection: connection.execute(query, parameters).fetchall())

    def _read(self, ask: Callable[[duckdb.DuckDBPyConnection], Answer]) -> Answer:
        """Run a read on this thread's own cursor."""
        if self._is_closed.is_set():
            raise StoreClosedError
        if self._writer is not None:
            self._writer.catch_up()
        try:
            return self._database.read(ask)
        except duckdb.Error as exc:
            raise StoreUnavailableError("the database did not answer") from exc

    def _load(self, namespace: Namespace) -> Mirror:
        model_id = self._memory.model_ids.get(self._mirrors.model_key, 0)
        mirror, damaged = self._read(
            lambda connection: built(connection, namespace, model_id, self._stem)
        )
        if damaged:
            self._drop_vectors(damaged, model_id)
        return mirror

    def _drop_vectors(self, fact_ids: Sequence[bytes], model_id: int) -> None:
        """Take damaged vectors out: their facts wait for new ones."""
        if self.read_only:
            return
        report(self._path, f"{len(fact_ids)} damaged vectors were dropped; they are made again")
        self._read(lambda connection: drop_vectors(connection, model_id, fact_ids))

    def use_model(self, model_key: str) -> bool:
        """See the protocol."""
        self._mirrors.use_model(model_key)
        model_id = self._memory.model_ids.get(model_key, 0)
        return bool(model_key) and self._read(
            lambda connection: read.has_foreign_vectors(connection, model_id)
        )

    def apply(self, batch: WriteBatch) -> None:
        """See the protocol."""
        if self._is_closed.is_set():
            raise StoreClosedError
        if self._is_disk_full:
            raise StoreUnavailableError(DISK_FULL)
        if self._writer is None:
            raise ReadOnlyError
        if batch.decay is not None:
            # The tables must know what was read since: they alone say what fades.
            self._flush()
        self._writer.submit(batch).result()

    def receipt(self, key: str) -> Receipt | None:
        """See the protocol."""
        if key not in self._memory.receipts:
            return None
        rows = self._query(
            "SELECT digest, outcome, recorded_at FROM receipts WHERE call_key = ?", [key]
        )
        for digest, outcome, at in rows:
            return Receipt(key=key, digest=digest, outcome=outcome, at=from_microseconds(at))
        return None

    def touch(self, namespace: Namespace, fact_ids: Sequence[FactId], at: datetime) -> None:
        """See the protocol."""
        if self._writer is not None:
            self._mirrors.touch(namespace, fact_ids, at)

    def _flush_often(self) -> None:
        while not self._is_closed.wait(_FLUSH_INTERVAL_S):
            self._flush()

    def _flush(self) -> None:
        unsaved = self._mirrors.take_unsaved()
        if unsaved and self._writer is not None:
            self._writer.submit(WriteBatch(vitals=unsaved)).exception()

    def snapshot(
        self, namespace: Namespace, min_level: int = 0, now: datetime | None = None
    ) -> Snapshot:
        """See the protocol."""
        at = 0 if now is None else to_microseconds(now)
        return self._mirrors.snapshot(namespace, min_level, at, self._fetch)

    def snapshot_at(self, namespace: Namespace, at: datetime) -> Snapshot:
        """See the protocol; built for this one question."""
        model_id = self._memory.model_ids.get(self._mirrors.model_key, 0)
        moment = to_microseconds(at)
        mirror, _ = self._read(
            lambda connection: built(connection, namespace, model_id, self._stem, moment)
        )
        return MirrorSnapshot(mirror, 0, threading.RLock(), partial(self.get, namespace), moment)

    def _fetch(self, namespace: Namespace, ids: Sequence[FactId], as_of: int) -> list[Fact]:
        uuids = [to_uuid(fact_id) for fact_id in ids]
        return self._facts(
            lambda connection: read.facts_by_ids(connection, namespace, uuids, as_of)
        )

    def get(self, namespace: Namespace, ids: Sequence[FactId]) -> list[Fact]:
        """See the protocol."""
        uuids = [to_uuid(fact_id) for fact_id in ids]
        return self._facts(lambda connection: read.facts_by_ids(connection, namespace, uuids))

    def shelves_of(self, ids: Sequence[FactId]) -> dict[FactId, Namespace]:
        """See the protocol."""
        uuids = [to_uuid(fact_id) for fact_id in ids]
        found = self._read(lambda connection: read.shelves_of(connection, uuids))
        return {to_fact_id(fact_id.int): Namespace(namespace) for fact_id, namespace in found}

    def find_text(self, namespace: Namespace, text: str) -> list[Fact]:
        """See the protocol."""
        return self._facts(lambda connection: read.facts_with_text(connection, namespace, text))

    def list(self, namespace: Namespace) -> list[Fact]:
        """See the protocol."""
        return self._facts(lambda connection: read.facts_of(connection, namespace))

    def _facts(self, ask: Callable[[duckdb.DuckDBPyConnection], list[Fact]]) -> list[Fact]:
        return self._mirrors.with_vitals(self._read(ask))

    def count(self, namespace: Namespace) -> int:
        """See the protocol."""
        return self._read(lambda connection: read.count(connection, namespace))

    def mark(self, name: str) -> str:
        """See the protocol."""
        return self._read(lambda connection: records.mark(connection, name))

    def contents(self, namespace: Namespace, behind: Place | None, limit: int) -> Portion:
        """See the protocol."""
        return self._read(lambda connection: records.contents(connection, namespace, behind, limit))

    def count_contents(self, namespace: Namespace, until: Place) -> int:
        """See the protocol."""
        return self._read(lambda connection: records.count_contents(connection, namespace, until))

    def count_fading(self, decay: Decay) -> int:
        """See the protocol."""
        self._flush()
        return self._read(lambda connection: read.count_fading(connection, decay))

    def faint(
        self, namespace: Namespace, now: datetime, half_life: timedelta, below: float, limit: int
    ) -> list[Fact]:
        """See the protocol."""
        self._flush()
        return self._read(
            lambda connection: read.faint(connection, namespace, now, half_life, below, limit)
        )

    def pruned(self, before: datetime) -> list[tuple[Namespace, FactId]]:
        """See the protocol."""
        limit = to_microseconds(before)
        return [
            (Namespace(namespace), to_fact_id(fact_id.int))
            for namespace, fact_id in self._read(lambda connection: read.pruned(connection, limit))
        ]

    def superseded_by(
        self, namespace: Namespace, heirs: Sequence[FactId]
    ) -> dict[FactId, list[FactId]]:
        """See the protocol."""
        found: dict[FactId, list[FactId]] = {}
        for heir, fact_id in self._read(
            lambda connection: read.lineage(connection, namespace, heirs)
        ):
            found.setdefault(FactId(heir), []).append(to_fact_id(fact_id.int))
        return {heir: sorted(ids) for heir, ids in found.items()}

    def namespaces(self) -> list[Namespace]:
        """See the protocol."""
        if self._is_closed.is_set():
            raise StoreClosedError
        # The writing side knows them all, so that nobody waits for the tables.
        return sorted(map(Namespace, self._memory.namespaces.copy()))

    def pending_vectors(self, limit: int) -> list[PendingVector]:
        """See the protocol."""
        model_id = self._memory.model_ids.get(self._mirrors.model_key, 0)
        if not self._mirrors.model_key:
            return []
        return [
            PendingVector(
                namespace=Namespace(namespace), fact_id=to_fact_id(fact_id.int), text=text
            )
            for namespace, fact_id, text in self._read(
                lambda connection: read.pending(connection, model_id, limit)
            )
        ]

    def checkpoints(self, namespace: Namespace) -> list[Checkpoint]:
        """See the protocol."""
        return self._read(lambda connection: records.checkpoints(connection, namespace))

    def neighbours(self, namespace: Namespace, node_ids: Sequence[str]) -> list[Node]:
        """See the protocol."""
        return self._read(lambda connection: records.neighbours(connection, namespace, node_ids))

    def links(self, namespace: Namespace, relation: str, at: datetime | None) -> list[Edge]:
        """See the protocol."""
        until = None if at is None else to_microseconds(at)
        return self._read(
            lambda connection: plane_records.links(connection, namespace, relation, until)
        )

    def with_source_ref(self, ref: str) -> list[tuple[Namespace, FactId]]:
        """See the protocol."""
        return self._read(lambda connection: plane_records.with_source_ref(connection, ref))

    def source_refs(self, fact_ids: Sequence[FactId]) -> dict[FactId, tuple[str, ...]]:
        """See the protocol."""
        return self._read(lambda connection: plane_records.source_refs(connection, fact_ids))

    def documents(self) -> list[Document]:
        """See the protocol."""
        return self._read(plane_records.documents)

    def changes(self, after: int, since: datetime | None) -> Iterator[Change]:
        """See the protocol."""
        from_at = None if since is None else to_microseconds(since)
        while True:
            portion = self._read(
                lambda connection, start=after: plane_records.changes(connection, start, from_at)
            )
            yield from portion
            if not portion:
                return
            after = portion[-1].seq

    def events(self, tenant: str, after: int, limit: int) -> list[NumberedEvent]:
        """See the protocol."""
        return self._read(lambda connection: plane_records.events(connection, tenant, after, limit))

    def forget_before(self, changes: datetime, events: datetime) -> None:
        """See the protocol."""
        limits = to_microseconds(changes), to_microseconds(events)
        self._read(lambda connection: plane_records.forget_before(connection, *limits))

    def audit(self, limit: int) -> list[AuditEntry]:
        """See the protocol."""
        return self._read(lambda connection: records.audit(connection, limit))

    def stats(self) -> StoreStats:
        """See the protocol."""
        model_key = self._mirrors.model_key
        model_id = self._memory.model_ids.get(model_key, 0) if model_key else None
        return self._read(lambda connection: records.stats(connection, model_id))

    def backup(self, target: Path) -> BackupReport:
        """See the protocol."""
        digests = self._read(lambda connection: copy_database(connection, target))
        return BackupReport(
            path=str(target), bytes=target.stat().st_size, facts=digests["facts"][0]
        )

    def check(self, *, full: bool) -> tuple[Check, ...]:
        """See the protocol."""
        model_key = self._mirrors.model_key
        return self._read(lambda connection: run_checks(connection, model_key, full=full))

    def ping(self) -> None:
        """See the protocol."""
        self._query("SELECT 1 FROM facts LIMIT 1")

    def close(self) -> None:
        """See the protocol."""
        if self._is_closed.is_set():
            return
        self._flush()
        self._is_closed.set()
        if self._writer is not None:
            self._writer.close()
        if self._journal is not None and self._journal.size and self._database.checkpoint():
            self._journal.drop(self._journal.end)
        self._release()

    def _release(self) -> None:
        """Let go of all that is open, as it is."""
        self._is_closed.set()
        for held in (self._writer, self._journal, self._ledger, self._database):
            if held is not None:
                held.close()
