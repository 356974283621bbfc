"""A file without the rows that nothing reads any more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.model.checks import CompactReport
from graymatter_mcp.store.duckdb import read
from graymatter_mcp.store.duckdb.backup import copy_database
from graymatter_mcp.store.duckdb.damaged import drop_vectors, split_vectors, usual_length
from graymatter_mcp.store.duckdb.database import Database
from graymatter_mcp.store.duckdb.recovery import wal_of

if TYPE_CHECKING:
    from pathlib import Path

    from duckdb import DuckDBPyConnection

_DEAD: Final = (
    "DELETE FROM fact_vitals WHERE fact_id NOT IN (SELECT fact_id FROM facts)"
    " OR seq NOT IN (SELECT max(seq) FROM fact_vitals GROUP BY fact_id)",
    "DELETE FROM vectors WHERE fact_id NOT IN (SELECT fact_id FROM facts)",
)


def rewrite(path: Path, model_key: str | None) -> CompactReport:
    """Drop dead rows, copy the rest to a new file, prove it equal and put it in place.

    Receipts older than a day went when the store was opened.

    Args:
        path: Opened by nobody.
        model_key: The model in use: once no fact lacks a vector of it, those of others go. None or
            "" keeps all.

    Raises:
        StoreUnavailableError: It failed; the file holds all that is read, as before.
    """
    before = path.stat().st_size
    fresh = path.with_name(f".{path.name}.compact")
    database = Database(path)
    try:
        with database.use() as connection:
            dropped = _drop_dead(connection) + _drop_vectors(connection, model_key)
        # Nothing may be left in the log: it belongs to the file that goes.
        if not database.checkpoint():
            raise StoreUnavailableError("there is no room on the disk to compact the store")
        with database.use() as connection:
            copy_database(connection, fresh)
    except duckdb.Error as exc:
        raise StoreUnavailableError("the store could not be compacted") from exc
    finally:
        database.close()
    wal_of(path).unlink(missing_ok=True)
    fresh.replace(path)
    return CompactReport(bytes_before=before, bytes_after=path.stat().st_size, rows_dropped=dropped)


def _drop_dead(connection: DuckDBPyConnection) -> int:
    return sum(connection.execute(statement).fetchall()[0][0] for statement in _DEAD)


def _drop_vectors(connection: DuckDBPyConnection, model_key: str | None) -> int:
    dropped = 0
    for model_id, key in connection.execute("SELECT model_id, model_key FROM models").fetchall():
        rows = connection.execute(
            "SELECT fact_id::BLOB, windows, vector FROM vectors WHERE model_id = ?", [model_id]
        ).fetchall()
        _, damaged = split_vectors(rows, usual_length(connection, model_id))
        dropped += drop_vectors(connection, model_id, damaged)
        if key == model_key and not read.pending_count(connection, model_id):
            dropped += connection.execute(
                "DELETE FROM vectors WHERE model_id <> ?", [model_id]
            ).fetchall()[0][0]
    return dropped
