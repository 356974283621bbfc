"""Numbered, forward-only migrations."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import StoreUnavailableError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA_VERSION: Final = 1


def stored_version(connection: DuckDBPyConnection) -> int:
    """Return the schema version of an open file; 0 for an empty one."""
    tables = connection.execute(
        "SELECT count(*) FROM information_schema.tables WHERE table_name = 'meta'"
    ).fetchall()
    if tables == [(0,)]:
        return 0
    rows = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchall()
    return max((int(value) for (value,) in rows), default=0)


def migrate(connection: DuckDBPyConnection) -> None:
    """Bring the file to `SCHEMA_VERSION`, each step in one transaction, and checkpoint at once.

    Raises:
        StoreUnavailableError: The file was written by a newer version.
    """
    version = stored_version(connection)
    if version > SCHEMA_VERSION:
        raise StoreUnavailableError(
            f"the store has schema {version}, this version knows {SCHEMA_VERSION}: update it"
        )
    if version == SCHEMA_VERSION:
        return
    for step in range(version + 1, SCHEMA_VERSION + 1):
        connection.execute("BEGIN")
        connection.execute(_script(step))
        connection.execute("INSERT INTO meta VALUES ('schema_version', ?)", [str(step)])
        connection.execute("COMMIT")
    connection.execute("CHECKPOINT")


def _script(step: int) -> str:
    folder = resources.files("graymatter_mcp.store.duckdb") / "migrations"
    (script,) = [entry for entry in folder.iterdir() if entry.name.startswith(f"{step:04d}_")]
    return script.read_text(encoding="utf-8")
