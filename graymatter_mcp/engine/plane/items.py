"""Facts of a corpus as reads return them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graymatter_mcp.engine.plane.details import ACTIVE, DEPRECATED, SUPERSEDED
from graymatter_mcp.engine.plane.stamps import stamp_text
from graymatter_mcp.model.facts import Confidence, effective_confidence
from graymatter_mcp.model.ids import SUPERSEDED_BY_AGENT
from graymatter_mcp.model.items import Item, Signals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.engine.plane.corpus import Corpus
    from graymatter_mcp.engine.plane.details import Details
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.ranking.hybrid.fusion import Fused

LABEL_READS: Mapping[Confidence, float] = {
    Confidence.VERIFIED: 1.0,
    Confidence.INFERRED: 0.7,
    Confidence.UNVERIFIED: 0.3,
}
"""What a label that the core stored reads as here; source: data-plane contract 1.4."""


def items_of(
    corpus: Corpus,
    rows: Sequence[int],
    scores: Sequence[float],
    signals: Mapping[int, Signals] | None = None,
    warmed: frozenset[int] = frozenset(),
) -> list[Item]:
    """Return rows as items, in order.

    Args:
        corpus: Of the rows.
        rows: Best first.
        scores: Of each.
        signals: By row, where there are any.
        warmed: Rows whose read makes them warm again.
    """
    score_of = dict(zip(rows, scores, strict=True))
    found: dict[int, Item] = {}
    for at, local in corpus.by_part(rows).items():
        part, start = corpus.parts[at], corpus.starts[at]
        for row, fact in zip(local, part.snapshot.details(local), strict=True):
            details = part.details(row, fact.text)
            whole = row + start
            found[whole] = Item(
                id=fact.fact_id,
                score=score_of[whole],
                content=fact.text,
                tier="cold" if details.is_cold and whole not in warmed else "warm",
                namespace=part.name,
                project=part.scope.project_id,
                source=fact.source,
                metadata=live_metadata(details),
                source_type=details.source_type,
                captured_from=details.captured_from,
                agent_name=details.agent_name or None,
                confidence=shown_confidence(fact.confidence, details),
                created_at=fact.created_at,
                updated_at=max(details.updated_at, fact.created_at)
                if not details.is_known
                else details.updated_at,
                signals=None if signals is None else signals.get(whole),
            )
    return [found[row] for row in rows]


def signals_of(fused: Fused, rows: Sequence[int]) -> dict[int, Signals]:
    """Return the signals of rows."""
    return {
        row: Signals(
            keyword=float(fused.keyword[row]),
            vector=float(fused.vector[row]),
            graph=float(fused.graph[row]),
            recency=float(fused.recency[row]),
            entity=float(fused.entity[row]),
        )
        for row in rows
    }


def shown_confidence(label: str, details: Details) -> float | None:
    """Return the confidence of a fact as a number; None where nobody gave one.

    Args:
        label: The core's, as stored.
        details: Hold the number, if there is one.
    """
    if details.confidence is not None:
        return details.confidence
    return LABEL_READS[effective_confidence(label)] if label else None


def live_metadata(details: Details) -> JsonObject:
    """Return the metadata of a fact that is live: what a search may find.

    A fact that only the core wrote has nothing but the level that its text gives it.

    Source: data-plane contract 1.3, 1.5.
    """
    own: dict[str, Any] = dict(details.kept)
    if details.is_known:
        own["lifecycleStatus"] = ACTIVE if details.is_active else DEPRECATED
    if details.expires_at is not None:
        own["expiresAt"] = stamp_text(details.expires_at)
    own["sensitivity"] = details.sensitivity
    return cast("JsonObject", {**details.metadata, **own})


def shown_metadata(fact: Fact, details: Details) -> JsonObject:
    """Return the metadata of a fact in any state."""
    shown = live_metadata(details)
    if not fact.is_superseded:
        return shown
    is_forgotten = fact.superseded_by == SUPERSEDED_BY_AGENT
    shown["lifecycleStatus"] = SUPERSEDED
    shown["supersededBy"] = None if is_forgotten else fact.superseded_by
    shown.setdefault("supersededReason", "forgotten" if is_forgotten else "revised")
    return shown


def lifecycle(fact: Fact, details: Details) -> str:
    """Return the state of a fact."""
    if fact.is_superseded:
        return SUPERSEDED
    return ACTIVE if details.is_active else DEPRECATED
