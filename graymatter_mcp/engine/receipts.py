"""Receipts: the numbers and the history behind each fact of an explained answer."""

from __future__ import annotations

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
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.ranking.signals import Ranked
    from graymatter_mcp.store.base import MemoryStore


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
    facts = {fact.id: fact for fact in recalled.snapshot.facts(rows)}
    ids = recalled.snapshot.fact_ids(rows)

    def direct(heirs: Sequence[FactId]) -> dict[FactId, list[FactId]]:
        return store.superseded_by(namespace, heirs)

    has_heirs = bool(direct(ids))
    return tuple(
        _receipt(
            ranked,
            facts[fact_id],
            policy,
            now,
            supersedes=transitive(direct, fact_id) if has_heirs else (),
            kg_links=None if extractor is None else tuple(extractor.extract(facts[fact_id].text)),
        )
        for ranked, fact_id in zip(recalled.ranked, ids, strict=True)
        if fact_id in facts
    )


def _receipt(
    ranked: Ranked,
    fact: Fact,
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
            fact_id=fact.id,
            written_at=fact.created_at,
            superseded_by=fact.superseded_by,
            confidence=fact.confidence,
            pinned=fact.pinned,
            supersedes=supersedes,
        ),
        kg_links=kg_links,
        ranking=ranking,
    )
