"""Receipts of calls, plain writes on the fast way, and what receipts and repeats rest on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.store.base import Receipt, WriteBatch
from graymatter_mcp.store.conformance.kit import (
    SHELF,
    StoreMaker,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    patch,
    reopened,
    with_terms,
)

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore

RECEIPT = Receipt(key="key", digest="digest", outcome='["outcome"]', at=at(0))


class Calls(Suite):
    """What keyed and plain writes promise."""

    def test_a_receipt_is_found_from_its_commit_on(self, store: MemoryStore) -> None:
        """Contract 10.6: key, digest and result commit with the effect."""
        assert store.receipt("key") is None
        store.apply(WriteBatch(facts=(with_terms(a_fact()),), receipt=RECEIPT, is_fresh=True))
        assert store.receipt("key") == RECEIPT
        assert store.receipt("other") is None

    @pytest.mark.parametrize("is_fresh", [True, False])
    def test_a_key_commits_once(self, store: MemoryStore, is_fresh: bool) -> None:
        """Contract 10.6: every call takes effect once."""
        first, second = a_fact("first"), a_fact("second")
        for fact in (first, second):
            batch = WriteBatch(facts=(with_terms(fact),), receipt=RECEIPT, is_fresh=is_fresh)
            if fact is second:
                with pytest.raises(FactChangedError):
                    store.apply(batch)
            else:
                store.apply(batch)
        assert store.list(SHELF) == [first]

    def test_receipts_and_plain_writes_last(self, maker: StoreMaker, store: MemoryStore) -> None:
        """Contract 4.3 and 10.6: what was answered survives, whichever way it took."""
        plain, other = a_fact("plain"), a_fact("other", created_at=at(1))
        store.apply(WriteBatch(facts=(with_terms(plain),), receipt=RECEIPT, is_fresh=True))
        add(store, other)
        store = reopened(maker, store)
        assert store.list(SHELF) == [other, plain]
        assert store.receipt("key") == RECEIPT

    def test_a_plain_write_is_seen_by_every_read_at_once(self, store: MemoryStore) -> None:
        """Field case F22: an acknowledged fact is found at once."""
        fact = a_fact("only here")
        store.apply(WriteBatch(facts=(with_terms(fact),), is_fresh=True))
        assert store.snapshot(SHELF).texts([0]) == ["only here"]
        assert store.find_text(SHELF, "only here") == [fact]
        assert store.get(SHELF, [fact.id]) == [fact]
        assert store.namespaces() == [SHELF]
        assert store.count(SHELF) == 1

    def test_a_patch_finds_what_a_plain_write_just_stored(self, store: MemoryStore) -> None:
        """Contract 6: an update right behind an add finds its target."""
        fact = a_fact()
        store.apply(WriteBatch(facts=(with_terms(fact),), is_fresh=True))
        patch(store, fact, superseded_by="agent", expected=fact)
        assert store.list(SHELF) == [replace(fact, superseded_by="agent")]


class Details(Suite):
    """What receipts and the choice among repeats rest on."""

    def test_rows_of_equal_text_share_a_key_and_no_others_do(self, store: MemoryStore) -> None:
        """Contract 5.7: a text comes once, whatever its copies."""
        add(store, *(a_fact(text, created_at=at(i)) for i, text in enumerate("abab")))
        snapshot = store.snapshot(SHELF)
        keys: dict[str, set[int]] = {}
        for row in snapshot.recency_order.tolist():
            keys.setdefault(snapshot.texts([row])[0], set()).add(int(snapshot.text_keys[row]))
        assert {len(found) for found in keys.values()} == {1}
        assert len({key for found in keys.values() for key in found}) == 2

    def test_details_tell_the_fact_as_the_snapshot_saw_it(self, store: MemoryStore) -> None:
        """Contract 3.1: text, weight, label, pin and birth of each receipt."""
        fact = a_fact("told", confidence="verified")
        add(store, fact)
        snapshot = store.snapshot(SHELF)
        patch(store, fact, confidence="unverified", pinned_at=at(5))
        (before,) = snapshot.details([0])
        (after,) = store.snapshot(SHELF).details([0])
        assert (before.fact_id, before.text, before.created_at) == (fact.id, "told", at(0))
        assert (before.confidence, before.is_pinned, before.weight) == ("verified", False, 1.0)
        assert (after.confidence, after.is_pinned) == ("unverified", True)

    def test_a_snapshot_knows_whether_anything_was_retired(self, store: MemoryStore) -> None:
        """Contract 3.1: lineage is looked for only where there can be some."""
        fact = a_fact()
        add(store, fact)
        assert not store.snapshot(SHELF).has_retired
        patch(store, fact, superseded_by="agent")
        assert store.snapshot(SHELF).has_retired

    def test_every_record_counts(self, store: MemoryStore) -> None:
        """Contract 8.1: the threshold counts retired facts and aliases too."""
        add(store, a_fact("live"), a_fact("gone", superseded_by="agent"), an_alias("a", "b"))
        assert store.count(SHELF) == 3
