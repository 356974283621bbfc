"""A receipt in words: why a fact was returned, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.payloads import ProvenancePayload, RankingPayload, ReceiptPayload


def receipt_lines(place: int, receipt: ReceiptPayload) -> list[str]:
    """Tell one receipt; the fact's own line comes first.

    Args:
        place: Position in the answer, from 1.
        receipt: As it stands in the payload.
    """
    ranks, provenance = receipt["ranks"], receipt["provenance"]
    facts = [
        f"score {ranks['fused_score']:.4f}",
        f"ranks vector {ranks['vector_rank']}, keyword {ranks['keyword_rank']},"
        f" recency {ranks['recency_rank']}",
        f"k {number(ranks['k'])}",
        f"weight {receipt['weight']:.3f}",
        f"age {receipt['age_days']:.1f} days",
        provenance["written_at"][: len("2026-01-31")],
    ]
    lines = [" | ".join(facts), f"fact_id {provenance['fact_id']}"]
    if "ranking" in receipt:
        lines.append(_ranking_line(receipt["ranking"]))
    lines += _lineage_lines(provenance)
    if "kg_links" in receipt:
        lines.append(f"entities {', '.join(receipt['kg_links'])}")
    return [f"{place}. {receipt['text']}", *(f"   {line}" for line in lines)]


def number(value: float) -> str:
    """Spell a number in full, a whole one without its ``.0``."""
    return str(int(value)) if value == int(value) else repr(value)


def _ranking_line(ranking: RankingPayload) -> str:
    return (
        f"final {ranking['final_score']:.8f} = base {ranking['base_score']:.8f}"
        f" x factor {number(ranking['factor'])} | {ranking['effective_confidence']}"
        f" | confidence_weight {number(ranking['confidence_weight'])} | {ranking['policy']}"
    )


def _lineage_lines(provenance: ProvenancePayload) -> list[str]:
    lines: list[str] = []
    supersedes = provenance.get("supersedes", [])
    if supersedes:
        lines.append(f"supersedes {len(supersedes)} earlier version(s): {', '.join(supersedes)}")
    if "superseded_by" in provenance:
        lines.append(f"superseded_by {provenance['superseded_by']}")
    declared = [f"declared {provenance['confidence']}"] if "confidence" in provenance else []
    pinned = ["pinned"] if provenance.get("pinned") else []
    if declared or pinned:
        lines.append(" | ".join(declared + pinned))
    return lines
