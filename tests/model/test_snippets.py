"""Where a long text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.model.snippets import snippet


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a" * 240, None),
        ("a" * 241, "a" * 240),
        ("a" * 200 + " " + "b" * 99, "a" * 200),
        ("a" * 121 + "\n" + "b" * 178, "a" * 121),
        ("a" * 120 + " " + "b" * 179, "a" * 120 + " " + "b" * 119),
        ("a" * 150 + " " + "b" * 39 + " " + "c" * 99, "a" * 150 + " " + "b" * 39),
        ("a" * 240 + " " + "b" * 59, "a" * 240),
    ],
)
def test_a_text_is_cut_at_a_word_if_one_ends_late_enough(text: str, shown: str | None) -> None:
    """Data-plane contract 2.7, D33."""
    assert snippet(text) == ((text, False) if shown is None else (f"{shown}…", True))


@given(st.text("ab é…\n", min_size=230, max_size=250))
def test_what_is_shown_is_the_beginning_of_the_text(text: str) -> None:
    """Data-plane contract 2.7."""
    shown, is_cut = snippet(text)
    assert is_cut is (len(text) > 240)
    assert len(shown) <= 241
    assert text.startswith(shown.removesuffix("…") if is_cut else shown)
