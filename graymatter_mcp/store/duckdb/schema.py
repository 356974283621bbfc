"""Numbered, forward-only migrations: each after a backup, in one piece or not at all."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.store.duckdb.backup import copy_database, put_down

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable
    from pathlib import Path

    from duckdb import DuckDBPyConnection

SCHEMA_VERSION: Final = 2


def stored_version(connection: DuckDBPyConnection) -> int:
    """Return the schema version of an open file; 0 for an empty one."""
    tables = connection.execute(
        "SELECT count(*) FROM duckdb_tables()"
        " WHERE table_name = 'meta' AND database_name = current_database()"
    ).fetchall()
    if tables == [(0,)]:
        return 0
    rows = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchall()
    return max((int(value) for (value,) in rows), default=0)


def check_version(connection: DuckDBPyConnection, target: int = SCHEMA_VERSION) -> None:
    """Refuse a file that cannot be read as it is.

    Raises:
        StoreUnavailableError: A newer version wrote it, or an older one.
    """
    version = stored_version(connection)
    _refuse_newer(version, target)
    if version < target:
        raise StoreUnavailableError(
            f"the store has schema {version} and must be brought to {target}:"
            " open it once where it can be written"
        )


def _refuse_newer(version: int, target: int) -> None:
    if version > target:
        raise StoreUnavailableError(
            f"the store has schema {version}, this version knows {target}: update graymatter-mcp"
        )


def create(path: Path) -> None:
    """Make an empty store under another name and then give it its own.

    The database writes a new file in several steps, and takes one that was left half-way for
    something foreign: no kill and no full disk may leave such a thing under the store's name.

    Raises:
        duckdb.Error: It cannot be made; nothing is left.
        OSError: The same.
    """
    fresh = path.with_name(f".{path.name}.new")
    _remove(fresh)
    try:
        connection = duckdb.connect(str(fresh))
        try:
            migrate(connection, fresh)
        finally:
            connection.close()
        fresh.chmod(0o600)
        put_down(fresh, path)
    finally:
        _remove(fresh)


def _remove(fresh: Path) -> None:
    for one in (fresh, fresh.with_name(f"{fresh.name}.wal")):
        one.unlink(missing_ok=True)


def migrate(
    connection: DuckDBPyConnection,
    path: Path,
    *,
    folder: Traversable | None = None,
    target: int = SCHEMA_VERSION,
) -> None:
    """Bring the file to the target schema, each step in one transaction.

    A store that holds something is first copied to ``<file>.before-<step>``; the last such copy is
    kept. A kill at any moment leaves the old schema or the new one.

    Args:
        connection: The only one there is.
        path: Of the file.
        folder: Holds the scripts; None means ours.
        target: The schema wanted.

    Raises:
        StoreUnavailableError: A newer version wrote the file, which stays as it is.
    """
    version = stored_version(connection)
    if version > target:
        # The log that may be there belongs to the newer version too.
        connection.execute("PRAGMA disable_checkpoint_on_shutdown")
    _refuse_newer(version, target)
    for step in range(version + 1, target + 1):
        if version:
            # A file that is being made holds nothing yet.
            connection.execute("CHECKPOINT")
            _keep_copy(connection, path, step)
        connection.execute("BEGIN")
        connection.execute(_script(folder, step))
        connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(step)])
        connection.execute("COMMIT")
        connection.execute("CHECKPOINT")


def _keep_copy(connection: DuckDBPyConnection, path: Path, step: int) -> None:
    copy = path.with_name(f"{path.name}.before-{step}")
    copy_database(connection, copy)
    for older in path.parent.glob(f"{path.name}.before-*"):
        if older != copy:
            older.unlink()


def _script(folder: Traversable | None, step: int) -> str:
    if folder is None:
        folder = resources.files("graymatter_mcp.store.duckdb") / "migrations"
    (script,) = [entry for entry in folder.iterdir() if entry.name.startswith(f"{step:04d}_")]
    return script.read_text(encoding="utf-8")
