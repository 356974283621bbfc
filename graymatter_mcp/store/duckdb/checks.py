"""Whether the tables agree with themselves: quick counts, and checks that read everything."""

from __future__ import annotations

import json
import unicodedata
from typing import TYPE_CHECKING, Final

import duckdb

from graymatter_mcp.errors import CorruptRecordError
from graymatter_mcp.model.checks import Check, CheckStatus
from graymatter_mcp.model.times import from_microseconds
from graymatter_mcp.store.duckdb import read
from graymatter_mcp.store.duckdb.backup import digests_of
from graymatter_mcp.store.duckdb.codec import alias_from_json, checkpoint_from_row
from graymatter_mcp.store.duckdb.mirror import Mirror
from graymatter_mcp.store.duckdb.replay import add_rows
from graymatter_mcp.store.duckdb.schema import SCHEMA_VERSION, stored_version

if TYPE_CHECKING:
    from collections.abc import Callable

    from duckdb import DuckDBPyConnection

_LOOKUPS: Final = 500
_RESTORE: Final = "restore a backup: graymatter restore FILE"
_COMPACT: Final = "graymatter compact drops them"

_ORPHANS: Final = "SELECT count(*) FROM {table} WHERE fact_id NOT IN (SELECT fact_id FROM facts)"
_BAD_VECTORS: Final = """
SELECT count(*) FROM vectors v JOIN (
    SELECT model_id, mode(octet_length(vector) // greatest(windows, 1)) AS width
    FROM vectors GROUP BY model_id
) m USING (model_id)
WHERE v.windows < 1 OR octet_length(v.vector) <> m.width * v.windows OR m.width % 2 <> 0
"""


def run_checks(
    connection: DuckDBPyConnection, model_key: str | None, *, full: bool
) -> tuple[Check, ...]:
    """Check the open file; a check that the database cannot carry out has failed.

    Args:
        connection: Only reads are made.
        model_key: The model in use; "" for none, None where it is not known.
        full: Read every value as well.
    """
    checks: list[tuple[str, Callable[[DuckDBPyConnection], Check]]] = [
        ("schema", _schema),
        ("facts", _facts),
        ("pending_vectors", lambda found: _pending(found, model_key)),
        ("records", _records),
    ]
    if full:
        checks += [
            ("blocks", _blocks),
            ("orphans", _orphans),
            ("tokens", _tokens),
            ("index", _index),
            ("vectors", _vectors),
            ("mirrors", _mirrors),
        ]
    return tuple(_guarded(connection, name, check) for name, check in checks)


def _guarded(
    connection: DuckDBPyConnection, name: str, check: Callable[[DuckDBPyConnection], Check]
) -> Check:
    try:
        return check(connection)
    except (duckdb.Error, ValueError) as exc:
        # The driver's text may hold paths and values: its class must do.
        return _fail(name, f"the database could not answer ({type(exc).__name__})", _RESTORE)


def _ok(name: str, detail: str) -> Check:
    return Check(name=name, status=CheckStatus.OK, detail=detail)


def _warn(name: str, detail: str, hint: str) -> Check:
    return Check(name=name, status=CheckStatus.WARN, detail=detail, hint=hint)


def _fail(name: str, detail: str, hint: str) -> Check:
    return Check(name=name, status=CheckStatus.FAIL, detail=detail, hint=hint)


def _count(connection: DuckDBPyConnection, query: str, parameters: object = None) -> int:
    return connection.execute(query, parameters).fetchall()[0][0]


def _schema(connection: DuckDBPyConnection) -> Check:
    version = stored_version(connection)
    if version != SCHEMA_VERSION:
        detail = f"schema {version}, this version knows {SCHEMA_VERSION}"
        return _fail("schema", detail, "update graymatter-mcp")
    return _ok("schema", f"schema {version}")


def _facts(connection: DuckDBPyConnection) -> Check:
    ((count, newest),) = connection.execute(
        "SELECT count(*), max(created_at) FROM facts"
    ).fetchall()
    if newest is None:
        return _ok("facts", "no facts yet")
    return _ok("facts", f"{count} records, newest {from_microseconds(newest):%Y-%m-%d %H:%M} UTC")


def _pending(connection: DuckDBPyConnection, model_key: str | None) -> Check:
    if model_key == "":
        return _ok("pending_vectors", "no vectors are wanted")
    known = connection.execute(
        "SELECT max(model_id) FROM models WHERE model_key = coalesce(?, model_key)", [model_key]
    ).fetchall()
    count = read.pending_count(connection, known[0][0] or 0)
    if count:
        hint = "they are made while an owner runs; until then the facts are found by their words"
        return _warn("pending_vectors", f"{count} facts wait for a vector", hint)
    return _ok("pending_vectors", "every live fact has a vector")


