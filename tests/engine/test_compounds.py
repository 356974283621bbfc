"""Words that no fact holds are found inside compounds, and compounds by their parts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.config import Config
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import SearchRequest, Where
from graymatter_mcp.ranking.compounds import MOST_TERMS, MOST_WORDS
from tests.engine.desk import AGENT, QUIET
from tests.engine.test_languages import CASES as OTHERS
from tests.engine.test_languages import on_plane

if TYPE_CHECKING:
    from tests.engine.conftest import DeskMaker
    from tests.engine.desk import Desk

CASES: Final = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("compounds.tsv").read_text(encoding="utf-8").splitlines()
]
"""Language, fact, query."""

NOTHING: Final = (
    "Xylophonkonzert",
    "zeppelinvlucht",
    "uppvaknande",
    "incomprehensible",
    "hundred",
    "Haustag",
    "dampf",
    "iffahrt",
)
"""Words that are in no fact of the cases, nor made of its words."""


def on_core(desk: Desk, query: str) -> list[str]:
    """Return the facts of the keyword list, best first, among the first five."""
    receipts = desk.receipts(query, top_k=5)
    return [one.text for one in receipts if one.ranks.keyword_rank > 0]


@pytest.fixture
def filled(make_desk: DeskMaker) -> Desk:
    """Open a desk with the defaults that holds the facts of all cases."""
    desk = make_desk(config=Config(async_consolidate=False))
    for _, fact, _ in (*CASES, *OTHERS):
        desk.add(fact)
    return desk


def test_compounds_and_their_parts_are_among_the_first_five(filled: Desk) -> None:
    """ADR 0061: by words alone, on both surfaces, with the default stemming."""
    assert {language: sum(one[0] == language for one in CASES) for language, *_ in CASES} == {
        "German": 10,
        "Dutch": 8,
        "Swedish": 8,
    }
    missed = [
        (surface, query)
        for _, fact, query in CASES
        for surface, found in (("core", on_core(filled, query)), ("plane", on_plane(filled, query)))
        if fact not in found
    ]
    assert not missed


@pytest.mark.parametrize("query", NOTHING)
def test_a_word_that_is_in_nothing_finds_nothing(filled: Desk, query: str) -> None:
    """ADR 0061: no guess from letters in the middle, from a few letters, or from one part."""
    assert on_core(filled, query) == []
    assert on_plane(filled, query) == []


@pytest.mark.parametrize(
    "query", ["Datenbank", "pool", "getUserData", "x/server.py", "server_7", "server-4711"]
)
def test_a_word_that_is_known_and_an_identifier_find_what_they_found(
    make_desk: DeskMaker, query: str
) -> None:
    """ADR 0061: only words without a posting are looked into, and no part of an identifier."""
    desk = make_desk(config=QUIET)
    desk.add("Die Datenbank hat einen pool")
    desk.add("Der Datenbankserver steht im Keller, beim poolserver")
    desk.add("getuserdatacached and serverraum")
    found = ["Die Datenbank hat einen pool"] if query in ("Datenbank", "pool") else []
    assert on_core(desk, query) == found
    # Behind it stand, by the graph leg, the facts that were told around it.
    assert on_plane(desk, query)[:1] == found


def test_a_compound_counts_less_than_the_word_itself(make_desk: DeskMaker) -> None:
    """ADR 0061: half an occurrence, however often a fact holds it."""
    desk = make_desk(config=QUIET)
    desk.add("Seekarte Seekarten Seekartenraum heute")
    desk.add("Ruder liegen dort heute")
    assert on_plane(desk, "Ruder Seekart")[0] == "Ruder liegen dort heute"
    assert on_core(desk, "Ruder Seekart")[0] == "Ruder liegen dort heute"


def test_a_part_that_is_asked_for_by_itself_counts_once(make_desk: DeskMaker) -> None:
    """ADR 0061: "a book on the bookshelf" asks for a book first."""
    desk = make_desk(config=QUIET)
    desk.add("One book, another book, a third book")
    desk.add("A book stands on a shelf in the old hall")
    assert on_core(desk, "bookshelf") == ["A book stands on a shelf in the old hall"]
    assert on_core(desk, "book bookshelf")[0] == "One book, another book, a third book"


def test_compounds_are_no_words_of_the_store_for_the_feedback(make_desk: DeskMaker) -> None:
    """Contract 5.10: a term exists where its df is over 0, so a match by compounds is weak."""
    desk = make_desk(config=QUIET)
    desk.add("Die Donaudampfschifffahrt beginnt")
    plain = desk.recall("Schifffahrt")
    assert plain.facts == ("Die Donaudampfschifffahrt beginnt",)
    assert plain.feedback.split("\n")[:2] == [
        "(weak match: 0 of 1 terms in your query exist in this store)",
        "nearby vocabulary: beginnt, die, donaudampfschifffahrt",
    ]


@pytest.mark.parametrize(("floor", "is_silent"), [(0.5, False), (0.51, True)])
def test_with_vectors_a_compound_is_half_the_evidence(
    make_desk: DeskMaker, floor: float, is_silent: bool
) -> None:
    """Data-plane contract 4.9, ADR 0061: one word of one, unlike the fact by its vector."""
    desk = make_desk(config=QUIET, load=HashedEmbedder)
    desk.add("Die Donaudampfschifffahrt beginnt")
    desk.settle()
    request = SearchRequest(query="Schifffahrt", where=Where(namespace=AGENT), abstain_below=floor)
    assert desk.run(desk.memory.plane.search, LOCAL_CALLER, request).abstained is is_silent


def test_what_may_not_be_seen_is_in_no_compound(make_desk: DeskMaker) -> None:
    """Contract 5.1: the filter comes first; retired words leave nothing behind."""
    desk = make_desk(config=QUIET)
    desk.add("Der Wartungsvertrag endet")
    assert on_core(desk, "Wartung") == ["Der Wartungsvertrag endet"]
    desk.update("Der Wartungsvertrag endet", "Der Mietspiegel steigt")
    assert on_core(desk, "Wartung") == []
    assert on_plane(desk, "Wartung") == []


def test_words_stored_after_a_search_are_looked_into_by_the_next(make_desk: DeskMaker) -> None:
    """F22: an acknowledged fact is found at once."""
    desk = make_desk(config=QUIET)
    desk.add("Der Wartungsvertrag endet")
    assert on_core(desk, "Spiegel") == []
    desk.add("Der Mietspiegel steigt")
    assert on_core(desk, "Spiegel") == ["Der Mietspiegel steigt"]


def test_what_is_looked_into_has_an_end(make_desk: DeskMaker) -> None:
    """ADR 0061: the shortest compounds, and the first words of a long query."""
    desk = make_desk(config=replace(QUIET, stem_keywords=False))
    for number in range(MOST_TERMS + 8):
        desk.add("karte" + "abcd" + "z" * number)
    assert len([one for one in desk.receipts("karte", top_k=99) if one.ranks.keyword_rank]) == (
        MOST_TERMS
    )
    others = " ".join(f"leer{chr(97 + number) * 3}" for number in range(MOST_WORDS))
    assert on_core(desk, f"{others} karte") == []
    assert on_core(desk, f"karte {others}") != []


def test_each_shelf_gives_its_own_compounds(make_desk: DeskMaker) -> None:
    """Data-plane contract 4.1: one order over all shelves."""
    desk = make_desk(config=QUIET)
    desk.add("Der Wartungsvertrag endet", agent=Namespace("one"))
    desk.add("Der Mietvertrag endet bald", agent=Namespace("two"))
    desk.add("Der Spiegel", agent=Namespace("two"))
    assert set(on_plane(desk, "Vertrag", 2, shelf=None)) == {
        "Der Wartungsvertrag endet",
        "Der Mietvertrag endet bald",
    }
