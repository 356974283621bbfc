"""Values of the model as JSON payloads: optional keys are absent when there is nothing to say."""

from __future__ import annotations

from datetime import UTC
from typing import TYPE_CHECKING

from graymatter_mcp.model.facts import effective_confidence
from graymatter_mcp.surfaces.payloads import (
    AddPayload,
    AliasPayload,
    BatchEntryPayload,
    BatchPayload,
    ProvenancePayload,
    RankingPayload,
    RanksPayload,
    ReceiptPayload,
    ReflectPayload,
    ResumedPayload,
    RetrievalPayload,
    SavedPayload,
    SearchPayload,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.results import (
        BatchEntry,
        BatchRecallResult,
        ConfidenceRanking,
        RecallExplainResult,
        RecallProvenance,
        RecallReceipt,
        RecallResult,
        RetrievalMetadata,
    )


def rfc3339_micros(moment: datetime) -> str:
    """Spell a time in UTC with six fractional digits and ``Z``."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def rfc3339_seconds(moment: datetime) -> str:
    """Spell a time in UTC in whole seconds, the fraction dropped."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def retrieval_payload(retrieval: RetrievalMetadata) -> RetrievalPayload:
    """Spell the confidence policy of a recall."""
    payload = RetrievalPayload(
        confidence_weight=retrieval.confidence_weight, policy=retrieval.policy, kg=retrieval.kg
    )
    if retrieval.min_confidence is not None:
        payload["min_confidence"] = retrieval.min_confidence
    return payload


def provenance_payload(provenance: RecallProvenance) -> ProvenancePayload:
    """Spell where a fact comes from."""
    payload = ProvenancePayload(
        fact_id=provenance.fact_id, written_at=rfc3339_micros(provenance.written_at)
    )
    if provenance.superseded_by:
        payload["superseded_by"] = provenance.superseded_by
    if provenance.confidence:
        payload["confidence"] = provenance.confidence
    if provenance.pinned:
        payload["pinned"] = True
    if provenance.supersedes:
        payload["supersedes"] = list(provenance.supersedes)
    return payload


def receipt_payload(receipt: RecallReceipt) -> ReceiptPayload:
    """Spell why a fact was returned."""
    ranks = receipt.ranks
    payload = ReceiptPayload(
        text=receipt.text,
        weight=receipt.weight,
        age_days=receipt.age_days,
        ranks=RanksPayload(
            vector_rank=ranks.vector_rank,
            keyword_rank=ranks.keyword_rank,
            recency_rank=ranks.recency_rank,
            fused_score=ranks.fused_score,
            k=ranks.k,
        ),
        provenance=provenance_payload(receipt.provenance),
    )
    if receipt.kg_links:
        payload["kg_links"] = list(receipt.kg_links)
    if receipt.ranking is not None:
        payload["ranking"] = _ranking_payload(receipt.ranking)
    return payload


def search_payload(agent_id: str, query: str, result: RecallResult) -> SearchPayload:
    """Spell the answer to a plain search."""
    payload = SearchPayload(
        agent_id=agent_id, query=query, count=len(result.facts), facts=list(result.facts)
    )
    if result.retrieval is not None:
        payload["retrieval"] = retrieval_payload(result.retrieval)
    if result.feedback:
        payload["feedback"] = result.feedback
    return payload


def explained_payload(agent_id: str, query: str, result: RecallExplainResult) -> SearchPayload:
    """Spell the answer to an explained search: receipts take the place of texts."""
    payload = SearchPayload(agent_id=agent_id, query=query, count=len(result.receipts), facts=[])
    if result.retrieval is not None:
        payload["retrieval"] = retrieval_payload(result.retrieval)
    if result.receipts:
        payload["explained"] = [receipt_payload(receipt) for receipt in result.receipts]
    return payload


def batch_payload(agent_id: str, result: BatchRecallResult) -> BatchPayload:
    """Spell the answer to a batch."""
    payload = BatchPayload(
        agent_id=agent_id,
        count=len(result.merged),
        merged=list(result.merged),
        per_query=[_batch_entry(entry) for entry in result.per_query],
    )
    if result.retrieval is not None:
        payload["retrieval"] = retrieval_payload(result.retrieval)
    return payload


def add_payload(agent_id: str, fact: Fact, *, labelled: bool) -> AddPayload:
    """Spell a stored fact; its identity is told only after a labelled write."""
    payload = AddPayload(agent_id=agent_id, stored=True)
    if labelled:
        payload["fact_id"] = fact.id
        payload["confidence"] = effective_confidence(fact.confidence).value
    return payload


def alias_payload(agent_id: str, term: str, equivalents: Sequence[str]) -> AliasPayload:
    """Spell a stored pair, both sides as sent."""
    return AliasPayload(agent_id=agent_id, term=term, equivalents=list(equivalents), stored=True)


def saved_payload(agent_id: str, checkpoint: Checkpoint) -> SavedPayload:
    """Spell a new checkpoint."""
    return SavedPayload(
        agent_id=agent_id,
        checkpoint_id=checkpoint.id,
        created_at=rfc3339_seconds(checkpoint.created_at),
    )


def resumed_payload(checkpoint: Checkpoint) -> ResumedPayload:
    """Spell a checkpoint that was read back; the state's numbers stay as they were saved."""
    payload = ResumedPayload(id=checkpoint.id, created_at=rfc3339_seconds(checkpoint.created_at))
    if checkpoint.state:
        payload["state"] = checkpoint.state
    if checkpoint.messages:
        payload["message_count"] = len(checkpoint.messages)
    return payload


def reflect_payload(action: str, agent: Namespace, fact: Fact | None = None) -> ReflectPayload:
    """Spell a curation; `fact` is the new one when its identity is to be told."""
    payload = ReflectPayload(action=action, agent=agent, ok=True)
    if fact is not None:
        payload["fact_id"] = fact.id
        payload["confidence"] = effective_confidence(fact.confidence).value
    return payload


def _ranking_payload(ranking: ConfidenceRanking) -> RankingPayload:
    return RankingPayload(
        base_score=ranking.base_score,
        final_score=ranking.final_score,
        factor=ranking.factor,
        effective_confidence=ranking.effective_confidence,
        confidence_weight=ranking.confidence_weight,
        policy=ranking.policy,
    )


def _batch_entry(entry: BatchEntry) -> BatchEntryPayload:
    facts = None if entry.facts is None else list(entry.facts)
    payload = BatchEntryPayload(query=entry.query, facts=facts)
    if entry.error:
        payload["error"] = entry.error
    return payload
