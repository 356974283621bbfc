"""One thread that owns the writing connection and makes durable whatever waits, as one group.

Plain batches are durable in the journal and reach the tables a little later; all others are durable
in the tables, behind everything that came before them.
"""

from __future__ import annotations

import errno
import logging
import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import FactChangedError, GraymatterError, StoreUnavailableError
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.duckdb.journal import NUMBER, Rows, merged
from graymatter_mcp.store.duckdb.rows import GroupTransaction, is_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.store.duckdb.database import Database
    from graymatter_mcp.store.duckdb.journal import Journal
    from graymatter_mcp.store.duckdb.rows import AppliedBatch, WriterMemory

logger = logging.getLogger(__name__)

_MAX_GROUP: Final = 256
_MAX_BACKLOG: Final = 1000
"""Groups that may wait for the tables while more come in."""
_IDLE_S: Final = 0.05
"""Quiet time after which the tables get what waits."""
_MAX_LOG_BYTES: Final = 16 * 1024 * 1024
"""Size above which the database checkpoints, so that the journal can start anew."""
DISK_FULL: Final = "the disk is full; nothing was stored"
FAILED: Final = "the database failed; nothing was stored"


@dataclass(slots=True)
class _Request:
    batch: WriteBatch
    done: Future[None] = field(default_factory=lambda: Future[None]())


