"""Verified copies of a store: taken while it is in use, put back while it is not.

A copy is made by DuckDB from one snapshot, read back from the file, and only then renamed; the
database file itself is never opened here, which would drop DuckDB's lock on it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb

from graymatter_mcp.errors import StoreUnavailableError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_DIGEST: Final = "SELECT count(*), bit_xor(hash(t)) FROM {table} t"
Digests = dict[str, tuple[int, int | None]]
"""For each table its rows, and a hash of all their values that no order changes."""

SIDE_FILES: Final = (".journal", ".commit_seq")
"""Suffixes of files that belong to one state of the store."""


def copy_database(connection: DuckDBPyConnection, target: Path) -> Digests:
    """Copy what the connection sees to a new file; replaces `target` once the copy is proven.

    Raises:
        StoreUnavailableError: The copy failed, or is not equal; `target` is as before.
    """
    room = Path(tempfile.mkdtemp(prefix=".graymatter-copy-", dir=target.parent))
    fresh = room / "copy.duckdb"
    try:
        digests = _copy(connection, fresh)
        fresh.chmod(0o600)
        if verify(fresh) != digests:
            raise StoreUnavailableError("the copy is not equal to the store; nothing was kept")
        put_down(fresh, target)
    except (duckdb.Error, OSError) as exc:
        raise StoreUnavailableError(_why(exc)) from exc
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return digests


def _copy(connection: DuckDBPyConnection, fresh: Path) -> Digests:
    ((source,),) = connection.execute("SELECT current_database()").fetchall()
    # The name is seen by the whole process: two copies at once need two.
    alias = f"graymatter_copy_{secrets.token_hex(8)}"
    connection.execute(f"ATTACH {quoted(str(fresh))} AS {alias}")
    try:
        # One transaction: what is counted is what is copied, whoever writes meanwhile.
        connection.execute("BEGIN")
        try:
            digests = _digests(connection, source)
            connection.execute(f'COPY FROM DATABASE "{source}" TO {alias}')
            connection.execute("COMMIT")
        except duckdb.Error:
            with suppress(duckdb.Error):
                connection.execute("ROLLBACK")
            raise
    finally:
        connection.execute(f"DETACH {alias}")
    return digests


def digests_of(connection: DuckDBPyConnection) -> Digests:
    """Read every value of the database that a connection has open."""
    ((source,),) = connection.execute("SELECT current_database()").fetchall()
    return _digests(connection, source)


def verify(path: Path) -> Digests:
    """Read every value of a copy, in an instance of its own.

    Raises:
        duckdb.Error: It cannot be read.
    """
    connection = duckdb.connect(str(path), read_only=True, config={"threads": 1})
    try:
        return digests_of(connection)
    finally:
        connection.close()


def _digests(connection: DuckDBPyConnection, database: str) -> Digests:
    tables = connection.execute(
        "SELECT table_name FROM duckdb_tables() WHERE database_name = ? ORDER BY table_name",
        [database],
    ).fetchall()
    return {table: _digest(connection, f'"{database}"."{table}"') for (table,) in tables}


def _digest(connection: DuckDBPyConnection, table: str) -> tuple[int, int | None]:
    row: tuple[Any, ...] = connection.execute(_DIGEST.format(table=table)).fetchall()[0]
    return row[0], row[1]


def put_in_place(fresh: Path, path: Path, stamp: str) -> Path | None:
    """Make a copy the store; nobody has either open.

    Args:
        fresh: The copy, on the same file system.
        path: The database file.
        stamp: Names what is kept of the store that was there.

    Returns:
        Where the replaced store is now; None where there was none.
    """
    kept = path.with_name(f"{path.name}.replaced-{stamp}")
    had_store = path.exists()
    # Side files first: a kill in between must not lead an old log to a new file.
    wal = path.with_name(path.name + ".wal")
    for side, name in (
        (wal, kept.name + ".wal"),
        *((path.with_suffix(suffix), kept.name + suffix) for suffix in SIDE_FILES),
    ):
        if side.exists():
            side.replace(path.with_name(name))
    if had_store:
        os.link(path, kept)
    fresh.replace(path)
    _sync(path.parent)
    return kept if had_store else None


def put_down(fresh: Path, target: Path) -> None:
    """Give a file that nobody has open its name, for good: whole, or as it was before."""
    _sync(fresh)
    fresh.replace(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def quoted(text: str) -> str:
    """Return text as a literal of SQL, for statements that take no parameters."""
    return "'" + text.replace("'", "''") + "'"


def _why(exc: Exception) -> str:
    if "No space left" in str(exc):
        return "the disk of the copy is full; nothing was kept"
    return "the copy could not be written; nothing was kept"
