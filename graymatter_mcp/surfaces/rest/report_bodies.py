"""Reports, exports and jobs in the spelling of the wire."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.model.snippets import snippet
from graymatter_mcp.surfaces.rest.bodies import time_json

if TYPE_CHECKING:
    from datetime import datetime

    from graymatter_mcp.model.checkpoints import JsonObject, JsonValue
    from graymatter_mcp.model.reports import (
        Evaluation,
        EvaluationCase,
        ExportEntry,
        HygieneReport,
        PlaneHealth,
        Stale,
    )


def hygiene_json(report: HygieneReport) -> JsonObject:
    """Return the report; contents are cut to snippets.

    Source: data-plane contract 7.1.
    """
    counts = report.counts
    return {
        "summary": {
            "scanned": counts.scanned,
            "lowValue": counts.low_value,
            "stale": counts.stale,
            "duplicateClusters": counts.duplicate_clusters,
            "contradictionCandidates": counts.contradiction_candidates,
            "orphanCandidates": counts.orphan_candidates,
        },
        "lowValue": [
            {"id": one.fact_id, "content": snippet(one.content)[0], "reason": "low_worthiness"}
            for one in report.low_value
        ],
        "stale": [_stale_json(one) for one in report.stale],
        "duplicateClusters": [
            {"ids": list(ids), "reason": "high_token_overlap"} for ids in report.duplicate_clusters
        ],
        "contradictionCandidates": [
            {"ids": list(one.fact_ids), "reason": one.reason}
            for one in report.contradiction_candidates
        ],
        "orphanCandidates": [
            {"id": one, "reason": "warm_without_cold_vector"} for one in report.orphan_candidates
        ],
    }


def _stale_json(one: Stale) -> JsonObject:
    of: JsonObject = {} if one.of is None else {"of": one.of}
    return {"id": one.fact_id, "reason": one.reason, **of}


def evaluation_json(found: Evaluation) -> JsonObject:
    """Return the evaluation; `checks` is the list of cases once more.

    Source: data-plane contract 7.2.
    """
    cases: list[JsonValue] = [_case_json(case) for case in found.cases]
    total = len(cases)
    return {
        "suite": found.suite,
        "passed": not found.failed,
        "summary": {"total": total, "passed": total - found.failed, "failed": found.failed},
        "cases": cases,
        "checks": cases,
        "hygiene": hygiene_json(found.hygiene),
    }


def _case_json(case: EvaluationCase) -> JsonObject:
    body: JsonObject = {"name": case.name, "passed": case.passed}
    if case.is_skipped:
        body["skipped"] = True
    if case.detail:
        body["detail"] = case.detail
    return body


def entry_json(entry: ExportEntry) -> JsonObject:
    """Return an entry of an export, each key present."""
    return {
        "id": entry.id,
        "projectId": entry.project_id,
        "content": entry.content,
        "namespace": entry.namespace,
        "source": entry.source,
        "sourceType": entry.source_type,
        "capturedFrom": entry.captured_from,
        "agentName": entry.agent_name,
        "confidence": entry.confidence,
        "confidenceLabel": entry.confidence_label,
        "metadata": entry.metadata,
        "sourceRefs": list(entry.source_refs),
        "expiresAt": _time(entry.expires_at),
        "tier": entry.tier,
        "hits": entry.hits,
        "createdAt": time_json(entry.created_at),
        "updatedAt": time_json(entry.updated_at),
    }


def health_json(health: PlaneHealth) -> JsonObject:
    """Return how store and model are."""
    return {
        "store": health.store,
        "model": health.model,
        "pendingVectors": health.pending_vectors,
        "oldestPendingAt": _time(health.oldest_pending_at),
        "lastDecayAt": _time(health.last_decay_at),
        "commitSeq": health.commit_seq,
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else time_json(moment)
