"""Vectors of a wrong length: told apart and dropped, so that they are made again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Sequence

    from duckdb import DuckDBPyConnection

    VectorRow = tuple[bytes, int, bytes]
    """Id, number of windows, int16 little-endian bytes."""


def split_vectors(rows: Sequence[VectorRow]) -> tuple[list[VectorRow], list[bytes]]:
    """Part rows of one model into those of its usual length and the ids of all others."""
    widths = Counter(len(blob) // max(windows, 1) for _, windows, blob in rows)
    usual = max(widths, key=widths.__getitem__, default=0)
    good = [row for row in rows if row[1] > 0 and len(row[2]) == row[1] * usual]
    kept = {fact_id for fact_id, _, _ in good}
    return good, [fact_id for fact_id, _, _ in rows if fact_id not in kept]


def drop_vectors(connection: DuckDBPyConnection, model_id: int, ids: Sequence[bytes]) -> int:
    """Erase the vectors of these facts; return how many there were."""
    ((dropped,),) = connection.execute(
        "DELETE FROM vectors WHERE model_id = $model AND fact_id IN (SELECT unnest($ids::UUID[]))",
        {"model": model_id, "ids": [UUID(bytes=one) for one in ids]},
    ).fetchall()
    return dropped
