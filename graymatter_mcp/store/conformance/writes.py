"""Batches: all or nothing, visible at once, guarded by what was read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.model.facts import Alias, Fact, Origin
from graymatter_mcp.store.base import (
    AuditEntry,
    Edge,
    FactPatch,
    Node,
    Vitals,
    WriteBatch,
)
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    at,
    embed,
    new_id,
    patch_of,
    vectors_of,
    with_terms,
)
from graymatter_mcp.store.conformance.view import Probe, observe

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore


def only(store: MemoryStore, fact: Fact) -> Fact:
    """Return the stored version of a fact."""
    (found,) = store.get(fact.agent_id, [fact.id])
    return found


def everything(store: MemoryStore) -> tuple[object, ...]:
    """Return all that the store shows of `SHELF` and `ELSEWHERE`, for comparison."""
    probe = Probe(terms=("sky", "sea"), query=((1, 2),))
    shelves = (SHELF, ELSEWHERE)
    return (
        store.namespaces(),
        [store.list(shelf) for shelf in shelves],
        [store.checkpoints(shelf) for shelf in shelves],
        [store.neighbours(shelf, ["a", "b"]) for shelf in shelves],
        [observe(store.snapshot(shelf), probe) for shelf in shelves],
        store.pending_vectors(100),
        store.audit(100),
        replace(store.stats(), commit_seq=0),
    )


def one_of_each(victim: Fact, kept: Fact, bad: FactPatch) -> WriteBatch:
    """Build a batch that changes every kind of thing and cannot be applied."""
    new = a_fact("the sea is blue too", agent_id=ELSEWHERE)
    return WriteBatch(
        facts=(with_terms(new), with_terms(a_fact("sky and sea"))),
        patches=(patch_of(kept, superseded_by="agent"), bad),
        vitals=(
            Vitals(namespace=SHELF, fact_id=kept.id, access_count=9, accessed_at=at(9), weight=0.5),
        ),
        vectors=(vectors_of(new, [[3, 4]]), vectors_of(kept, [[5, 6]])),
        model_key=MODEL,
        nodes=(
            Node(namespace=SHELF, id="a", label="A", type="unknown"),
            Node(namespace=SHELF, id="b", label="B", type="unknown"),
        ),
        edges=(
            Edge(namespace=SHELF, source="a", target="b", relation="agent_link", created_at=at(0)),
        ),
        checkpoints=(Checkpoint(id=new_id(), agent_id=ELSEWHERE, created_at=at(0)),),
        audit=(
            AuditEntry(
                at=at(0), action="forget", namespace=SHELF, old_text="o", new_text="n", source="s"
            ),
        ),
        delete=((SHELF, victim.id),),
        counters=(("consolidations", 1),),
    )


class Writes(Suite):
    """What `apply` promises."""

    def test_an_added_fact_comes_back_with_every_field(self, store: MemoryStore) -> None:
        """Contract 4.1: a fact is kept as it was written."""
        fact = a_fact(
            "alias: k8s = kubernetes",
            accessed_at=at(5.25),
            access_count=3,
            weight=0.1,
            superseded_by="agent",
            confidence="some historical label",
            kind="alias",
            alias_source="usage",
            pinned=True,
            pinned_at=at(7.000001),
            origin=Origin(source="memory_add", client="cli 1.0", session="s\u00e9"),
            alias=Alias(term="k8s ", equivalents=("kubernetes", "a = b, c", "\U0001f600")),
        )
        add(store, fact)
        assert store.get(SHELF, [fact.id]) == [fact]
        assert only(store, fact).created_at.utcoffset() == fact.created_at.utcoffset()

    def test_a_write_is_visible_in_every_read_as_soon_as_it_returns(
        self, store: MemoryStore
    ) -> None:
        """Contract 4.3: the answer comes after the commit."""
        for number in range(5):
            fact = a_fact(f"number {number}", created_at=at(number))
            add(store, fact)
            assert store.get(SHELF, [fact.id]) == [fact]
            assert store.find_text(SHELF, fact.text) == [fact]
            assert store.list(SHELF)[0] == fact
            assert observe(store.snapshot(SHELF), Probe()).newest_first[0] == fact.id
            assert store.stats().namespaces[0].live == number + 1

    def test_an_empty_batch_changes_nothing(self, store: MemoryStore) -> None:
        """Interface: a batch is what one call changes."""
        add(store, a_fact())
        before = everything(store)
        store.apply(WriteBatch())
        assert everything(store) == before

    @pytest.mark.parametrize("flaw", ["unknown id", "other namespace", "stale text", "retired"])
    def test_a_batch_that_fails_leaves_nothing_of_itself(
        self, store: MemoryStore, flaw: str
    ) -> None:
        """Contract 4.3: a failed transaction leaves no fact, no tokens and no vector."""
        store.use_model(MODEL)
        victim, kept = a_fact("the sky"), a_fact("the sky above", created_at=at(1))
        retired = a_fact("old sky", superseded_by="agent", created_at=at(2))
        add(store, victim, kept, retired)
        embed(store, kept, [1, 1])
        bad = {
            "unknown id": patch_of(a_fact(), confidence="verified"),
            "other namespace": replace(patch_of(kept, confidence=""), namespace=ELSEWHERE),
            "stale text": patch_of(kept, expected=replace(kept, text="other"), confidence=""),
            "retired": patch_of(retired, expected=retired, confidence="verified"),
        }[flaw]
        before = everything(store)
        with pytest.raises(FactChangedError):
            store.apply(one_of_each(victim, kept, bad))
        assert everything(store) == before

    def test_an_id_is_never_given_twice(self, store: MemoryStore) -> None:
        """Contract 4.1: an id is an identity; a second fact of the same id is refused whole."""
        fact = a_fact("first")
        add(store, fact)
        with pytest.raises(FactChangedError):
            add(store, a_fact("bystander"), replace(fact, text="second"))
        with pytest.raises(FactChangedError):
            add(store, replace(fact, text="second", agent_id=ELSEWHERE))
        twin = a_fact("twin")
        with pytest.raises(FactChangedError):
            add(store, twin, replace(twin, text="other twin"))
        assert store.list(SHELF) == [fact]
        assert store.namespaces() == [SHELF]

    def test_the_same_text_twice_is_two_facts(self, store: MemoryStore) -> None:
        """Contract 3.4: an add never merges."""
        first, second = a_fact("same"), a_fact("same")
        add(store, first, second)
        assert store.find_text(SHELF, "same") == [first, second]
