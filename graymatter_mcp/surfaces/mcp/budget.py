"""The answer budget: whole facts are left out from the end until an answer fits, and that is said.

Of a batch, a fact leaves as a whole too: from `merged`, whose order is the final one, and from the
list of each query that found it. A query whose facts all left has an empty list.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.surfaces.payloads import BatchEntryPayload, BatchPayload, SearchPayload

if TYPE_CHECKING:
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.surfaces.mcp.calls import Outcome
    from graymatter_mcp.surfaces.payloads import Payload

DEFAULT_BUDGET: Final = 40_000
"""Bytes of compact JSON; 0 switches the budget off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """What an answer would have held with more room."""

    facts: int
    """How many facts, graph hints included."""
    fact_ids: tuple[FactId, ...]
    """Their identities in final order, cut to the budget themselves; hints have none."""


def compact_size(value: object) -> int:
    """Return the length in bytes of a value as compact JSON in UTF-8."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def fit(outcome: Outcome, budget: int) -> tuple[Outcome, LeftOut | None]:
    """Leave out as few facts as the budget asks for; the first always stays.

    Args:
        outcome: The answer; only those of the two searches are ever cut.
        budget: In bytes of compact JSON; 0 or less means no limit.

    Returns:
        The answer as it may be sent, and what is missing from it, if anything is.
    """
    shape = _SHAPES.get(_list_key(outcome.payload))
    if shape is None or budget <= 0 or compact_size(outcome.payload) <= budget:
        return outcome, None
    payload = cast("SearchPayload | BatchPayload", outcome.payload)
    cut, texts = shape(payload)
    fitting = bisect_right(range(1, len(texts)), budget, key=lambda n: compact_size(cut(n)))
    kept = max(1, fitting)
    if kept >= len(texts):
        return outcome, None
    ids = _ids_from(outcome.fact_ids, texts, kept)
    left_out = LeftOut(facts=len(texts) - kept, fact_ids=_within(ids, budget))
    return replace(outcome, payload=cut(kept)), left_out


_Cut = Callable[[int], "SearchPayload | BatchPayload"]
"""Makes the payload with only the first n facts; its size grows with n."""


def _search_shape(payload: SearchPayload | BatchPayload) -> tuple[_Cut, list[str]]:
    search = cast("SearchPayload", payload)

    def cut(kept: int) -> SearchPayload:
        return {**search, "count": kept, "facts": search["facts"][:kept]}

    return cut, search["facts"]


def _explained_shape(payload: SearchPayload | BatchPayload) -> tuple[_Cut, list[str]]:
    search = cast("SearchPayload", payload)
    receipts = search.get("explained", [])

    def cut(kept: int) -> SearchPayload:
        return {**search, "count": kept, "explained": receipts[:kept]}

    return cut, [receipt["text"] for receipt in receipts]


def _batch_shape(payload: SearchPayload | BatchPayload) -> tuple[_Cut, list[str]]:
    batch = cast("BatchPayload", payload)

    def cut(kept: int) -> BatchPayload:
        merged = batch["merged"][:kept]
        stays = frozenset(merged)
        per_query = [_cut_entry(entry, stays) for entry in batch["per_query"]]
        return {**batch, "count": kept, "merged": merged, "per_query": per_query}

    return cut, batch["merged"]


def _cut_entry(entry: BatchEntryPayload, stays: frozenset[str]) -> BatchEntryPayload:
    facts = entry["facts"]
    return {**entry, "facts": facts and [text for text in facts if text in stays]}


_SHAPES: Final = {
    "explained": _explained_shape,
    "merged": _batch_shape,
    "facts": _search_shape,
}


def _list_key(payload: Payload) -> str:
    return next((key for key in _SHAPES if key in payload), "")


def _ids_from(
    fact_ids: Mapping[str, FactId] | tuple[FactId, ...], texts: list[str], kept: int
) -> list[FactId]:
    if isinstance(fact_ids, tuple):
        return list(fact_ids[kept:])
    return [fact_ids[text] for text in texts[kept:] if text in fact_ids]


def _within(ids: list[FactId], budget: int) -> tuple[FactId, ...]:
    """Keep what fits: a list of every id of a large store would be what the budget forbids."""
    size, kept = len("[]"), 0
    for fact_id in ids:
        size += compact_size(fact_id) + len(",")
        if size - len(",") > budget:
            break
        kept += 1
    return tuple(ids[:kept])
