"""The text of each success, word for word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.results import Degraded
from graymatter_mcp.surfaces.mcp.budget import LeftOut
from graymatter_mcp.surfaces.mcp.render import render

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.payloads import Payload

POLICY = {"confidence_weight": 0.2, "policy": "confidence-v1", "kg": "suppressed_min_confidence"}
POLICY_LINE = (
    "Retrieval policy confidence-v1: min_confidence=none, confidence_weight=0.2;"
    " KG=suppressed_min_confidence."
)


def text(tool: str, payload: dict[str, Any], **arguments: object) -> str:
    """Render one payload."""
    return render(tool, arguments, cast("Payload", payload))


def test_a_search_lists_its_facts() -> None:
    """Contract 3.2."""
    payload = {"agent_id": "a", "query": "q", "count": 2, "facts": ["one\nline", "two"]}
    assert text("memory_search", payload) == (
        'Found 2 relevant memories for agent "a":\n\n1. one\nline\n2. two'
    )


def test_an_empty_search_says_what_was_asked_of_whom() -> None:
    """Contract 3.2, F15: answers say the scope that was used."""
    payload: dict[str, Any] = {"agent_id": " é ", "query": "q", "count": 0, "facts": []}
    told = 'No memories found for agent " é " matching "q".'
    assert text("memory_search", payload) == told
    assert text("memory_search", payload | {"retrieval": POLICY}) == f"{told}\n\n{POLICY_LINE}"


@pytest.mark.parametrize(
    ("weight", "shown"), [(0.0, "0"), (0, "0"), (0.5, "0.5"), (0.1 + 0.2, "0.30000000000000004")]
)
def test_feedback_and_policy_follow_after_blank_lines(weight: float, shown: str) -> None:
    """Contract 3.2: the weight is told in full."""
    payload = {
        "agent_id": "a",
        "query": "q",
        "count": 1,
        "facts": ["f"],
        "feedback": "(weak match: 1 of 6)\nnearby vocabulary: x",
        "retrieval": POLICY | {"min_confidence": "verified", "confidence_weight": weight},
    }
    assert text("memory_search", payload) == (
        'Found 1 relevant memories for agent "a":\n\n1. f\n\n'
        "(weak match: 1 of 6)\nnearby vocabulary: x\n\n"
        f"Retrieval policy confidence-v1: min_confidence=verified, confidence_weight={shown};"
        " KG=suppressed_min_confidence."
    )


def test_an_explained_search_tells_every_receipt_line_by_line() -> None:
    """Contract 3.2, with the numbers of example 4; C12."""
    ranks = {"vector_rank": 3, "keyword_rank": 3, "recency_rank": 3, "k": 60.0}
    bare = {
        "text": "plain",
        "weight": 1.0,
        "age_days": 14.29,
        "ranks": ranks | {"fused_score": 0.0396825397},
        "provenance": {"fact_id": "F1", "written_at": "2026-01-02T03:04:05.000000Z"},
    }
    full = bare | {
        "text": "full",
        "provenance": {
            "fact_id": "F2",
            "written_at": "2025-12-31T03:04:05.000000Z",
            "confidence": "verified",
            "pinned": True,
            "supersedes": ["F0", "E9"],
        },
        "kg_links": ["e1", "e2"],
        "ranking": {
            "base_score": 0.0396825397,
            "final_score": 0.0476190476,
            "factor": 1.2,
            "effective_confidence": "verified",
            "confidence_weight": 0.2,
            "policy": "confidence-v1",
        },
    }
    payload = {"agent_id": "a", "query": "q", "count": 2, "facts": [], "explained": [bare, full]}
    scores = "   score 0.0397 | ranks vector 3, keyword 3, recency 3 | k 60 | weight 1.000"
    assert text("memory_search", payload) == "\n".join(
        [
            'Found 2 relevant memories for agent "a" (with receipts):',
            "",
            "1. plain",
            f"{scores} | age 14.3 days | 2026-01-02",
            "   fact_id F1",
            "2. full",
            f"{scores} | age 14.3 days | 2025-12-31",
            "   fact_id F2",
            "   final 0.04761905 = base 0.03968254 x factor 1.2 | verified"
            " | confidence_weight 0.2 | confidence-v1",
            "   supersedes 2 earlier version(s): F0, E9",
            "   declared verified | pinned",
            "   entities e1, e2",
        ]
    )


def batch(merged: list[str], *per_query: dict[str, Any], **more: object) -> dict[str, Any]:
    """Make the payload of a batch."""
    return {
        "agent_id": "a",
        "count": len(merged),
        "merged": merged,
        "per_query": list(per_query),
    } | more


def test_a_batch_lists_the_merge_then_the_failures_then_the_policy() -> None:
    """Contract 3.3."""
    payload = batch(
        ["x", "y"],
        {"query": "q", "facts": ["x", "y"]},
        {"query": "bad", "facts": None, "error": "boom"},
        retrieval=POLICY,
    )
    assert text("memory_search_batch", payload) == (
        'Answered 2 queries for agent "a" — 2 distinct facts:\n\n1. x\n2. y\n\n'
        f'1 of 2 queries failed:\n- "bad": boom\n\n{POLICY_LINE}'
    )


def test_a_batch_without_hits_and_failures_says_so() -> None:
    """Contract 3.3."""
    payload = batch([], {"query": "q", "facts": []}, {"query": "r", "facts": []})
    assert text("memory_search_batch", payload) == (
        'No memories found for agent "a" matching any of the 2 queries.'
    )


def test_a_batch_without_hits_but_with_a_failure_does_not_claim_absence() -> None:
    """Contract 3.3: what failed was not looked up."""
    payload = batch([], {"query": "q", "facts": []}, {"query": "r", "facts": None, "error": "boom"})
    assert text("memory_search_batch", payload) == (
        'Answered 2 queries for agent "a" — 0 distinct facts:\n\n'
        '1 of 2 queries failed:\n- "r": boom'
    )


def test_what_stands_beside_the_payload_comes_in_the_last_lines() -> None:
    """Contract 2.5: the text says the same as `_meta`."""
    payload = {"agent_id": "a", "query": "q", "count": 1, "facts": ["f"], "retrieval": POLICY}
    told = render(
        "memory_search",
        {},
        cast("Payload", payload),
        degraded=Degraded.MODEL_LOADING,
        left_out=LeftOut(facts=3, fact_ids=(FactId("F2"), FactId("F3"))),
    )
    assert told.splitlines()[-5:] == [
        POLICY_LINE,
        "",
        "Answered without vectors (model_loading): by words and age only.",
        "",
        "Left out to keep the answer short: 3 facts. fact_ids: F2, F3.",
    ]


IDENTITY = {"fact_id": "F1", "confidence": "verified"}
REFLECTED = {"agent": "x", "ok": True}


@pytest.mark.parametrize(
    ("tool", "payload", "told"),
    [
        (
            "memory_add",
            {"agent_id": "x", "stored": True},
            'Memory stored for agent "x".',
        ),
        (
            "memory_add",
            {"agent_id": "x", "stored": True} | IDENTITY,
            'Memory stored for agent "x". Confidence verified; fact_id F1.',
        ),
        (
            "memory_alias",
            {"agent_id": "x", "term": "t", "equivalents": ["e", " f "], "stored": True},
            'Alias stored for agent "x": "t" = e,  f .',
        ),
        (
            "checkpoint_save",
            {"agent_id": "x", "checkpoint_id": "C1", "created_at": "t"},
            'Checkpoint "C1" saved for agent "x".',
        ),
        (
            "memory_reflect",
            {"action": "add"} | REFLECTED,
            'Added fact for agent "x".',
        ),
        (
            "memory_reflect",
            {"action": "add"} | REFLECTED | IDENTITY,
            'Added fact for agent "x". Confidence verified; fact_id F1.',
        ),
        (
            "memory_reflect",
            {"action": "update"} | REFLECTED | IDENTITY,
            'Updated fact for agent "x". Confidence verified; fact_id F1.',
        ),
        ("memory_reflect", {"action": "forget"} | REFLECTED, 'Fact suppressed for agent "x".'),
        ("memory_reflect", {"action": "link"} | REFLECTED, 'Linked "a" → "b".'),
        (
            "memory_reflect",
            {"action": "pin"} | REFLECTED,
            'Fact pinned for agent "x"; it no longer fades.',
        ),
        (
            "memory_reflect",
            {"action": "unpin"} | REFLECTED,
            'Fact unpinned for agent "x"; it fades again.',
        ),
    ],
)
def test_a_write_says_what_it_did(tool: str, payload: dict[str, Any], told: str) -> None:
    """Contract 3.4, 3.5, 6."""
    assert text(tool, payload, text="a", target="b") == told


def test_a_restored_state_reads_as_it_was_saved() -> None:
    """Contract 3.6: indented by 2, other scripts readable, numbers as they went in."""
    payload = {
        "id": "C1",
        "created_at": "2026-01-02T03:04:05Z",
        "state": {"ziel": "größer 東京", "n": [1, 1.0, 10**20]},
        "message_count": 2,
    }
    assert text("checkpoint_resume", payload, agent_id="x") == "\n".join(
        [
            'Checkpoint "C1" restored for agent "x".',
            "Created: 2026-01-02T03:04:05Z",
            "State:",
            "{",
            '  "ziel": "größer 東京",',
            '  "n": [',
            "    1,",
            "    1.0,",
            "    100000000000000000000",
            "  ]",
            "}",
            "Messages: 2 turns",
        ]
    )


def test_an_empty_checkpoint_and_absence_are_told_apart() -> None:
    """Contract 3.6."""
    assert text("checkpoint_resume", {"id": "C1", "created_at": "t"}, agent_id="x") == (
        'Checkpoint "C1" restored for agent "x".\nCreated: t'
    )
    assert text("checkpoint_resume", {"found": False, "agent_id": "x"}) == (
        'No checkpoint saved for agent "x" yet.'
    )