class Writer:
    """Commits batches in the order they come; a caller that stops waiting cancels nothing."""

    def __init__(
        self,
        database: Database,
        journal: Journal,
        memory: WriterMemory,
        on_commit: Callable[[Sequence[AppliedBatch], int], None],
    ) -> None:
        """Start the thread.

        Args:
            database: The thread takes a cursor of its own for each transaction.
            journal: Read back already; used by this thread alone.
            memory: What is known of the file; kept up to date by this thread alone.
            on_commit: Called in the thread after a commit, before the callers hear of it, with
                what was applied and the last seq given.
        """
        self._database = database
        self._journal = journal
        self._memory = memory
        self._on_commit = on_commit
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._backlog: list[Rows] = []
        self._thread = threading.Thread(target=self._run, name="graymatter-writer", daemon=True)
        self._thread.start()

    def submit(self, batch: WriteBatch) -> Future[None]:
        """Queue a batch; the future ends after its commit, or with why nothing of it is stored."""
        request = _Request(batch)
        self._queue.put(request)
        return request.done

    def catch_up(self) -> None:
        """Return when the tables hold everything that callers were told is stored."""
        if self._backlog or not self._queue.empty():
            self.submit(_CATCH_UP).exception()

    def close(self) -> None:
        """Commit what waits and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                request = self._queue.get(timeout=_IDLE_S if self._backlog else None)
            except queue.Empty:
                self._apply_quietly()
                continue
            if request is None or not self._take_group(request):
                break
        self._apply_quietly()

    def _apply_quietly(self) -> None:
        try:
            self._apply_backlog()
        except Exception as exc:  # noqa: BLE001 - the thread must live; the journal has it all
            logger.error("the tables took no backlog: %s", type(exc).__name__)  # noqa: TRY400

    def _take_group(self, first: _Request) -> bool:
        """Commit a request and whatever waits behind it; False when the end was asked for."""
        group = [first]
        while len(group) < _MAX_GROUP and not self._queue.empty():
            following = self._queue.get()
            if following is None:
                self._commit(group)
                return False
            group.append(following)
        self._commit(group)
        return True

    def _commit(self, group: Sequence[_Request]) -> None:
        try:
            self._commit_in_order(group)
        except Exception as exc:  # noqa: BLE001 - the thread must outlive one group; only the type
            logger.error("a group of writes failed: %s", type(exc).__name__)  # noqa: TRY400
            for request in group:
                if not request.done.done():
                    request.done.set_exception(StoreUnavailableError(FAILED))

    def _commit_in_order(self, group: Sequence[_Request]) -> None:
        for plain, requests in groupby(group, lambda request: is_plain(request.batch)):
            if plain:
                self._commit_plain(list(requests))
            else:
                self._commit_to_tables(list(requests))
        if len(self._backlog) > _MAX_BACKLOG:
            self._apply_backlog()

    def _commit_plain(self, requests: Sequence[_Request]) -> None:
        """Make plain batches durable in the journal."""
        with self._database.use() as connection:
            transaction = GroupTransaction(connection, self._memory)
            applied, accepted, refused = _gather(transaction, requests)
        try:
            rows = transaction.peek()
            if rows:
                rows[NUMBER] = [(self._memory.group + 1,)]
                self._journal.append(rows)
                self._memory.group += 1
        except OSError as exc:
            for request in accepted:
                request.done.set_exception(_no_room(exc))
        except ValueError:
            # What cannot be written as UTF-8 is one caller's: the others get their turn alone.
            if len(requests) == 1:
                raise
            for request in accepted:
                self._commit([request])
        else:
            self._backlog.append(transaction.take())
            self._finish(applied, accepted)
        _refuse(refused)

    def _commit_to_tables(self, requests: Sequence[_Request]) -> None:
        """Commit other batches; one whose preconditions fail is left out and told alone."""
        backlog = merged(self._backlog)
        try:
            with (
                self._database.restarting(),
                self._database.use() as connection,
                GroupTransaction(connection, self._memory, backlog) as transaction,
            ):
                applied, accepted, refused = _gather(transaction, requests)
        except duckdb.Error as exc:
            self._retry_alone(requests, exc)
            return
        self._backlog.clear()
        self._tidy_journal()
        self._finish(applied, accepted)
        _refuse(refused)

    def _finish(self, applied: Sequence[AppliedBatch], accepted: Sequence[_Request]) -> None:
        self._on_commit(applied, self._memory.seq)
        for request in accepted:
            request.done.set_result(None)

    def _retry_alone(self, requests: Sequence[_Request], exc: duckdb.Error) -> None:
        """Give each batch of a failed group its own transaction: one cannot fail another."""
        if len(requests) > 1:
            for request in requests:
                self._commit_to_tables([request])
        elif isinstance(exc, duckdb.ConstraintException):
            requests[0].done.set_exception(FactChangedError())
        else:
            requests[0].done.set_exception(_unavailable(exc))

    def _apply_backlog(self) -> None:
        """Give the tables what the journal holds; what fails stays there and is tried again."""
        if not self._backlog:
            return
        try:
            with (
                self._database.restarting(),
                self._database.use() as connection,
                GroupTransaction(connection, self._memory, merged(self._backlog)),
            ):
                pass
        except (duckdb.Error, StoreUnavailableError):
            return
        self._backlog.clear()
        self._tidy_journal()

    def _tidy_journal(self) -> None:
        """Start the journal anew once the database has all of it in its own file."""
        size = max(self._journal.size, self._database.log_bytes)
        if size > _MAX_LOG_BYTES and self._database.checkpoint():
            self._journal.clear()


_CATCH_UP: Final = WriteBatch()


def _gather(
    transaction: GroupTransaction, requests: Sequence[_Request]
) -> tuple[list[AppliedBatch], list[_Request], list[tuple[_Request, GraymatterError]]]:
    applied: list[AppliedBatch] = []
    accepted: list[_Request] = []
    refused: list[tuple[_Request, GraymatterError]] = []
    for request in requests:
        try:
            applied.append(transaction.add(request.batch))
        except GraymatterError as exc:
            refused.append((request, exc))
        else:
            accepted.append(request)
    return applied, accepted, refused


def _refuse(refused: Sequence[tuple[_Request, GraymatterError]]) -> None:
    for request, error in refused:
        request.done.set_exception(error)


def _no_room(exc: OSError) -> StoreUnavailableError:
    is_full = exc.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    error = StoreUnavailableError(DISK_FULL if is_full else FAILED)
    error.__cause__ = exc
    return error


def _unavailable(exc: duckdb.Error) -> StoreUnavailableError:
    """Name the failure by our own phrase; the driver's text may hold paths and facts."""
    text = str(exc).lower()
    is_full = "no space left" in text or "out of disk" in text
    error = StoreUnavailableError(DISK_FULL if is_full else FAILED)
    error.__cause__ = exc
    return error
