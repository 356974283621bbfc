from __future__ import annotations

import pytest

from graymatter_mcp.policy.memory_types import (
    MEMORY_TYPES,
    RETENTION,
    MemoryType,
    Worthiness,
    classify,
    worthiness,
)


@pytest.mark.parametrize(
    ("namespace", "content", "memory_type"),
    [
        ("default", "Bob likes tea after the deployment", "user_preference"),
        ("default", "The root cause was a decision about ports", "bug_root_cause"),
        ("default", "A postmortem of the outage", "bug_root_cause"),
        ("default", "We decided on Redis for the deployment", "decision"),
        ("default", "The deployment uses port 7778", "deployment_state"),
        ("default", "Everything runs on k3s", "deployment_state"),
        ("default", "The MODEL is all-MiniLM", "setup_fact"),
        ("default", "The codebase uses tabs", "project_convention"),
        ("default", "You must not log in as root", "safety_constraint"),
        ("safety", "Cats sleep a lot", "safety_constraint"),
        ("default", "Cats sleep a lot", "general"),
        ("default", "Imports and exports, reports and hostels", "general"),
    ],
)
def test_the_first_matching_pattern_gives_the_type(
    namespace: str, content: str, memory_type: str
) -> None:
    """Data plane 5.2: the table in its order, over namespace and content, whole words."""
    assert classify(namespace, content, None) == memory_type


def test_a_legal_explicit_type_decides_and_another_is_ignored() -> None:
    """Data plane 1.3 and 5.2."""
    assert classify("default", "The port is 80", "decision") == "decision"
    assert classify("default", "The port is 80", "opinion") == "deployment_state"


def test_every_type_has_the_retention_of_the_table() -> None:
    """Data plane 5.2."""
    rows = [
        (r.policy, r.base_effective_days, r.supersede_aggressively)
        for r in (RETENTION[kind] for kind in MEMORY_TYPES)
    ]
    assert rows == [
        ("long_lived", 365, False),
        ("medium", 120, False),
        ("medium_long", 180, False),
        ("current_only", 30, True),
        ("supersede_aggressively", 60, True),
        ("long_lived", 240, True),
        ("long_lived", 365, False),
        ("standard", 90, False),
    ]


@pytest.mark.parametrize(
    ("content", "memory_type", "confidence", "scores"),
    [
        (
            "My wife prefers window seats on trains over 2 h",
            MemoryType.USER_PREFERENCE,
            None,
            (0.75, 0.85, 0.9, 1.0, 0.855),
        ),
        ("Cats sleep a lot", MemoryType.GENERAL, None, (0.55, 0.45, 0.65, 1.0, 0.613)),
        ("Cats sleep a lot", MemoryType.GENERAL, 0.3, (0.55, 0.45, 0.65, 0.3, 0.508)),
        ("x" * 90, MemoryType.BUG_ROOT_CAUSE, 0.6, (0.9, 0.7, 0.65, 0.6, 0.733)),
    ],
)
def test_worthiness_is_that_of_the_worked_example(
    content: str, memory_type: str, confidence: float | None, scores: tuple[float, ...]
) -> None:
    """Data plane 5.2, E5, rounding halves up."""
    durable, reuse, relevance, sure, overall = scores
    assert worthiness(content, memory_type, confidence) == Worthiness(
        durable=durable,
        reuse_likelihood=reuse,
        user_relevance=relevance,
        confidence=sure,
        overall=overall,
    )


def test_lengths_of_40_and_80_are_worth_more() -> None:
    """Data plane 5.2: the bounds belong to the higher score; white space around is no length."""
    durable = [worthiness("x" * n, "general", None).durable for n in (39, 40, 79, 80)]
    assert durable == [0.55, 0.75, 0.75, 0.9]
    assert worthiness(" " * 90, "general", None).durable == 0.55


def test_a_personal_term_counts_as_a_whole_word_of_any_case() -> None:
    """Data plane 5.2: userRelevance by configured terms."""
    relevance = [
        worthiness(text, "general", None, ["Züri"]).user_relevance
        for text in ("The züri tram is blue", "ZÜRI!", "The züricher tram is blue")
    ]
    assert relevance == [0.9, 0.9, 0.65]
