"""Reading queries and heads of texts: names, stamps, days, irregular words."""

from __future__ import annotations

from datetime import date

import pytest

from graymatter_mcp.ranking.days import asked_days, written_day
from graymatter_mcp.ranking.irregular import BASE_OF
from graymatter_mcp.ranking.names import without_shared_names
from graymatter_mcp.ranking.stamp import stamp_of, stamped_day
from graymatter_mcp.ranking.tokens import Analyzer

WEDNESDAY = date(2026, 3, 4)


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("When did Mira repair Otto's boat?", "When did repair boat?"),
        ("Mira's boat", "boat"),
        ("Mira repaired what", "Mira repaired what"),
        ("What did Lena repair?", "What did Lena repair?"),
        ("Where is Mira", "Where is"),
        ("x Mira", "x"),
        ("Mira's", "Mira's"),
        ("", ""),
    ],
)
def test_names_that_a_tenth_of_the_facts_hold_are_left_out(query: str, left: str) -> None:
    """ADR 0047: they say whose fact it is, not which."""
    shares = {"Mira": 0.5, "Otto": 0.1, "Lena": 0.09}
    assert without_shared_names(query, lambda word: shares.get(word, 0.0)) == left


@pytest.mark.parametrize(
    ("text", "stamp", "day"),
    [
        ("[1:56 pm on 8 May, 2023] Mira: hello", "[1:56 pm on 8 May, 2023] ", date(2023, 5, 8)),
        ("[2023-05-08 10:00] hello", "[2023-05-08 10:00] ", date(2023, 5, 8)),
        ("[v1.2] released", "[v1.2] ", None),
        ("[draft] released in 2023", "", None),
        ("see [1]", "", None),
        ("[2023-13-40] hello", "[2023-13-40] ", None),
    ],
)
def test_a_stamp_is_what_stands_in_brackets_at_the_head(
    text: str, stamp: str, day: date | None
) -> None:
    """ADR 0047: a day or time before what a text says."""
    assert (stamp_of(text), stamped_day(text)) == (stamp, day)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on 7 May 2023", date(2023, 5, 7)),
        ("on May 7th, 2023", date(2023, 5, 7)),
        ("the 1st of Sept. 2023", None),
        ("the 1st of Sep 2023", date(2023, 9, 1)),
        ("from 2024-02-29 on", date(2024, 2, 29)),
        ("31 February 2023, or 1 March 2023", date(2023, 3, 1)),
        ("release 2.5.2023", None),
        ("7 maybes 2023", None),
    ],
)
def test_days_are_read_as_people_write_them(text: str, day: date | None) -> None:
    """Issue 6: explicit dates are understood."""
    assert written_day(text) == day


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what happened on 7 May 2023", (2023, 5, 7), (2023, 5, 7)),
        ("what happened in February 2024", (2024, 2, 1), (2024, 2, 29)),
        ("what did I do yesterday", (2026, 3, 3), (2026, 3, 3)),
        ("today's deploys", (2026, 3, 4), (2026, 3, 4)),
        ("3 days ago", (2026, 3, 1), (2026, 3, 1)),
        ("2 weeks ago", (2026, 2, 18), (2026, 2, 24)),
        ("this week", (2026, 3, 2), (2026, 3, 8)),
        ("last week", (2026, 2, 23), (2026, 3, 1)),
        ("last month", (2026, 2, 1), (2026, 2, 28)),
        ("last year", (2025, 1, 1), (2025, 12, 31)),
        ("last Wednesday", (2026, 2, 25), (2026, 2, 25)),
        ("last Monday", (2026, 3, 2), (2026, 3, 2)),
    ],
)
def test_questions_name_ranges_of_days(
    query: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    """Issue 6: "yesterday" and explicit dates, reckoned on a Wednesday."""
    assert asked_days(query, WEDNESDAY) == (date(*first), date(*last))


@pytest.mark.parametrize(
    "query", ["", "the daily build", "may I deploy", "version 2024", "4 ports"]
)
def test_other_questions_name_no_day(query: str) -> None:
    """Issue 6: no guess where nothing is said."""
    assert asked_days(query, WEDNESDAY) is None


def test_forms_of_an_irregular_word_share_an_index_term_in_english_alone() -> None:
    """ADR 0047: "ran" is found by "run"; no form stands for two words."""
    english, german = Analyzer("english"), Analyzer("german")
    assert english.index_terms(["ran", "runs", "children", "found"]) == (
        "run",
        "run",
        "child",
        "find",
    )
    assert german.index_term("ran") == "ran"
    assert Analyzer(None).index_term("ran") == "ran"
    assert not BASE_OF.keys() & set(BASE_OF.values())
