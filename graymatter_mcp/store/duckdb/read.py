"""Every SELECT of the store."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.duckdb.codec import FACT_COLUMNS, fact_from_row
from graymatter_mcp.store.duckdb.states import StoredState

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime
    from uuid import UUID

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.base import Decay

# The present state of facts: the birth row, overlaid by the last change and the last vitals.
# {scope} narrows all three tables alike, so that a look-up by id stays a look-up by id.
_CURRENT: Final = """
SELECT f.fact_id, f.namespace, f.kind,
       coalesce(c.text, f.text) AS text,
       coalesce(c.terms, f.terms) AS terms,
       f.created_at,
       coalesce(c.superseded_by, f.superseded_by) AS superseded_by,
       coalesce(c.confidence, f.confidence) AS confidence,
       CASE WHEN c.seq IS NULL THEN f.pinned_at ELSE c.pinned_at END AS pinned_at,
       CASE WHEN c.seq IS NULL THEN f.alias ELSE c.alias END AS alias,
       f.alias_source, f.source, f.client, f.session,
       coalesce(v.access_count, f.access_count) AS access_count,
       coalesce(v.accessed_at, f.accessed_at) AS accessed_at,
       coalesce(v.weight, f.weight) AS weight,
       c.pruned_at
FROM (SELECT * FROM facts WHERE {scope}) f
LEFT JOIN (SELECT * FROM fact_changes WHERE {scope} AND {until}
           QUALIFY row_number() OVER (PARTITION BY fact_id ORDER BY seq DESC) = 1) c
       ON c.fact_id = f.fact_id
LEFT JOIN (SELECT * FROM fact_vitals WHERE {scope}
           QUALIFY row_number() OVER (PARTITION BY fact_id ORDER BY seq DESC) = 1) v
       ON v.fact_id = f.fact_id
