"""Vectors of a wrong length: told apart and dropped, so that they are made again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    VectorRow = tuple[bytes, int, bytes]
    """Id, number of windows, int16 little-endian bytes."""


def usual_length(connection: DuckDBPyConnection, model_id: int) -> int:
    """Return how many bytes a window of this model has in most of its vectors; 0 without any."""
    rows = connection.execute(
        "SELECT octet_length(vector) // windows AS length FROM vectors "
        "WHERE model_id = ? AND windows > 0 GROUP BY length ORDER BY count(*) DESC, length LIMIT 1",
        [model_id],
    ).fetchall()
    return rows[0][0] if rows else 0


def split_vectors(rows: Sequence[VectorRow], length: int) -> tuple[list[VectorRow], list[bytes]]:
    """Part rows of one model into those of the usual length and the ids of all others."""
    good = [row for row in rows if row[1] > 0 and len(row[2]) == row[1] * length]
    if len(good) == len(rows):
        return good, []
    kept = {fact_id for fact_id, _, _ in good}
    return good, [fact_id for fact_id, _, _ in rows if fact_id not in kept]


def drop_vectors(connection: DuckDBPyConnection, model_id: int, ids: Sequence[bytes]) -> int:
    """Erase the vectors of these facts; return how many there were."""
    ((dropped,),) = connection.execute(
        "DELETE FROM vectors WHERE model_id = $model AND fact_id IN (SELECT unnest($ids::UUID[]))",
        {"model": model_id, "ids": [UUID(bytes=one) for one in ids]},
    ).fetchall()
    return dropped
