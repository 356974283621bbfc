"""What a fact must have to stand high in the lists of the core's recall, before they are ranked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.ranking.context import Neighbours, deep

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL_TOKENS: Final = 8
"""Tokens from which the closeness of a text counts whole."""
_ABOUT: Final = 0.2
"""Gain of the facts about what a query names, as a share of a list's best."""
_NEWEST: Final = 0.2
"""Gain of the newest fact when a query asks for it; older ones gain less, rank by rank."""
_KEYWORD_FLOOR: Final = 0.35
"""Share of the best BM25 below which the keyword list ends: what stands behind shares a common
word with the query, and each place in a list counts."""
_ALONE_FLOOR: Final = 0.5
"""The same where no vector list stands beside it: then a newer fact passes an older one by recency
from several places behind."""


def keyword_scores(
    scores: NDArray[np.float64],
    *,
    about: NDArray[np.bool_] | None,
    newness: NDArray[np.float64] | None,
    restrict: NDArray[np.bool_] | None,
    is_alone: bool = False,
) -> NDArray[np.float64]:
    """Return the scores that the keyword list ranks by; 0.0 is not ranked.

    Args:
        scores: BM25, >= 0.
        about: Facts about what the query names; None where it names nothing.
        newness: In (0, 1], 1 for the newest; None when the query does not ask for it.
        restrict: The only rows that may be ranked; None for all. Identifiers were asked for then,
            and every fact that holds them is ranked.
        is_alone: Whether there is no vector list.

    Source: contract 5.3 and the decision on the lists of the core.
    """
    raised = scores
    if about is not None:
        raised = np.where(about, raised * (1.0 + _ABOUT), raised)
    if newness is not None:
        raised = raised * (1.0 + _NEWEST * newness)
    if restrict is not None:
        return raised
    floor = _ALONE_FLOOR if is_alone else _KEYWORD_FLOOR
    return np.where(raised >= floor * raised.max(initial=0.0), raised, 0.0)


def similarities(
    products: NDArray[np.float32],
    *,
    tokens: NDArray[np.float32],
    previous: NDArray[np.int32],
    eligible: NDArray[np.bool_],
    about: NDArray[np.bool_] | None,
    newness: NDArray[np.float64] | None,
) -> NDArray[np.float32]:
    """Return the closeness that the vector list ranks by, -inf where there is no vector.

    A positive product of a text of fewer than 8 tokens counts in proportion, for short texts are
    close to anything; then each of the best 1024 gains the part that its neighbours lend.

    Args:
        products: Of query and fact; -inf where a row has no vector.
        tokens: Of each text behind its stamp.
        previous: The row before each in its session, or -1.
        eligible: Rows that exist.
        about: See `keyword_scores`.
        newness: See `keyword_scores`.
    """
    share = np.minimum(tokens / np.float32(FULL_TOKENS), np.float32(1))
    np.maximum(share, np.float32(0), out=share)
    close = products.copy()
    np.multiply(products, share, out=close, where=products > 0)
    # The best product has no fixed size: another model has another spread.
    best = float(close.max(initial=0.0))
    rows = deep(close, np.flatnonzero(np.isfinite(close)))
    lending = np.append(np.maximum(close, np.float32(0)), np.float32(0))
    close[rows] += Neighbours(previous, eligible, rows).best(lending)
    if about is not None:
        close = np.where(about, close + np.float32(_ABOUT * best), close)
    if newness is not None:
        close = close + (np.float32(_NEWEST * best) * newness).astype(np.float32)
    return close.astype(np.float32)