"""
_VISIBLE: Final = _CURRENT + "WHERE c.pruned_at IS NULL"
_ALL: Final = _VISIBLE.format(scope="true", until="true")
_BY_NAMESPACE: Final = _VISIBLE.format(scope="namespace = $ns", until="true")

_FADED: Final = (
    "SELECT *, least(weight, pow(2.0, -greatest($now - accessed_at, 0) / $half_life)) AS faded "
    f"FROM ({_BY_NAMESPACE}) WHERE pinned_at IS NULL"
)

_PENDING: Final = (
    "WHERE kind = '' AND superseded_by = '' "
    "AND fact_id NOT IN (SELECT fact_id FROM vectors WHERE model_id = $model)"
)

AT_ONCE = 20_000
"""Rows that are Python objects at a time while a mirror is built; fewer in tests."""


def _by_ids(query: str, count: int, until: str = "true") -> str:
    marks = ", ".join(f"$i{position}" for position in range(count))
    return query.format(scope=f"fact_id IN ({marks})", until=until)


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorRow:
    """What a mirror needs of one record; times in microseconds."""

    number: int
    kind: str
    text: str
    terms: str
    created_at: int
    superseded_by: str
    confidence: str
    is_pinned: bool
    alias: str | None
    access_count: int
    accessed_at: int
    weight: float
    source: str = ""
    connection: str = ""
    details: MirrorDetails | None = None
    replaces: int | None = None
    """The row that this one takes the place of, in a mirror that is not built anew."""


@dataclass(frozen=True, slots=True)
class MirrorDetails:
    """What a mirror needs of the details of a record; times in microseconds."""

    sensitivity: int
    content_at: int
    expires_at: int | None
    is_active: bool
    is_cold: bool
    agent_name: str
    session: str
    record: str


def states(connection: DuckDBPyConnection, ids: Sequence[UUID]) -> dict[UUID, StoredState]:
    """Return the versioned state of each known id."""
    if not ids:
        return {}
    rows = connection.execute(
        "SELECT fact_id, namespace, kind, text, terms, superseded_by, confidence, pinned_at, "
        "alias, pruned_at "
        f"FROM ({_by_ids(_CURRENT, len(ids))})",
        {f"i{position}": fact_id for position, fact_id in enumerate(ids)},
    ).fetchall()
    return {
        row[0]: StoredState(
            fact_id=row[0],
            namespace=row[1],
            kind=row[2],
            text=row[3],
            terms=row[4],
            superseded_by=row[5],
            confidence=row[6],
            pinned_at=row[7],
            alias=row[8],
            pruned_at=row[9],
        )
        for row in rows
    }


def shelves_of(connection: DuckDBPyConnection, ids: Sequence[UUID]) -> list[tuple[UUID, str]]:
    """Return (id, namespace) of each known id."""
    if not ids:
        return []
    marks = ", ".join("?" * len(ids))
    return connection.execute(
        f"SELECT fact_id, namespace FROM facts WHERE fact_id IN ({marks})", list(ids)
    ).fetchall()


def birth_texts(connection: DuckDBPyConnection, ids: Sequence[UUID]) -> dict[UUID, tuple[str, str]]:
    """Return (namespace, text) of each known id as first written: a look-up by index alone."""
    marks = ", ".join("?" * len(ids))
    rows = connection.execute(
        f"SELECT fact_id, namespace, text FROM facts WHERE fact_id IN ({marks})",
        list(ids),
    ).fetchall()
    return {fact_id: (namespace, text) for fact_id, namespace, text in rows}


def facts_by_ids(
    connection: DuckDBPyConnection, namespace: str, ids: Sequence[UUID], as_of: int | None = None
) -> list[Fact]:
    """Return the known records among the ids, oldest first.

    Args:
        connection: This thread's cursor.
        namespace: Records of others are unknown here.
        ids: Looked up by index.
        as_of: Leaves out changes of a later seq, and what was pruned before counts again.
    """
    if not ids:
        return []
    parameters: dict[str, Any] = {f"i{position}": fact_id for position, fact_id in enumerate(ids)}
    parameters["ns"] = namespace
    current = _by_ids(_VISIBLE, len(ids))
    if as_of is not None:
        parameters["as_of"] = as_of
        current = _by_ids(_CURRENT, len(ids), until="seq <= $as_of")
    return _facts(
        connection,
        f"SELECT {FACT_COLUMNS} FROM ({current}) WHERE namespace = $ns "
        "ORDER BY created_at, fact_id",
        parameters,
    )


def facts_of(connection: DuckDBPyConnection, namespace: str) -> list[Fact]:
    """Return all records of a namespace, newest first."""
    return _facts(
        connection,
        f"SELECT {FACT_COLUMNS} FROM ({_BY_NAMESPACE}) ORDER BY created_at DESC, fact_id DESC",
        {"ns": namespace},
    )


def count(connection: DuckDBPyConnection, namespace: str) -> int:
    """Count the records of a namespace."""
    (row,) = connection.execute(
        f"SELECT count(*) FROM ({_BY_NAMESPACE})", {"ns": namespace}
    ).fetchall()
    return row[0]


def count_fading(connection: DuckDBPyConnection, decay: Decay) -> int:
    """Count the records that the decay changes, its limit aside."""
    (row,) = connection.execute(
        f"SELECT count(*) FROM ({_FADED}) WHERE faded < weight - $by",
        _since(decay.namespace, decay.now, decay.half_life) | {"by": decay.by},
    ).fetchall()
    return row[0]


def fade(connection: DuckDBPyConnection, decay: Decay, seq: int) -> None:
    """Append the vitals of the records that the decay changes, without a look at any of them."""
    connection.execute(
        "INSERT INTO fact_vitals SELECT fact_id, namespace, $seq, access_count, accessed_at, faded "
        f"FROM ({_FADED}) WHERE faded < weight - $by LIMIT $limit",
        _since(decay.namespace, decay.now, decay.half_life)
        | {"by": decay.by, "limit": decay.limit, "seq": seq},
    )


def faint(
    connection: DuckDBPyConnection,
    namespace: str,
    now: datetime,
    half_life: timedelta,
    below: float,
    limit: int,
) -> list[Fact]:
    """Return unpinned records whose weight is, or by now would be, less than `below`."""
    return _facts(
        connection,
        f"SELECT {FACT_COLUMNS} FROM ({_FADED}) WHERE faded < $below LIMIT $limit",
        _since(namespace, now, half_life) | {"below": below, "limit": limit},
    )


def _since(namespace: str, now: datetime, half_life: timedelta) -> dict[str, Any]:
    period = half_life // timedelta(microseconds=1)
    return {"ns": namespace, "now": to_microseconds(now), "half_life": period}


def facts_with_text(connection: DuckDBPyConnection, namespace: str, text: str) -> list[Fact]:
    """Return every record of exactly this text, oldest first."""
    return _facts(
        connection,
        f"SELECT {FACT_COLUMNS} FROM ({_BY_NAMESPACE}) WHERE text = $text "
        "ORDER BY created_at, fact_id",
        {"ns": namespace, "text": text},
    )


def _facts(connection: DuckDBPyConnection, query: str, parameters: dict[str, Any]) -> list[Fact]:
    return [fact_from_row(row) for row in connection.execute(query, parameters).fetchall()]


def mirror_rows(
    connection: DuckDBPyConnection, namespace: str, as_of: int | None = None
) -> Iterator[list[MirrorRow]]:
    """Yield what a mirror is built from, in order of arrival; read it to its end.

    Args:
        connection: Its next statement comes after the end.
        namespace: Whose records.
        as_of: Takes the versions that were valid at this microsecond; None the present ones.
    """
    parameters: dict[str, Any] = {"ns": namespace}
    query = _BY_NAMESPACE
    until = "true"
    if as_of is not None:
        parameters["as_of"] = as_of
        until = "changed_at <= $as_of"
        query = _VISIBLE.format(scope="namespace = $ns", until=until)
    details = details_of(connection, f"namespace = $ns AND {until}", parameters)
    result = connection.execute(
        "SELECT fact_id::BLOB, kind, text, terms, created_at, superseded_by, confidence, alias, "
        "access_count, accessed_at, weight, pinned_at IS NOT NULL, session, source "
        f"FROM ({query}) ORDER BY created_at, fact_id",
        parameters,
    )
    while rows := result.fetchmany(AT_ONCE):
        yield [
            MirrorRow(
                number=int.from_bytes(row[0]),
                kind=row[1],
                text=row[2],
                terms=row[3],
                created_at=row[4],
                superseded_by=row[5],
                confidence=row[6],
                alias=row[7],
                access_count=row[8],
                accessed_at=row[9],
                weight=row[10],
                is_pinned=row[11],
                connection=row[12],
                source=row[13],
                details=details.get(row[0]),
            )
            for row in rows
        ]


def reworded_since(connection: DuckDBPyConnection, namespace: str, at: int) -> set[int]:
    """Return the numbers of the ids whose text was changed after a microsecond."""
    rows = connection.execute(
        "SELECT DISTINCT c.fact_id::BLOB FROM fact_changes c JOIN facts f USING (fact_id) "
        "WHERE c.namespace = $ns AND c.changed_at > $at AND c.text <> coalesce("
        "(SELECT p.text FROM fact_changes p WHERE p.fact_id = c.fact_id AND p.seq < c.seq "
        "ORDER BY p.seq DESC LIMIT 1), f.text)",
        {"ns": namespace, "at": at},
    ).fetchall()
    return {int.from_bytes(fact_id) for (fact_id,) in rows}


def details_of(
    connection: DuckDBPyConnection, where: str, parameters: dict[str, Any]
) -> dict[bytes, MirrorDetails]:
    """Return the latest details that meet a condition, by the 16 bytes of the fact's id."""
    rows = connection.execute(
        "SELECT fact_id::BLOB, sensitivity, content_at, expires_at, is_active, is_cold, "
        f"agent_name, session, record FROM fact_details WHERE {where} "
        "QUALIFY row_number() OVER (PARTITION BY fact_id ORDER BY seq DESC) = 1",
        parameters,
    ).fetchall()
    return {row[0]: MirrorDetails(*row[1:]) for row in rows}


