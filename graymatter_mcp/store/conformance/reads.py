"""Reads of records: byte-exact names and texts, orders, lineage."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import (
    SHELF,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    new_id,
    patch,
    patch_of,
    ulid,
    with_terms,
)
from graymatter_mcp.store.conformance.view import Probe, observe

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore

LOOK_ALIKES = [
    "project",
    "Project",
    " project",
    "project ",
    "project\n",
    "proje%t",
    "proje_t",
    "'; DROP TABLE facts; --",
    unicodedata.normalize("NFC", "caf\u00e9"),
    unicodedata.normalize("NFD", "caf\u00e9"),
    "\ufb01",
    "fi",
    "\uffff",
    "\U0001f9e0",
    "\U0001f9e0\ufe0f",
    "\ufeffproject",
    "\u200bproject",
    "0",
    "00",
    "x" * 20_000,
    "x" * 19_999,
]
"""Strings that some comparison takes for one another."""

VERBATIM = [
    " ",
    "\r\nline one\r\n\tline two \u00a0\r",
    "trailing blanks   ",
    "\ufeffwith a mark at the start",
    "quote ' double \" back \\ percent % under _ dollar $1 ? ::",
    "\x01\x1b\x7f\x85\u2028\u2029",
    unicodedata.normalize("NFD", "r\u00e9sum\u00e9"),
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    '{"json": [1.0, null]}',
    "NULL",
    "blue \u00e9\U0001f600 " * 90_000,
]
"""Texts that some layer would like to mend; the last is over a megabyte in UTF-8."""


class Reads(Suite):
    """What the reads of records promise."""

    def test_namespaces_are_told_apart_byte_for_byte(self, store: MemoryStore) -> None:
        """Contract 4.2: `" project "` and `"project"` differ; nothing is normalised."""
        facts = {name: a_fact("same text", agent_id=Namespace(name)) for name in LOOK_ALIKES}
        add(store, *facts.values())
        assert store.namespaces() == sorted(LOOK_ALIKES)
        assert [entry.namespace for entry in store.stats().namespaces] == sorted(LOOK_ALIKES)
        for name, fact in facts.items():
            assert store.list(Namespace(name)) == [fact]
            assert store.find_text(Namespace(name), "same text") == [fact]
            assert observe(store.snapshot(Namespace(name)), Probe()).facts == (fact,)

    def test_an_unknown_namespace_is_empty_and_stays_unknown(self, store: MemoryStore) -> None:
        """Contract 3.2: an agent never seen is empty, not an error, and reading creates nothing."""
        nobody = Namespace("nobody")
        snapshot = store.snapshot(nobody)
        assert (snapshot.count, snapshot.mean_length, list(snapshot.aliases)) == (0, 0.0, [])
        assert observe(snapshot, Probe(terms=("a",), query=((1,),))).similarities is None
        assert store.list(nobody) == []
        assert store.get(nobody, [new_id()]) == []
        assert store.find_text(nobody, "a") == []
        assert store.superseded_by(nobody, [new_id()]) == {}
        assert store.checkpoints(nobody) == []
        assert store.neighbours(nobody, ["a"]) == []
        assert store.namespaces() == []

    @pytest.mark.parametrize("text", VERBATIM, ids=range(len(VERBATIM)))
    def test_a_text_comes_back_byte_for_byte(self, store: MemoryStore, text: str) -> None:
        """Contract 4.1: verbatim, no trim, no normalisation, no limit."""
        fact = a_fact(text)
        add(store, fact)
        (kept,) = store.list(SHELF)
        assert kept.text.encode() == text.encode()
        assert [found.id for found in store.find_text(SHELF, text)] == [fact.id]
        snapshot = store.snapshot(SHELF)
        (row,) = snapshot.recency_order.tolist()
        assert snapshot.texts([row]) == [text]

    def test_find_text_matches_the_whole_text_and_nothing_like_it(self, store: MemoryStore) -> None:
        """Contract 6: exact text, byte for byte, never a part."""
        facts = {text: a_fact(text) for text in LOOK_ALIKES}
        add(store, *facts.values())
        for text, fact in facts.items():
            assert store.find_text(SHELF, text) == [fact]
        assert store.find_text(SHELF, "projec") == []
        assert store.find_text(SHELF, "") == []

    def test_find_text_returns_live_and_retired_records_oldest_first(
        self, store: MemoryStore
    ) -> None:
        """Interface of find_text."""
        newest = a_fact("alias: a = b", created_at=at(3))
        retired = a_fact("alias: a = b", created_at=at(2), superseded_by="agent")
        alias = an_alias("a", "b", created_at=at(1))
        add(store, newest, retired, alias)
        assert store.find_text(SHELF, "alias: a = b") == [alias, retired, newest]

    def test_find_text_sees_the_present_text_only(self, store: MemoryStore) -> None:
        """Contract 6: the target is the fact's text as it is now."""
        fact = a_fact("before")
        add(store, fact)
        patch(store, fact, text="after", terms=("after",))
        assert store.find_text(SHELF, "before") == []
        assert [found.id for found in store.find_text(SHELF, "after")] == [fact.id]

    def test_list_returns_every_record_newest_first(self, store: MemoryStore) -> None:
        """Contract 9.2: retired facts and aliases included, newest first."""
        oldest = a_fact("one", created_at=at(1))
        retired = a_fact("two", created_at=at(2), superseded_by="agent")
        alias = an_alias("a", "b", created_at=at(2.000001))
        newest = a_fact("three", created_at=at(3))
        add(store, retired, newest)
        add(store, alias, oldest, a_fact("foreign", agent_id=Namespace("other")))
        assert store.list(SHELF) == [newest, alias, retired, oldest]

    def test_get_returns_what_the_namespace_has_of_the_ids(self, store: MemoryStore) -> None:
        """Interface of get: retired ones and aliases included, the rest left out."""
        live, alias = a_fact("live"), an_alias("a", "b")
        retired = a_fact("retired", superseded_by="agent")
        foreign = a_fact("foreign", agent_id=Namespace("other"))
        add(store, live, retired, alias, foreign)
        ids = [alias.id, new_id(), live.id, foreign.id, retired.id]
        found = store.get(SHELF, ids)
        assert sorted(found, key=lambda fact: fact.id) == [live, alias, retired]
        assert store.get(SHELF, []) == []

    def test_lineage_names_direct_ancestors_in_ascending_order(self, store: MemoryStore) -> None:
        """Interface of superseded_by: one step, heirs without any left out."""
        heir, middle, lonely = a_fact("heir"), a_fact("middle"), a_fact("lonely")
        other_heir = a_fact("heir", agent_id=Namespace("other"))
        ids = sorted(new_id() for _ in range(3))
        ancestors = [
            a_fact("old", id=fact_id, superseded_by=middle.id, created_at=at(-n))
            for n, fact_id in enumerate(ids)
        ]
        add(store, heir, lonely, other_heir, *reversed(ancestors))
        add(store, *[a_fact("first", id=middle.id, superseded_by=heir.id)])
        forgotten = a_fact("forgotten", superseded_by="agent")
        foreign = a_fact("x", agent_id=Namespace("other"), superseded_by=other_heir.id)
        add(store, forgotten, foreign)
        heirs = [heir.id, middle.id, lonely.id, other_heir.id]
        assert store.superseded_by(SHELF, heirs) == {heir.id: [middle.id], middle.id: ids}
        assert store.superseded_by(SHELF, []) == {}

    def test_lineage_follows_a_retirement_in_the_same_batch_as_its_heir(
        self, store: MemoryStore
    ) -> None:
        """Contract 6: replacement and retirement are one transaction."""
        old, new = a_fact("old"), a_fact("new", created_at=at(1))
        add(store, old)
        store.apply(
            WriteBatch(
                facts=(with_terms(new),),
                patches=(patch_of(old, expected=old, superseded_by=new.id),),
            )
        )
        assert store.superseded_by(SHELF, [new.id]) == {new.id: [old.id]}
        assert observe(store.snapshot(SHELF), Probe()).facts == (new,)

    def test_ids_sort_over_the_whole_range_of_a_ulid(self, store: MemoryStore) -> None:
        """Contract 4.1: an id is a ULID, 128 bits, compared as text."""
        numbers = [0, 1, 2**63, 2**64, 2**127 - 1, 2**127, 2**128 - 1]
        facts = [a_fact(f"n {number}", id=ulid(number)) for number in numbers]
        add(store, *reversed(facts))
        view = observe(store.snapshot(SHELF), Probe())
        ids = tuple(ulid(number) for number in numbers)
        assert (view.by_id, view.oldest_first, view.newest_first) == (ids, ids, ids)
        assert view.facts == tuple(facts)
        assert sorted(fact.id for fact in store.list(SHELF)) == list(ids)
