"""The arithmetic of recall: ranks, scores, order, filters."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

RRF_K: Final = 60
WEIGHTS: Final = {"vector_rank": 1.0, "keyword_rank": 1.0, "recency_rank": 0.5}
TOLERANCE: Final = 1e-12
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_A: Final = "Deploys run on Tuesday"
_B: Final = "Rollback of deploys needs two approvals"
_C: Final = "The staging cluster lives in Frankfurt"
_QUERY: Final = "deploys approvals"


def _fused(ranks: dict[str, Any]) -> float:
    return sum(
        weight / (RRF_K + ranks[name]) for name, weight in WEIGHTS.items() if ranks[name] > 0
    )


def _close(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=0, abs_tol=TOLERANCE)


def _crowd(case: Case) -> str:
    agent = case.agent()
    for number, label in enumerate(("verified", "inferred", "unverified") * 3):
        case.add(agent, f"Deploys of service {number} need approvals", confidence=label)
    case.add(agent, _A, _B, _C)
    case.settle(agent)
    return agent


@topic.writes("order:reproducible-scores")
def reproducible_scores(case: Case) -> None:
    """A fused score reproduces from the ranks to 1e-12."""
    agent = _crowd(case)
    for query in (_QUERY, "Frankfurt", " "):
        for receipt in case.receipts(agent, query, confidence_weight=0):
            ranks = receipt["ranks"]
            expect_equal(ranks["k"], RRF_K, "k")
            expect(_close(ranks["fused_score"], _fused(ranks)), "a score is not that of its ranks")


@topic.writes("order:recency-ranks")
def recency_ranks(case: Case) -> None:
    """Every fact has a recency rank of its own from 1 on; a newer fact has the better one."""
    agent = _crowd(case)
    receipts = case.receipts(agent, _QUERY)
    newest = sorted(receipts, key=lambda one: one["provenance"]["written_at"], reverse=True)
    ranks = [one["ranks"]["recency_rank"] for one in newest]
    expect_equal(ranks, list(range(1, len(ranks) + 1)), "the recency ranks, newest first")
    for name in ("vector_rank", "keyword_rank"):
        ranked = sorted(one["ranks"][name] for one in receipts if one["ranks"][name])
        expect_equal(ranked, list(range(1, len(ranked) + 1)), f"the values of {name}")


@topic.writes("order:total")
def total_order(case: Case) -> None:
    """Final scores descend; equal ones come oldest first, then by id."""
    agent = _crowd(case)
    for weight in (0, 0.5):
        receipts = case.receipts(agent, _QUERY, confidence_weight=weight)
        keys = [
            (
                -one["ranking"]["final_score"],
                one["provenance"]["written_at"],
                one["provenance"]["fact_id"],
            )
            for one in receipts
        ]
        expect_equal(keys, sorted(keys), "the order of an explained search")


@topic.writes("order:repeatable")
def repeatable(case: Case) -> None:
    """The same recall on an unchanged store gives the same answer."""
    agent = _crowd(case)
    first = [(one["text"], one["ranks"]) for one in case.receipts(agent, _QUERY)]
    again = [(one["text"], one["ranks"]) for one in case.receipts(agent, _QUERY)]
    expect_equal(again, first, "the same search again")


@topic.writes("search:smaller-is-a-prefix")
def smaller_is_a_prefix(case: Case) -> None:
    """A smaller `top_k` gives a prefix."""
    agent = _crowd(case)
    every = case.facts(agent, _QUERY)
    for top_k in (1, 4, 9):
        expect_equal(case.facts(agent, _QUERY, top_k=top_k), every[:top_k], f"top_k {top_k}")


@topic.writes("order:worked-examples")
def worked_examples(case: Case) -> None:
    """Keyword and recency ranks of the worked examples hold, and a filter comes first."""
    agent = case.agent()
    case.add(agent, _A)
    case.add(agent, _B, confidence="unverified")
    case.add(agent, _C)
    case.settle(agent)

    def ranks(**options: Any) -> dict[str, tuple[int, int]]:
        return {
            one["text"]: (one["ranks"]["keyword_rank"], one["ranks"]["recency_rank"])
            for one in case.receipts(agent, _QUERY, **options)
        }

    expect_equal(ranks(), {_A: (2, 3), _B: (1, 2), _C: (0, 1)}, "the ranks of example 2")
    filtered = ranks(min_confidence="inferred")
    expect_equal(filtered, {_A: (1, 2), _C: (0, 1)}, "the ranks of example 3")


@topic.writes("confidence:filter-first")
def filter_first(case: Case) -> None:
    """A filter keeps what is declared at least this strongly."""
    agent = case.agent()
    for text, options in (
        ("U", {"confidence": "unverified"}),
        ("I", {"confidence": "inferred"}),
        ("N", {}),
        ("V", {"confidence": "verified"}),
    ):
        case.add(agent, text, **options)
    for label, wanted in (("unverified", "INUV"), ("inferred", "INV"), ("verified", "V")):
        found = "".join(sorted(case.facts(agent, min_confidence=label)))
        expect_equal(found, wanted, f"the facts at least {label}")


@topic.writes("confidence:factors")
def factors(case: Case) -> None:
    """Factors follow the label, and the final score is the base times the factor."""
    agent = _crowd(case)
    wanted = {"verified": 1.2, "inferred": 1.0, "unverified": 0.8}
    for receipt in case.receipts(agent, _QUERY, confidence_weight=0.2):
        expect("ranking" in receipt, "a receipt shows no ranking although confidence was weighed")
        ranking: dict[str, Any] = receipt["ranking"]
        label = receipt["provenance"].get("confidence", "inferred")
        expect_equal(ranking["effective_confidence"], label, "the label in effect")
        expect(_close(ranking["factor"], wanted[label]), f"the factor of {label}")
        base = ranking["base_score"]
        expect(_close(base, receipt["ranks"]["fused_score"]), "the base is not the fused score")
        final = ranking["final_score"]
        expect(_close(final, base * ranking["factor"]), "the final score is not base times factor")
        shown = (ranking["confidence_weight"], ranking["policy"])
        expect_equal(shown, (0.2, "confidence-v1"), "weight and policy of a ranking")


@topic.writes("order:receipt-forms")
def receipt_forms(case: Case) -> None:
    """Receipts carry a time with six digits, an id each, and only what applies."""
    agent = case.agent()
    case.add(agent, "Plain")
    case.add(agent, "Sure", confidence="verified")
    case.reflect("pin", agent, target="Sure")
    found = {one["text"]: one for one in case.receipts(agent)}
    for receipt in found.values():
        written = receipt["provenance"]["written_at"]
        expect(_TIME.fullmatch(written), "written_at is no UTC time with six digits")
        expect("superseded_by" not in receipt["provenance"], "a live fact names a successor")
    plain, sure = found["Plain"]["provenance"], found["Sure"]["provenance"]
    expect(
        "pinned" not in plain and "confidence" not in plain, "a plain fact shows what it has not"
    )
    expect_equal((sure.get("pinned"), sure.get("confidence")), (True, "verified"), "a pinned fact")
    expect(plain["fact_id"] != sure["fact_id"], "two facts have one id")