def vectors_of(
    connection: DuckDBPyConnection, namespace: str, model_id: int
) -> Iterator[list[tuple[bytes, int, bytes]]]:
    """Yield (id, windows, int16 little-endian bytes) by age of the fact; read it to its end.

    Ids are their 16 bytes: a UUID object takes five times as long to make.
    """
    result = connection.execute(
        "SELECT v.fact_id::BLOB, v.windows, v.vector FROM vectors v "
        "JOIN facts f ON f.fact_id = v.fact_id "
        "WHERE v.namespace = $ns AND v.model_id = $model ORDER BY f.created_at, f.fact_id",
        {"ns": namespace, "model": model_id},
    )
    while rows := result.fetchmany(AT_ONCE):
        yield rows


def pending(
    connection: DuckDBPyConnection, model_id: int, limit: int
) -> list[tuple[str, UUID, str]]:
    """Return (namespace, fact_id, text) of live content facts without a vector, oldest first."""
    return connection.execute(
        f"SELECT namespace, fact_id, text FROM ({_ALL}) {_PENDING} "
        "ORDER BY created_at, fact_id LIMIT $limit",
        {"model": model_id, "limit": limit},
    ).fetchall()


def pending_count(connection: DuckDBPyConnection, model_id: int) -> int:
    """Count what `pending` would return without a limit."""
    (row,) = connection.execute(
        f"SELECT count(*) FROM ({_ALL}) {_PENDING}",
        {"model": model_id},
    ).fetchall()
    return row[0]


