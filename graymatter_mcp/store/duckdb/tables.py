"""The thread that commits to the tables: what needs a look at them, and the journal's groups.

It has a queue of its own, so that a call which only adds rows never waits for the database.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import FactChangedError, StoreUnavailableError
from graymatter_mcp.store.duckdb.journal import merged
from graymatter_mcp.store.duckdb.recovery import is_disk_full
from graymatter_mcp.store.duckdb.requests import (
    DISK_FULL,
    FAILED,
    LOOK,
    MAX_GROUP,
    fail,
    finish,
    gather,
)
from graymatter_mcp.store.duckdb.transaction import GroupTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.store.duckdb.database import Database
    from graymatter_mcp.store.duckdb.journal import Journal, Rows
    from graymatter_mcp.store.duckdb.requests import OnCommit, Request
    from graymatter_mcp.store.duckdb.rows import WriterMemory

logger = logging.getLogger(__name__)

IDLE_S = 0.05
"""Quiet time after which the tables get what waits in the journal; shortened by tests."""
_MANY_GROUPS: Final = 1000
"""Groups that may wait for the tables while more come in."""
_MAX_WAITING_BYTES: Final = 16 * 1024 * 1024
"""Bytes of such groups above which the journal waits for the tables."""
MAX_LOG_BYTES = 16 * 1024 * 1024
"""Size of journal or log above which the database checkpoints; lowered by tests."""


class Tables:
    """Commits in the order in which requests and groups come."""

    def __init__(
        self,
        database: Database,
        memory: WriterMemory,
        on_commit: OnCommit,
        on_checkpoint: Callable[[int], None],
        journal: Journal,
    ) -> None:
        """Start the thread.

        Args:
            database: The thread takes a cursor of its own for each transaction.
            memory: What is known of the file.
            on_commit: Called in the thread after a commit, before the callers hear of it.
            on_checkpoint: Called in the thread once the database file itself has every group
                before a position of the journal.
            journal: The tables have all that is in it; it also gets the rows of changes, once the
                tables have them, in case the database's own log is damaged.
        """
        self._database = database
        self._memory = memory
        self._on_commit = on_commit
        self._on_checkpoint = on_checkpoint
        self._queue: queue.SimpleQueue[Request | None] = queue.SimpleQueue()
        self._waiting: deque[tuple[Rows, int]] = deque()
        """Groups of the journal that the tables lack, each with the position behind it."""
        self._journal = journal
        self._applied = self._newest = journal.end
        self._checkpointed = 0
        self._last_group_at = 0.0
        self._is_failing = False
        self._progress = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="graymatter-tables", daemon=True)
        self._thread.start()

    @property
    def is_behind(self) -> bool:
        """Whether groups of the journal wait that tell of more than the tables have."""
        return any(rows for rows, _ in list(self._waiting))

    @property
    def bytes_behind(self) -> int:
        """Bytes of the groups that wait."""
        return self._newest - self._applied

    def submit(self, request: Request) -> None:
        """Queue a request behind all groups that were taken before."""
        self._queue.put(request)

    def take(self, rows: Rows, end: int) -> None:
        """Take a durable group; the caller has its turn at the journal.

        Args:
            rows: Of plain batches; none where the tables have them.
            end: Its end in the journal.
        """
        self._newest = end
        self._last_group_at = time.monotonic()
        self._waiting.append((rows, end))
        if len(self._waiting) == 1:
            self._queue.put(LOOK)

    def wait_for_room(self) -> None:
        """Wait while the tables are far behind, unless it is because they take nothing."""
        with self._progress:
            while self.bytes_behind > _MAX_WAITING_BYTES and not self._is_failing:
                self._progress.wait()

    def close(self) -> None:
        """Commit what waits and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                request = self._queue.get(timeout=IDLE_S if self._waiting else None)
            except queue.Empty:
                if self._is_due():
                    self._apply_quietly()
                continue
            if request is not LOOK and not self._take_group(request):
                break
        self._apply_quietly()

    def _is_due(self) -> bool:
        is_quiet = time.monotonic() - self._last_group_at >= IDLE_S
        return is_quiet or len(self._waiting) > _MANY_GROUPS or self._is_far_behind()

    def _is_far_behind(self) -> bool:
        return self.bytes_behind > _MAX_WAITING_BYTES // 2

    def _take_group(self, first: Request | None) -> bool:
        """Commit a request and whatever waits behind it; False when the end was asked for."""
        if first is None:
            return False
        group = [first]
        following: Request | None = first
        while len(group) < MAX_GROUP and not self._queue.empty():
            following = self._queue.get()
            if following is None:
                break
            if following is not LOOK:
                group.append(following)
        try:
            self._commit(group)
        except Exception as exc:  # noqa: BLE001 - the thread must outlive one group; only the type
            logger.error("a group of writes failed: %s", type(exc).__name__)  # noqa: TRY400
            fail(group, StoreUnavailableError(FAILED))
        return following is not None

    def _commit(self, requests: Sequence[Request]) -> None:
        """Commit batches; one whose preconditions fail is left out and told alone."""
        groups = list(self._waiting)
        try:
            with (
                self._database.restarting(),
                self._database.use() as connection,
                GroupTransaction(
                    connection, self._memory, merged(rows for rows, _ in groups)
                ) as transaction,
            ):
                gathered = gather(transaction, requests)
                kept = transaction.seal()
        except duckdb.Error as exc:
            self._retry_alone(requests, exc)
            return
        self._note(groups)
        self._keep(kept)
        finish(gathered, self._on_commit, self._memory.seq)
        self._tidy()

    def _keep(self, rows: Rows) -> None:
        """Give the journal what the tables have; without room there they have it all the same."""
        if not rows:
            return
        with suppress(OSError, ValueError), self._journal.turn:
            self._journal.append(rows, waiting=self.bytes_behind)
            self.take({}, self._journal.end)

    def _retry_alone(self, requests: Sequence[Request], exc: duckdb.Error) -> None:
        """Give each batch of a failed group its own transaction: one cannot fail another."""
        if len(requests) > 1:
            for request in requests:
                self._commit([request])
        elif isinstance(exc, duckdb.ConstraintException):
            fail(requests, FactChangedError())
        else:
            # By our own phrase: the driver's text may hold paths and facts.
            error = StoreUnavailableError(DISK_FULL if is_disk_full(exc) else FAILED)
            error.__cause__ = exc
            fail(requests, error)

    def _apply_quietly(self) -> None:
        """Give the tables what the journal holds; what fails stays there and is tried again."""
        try:
            self._apply()
        except Exception as exc:  # noqa: BLE001 - the thread must live; the journal has it all
            is_new, self._is_failing = not self._is_failing, True
            if is_new:
                logger.error("the tables took no backlog: %s", type(exc).__name__)  # noqa: TRY400
            with self._progress:
                self._progress.notify_all()

    def _apply(self) -> None:
        if not self._waiting:
            return
        groups = list(self._waiting)
        with (
            self._database.restarting(),
            self._database.use() as connection,
            GroupTransaction(connection, self._memory, merged(rows for rows, _ in groups)),
        ):
            pass
        self._note(groups)
        self._tidy()

    def _note(self, groups: Sequence[tuple[Rows, int]]) -> None:
        """Drop groups that the tables have now."""
        for _ in groups:
            self._waiting.popleft()
        with self._progress:
            self._is_failing = False
            if groups:
                self._applied = groups[-1][1]
            self._progress.notify_all()

    def _tidy(self) -> None:
        """Let the journal start anew once the database has all of it in its own file."""
        since_checkpoint = self._newest - self._checkpointed
        if max(since_checkpoint, self._database.log_bytes) <= MAX_LOG_BYTES:
            return
        if self._database.checkpoint():
            self._checkpointed = self._applied
            self._on_checkpoint(self._applied)
