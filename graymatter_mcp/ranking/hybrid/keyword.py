"""The keyword leg: BM25 over the facts that a request may see, on any number of shelves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.ranking.context import bm25_in_context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.ranking.context import Steps


def keyword_scores(
    postings: Sequence[tuple[NDArray[np.int32], NDArray[np.float64]]],
    *,
    eligible: NDArray[np.bool_],
    lengths: NDArray[np.float64],
    previous: NDArray[np.int32] | None = None,
    steps: Steps | None = None,
    holds_phrases: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Score every row against a query; 0.0 where it is not eligible or holds none of the terms.

    Args:
        postings: One (rows, tf) per query token, over the whole corpus; rows are distinct.
        eligible: Rows that exist: N, df and the mean length count them alone.
        lengths: Tokens of each row; shape (n,).
        previous: The row before each in its session, or -1, so that words of neighbours count in
            part; None where nobody has one.
        steps: Who stands beside each row, where it is known already.
        holds_phrases: Rows that hold every quoted phrase of the query; None when it has none.
            Others score 0.0, but count in the statistics.

    Source: data-plane contract 4.1, 4.2.
    """
    count = int(np.count_nonzero(eligible))
    if count == 0:
        return np.zeros(eligible.size, np.float64)
    scores = bm25_in_context(
        [_filtered(rows, tf, eligible) for rows, tf in postings],
        size=eligible.size,
        count=count,
        lengths=lengths,
        mean_length=float(lengths[eligible].sum()) / count,
        previous=np.full(eligible.size, -1, np.int32) if previous is None else previous,
        eligible=eligible,
        steps=steps,
    )
    return scores if holds_phrases is None else np.where(holds_phrases, scores, 0.0)


def _filtered(
    rows: NDArray[np.int32], tf: NDArray[np.float64], eligible: NDArray[np.bool_]
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    kept = eligible[rows]
    return rows[kept], tf[kept]
