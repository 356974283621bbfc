"""Receipts: the numbers and the history behind each fact of an explained answer."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import TYPE_CHECKING

from graymatter_mcp.model.facts import effective_confidence
from graymatter_mcp.model.results import (
    ConfidenceRanking,
    RecallProvenance,
    RecallRanks,
    RecallReceipt,
)
from graymatter_mcp.ranking.fusion import RRF_K
from graymatter_mcp.ranking.lineage import transitive

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graymatter_mcp.engine.graph import EntityExtractor
    from graymatter_mcp.engine.recall import Policy, Recalled
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.ranking.signals import Ranked
    from graymatter_mcp.store.base import MemoryStore, RowDetails

logger = logging.getLogger(__name__)


def receipts_of(
    recalled: Recalled,
    policy: Policy,
    store: MemoryStore,
    namespace: Namespace,
    now: datetime,
    extractor: EntityExtractor | None,
) -> tuple[RecallReceipt, ...]:
    """Build one receipt a ranked fact; work grows with their number, not with the namespace."""
    rows = [ranked.row for ranked in recalled.ranked]
    details = recalled.snapshot.details(rows)

    def direct(heirs: Sequence[FactId]) -> dict[FactId, list[FactId]]:
        return store.superseded_by(namespace, heirs)

    has_lineage = recalled.snapshot.has_retired and bool(direct([one.fact_id for one in details]))
    return tuple(
        _receipt(
            ranked,
            one,
            policy,
            now,
            supersedes=transitive(direct, one.fact_id) if has_lineage else (),
            kg_links=_entities(extractor, one.text),
        )
        for ranked, one in zip(recalled.ranked, details, strict=True)
    )


def _entities(extractor: EntityExtractor | None, text: str) -> tuple[str, ...] | None:
    if extractor is None:
        return None
    try:
        return tuple(extractor.extract(text))
    except Exception as exc:  # noqa: BLE001 - the extractor may be the caller's own
        logger.warning("no entities: %s", type(exc).__name__)
        return None


def _receipt(
    ranked: Ranked,
    fact: RowDetails,
    policy: Policy,
    now: datetime,
    *,
    supersedes: tuple[FactId, ...],
    kg_links: tuple[str, ...] | None,
) -> RecallReceipt:
    ranking = None
    if policy.metadata is not None:
        ranking = ConfidenceRanking(
            base_score=ranked.base_score,
            final_score=ranked.final_score,
            factor=ranked.factor,
            effective_confidence=effective_confidence(fact.confidence).value,
            confidence_weight=policy.weight,
        )
    return RecallReceipt(
        text=fact.text,
        weight=fact.weight,
        age_days=round((now - fact.created_at) / timedelta(days=1), 2),
        ranks=RecallRanks(
            vector_rank=ranked.vector_rank,
            keyword_rank=ranked.keyword_rank,
            recency_rank=ranked.recency_rank,
            fused_score=ranked.base_score,
            k=float(RRF_K),
        ),
        provenance=RecallProvenance(
            fact_id=fact.fact_id,
            written_at=fact.created_at,
            confidence=fact.confidence,
            pinned=fact.is_pinned,
            supersedes=supersedes,
        ),
        kg_links=kg_links,
        ranking=ranking,
    )
