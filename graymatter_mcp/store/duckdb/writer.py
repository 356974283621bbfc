"""Takes every batch and makes plain ones durable in the journal, as one group.

All others go on to the thread of the tables, behind the plain ones that came before them.
"""

from __future__ import annotations

import logging
import queue
import threading
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING

from graymatter_mcp.errors import StoreClosedError, StoreUnavailableError
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.duckdb.journal import NUMBER
from graymatter_mcp.store.duckdb.recovery import NO_ROOM
from graymatter_mcp.store.duckdb.requests import (
    DISK_FULL,
    FAILED,
    MAX_GROUP,
    Request,
    fail,
    finish,
    gather,
    refuse,
)
from graymatter_mcp.store.duckdb.rows import Gathering, is_plain
from graymatter_mcp.store.duckdb.tables import Tables

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Future

    from graymatter_mcp.store.duckdb.database import Database
    from graymatter_mcp.store.duckdb.journal import Journal
    from graymatter_mcp.store.duckdb.requests import OnCommit
    from graymatter_mcp.store.duckdb.rows import WriterMemory

logger = logging.getLogger(__name__)


class Writer:
    """Commits batches in the order they come; a caller that stops waiting cancels nothing."""

    def __init__(
        self, database: Database, journal: Journal, memory: WriterMemory, on_commit: OnCommit
    ) -> None:
        """Start the thread of the tables.

        Args:
            database: For the tables.
            journal: Read back already, and in the tables.
            memory: What is known of the file; kept up to date by whoever writes.
            on_commit: Called in some thread after a commit, before the callers hear of it.
        """
        self._journal = journal
        self._memory = memory
        self._on_commit = on_commit
        self._turn = threading.Lock()
        """Held by the caller that commits, for itself and for whoever waits behind it."""
        self._is_closed = False
        self._queue: queue.SimpleQueue[Request] = queue.SimpleQueue()
        self._tables = Tables(database, memory, on_commit, self._drop, journal)

    def submit(self, batch: WriteBatch) -> Future[None]:
        """Commit a batch to the journal, or queue it for the tables.

        Returns:
            A future that ends after the commit, or with why nothing of the batch is stored.
        """
        request = Request(batch)
        self._queue.put(request)
        with self._turn:
            if self._is_closed:
                fail([request], StoreClosedError())
                return request.done
            # Whoever had the turn before may have taken this one along. A thread for this work
            # would have to be woken for each group, and to wake the callers.
            while not request.is_taken:
                self._commit(self._next_group())
        return request.done

    def catch_up(self) -> None:
        """Return when the tables hold everything that callers were told is stored."""
        if self._tables.is_behind or not self._queue.empty():
            self.submit(WriteBatch()).exception()

    def close(self) -> None:
        """End the thread of the tables, once they have all that was taken; refuse the rest."""
        with self._turn:
            self._is_closed = True
            self._tables.close()

    def _drop(self, position: int) -> None:
        # Where the disk has no room for the rest of the file, the whole of it stays.
        with suppress(OSError), self._journal.turn:
            self._journal.drop(position)

    def _next_group(self) -> list[Request]:
        """Take the requests that wait, the oldest first; there is one."""
        group: list[Request] = []
        while len(group) < MAX_GROUP and not self._queue.empty():
            request = self._queue.get()
            request.is_taken = True
            group.append(request)
        return group

    def _commit(self, group: Sequence[Request]) -> None:
        for plain, requests in groupby(
            group, lambda request: is_plain(request.batch, self._memory)
        ):
            if not plain:
                for request in requests:
                    self._tables.submit(request)
                continue
            self._tables.wait_for_room()
            batch = list(requests)
            try:
                self._commit_plain(batch)
            except Exception as exc:  # noqa: BLE001 - one group is not all of them
                # Only the type: the text may hold a fact.
                logger.error("a group of writes failed: %s", type(exc).__name__)  # noqa: TRY400
                fail(batch, StoreUnavailableError(FAILED))

    def _commit_plain(self, requests: Sequence[Request]) -> None:
        """Make plain batches durable in the journal."""
        gathering = Gathering(self._memory)
        gathered = gather(gathering, requests)
        rows = gathering.peek()
        try:
            if rows:
                rows[NUMBER] = [(self._memory.group + 1,)]
                with self._journal.turn:
                    self._journal.append(rows, waiting=self._tables.bytes_behind)
                    self._memory.group += 1
                    self._tables.take(gathering.keep(), self._journal.end)
        except OSError as exc:
            fail(gathered.accepted, _no_room(exc))
            refuse(gathered)
        except ValueError:
            # What cannot be written as UTF-8 is one caller's: the others get their turn alone.
            if len(requests) == 1:
                raise
            for request in requests:
                self._commit([request])
        else:
            finish(gathered, self._on_commit, 0)


def _no_room(exc: OSError) -> StoreUnavailableError:
    error = StoreUnavailableError(DISK_FULL if exc.errno in NO_ROOM else FAILED)
    error.__cause__ = exc
    return error