def _records(connection: DuckDBPyConnection) -> Check:
    rows = connection.execute(
        "SELECT checkpoint_id, namespace, created_at, record FROM checkpoints"
    ).fetchall()
    bad = sum(not _decodes(lambda row=row: checkpoint_from_row(row)) for row in rows)
    aliases = connection.execute(
        "SELECT alias FROM facts WHERE alias IS NOT NULL"
        " UNION ALL SELECT alias FROM fact_changes WHERE alias IS NOT NULL"
    ).fetchall()
    bad += sum(not _decodes(lambda text=text: alias_from_json(text)) for (text,) in aliases)
    if bad:
        return _fail("records", f"{bad} records cannot be decoded", _RESTORE)
    return _ok("records", f"{len(rows)} checkpoints and {len(aliases)} alias records decode")


def _decodes(decode: Callable[[], object]) -> bool:
    try:
        decode()
    except (CorruptRecordError, json.JSONDecodeError, ValueError, TypeError):
        return False
    return True


def _blocks(connection: DuckDBPyConnection) -> Check:
    digests = digests_of(connection)
    rows = sum(count for count, _ in digests.values())
    return _ok("blocks", f"every value of {rows} rows in {len(digests)} tables was read")


def _orphans(connection: DuckDBPyConnection) -> Check:
    counts = {
        table: _count(connection, _ORPHANS.format(table=table))
        for table in ("fact_changes", "fact_vitals", "vectors")
    }
    found = ", ".join(f"{count} in {table}" for table, count in counts.items() if count)
    if counts["fact_changes"]:
        return _fail("orphans", f"rows without their fact: {found}", _RESTORE)
    if found:
        return _warn("orphans", f"rows without their fact: {found}", _COMPACT)
    return _ok("orphans", "every row belongs to a fact")


def _tokens(connection: DuckDBPyConnection) -> Check:
    rows = connection.execute(
        "SELECT text FROM facts WHERE kind = '' AND terms = ''"
        " UNION ALL SELECT c.text FROM fact_changes c JOIN facts f USING (fact_id)"
        " WHERE f.kind = '' AND c.terms = ''"
    ).fetchall()
    bad = sum(any(unicodedata.category(char)[0] in "LN" for char in text) for (text,) in rows)
    if bad:
        return _fail("tokens", f"{bad} facts with words but without tokens", _RESTORE)
    return _ok("tokens", "every fact with words has tokens")


def _index(connection: DuckDBPyConnection) -> Check:
    ids = [one for (one,) in connection.execute("SELECT fact_id FROM facts").fetchall()]
    missed = 0
    for start in range(0, len(ids), _LOOKUPS):
        some = ids[start : start + _LOOKUPS]
        missed += len(set(some)) - len(read.birth_texts(connection, some))
    return index_check(len(ids), len(set(ids)), missed)


def index_check(scanned: int, distinct: int, missed: int) -> Check:
    """Judge what a scan of the ids and a look-up of each by the index found."""
    if scanned != distinct or missed:
        detail = f"{scanned - distinct} ids twice, {missed} not found by the index"
        return _fail("index", detail, _RESTORE)
    return _ok("index", f"the index finds each of {scanned} ids")


def _vectors(connection: DuckDBPyConnection) -> Check:
    bad = _count(connection, _BAD_VECTORS)
    if bad:
        hint = "graymatter compact drops them; they are made again"
        return _fail("vectors", f"{bad} vectors of a wrong length", hint)
    return _ok("vectors", "all vectors of a model have one length")


def _mirrors(connection: DuckDBPyConnection) -> Check:
    counts = {row[0]: row[1] for row in read.namespace_counts(connection)}
    wrong = 0
    for namespace, live in counts.items():
        mirror = Mirror(str)
        for rows in read.mirror_rows(connection, namespace):
            add_rows(mirror, rows)
        wrong += int(mirror.live.view.sum()) != live
    return mirror_check(len(counts), wrong)


def mirror_check(namespaces: int, wrong: int) -> Check:
    """Judge how many indexes, built anew, hold another number of live facts than the tables."""
    if wrong:
        return _fail("mirrors", f"{wrong} of {namespaces} indexes differ from the tables", _RESTORE)
    return _ok("mirrors", f"{namespaces} indexes built anew agree with the tables")
