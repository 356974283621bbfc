"""The graph signal: what a fact gains from those that stand beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from graymatter_mcp.ranking.context import Steps

Pairs = NDArray[np.int64]
"""Undirected edges as two rows each, shape (edges, 2); repeats and loops do no harm."""

_Columns = tuple[NDArray[np.int64], NDArray[np.int64]]


def _no_pairs() -> Pairs:
    return np.empty((0, 2), np.int64)


def _no_strengths() -> NDArray[np.float64]:
    return np.empty(0, np.float64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adjacency:
    """The edges that search walks; ends that are not eligible are left out here."""

    next: Pairs = field(default_factory=_no_pairs)
    """Facts that followed one another, on one shelf: up to two steps, strength 1.0."""
    next_steps: Steps | None = None
    """The same as `context.chain_steps` tells it, of eligible rows alone, in place of `next`."""
    links: Pairs = field(default_factory=_no_pairs)
    """Links that agents made: one step."""
    link_strengths: NDArray[np.float64] = field(default_factory=_no_strengths)
    """One per link, in [0, 1]."""


def next_pairs(previous: NDArray[np.integer]) -> Pairs:
    """Return the `next` edges of an array that holds each row's previous row, or -1 for none."""
    rows = np.flatnonzero(previous >= 0)
    return np.stack((previous[rows].astype(np.int64), rows), axis=1)


def graph_signal(
    adjacency: Adjacency, base: NDArray[np.float64], eligible: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return for each row the best of strength times `base` over its neighbours.

    Args:
        adjacency: Edges between rows.
        base: Score of each row by itself, 0.0 where it may lend nothing; shape (n,).
        eligible: Rows that exist: no other is a neighbour or a bridge.

    Returns:
        Shape (n,), 0.0 where no neighbour lends anything. No row is its own neighbour.

    Source: data-plane contract 4.4.
    """
    signal = np.zeros(base.size, np.float64)
    if adjacency.next_steps is not None:
        values = np.append(base, 0.0)
        for rows in adjacency.next_steps:
            np.maximum(signal, values[rows], out=signal)
    if adjacency.next.size:
        first, second = _columns(adjacency.next)
        kept = _are_inside(first, second, eligible)
        _lend_in_two_steps(signal, (first[kept], second[kept]), base)
    first, second = _columns(adjacency.links)
    kept = _are_inside(first, second, eligible)
    first, second, strengths = first[kept], second[kept], adjacency.link_strengths[kept]
    for to, source in ((first, second), (second, first)):
        np.maximum.at(signal, to, strengths * base[source])
    return signal


def _lend_in_two_steps(
    signal: NDArray[np.float64], edges: _Columns, base: NDArray[np.float64]
) -> None:
    # Few rows lend anything: the rest of this sees only edges that carry something.
    to, source = _from(edges, base > 0)
    lent = base[source]
    best = np.zeros(base.size, np.float64)
    np.maximum.at(best, to, lent)
    # The second step leads back to where it began. So each bridge keeps two values of different
    # origin: its best for all others, the runner-up for the row that lent the best.
    lender = np.full(base.size, -1, np.int64)
    is_best = lent == best[to]
    lender[to[is_best]] = source[is_best]
    second = np.zeros(base.size, np.float64)
    is_other = lender[to] != source
    np.maximum.at(second, to[is_other], lent[is_other])
    np.maximum(signal, best, out=signal)
    to, bridge = _from(edges, best > 0)
    np.maximum.at(signal, to, np.where(lender[bridge] == to, second[bridge], best[bridge]))


def _from(edges: _Columns, carries: NDArray[np.bool_]) -> _Columns:
    """Return the edges as (to, from), both ways, where the row that they come from carries."""
    first, second = edges
    forth, back = np.flatnonzero(carries[first]), np.flatnonzero(carries[second])
    return (
        np.concatenate((second[forth], first[back])),
        np.concatenate((first[forth], second[back])),
    )


def _columns(pairs: Pairs) -> _Columns:
    # Side by side in memory: choosing among whole rows costs several times more.
    first, second = np.ascontiguousarray(pairs.T)
    return first, second


def _are_inside(
    first: NDArray[np.int64], second: NDArray[np.int64], eligible: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    return eligible[first] & eligible[second] & (first != second)
