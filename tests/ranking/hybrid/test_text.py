"""What is indexed of a fact, and what a query quotes."""

from __future__ import annotations

from datetime import date

import pytest

from graymatter_mcp.policy.entities import entities
from graymatter_mcp.ranking.hybrid.stop_words import content_terms, is_stop_word
from graymatter_mcp.ranking.hybrid.text import (
    content_tokens,
    day_words,
    holds_phrase,
    indexed_text,
    phrases,
    subject_of,
)
from graymatter_mcp.ranking.tokens import tokenize


def test_subject_content_and_day_are_indexed() -> None:
    """Data-plane contract 4.2."""
    day = date(2023, 5, 7)
    assert day_words(day) == "7 May 2023"
    assert indexed_text("She moved.", day, "ana") == "ana\nShe moved.\n7 May 2023"
    assert indexed_text("She moved.", day, None) == "She moved.\n7 May 2023"
    assert "may" in tokenize(indexed_text("x", day, None))


@pytest.mark.parametrize(
    ("content", "metadata_subject", "subject"),
    [
        ("Ana: I moved", " Bob Lee ", "bob lee"),
        ("Ana: I moved", "  ", "ana"),
        ("Ana: I moved", 7, "ana"),
        ("Carol Ng: hello", None, "carol ng"),
        ("小明: 你好", None, "小明"),
        ("root cause: the disk", None, None),
        ("Root cause: the disk", None, None),
        ("At 10: nothing", None, None),
        ("http://x.y/z: down", None, "http://x.y/z"),
        ("Today we met Carol Ng", None, "carol ng"),
        ("Today we then met Carol Ng", None, None),
        ("The api runs `redis` here", None, "redis"),
        ("the port is unknown", None, None),
    ],
)
def test_the_subject_is_the_first_that_there_is(
    content: str, metadata_subject: object, subject: str | None
) -> None:
    """Data-plane contract 4.2."""
    assert subject_of(content, metadata_subject, entities(content)) == subject


def test_an_entity_inside_another_word_is_not_where_a_subject_stands() -> None:
    """Data-plane contract 4.2: among the first four tokens."""
    assert subject_of("banana bread is liked by everyone but ana", None, ["ana"]) is None


def test_stop_words_and_joined_repeats_are_no_content() -> None:
    """Data-plane contract 4.3: t counts content tokens after stop words."""
    tokens = tokenize("What does the pool in db/pool.py do with us?")
    assert tokens == ("what", "does", "pool", "db", "pool", "py", "db/pool.py", "do", "us")
    assert content_tokens(tokens) == 4
    assert content_terms(tokens) == ("pool", "db", "py", "db/pool.py")


@pytest.mark.parametrize("query", ["What did you do then?", "how often must we", "why not"])
def test_a_question_without_content_is_all_stop_words(query: str) -> None:
    """Data-plane contract 4.9."""
    assert all(map(is_stop_word, tokenize(query)))


@pytest.mark.parametrize(
    "text",
    ["die katze lebt", "le chat vit ici", "кот живёт", "猫が好き", "7 May 2023", "Mark Grace Hope"],
)
def test_other_languages_dates_and_names_lose_no_word(text: str) -> None:
    """Data-plane contract 4.2: stop words are a matter of one language."""
    assert content_tokens(tokenize(text)) == len(tokenize(text))


def test_phrases_stand_in_double_quotes_of_any_kind() -> None:
    """Data-plane contract 4.2."""
    assert phrases('"red fox" and “blue sky” or «vert pré» „grüner Tee“ "" " "') == (
        "red fox",
        "blue sky",
        "vert pré",
        "grüner Tee",
    )
    assert phrases("it's the dog's \"open quote") == ()


@pytest.mark.parametrize(
    ("text", "phrase", "holds"),
    [
        ("a quick red fox ran", "red fox", True),
        ("a quick fox, red", "red fox", False),
        ("red and tall fox", "red fox", False),
        ("red", "red fox", False),
        ("see db/pool.py first", "pool.py first", True),
        ("we like c++ here", "c++", True),
        ("we like c here", "c++", False),
    ],
)
def test_a_phrase_matches_in_order_and_side_by_side(text: str, phrase: str, holds: bool) -> None:
    """Data-plane contract 4.2: quoted phrases must match in order."""
    assert holds_phrase(tokenize(text), tokenize(phrase)) is holds


def test_a_phrase_without_words_asks_for_nothing() -> None:
    """A quoted "the" is a stop word in every text."""
    assert holds_phrase(["red"], [])
    assert holds_phrase([], [])