def has_foreign_vectors(connection: DuckDBPyConnection, model_id: int) -> bool:
    """Whether some live fact has a vector of another model, but none of this one."""
    rows = connection.execute(
        f"SELECT 1 FROM ({_ALL}) {_PENDING} AND fact_id IN (SELECT fact_id FROM vectors) LIMIT 1",
        {"model": model_id},
    ).fetchall()
    return bool(rows)


def lineage(
    connection: DuckDBPyConnection, namespace: str, heirs: Sequence[str]
) -> list[tuple[str, UUID]]:
    """Return (heir, retired fact_id) for the records whose present state names one of the heirs."""
    if not heirs:
        return []
    marks = ", ".join(f"$h{position}" for position in range(len(heirs)))
    parameters: dict[str, Any] = {f"h{position}": heir for position, heir in enumerate(heirs)}
    # Few records are ever retired: those that once named an heir are found by two plain scans, and
    # only their present state is worked out.
    named = connection.execute(
        f"SELECT fact_id FROM fact_changes WHERE namespace = $ns AND superseded_by IN ({marks}) "
        f"UNION SELECT fact_id FROM facts WHERE namespace = $ns AND superseded_by IN ({marks})",
        parameters | {"ns": namespace},
    ).fetchall()
    if not named:
        return []
    ids = {f"i{position}": fact_id for position, (fact_id,) in enumerate(named)}
    return connection.execute(
        "SELECT superseded_by, fact_id "
        f"FROM ({_by_ids(_VISIBLE, len(named))}) WHERE superseded_by IN ({marks})",
        parameters | ids,
    ).fetchall()


def pruned(connection: DuckDBPyConnection, before: int) -> list[tuple[str, UUID]]:
    """Return (namespace, fact_id) of records pruned before a microsecond and still so."""
    return connection.execute(
        "SELECT namespace, fact_id FROM (SELECT * FROM fact_changes "
        "QUALIFY row_number() OVER (PARTITION BY fact_id ORDER BY seq DESC) = 1) "
        "WHERE pruned_at < ? ORDER BY namespace, fact_id",
        [before],
    ).fetchall()


def namespace_counts(connection: DuckDBPyConnection) -> list[tuple[Any, ...]]:
    """Return one row a namespace with the fields of `NamespaceStats`, times in microseconds."""
    return connection.execute(
        "SELECT namespace, "
        "count(*) FILTER (kind = '' AND superseded_by = ''), "
        "count(*) FILTER (superseded_by <> ''), "
        "count(*) FILTER (kind <> '' AND superseded_by = ''), "
        "count(*) FILTER (pinned_at IS NOT NULL), "
        "sum(access_count)::BIGINT, avg(weight), min(created_at), max(created_at) "
        f"FROM ({_ALL}) GROUP BY namespace",
    ).fetchall()
