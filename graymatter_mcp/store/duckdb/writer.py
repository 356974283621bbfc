"""One thread that owns the writing connection and commits whatever waits as one group."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import FactChangedError, GraymatterError, StoreUnavailableError
from graymatter_mcp.store.duckdb.rows import GroupTransaction

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.store.base import WriteBatch
    from graymatter_mcp.store.duckdb.rows import AppliedBatch, WriterMemory

_MAX_GROUP: Final = 256


@dataclass(slots=True)
class _Request:
    batch: WriteBatch
    done: Future[None] = field(default_factory=lambda: Future[None]())


class Writer:
    """Commits batches in the order they come; a caller that stops waiting cancels nothing."""

    def __init__(
        self,
        connection: DuckDBPyConnection,
        memory: WriterMemory,
        on_commit: Callable[[Sequence[AppliedBatch], int], None],
    ) -> None:
        """Start the thread.

        Args:
            connection: Used by this thread alone.
            memory: What is known of the file; kept up to date by this thread alone.
            on_commit: Called in the thread after a commit, before the callers hear of it, with
                what was applied and the last seq given.
        """
        self._connection = connection
        self._memory = memory
        self._on_commit = on_commit
        self._queue: queue.SimpleQueue[_Request | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="graymatter-writer", daemon=True)
        self._thread.start()

    def submit(self, batch: WriteBatch) -> Future[None]:
        """Queue a batch; the future ends after its commit, or with why nothing of it is stored."""
        request = _Request(batch)
        self._queue.put(request)
        return request.done

    def close(self) -> None:
        """Commit what waits and end the thread."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while (request := self._queue.get()) is not None:
            group = [request]
            is_last = False
            while len(group) < _MAX_GROUP and not self._queue.empty():
                following = self._queue.get()
                if following is None:
                    is_last = True
                    break
                group.append(following)
            self._commit(group)
            if is_last:
                return

    def _commit(self, group: Sequence[_Request]) -> None:
        """Commit the group; a batch whose preconditions fail is left out and told alone."""
        applied: list[AppliedBatch] = []
        accepted: list[_Request] = []
        refused: list[tuple[_Request, GraymatterError]] = []
        try:
            with GroupTransaction(self._connection, self._memory) as transaction:
                for request in group:
                    try:
                        applied.append(transaction.add(request.batch))
                    except GraymatterError as exc:
                        refused.append((request, exc))
                    else:
                        accepted.append(request)
        except duckdb.Error as exc:
            self._retry_alone(group, exc)
            return
        self._on_commit(applied, self._memory.seq)
        for request in accepted:
            request.done.set_result(None)
        for request, error in refused:
            request.done.set_exception(error)

    def _retry_alone(self, group: Sequence[_Request], exc: duckdb.Error) -> None:
        """Give each batch of a failed group its own transaction: one cannot fail another."""
        if len(group) > 1:
            for request in group:
                self._commit([request])
        elif isinstance(exc, duckdb.ConstraintException):
            group[0].done.set_exception(FactChangedError())
        else:
            group[0].done.set_exception(_unavailable(exc))


def _unavailable(exc: duckdb.Error) -> StoreUnavailableError:
    """Name the failure by our own phrase; the driver's text may hold paths and facts."""
    text = str(exc)
    if "No space left" in text or "out of disk" in text.lower():
        phrase = "the disk is full; nothing was stored"
    else:
        phrase = "the database failed; nothing was stored"
    error = StoreUnavailableError(phrase)
    error.__cause__ = exc
    return error
