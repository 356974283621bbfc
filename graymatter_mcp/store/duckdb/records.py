"""Reads of what is no fact: checkpoints, the graph, the audit, the counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import AuditEntry, NamespaceStats, Node, Place, Portion, StoreStats
from graymatter_mcp.store.duckdb import read
from graymatter_mcp.store.duckdb.codec import checkpoint_from_row, to_fact_id, to_uuid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    from graymatter_mcp.model.checkpoints import Checkpoint

AUDIT_KEPT: Final = 10_000
_MARK: Final = "mark "
"""Begins the keys of marks among those of the table."""
_BEFORE_ALL: Final = -(2**63)
"""Earlier than any time."""


def checkpoints(connection: DuckDBPyConnection, namespace: Namespace) -> list[Checkpoint]:
    """Return all checkpoints of a namespace, newest first."""
    rows = connection.execute(
        "SELECT checkpoint_id, namespace, created_at, record FROM checkpoints "
        "WHERE namespace = ? ORDER BY created_at DESC, checkpoint_id DESC",
        [namespace],
    ).fetchall()
    return [checkpoint_from_row(row) for row in rows]


def neighbours(
    connection: DuckDBPyConnection, namespace: Namespace, node_ids: Sequence[str]
) -> list[Node]:
    """Return nodes one edge away, either way, by weight; no seed."""
    rows = connection.execute(
        "SELECT n.node_id, n.label, n.type FROM nodes n JOIN ("
        "  SELECT other, max(weight) AS weight FROM ("
        "    SELECT target AS other, weight FROM edges WHERE namespace = $ns AND source IN $ids"
        "    UNION ALL"
        "    SELECT source AS other, weight FROM edges WHERE namespace = $ns AND target IN $ids"
        "  ) GROUP BY other"
        ") e ON e.other = n.node_id WHERE n.namespace = $ns AND n.node_id NOT IN $ids "
        "ORDER BY e.weight DESC, n.node_id",
        {"ns": namespace, "ids": list(node_ids)},
    ).fetchall()
    return [
        Node(namespace=namespace, id=node_id, label=label, type=kind)
        for node_id, label, kind in rows
    ]


def audit(connection: DuckDBPyConnection, limit: int) -> list[AuditEntry]:
    """Return the newest entries first."""
    rows = connection.execute(
        "SELECT happened_at, action, namespace, old_text, new_text, source FROM audit "
        "ORDER BY happened_at DESC, rowid DESC LIMIT ?",
        [min(limit, AUDIT_KEPT)],
    ).fetchall()
    return [
        AuditEntry(
            at=from_microseconds(at),
            action=action,
            namespace=Namespace(namespace),
            old_text=old_text,
            new_text=new_text,
            source=source,
        )
        for at, action, namespace, old_text, new_text, source in rows
    ]


def mark(connection: DuckDBPyConnection, name: str) -> str:
    """Return what is noted under a name; "" for nothing."""
    rows = connection.execute("SELECT value FROM meta WHERE key = ?", [_MARK + name]).fetchall()
    return rows[0][0] if rows else ""


def set_mark(connection: DuckDBPyConnection, name: str, value: str) -> None:
    """Note something under a name instead of what was there."""
    connection.execute("DELETE FROM meta WHERE key = ?", [_MARK + name])
    if value:
        connection.execute("INSERT INTO meta VALUES (?, ?)", [_MARK + name, value])


def contents(
    connection: DuckDBPyConnection, namespace: Namespace, behind: Place | None, limit: int
) -> Portion:
    """Return the content facts behind a place; their present state is looked up by id."""
    rows: list[tuple[int, UUID]] = connection.execute(
        "SELECT created_at, fact_id FROM facts WHERE namespace = $ns AND kind = '' "
        "AND (created_at > $at OR (created_at = $at AND fact_id > $id)) "
        "ORDER BY created_at, fact_id LIMIT $limit",
        _at(namespace, behind) | {"limit": limit},
    ).fetchall()
    return Portion(
        facts=read.facts_by_ids(connection, namespace, [fact_id for _, fact_id in rows]),
        places=[
            Place(created_at=from_microseconds(at), fact_id=to_fact_id(fact_id.int))
            for at, fact_id in rows
        ],
    )


def count_contents(connection: DuckDBPyConnection, namespace: Namespace, until: Place) -> int:
    """Count the content facts up to a place."""
    ((found,),) = connection.execute(
        "SELECT count(*) FROM facts WHERE namespace = $ns AND kind = '' "
        "AND (created_at < $at OR (created_at = $at AND fact_id <= $id))",
        _at(namespace, until),
    ).fetchall()
    return found


def _at(namespace: Namespace, place: Place | None) -> dict[str, Any]:
    if place is None:
        return {"ns": namespace, "at": _BEFORE_ALL, "id": UUID(int=0)}
    at = to_microseconds(place.created_at)
    return {"ns": namespace, "at": at, "id": to_uuid(place.fact_id)}


def stats(connection: DuckDBPyConnection, model_id: int | None) -> StoreStats:
    """Count the whole store; vectors are pending for a model alone, 0 being one without any."""
    pending = 0 if model_id is None else read.pending_count(connection, model_id)
    ((nodes, edges),) = connection.execute(
        "SELECT (SELECT count(*) FROM nodes), (SELECT count(*) FROM edges)"
    ).fetchall()
    counters = connection.execute(
        "SELECT name, sum(amount)::BIGINT FROM counters GROUP BY name ORDER BY name"
    ).fetchall()
    namespaces = map(_namespace_stats, read.namespace_counts(connection))
    ((commit_seq,),) = connection.execute("SELECT coalesce(max(seq), 0) FROM changes").fetchall()
    return StoreStats(
        namespaces=tuple(sorted(namespaces, key=lambda one: one.namespace)),
        pending_vectors=pending,
        nodes=nodes,
        edges=edges,
        counters=dict(counters),
        commit_seq=commit_seq,
    )


def _namespace_stats(row: tuple[Any, ...]) -> NamespaceStats:
    namespace, live, retired, aliases, pinned, recalls, mean_weight, oldest, newest = row
    return NamespaceStats(
        namespace=Namespace(namespace),
        live=live,
        retired=retired,
        aliases=aliases,
        pinned=pinned,
        recalls=recalls,
        mean_weight=mean_weight,
        oldest_at=from_microseconds(oldest),
        newest_at=from_microseconds(newest),
    )
