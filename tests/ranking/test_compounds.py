"""Which terms a word may stand in, and of which it may be made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.ranking.compounds import (
    MOST_CUTS,
    compounds,
    is_looked_into,
    parts,
)
from graymatter_mcp.ranking.tokens import Analyzer, plain_words

if TYPE_CHECKING:
    from collections.abc import Sequence

ENGLISH = Analyzer("english")


def found(word: str, *terms: str) -> list[str]:
    """Return the terms of a shelf that a word stands in."""

    def terms_with(letters: str) -> list[str]:
        return [term for term in terms if letters in term]

    return compounds(word, ENGLISH.index_term(word), terms_with)


def made_of(word: str, *terms: str) -> Sequence[tuple[tuple[str, ...], ...]]:
    """Return the ways to make a word of the terms of a shelf."""
    return parts(word, terms.__contains__, ENGLISH.index_term)


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("schifffahrt", "donaudampfschifffahrt"),
        ("vertrag", "vertragsverhandlung"),
        ("versicherung", "krankenversicherungen"),
        ("schule", "schulleit"),
        ("verzekering", "zorgverzeker"),
        ("forsakring", "villaforsakringen"),
        ("flicka", "flickskola"),
    ],
)
def test_a_word_stands_at_the_start_or_the_end_of_a_compound(word: str, term: str) -> None:
    """ADR 0061: with linking letters and endings, as written or as its stem."""
    assert found(word, term, "other") == [term]


@pytest.mark.parametrize(
    ("word", "term"),
    [
        ("fahrt", "zufahrt"),
        ("vertrag", "vertragen"),
        ("dampf", "donaudampfschiff"),
        ("vertrag", "vertrag"),
        ("vertrag", "vertrag-2024-muster"),
        ("vertrag", "vertrag2024muster"),
        ("party", "particular"),
    ],
)
def test_few_letters_more_the_middle_and_identifiers_are_no_compounds(word: str, term: str) -> None:
    """ADR 0061: four letters more at least, at one end, and letters alone."""
    assert found(word, term) == []


def test_the_shortest_compounds_come_first() -> None:
    """ADR 0061: they add least to the word; the order is total."""
    terms = ("wartungsvertrag", "mietvertrag", "leihvertrag", "vertragsabschluss")
    assert found("vertrag", *terms) == [
        "leihvertrag",
        "mietvertrag",
        "wartungsvertrag",
        "vertragsabschluss",
    ]


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("wartungsvertrag", ("wartung", "vertrag")),
        ("rechnungsadresse", ("rechnungen", "adress")),
        ("kindergarten", ("kinder", "garten")),
        ("hundehutte", ("hund", "hutte")),
        ("schulleiter", ("schule", "leiter")),
        ("haustur", ("haus", "tur")),
        ("forsakringsbolag", ("forsakr", "bolag")),
        ("datenbankserver", ("datenbank", "server")),
        ("mietwagenvertrag", ("miet", "wagen", "vertrag")),
    ],
)
def test_a_compound_is_made_of_two_or_three_words(word: str, terms: tuple[str, ...]) -> None:
    """ADR 0061: linking letters between them, other endings elsewhere."""
    assert tuple((term,) for term in terms) in made_of(word, *terms)


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("wartungsvertrag", ("wartung",)),
        ("wartungsvertrag", ("vertrag",)),
        ("carpet", ("car", "pet")),
        ("wartungxvertrag", ("wartung", "vertrag")),
        ("compare", ("comp", "area")),
    ],
)
def test_each_part_is_known_and_only_one_is_short(word: str, terms: tuple[str, ...]) -> None:
    """ADR 0061: all letters are accounted for."""
    assert list(made_of(word, *terms)) == []


def test_any_of_the_forms_of_a_part_will_do() -> None:
    """ADR 0061: a fact holds the part in whichever form."""
    ways = made_of("vertragsende", "vertrag", "vertrage", "ende")
    assert (("vertrag", "vertrage"), ("ende",)) in ways


def test_the_ways_to_take_a_word_apart_have_an_end() -> None:
    """ADR 0061: not even a shelf made for it holds a search up."""
    word = "a" * 64
    assert len(made_of(word, *("a" * size for size in range(3, 60)))) == MOST_CUTS


@pytest.mark.parametrize("word", ["haus4", "haus-tur", "haus", "x" * 65, "договор", "東京都東京"])
def test_only_words_of_some_latin_letters_are_looked_into(word: str) -> None:
    """ADR 0061: identifiers stay whole, and other scripts have other ways."""
    assert not is_looked_into(word)
    assert is_looked_into("haust")
    assert is_looked_into("færdselsøre")


def test_words_of_identifiers_are_no_plain_words() -> None:
    """ADR 0061: what was typed as one thing is found as one thing."""
    query = "Where is getUserName of src/db/pool.py, v1.2.3, Wartungs-Vertrag, 8080 and Pool"
    assert plain_words(query) == ("where", "wartungs", "vertrag")
