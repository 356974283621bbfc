"""What an opening finds and does before anyone reads or writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import duckdb

from graymatter_mcp.store.duckdb.journal import NUMBER, merged
from graymatter_mcp.store.duckdb.records import AUDIT_KEPT
from graymatter_mcp.store.duckdb.recovery import is_disk_full
from graymatter_mcp.store.duckdb.rows import WriterMemory
from graymatter_mcp.store.duckdb.transaction import GroupTransaction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.store.duckdb.database import Database
    from graymatter_mcp.store.duckdb.journal import Rows

_COMPACT_VITALS_ABOVE: Final = 50_000
_RECEIPTS_KEPT_US: Final = 24 * 3600 * 1_000_000


def remembered(connection: duckdb.DuckDBPyConnection) -> WriterMemory:
    """Read what the writing side must know of the file."""

    def rows(query: str) -> list[tuple[Any, ...]]:
        return connection.execute(query).fetchall()

    changed: int = rows("SELECT coalesce(greatest(-min(number), 0), 0) FROM journal")[0][0]
    return WriterMemory(
        model_ids=dict(rows("SELECT model_key, model_id FROM models")),
        seq=rows(
            f"SELECT max(seq) FROM (SELECT {changed} AS seq "
            "UNION ALL SELECT max(seq) FROM fact_vitals "
            "UNION ALL SELECT max(seq) FROM fact_changes "
            "UNION ALL SELECT max(seq) FROM fact_details "
            "UNION ALL SELECT max(seq) FROM documents)"
        )[0][0],
        feed=rows("SELECT coalesce(max(seq), 0) FROM changes")[0][0],
        events=rows("SELECT coalesce(max(seq), 0) FROM events")[0][0],
        namespaces={name for (name,) in rows("SELECT namespace FROM namespaces")},
        group=rows("SELECT coalesce(greatest(max(number), 0), 0) FROM journal")[0][0],
        changed=changed,
        receipts={key for (key,) in rows("SELECT call_key FROM receipts")},
        reworded=dict(
            rows(
                "SELECT fact_id, text FROM (SELECT c.fact_id, c.text, f.text AS born "
                "FROM fact_changes c JOIN facts f USING (fact_id) "
                "QUALIFY row_number() OVER (PARTITION BY c.fact_id ORDER BY c.seq DESC) = 1) "
                "WHERE text <> born"
            )
        ),
    )


def tidy_if_possible(connection: duckdb.DuckDBPyConnection) -> None:
    """Tidy up, unless the disk is full: what is too much there harms nobody."""
    try:
        _tidy(connection)
    except duckdb.Error as exc:
        if not is_disk_full(exc):
            raise


def _tidy(connection: duckdb.DuckDBPyConnection) -> None:
    """Drop book-keeping that later rows replaced, before anyone reads."""
    ((rows,),) = connection.execute("SELECT count(*) FROM fact_vitals").fetchall()
    if rows > _COMPACT_VITALS_ABOVE:
        connection.execute(
            "DELETE FROM fact_vitals WHERE seq NOT IN "
            "(SELECT max(seq) FROM fact_vitals GROUP BY fact_id)"
        )
    # A day counted from the last receipt: no clock decides what a repeated call may still find.
    connection.execute(
        "DELETE FROM receipts WHERE recorded_at < "
        f"(SELECT max(recorded_at) FROM receipts) - {_RECEIPTS_KEPT_US}"
    )
    connection.execute(
        "DELETE FROM journal WHERE number < (SELECT max(number) FROM journal)"
        " AND number > (SELECT min(number) FROM journal)"
    )
    connection.execute(
        "DELETE FROM audit WHERE rowid NOT IN "
        f"(SELECT rowid FROM audit ORDER BY happened_at DESC, rowid DESC LIMIT {AUDIT_KEPT})"
    )


def insert_promised(database: Database, memory: WriterMemory, promised: Sequence[Rows]) -> None:
    """Insert those groups of the journal that the tables lack."""
    groups = lacking(memory, promised)
    if not groups:
        return
    rows = merged(groups)
    numbers = [number for (number,) in rows[NUMBER]]
    names = {name for (name,) in rows.get("namespaces", [])}
    keys = {row[0] for row in rows.get("receipts", [])}
    with (
        database.use() as connection,
        GroupTransaction(connection, memory, rows) as transaction,
    ):
        if min(numbers) < 0:
            transaction.reconcile(memory.seq)
    memory.group = max(memory.group, *numbers)
    memory.changed = max(memory.changed, *(-number for number in numbers))
    memory.seq = max(memory.seq, memory.changed)
    memory.namespaces |= names
    memory.receipts |= keys


def lacking(memory: WriterMemory, promised: Sequence[Rows]) -> list[Rows]:
    """Return the groups of the journal that the tables lack: plain ones, and changes."""
    return [
        rows
        for rows in promised
        if (number := rows[NUMBER][0][0]) > memory.group or -number > memory.changed
    ]
