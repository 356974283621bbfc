from __future__ import annotations

import pytest

from graymatter_mcp.surfaces.mcp.instructions import (
    INSTRUCTIONS,
    LONGEST,
    TOKEN_BUDGET,
    estimated_tokens,
    instructions_for,
)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("one", 2), ("one two\nthree", 4), ("w " * 100, 133), ("w " * 180, 240)],
)
def test_tokens_are_words_times_one_and_a_third_rounded_up(text: str, tokens: int) -> None:
    """Core tools 2.3: 1 x 1.33 = 1.33, 3 x 1.33 = 3.99, 100 x 1.33 = 133, 180 x 1.33 = 239.4."""
    assert estimated_tokens(text) == tokens


def test_the_shipped_text_has_154_words_and_stays_within_the_budget() -> None:
    """C15: 154 x 1.33 = 204.82, so 205 of 240 tokens."""
    assert (len(INSTRUCTIONS.split()), estimated_tokens(INSTRUCTIONS)) == (154, 205)
    assert estimated_tokens(INSTRUCTIONS) <= TOKEN_BUDGET


@pytest.mark.parametrize(
    "literal", ["memory_search", "memory_reflect", "weak-match", "memory_alias"]
)
def test_the_shipped_text_names_what_agents_must_know(literal: str) -> None:
    """C15: the four literals."""
    assert literal in INSTRUCTIONS


def test_the_shipped_text_tells_its_points_in_the_agreed_order() -> None:
    """Core tools 2.3: resume, hook block, complement, add, update, save, weak match, confidence."""
    points = [
        "checkpoint_resume first",
        "newest hook block",
        "search only the missing scope",
        "complement",
        "memory_add",
        "memory_reflect action=update",
        "checkpoint_save",
        "weak-match",
        "memory_alias",
        "Confidence",
        "docs/AGENTS.md",
    ]
    places = [INSTRUCTIONS.find(point) for point in points]
    assert -1 not in places
    assert places == sorted(places)


def test_each_toolset_has_its_text_and_the_core_alone_keeps_its_own() -> None:
    """Data plane, section 9: the text gains with the toolset."""
    assert instructions_for(["core"]) == INSTRUCTIONS
    both = instructions_for(["core", "dataplane"])
    assert both.startswith(f"{INSTRUCTIONS} ")
    assert both.endswith(instructions_for(["dataplane"]))
    assert len(both) <= LONGEST


def test_the_text_of_the_data_plane_tells_its_points_in_the_agreed_order() -> None:
    """Data plane, section 9."""
    points = [
        "memory_context once before substantive work",
        "not for greetings",
        "memory_capture",
        "never secrets",
        "memory_session_recap",
        "no transcripts",
        "memory_hybrid_search before you ask",
        "by content, not by score",
        "abstained answer means not stored",
        "deduplicated is success",
        "force only on the user's word",
        "memory_forget only on request",
    ]
    text = instructions_for(["dataplane"])
    places = [text.find(point) for point in points]
    assert -1 not in places
    assert places == sorted(places)
    assert estimated_tokens(text) <= TOKEN_BUDGET
