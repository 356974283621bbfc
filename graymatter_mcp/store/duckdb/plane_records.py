"""Reads of what the data plane keeps beside facts: handles, links, accounts, feed, audit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.times import from_microseconds
from graymatter_mcp.store.base import Change, Document, Edge, Event, NumberedEvent
from graymatter_mcp.store.duckdb.codec import to_fact_id, to_uuid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

_PORTION: Final = 1_000


def links(
    connection: DuckDBPyConnection, namespace: Namespace, relation: str, until: int | None
) -> list[Edge]:
    """Return the edges of one relation, made by a microsecond if one is given."""
    rows = connection.execute(
        "SELECT source, target, weight, created_at FROM edges "
        "WHERE namespace = $ns AND relation = $relation "
        "AND ($until IS NULL OR created_at <= $until) ORDER BY created_at, source, target",
        {"ns": namespace, "relation": relation, "until": until},
    ).fetchall()
    return [
        Edge(
            namespace=namespace,
            source=source,
            target=target,
            relation=relation,
            created_at=from_microseconds(at),
            weight=weight,
        )
        for source, target, weight, at in rows
    ]


def with_source_ref(connection: DuckDBPyConnection, ref: str) -> list[tuple[Namespace, FactId]]:
    """Return the facts with a handle, ids ascending."""
    rows = connection.execute(
        "SELECT DISTINCT namespace, fact_id FROM source_refs WHERE ref = ? ORDER BY fact_id", [ref]
    ).fetchall()
    return [(Namespace(namespace), to_fact_id(fact_id.int)) for namespace, fact_id in rows]


def source_refs(
    connection: DuckDBPyConnection, fact_ids: Sequence[FactId]
) -> dict[FactId, tuple[str, ...]]:
    """Return the handles of facts, ascending."""
    if not fact_ids:
        return {}
    rows = connection.execute(
        "SELECT fact_id, list(ref ORDER BY ref) FROM source_refs WHERE fact_id IN $ids "
        "GROUP BY fact_id",
        {"ids": [to_uuid(fact_id) for fact_id in fact_ids]},
    ).fetchall()
    return {to_fact_id(fact_id.int): tuple(refs) for fact_id, refs in rows}


def documents(connection: DuckDBPyConnection) -> list[Document]:
    """Return the present documents, in order of arrival of their key."""
    rows = connection.execute(
        "SELECT kind, key, arg_max(text, seq) FILTER (seq = latest) AS text FROM ("
        "SELECT *, max(seq) OVER (PARTITION BY kind, key) AS latest, "
        "min(seq) OVER (PARTITION BY kind, key) AS first FROM documents"
        ") GROUP BY kind, key, first ORDER BY first"
    ).fetchall()
    return [Document(kind=kind, key=key, text=text) for kind, key, text in rows if text is not None]


def changes(connection: DuckDBPyConnection, after: int, since: int | None) -> list[Change]:
    """Return the next portion of the feed."""
    rows = connection.execute(
        "SELECT seq, namespace, fact_id, change, detail, happened_at FROM changes "
        "WHERE seq > $after AND ($since IS NULL OR happened_at >= $since) "
        f"ORDER BY seq LIMIT {_PORTION}",
        {"after": after, "since": since},
    ).fetchall()
    return [
        Change(
            seq=seq,
            namespace=Namespace(namespace),
            fact_id=to_fact_id(fact_id.int),
            change=change,
            detail=detail,
            at=from_microseconds(at),
        )
        for seq, namespace, fact_id, change, detail, at in rows
    ]


def events(
    connection: DuckDBPyConnection, tenant: str, after: int, limit: int
) -> list[NumberedEvent]:
    """Return a tenant's audit behind a seq."""
    rows = connection.execute(
        "SELECT seq, happened_at, text FROM events WHERE tenant = $tenant AND seq > $after "
        "ORDER BY seq LIMIT $limit",
        {"tenant": tenant, "after": after, "limit": limit},
    ).fetchall()
    return [
        NumberedEvent(seq=seq, event=Event(at=from_microseconds(at), tenant=tenant, text=text))
        for seq, at, text in rows
    ]


def forget_before(connection: DuckDBPyConnection, changes: int, events: int) -> None:
    """Drop entries that are older, but the last: its number goes on counting."""
    for table, limit in (("changes", changes), ("events", events)):
        connection.execute(
            f"DELETE FROM {table} WHERE happened_at < ? AND seq < (SELECT max(seq) FROM {table})",
            [limit],
        )
