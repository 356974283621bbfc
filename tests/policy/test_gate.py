from __future__ import annotations

import pytest

from graymatter_mcp.policy.gate import rejection

FILLER = "conversational filler — not durable knowledge"
SHORT = "too short — not durable knowledge"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("ok thanks", FILLER),
        ("  Okay, great! thank you  ", FILLER),
        ("noted, done, thanks, cool, great.!!", FILLER),
        ("GOT IT", FILLER),
        ("ok", FILLER),
        ("short one", SHORT),
        ("   12345678901   ", SHORT),
        ("", SHORT),
        ("123456789012", None),
        ("ok thanks, the port is 7778", None),
        ("done deploying", None),
        ("no more deploys on Friday", None),
    ],
)
def test_filler_and_short_texts_are_turned_away(content: str, reason: str | None) -> None:
    """Data plane 5.1, D37: filler is tested first, on stripped content."""
    assert rejection(content, max_length=4000, force=False) == reason


@pytest.mark.parametrize("content", ["ok thanks", "short", "x"])
def test_force_lets_filler_and_short_texts_in(content: str) -> None:
    """Data plane 5.1, D37."""
    assert rejection(content, max_length=4000, force=True) is None


@pytest.mark.parametrize("force", [False, True])
def test_a_long_text_is_turned_away_with_its_length_also_when_forced(force: bool) -> None:
    """Data plane 5.1, D37: 4000 characters pass, one more does not."""
    assert rejection("x" * 4000, max_length=4000, force=force) is None
    assert rejection(" " + "x" * 4001, max_length=4000, force=force) == (
        "too long (4001 chars, max 4000) — split into one fact per entry"
    )


@pytest.mark.parametrize("off", [None, 0])
def test_the_length_rule_can_be_off(off: int | None) -> None:
    """Data plane 5.1: remember has none, and 0 switches it off."""
    assert rejection("x" * 200_000, max_length=off, force=False) is None
