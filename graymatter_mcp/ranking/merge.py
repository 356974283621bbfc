"""Putting finished lists of texts together: repeats, batches, scopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_RRF_K: Final = 60
_UNRANKED: Final = float("inf")

Scope = Literal["agent", "shared"]


def first_distinct(texts: Iterable[str], limit: int) -> list[int]:
    """Return the positions of the first `limit` distinct texts, ascending; none when limit <= 0.

    Stops reading as soon as it has them. Source: contract 5.7.
    """
    positions: list[int] = []
    taken: set[str] = set()
    if limit <= 0:
        return positions
    for position, text in enumerate(texts):
        if text not in taken:
            taken.add(text)
            positions.append(position)
            if len(positions) == limit:
                break
    return positions


def merge_batch(results: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Merge the texts of several queries, each text once, none cut.

    Order: best rank over the queries, then how many queries returned the text (more first), then
    first appearance (query order, then rank).

    Source: contract 5.9.
    """
    best: dict[str, int] = {}
    queries: dict[str, int] = {}
    for texts in results:
        ranks = _ranks(texts)
        for text, rank in ranks.items():
            best[text] = min(rank, best.get(text, rank))
            queries[text] = queries.get(text, 0) + 1
    # Keys stand in order of first appearance, and the sort is stable.
    return tuple(sorted(best, key=lambda text: (best[text], -queries[text])))


def merge_scopes(
    agent: Sequence[str], shared: Sequence[str], top_k: int
) -> list[tuple[str, Scope]]:
    """Fuse an agent's texts with the shared ones, by the sum of 1 / (60 + rank).

    Equal sums: a lower agent rank (unlisted last), a lower shared rank, text by code point.

    Args:
        agent: Texts, best first.
        shared: Texts, best first.
        top_k: At most so many; none when <= 0.

    Returns:
        Each text once, with the scope whose copy counts as read: the agent's when both hold it.

    Source: contract 5.8.
    """
    agent_ranks, shared_ranks = _ranks(agent), _ranks(shared)

    def key(text: str) -> tuple[float, float, float, str]:
        a = agent_ranks.get(text, _UNRANKED)
        s = shared_ranks.get(text, _UNRANKED)
        # 1 / inf is 0.0: a list without the text adds nothing.
        return -(1.0 / (_RRF_K + a) + 1.0 / (_RRF_K + s)), a, s, text

    ordered = sorted(agent_ranks.keys() | shared_ranks.keys(), key=key)
    return [(t, "agent" if t in agent_ranks else "shared") for t in ordered[: max(0, top_k)]]


def _ranks(texts: Sequence[str]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for rank, text in enumerate(texts, start=1):
        ranks.setdefault(text, rank)
    return ranks
