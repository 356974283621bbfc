"""Facts in other languages, and things typed exactly, are found on both surfaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.config import Config
from graymatter_mcp.model.plane import SearchRequest, Where
from tests.engine.desk import AGENT

if TYPE_CHECKING:
    from tests.engine.conftest import DeskMaker
    from tests.engine.desk import Desk

CASES: Final = [
    tuple(line.split("\t"))
    for line in Path(__file__).with_name("languages.tsv").read_text(encoding="utf-8").splitlines()
]
"""Language, fact, query."""

EXACT: Final = {
    "7d444840-9dc0-11d1-b245-5ffdce74fad2": "The upload has the id {}",
    "7d444840-9dc0-11d1-b245-5ffdce74fad3": "The other upload has the id {}",
    "9fceb02d0ae598e95dc970b74767f19372d61af8": "The fault came with commit {}",
    "9fceb02": "The fix is commit {}",
    "/etc/nginx/sites-enabled/default": "The proxy reads {}",
    "/etc/nginx/nginx.conf": "The proxy begins with {}",
    "src/store/mirror.py:214": "It fails in {}",
    r"C:\Users\ana\notes.txt": "The notes lie in {}",
    "7778": "Staging listens on port {}",
    "7779": "Production listens on port {}",
    "v2.10.3": "We pinned the parser to {}",
    "v2.10.4": "We skipped the parser {}",
    "10.0.4.17:5432": "The replica answers at {}",
    "E0308": "The compiler says {} there",
    "ERR_CONN_REFUSED": "The browser says {} now",
    "HTTP-502": "The gateway gives {} at noon",
    "ana.lopez+ci@example.org": "Builds are reported to {}",
    "ana.lopez@example.org": "Bills are sent to {}",
    "C++": "The simulator is written in {}",
    "C#": "The editor is written in {}",
    "std::vector": "The queue is a {}",
    "getUserName": "The greeting calls {}",
    "max_open_files": "The limit is called {}",
    "--no-verify": "Nobody may commit with {}",
    "@app.route": "Handlers carry {}",
    "#4711": "The ticket is {}",
}
"""Things with a form of their own, and what is stored of each."""

PLAIN: Final = (
    '"',
    "AND OR NOT (",
    "kettle*",
    "-kettle +kettle",
    "kettle:kettle",
    "kettle^2 ~kettle",
    "'; DROP TABLE facts; --",
    "\\kettle\\",
    "%kettle_",
    "kettle && (kettle || !kettle)",
    "{kettle: [kettle]}",
    "\x00kettle\x00",
    "kettle\u200b?",
)
"""Queries with signs that other search engines obey."""


def on_plane(desk: Desk, query: str, k: int = 5, shelf: str | None = AGENT) -> list[str]:
    """Ask the data plane: one shelf, or all."""
    request = SearchRequest(
        query=query, k=k, where=Where(namespace=shelf), max_sensitivity="sensitive"
    )
    found = desk.run(desk.memory.plane.search, LOCAL_CALLER, request)
    return [item.content for item in found.results]


@pytest.fixture
def stemming(make_desk: DeskMaker) -> Desk:
    """Open a desk with the defaults."""
    return make_desk(config=Config(async_consolidate=False))


def test_facts_in_fourteen_languages_are_among_the_first_five(stemming: Desk) -> None:
    """Issue 6: all hits at 5, by words alone, in one store, with the default stemming."""
    assert len(CASES) >= 60
    assert len({language for language, *_ in CASES}) >= 12
    for _, fact, _ in CASES:
        stemming.add(fact)
    missed = [
        (surface, query)
        for _, fact, query in CASES
        for surface, found in (
            ("core", [one.text for one in stemming.receipts(query, top_k=5)]),
            ("plane", on_plane(stemming, query)),
        )
        if fact not in found
    ]
    assert not missed


def test_what_is_typed_exactly_is_found_first(stemming: Desk) -> None:
    """Issue 6; C57, D25: whatever else holds parts of it, and however much is newer."""
    for typed, text in EXACT.items():
        stemming.add(text.format(typed))
    for number in range(40):
        stemming.add(f"Note {number}: nothing new about nginx, commits, ports or parsers")
    missed = [
        (surface, typed)
        for typed, text in EXACT.items()
        for surface, found in (
            ("core", [one.text for one in stemming.receipts(typed, top_k=1)]),
            ("plane", on_plane(stemming, typed, 1)),
        )
        if found != [text.format(typed)]
    ]
    assert not missed


@pytest.mark.parametrize("query", PLAIN)
def test_signs_in_a_query_are_plain_text(stemming: Desk, query: str) -> None:
    """Issue 6: no operator, no error; the word between the signs counts."""
    stemming.add("The kettle is broken")
    stemming.add("Nobody knows why")
    texts = [one.text for one in stemming.receipts(query)]
    assert len(texts) == 2
    if "kettle" in query:
        assert texts[0] == "The kettle is broken"
        assert on_plane(stemming, query)[:1] == ["The kettle is broken"]
