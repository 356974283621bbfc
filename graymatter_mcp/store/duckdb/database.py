"""The open database: a cursor for each thread, and a fresh start after a fatal error.

A checkpoint that runs out of disk invalidates the whole database for this process: DuckDB wants it
closed and opened again, by everybody at once. So checkpoints are ours to start, where there is
room, and every use of the database can be waited for.
"""

from __future__ import annotations

import logging
import shutil
import threading
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

import duckdb

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.store.duckdb.backup import quoted
from graymatter_mcp.store.duckdb.recovery import Salvage, explain, wal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

logger = logging.getLogger(__name__)

_CONFIG: Final[dict[str, Any]] = {"threads": 1, "wal_autocheckpoint": "1TB"}
"""A commit never checkpoints by itself: a failed one would leave open whether it took effect."""
_ROOM: Final = 64 * 1024 * 1024
"""Bytes that a checkpoint writes at most besides the log's: the last row groups, again."""

_INVALIDATED: Final = (duckdb.FatalException, duckdb.ConnectionException)
"""Fatal, or closed by a fresh start that did not succeed."""

Answer = TypeVar("Answer")


class Database:
    """One DuckDB file, open in this process alone."""

    def __init__(self, path: Path, *, read_only: bool = False, in_memory: bool = False) -> None:
        """Open the file, or create it; a damaged log is salvaged where that may be written.

        Args:
            path: The file.
            read_only: Change nothing of it.
            in_memory: Work on a copy of it that is lost at the end; only with `read_only`.

        Raises:
            StoreUnavailableError: It cannot be opened.
        """
        self._path = path
        self._read_only = read_only
        self._in_memory = in_memory
        self.salvage = Salvage(path, self._connect)
        try:
            self._connection = self._connect() if read_only else self.salvage.open()
        except duckdb.Error as exc:
            raise explain(exc) from exc
        self._generation = 0
        # Weak: the cursor of a thread that has ended goes with it.
        self._cursors: weakref.WeakSet[duckdb.DuckDBPyConnection] = weakref.WeakSet()
        self._local = threading.local()
        self._turn = threading.Condition()
        self._uses = 0
        self._is_restarting = False
        self._is_behind = False
        """Whether a checkpoint failed and none has succeeded since: said once."""

    def _connect(self) -> duckdb.DuckDBPyConnection:
        if not self._in_memory:
            return duckdb.connect(str(self._path), read_only=self._read_only, config=_CONFIG)
        connection = duckdb.connect(":memory:", config=_CONFIG)
        connection.execute(f"ATTACH {quoted(str(self._path))} AS stored (READ_ONLY)")
        connection.execute("COPY FROM DATABASE stored TO memory")
        connection.execute("DETACH stored")
        return connection

    @contextmanager
    def use(self) -> Generator[duckdb.DuckDBPyConnection]:
        """Give this thread's own cursor for as long as it is not closed under it."""
        depth: int = getattr(self._local, "depth", 0)
        with self._turn:
            while self._is_restarting and not depth:
                self._turn.wait()
            self._uses += 1
        self._local.depth = depth + 1
        try:
            yield self._cursor()
        finally:
            self._local.depth = depth
            with self._turn:
                self._uses -= 1
                self._turn.notify_all()

    def _cursor(self) -> duckdb.DuckDBPyConnection:
        if getattr(self._local, "generation", None) != self._generation:
            self._local.cursor = cursor = self._connection.cursor()
            self._local.generation = self._generation
            with self._turn:
                self._cursors.add(cursor)
        return self._local.cursor

    def read(self, ask: Callable[[duckdb.DuckDBPyConnection], Answer]) -> Answer:
        """Run a read, a second time where the first found the database invalidated.

        Raises:
            duckdb.Error: It failed.
        """
        try:
            with self.restarting(), self.use() as cursor:
                return ask(cursor)
        except _INVALIDATED:
            with self.use() as cursor:
                return ask(cursor)

    @contextmanager
    def restarting(self) -> Generator[None]:
        """Open the database anew when the body meets a fatal error, which goes on its way."""
        generation = self._generation
        try:
            yield
        except _INVALIDATED:
            if not getattr(self._local, "depth", 0):
                self._restart(generation)
            raise

    def _restart(self, generation: int) -> None:
        with self._turn:
            while self._is_restarting:
                self._turn.wait()
            if self._generation != generation:
                return
            self._is_restarting = True
            while self._uses:
                self._turn.wait()
        try:
            logger.warning("the database failed and is opened again")
            self._close()
            self._connection = self._connect()
            self._generation += 1
        except duckdb.Error as exc:
            # The closed connection makes no cursor, so that every later use tries again.
            raise StoreUnavailableError("the database failed and cannot be opened again") from exc
        finally:
            with self._turn:
                self._is_restarting = False
                self._turn.notify_all()

    @property
    def log_bytes(self) -> int:
        """Size of the write-ahead log."""
        return _size(wal_of(self._path))

    def checkpoint(self) -> bool:
        """Move the log into the file; False where that has to wait for room on the disk."""
        room = 2 * self.log_bytes + min(_ROOM, _size(self._path))
        try:
            if shutil.disk_usage(self._path.parent).free < room:
                return False
        except OSError:
            return False  # the directory is gone: there is nothing to move into
        try:
            with self.restarting(), self.use() as cursor:
                cursor.execute("CHECKPOINT")
        except (duckdb.Error, StoreUnavailableError):
            if not self._is_behind:
                logger.warning("the database took no checkpoint")
            self._is_behind = True
            return False
        self._is_behind = False
        return True

    def close(self) -> None:
        """Close the file."""
        self._close()
        self.salvage.give_up()

    def _close(self) -> None:
        with self._turn:
            cursors = list(self._cursors)
            self._cursors.clear()
        for cursor in cursors:
            cursor.close()
        self._connection.close()


def _size(path: Path) -> int:
    # By name: opening the file here would drop DuckDB's lock on it.
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
