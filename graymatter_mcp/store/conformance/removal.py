"""Facts that go: pruned ones may come back, deleted ones may not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.store.base import AuditEntry, Edge, Node, WriteBatch
from graymatter_mcp.store.conformance.bookkeeping import vitals_of
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    embed,
    new_id,
    new_namespace,
    patch,
    patch_of,
)
from graymatter_mcp.store.conformance.view import Probe, observe
from graymatter_mcp.store.conformance.writes import everything

if TYPE_CHECKING:
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import MemoryStore


class Pruning(Suite):
    """What a pruned record promises."""

    def test_a_pruned_record_is_gone_from_every_read_but_one(self, store: MemoryStore) -> None:
        """Contract 8.2: at once in no recall, list, count or export; its record is kept."""
        store.use_model(MODEL)
        heir, kept = a_fact("heir", created_at=at(1)), a_fact("kept", created_at=at(3))
        victim = a_fact("victim")
        ancestor = a_fact("ancestor", superseded_by=heir.id)
        vocabulary = an_alias("a", "b")
        pending = a_fact("pending victim", created_at=at(2))
        add(store, heir, victim, ancestor, vocabulary, pending, kept)
        for fact in (heir, victim, kept):
            embed(store, fact, [1, 1])
        pruned = [ancestor, vocabulary, victim, pending]
        for second, fact in enumerate(pruned):
            patch(store, fact, pruned_at=at(second))
        ids = [fact.id for fact in pruned]
        assert store.get(SHELF, ids) == []
        assert store.list(SHELF) == [kept, heir]
        assert store.find_text(SHELF, "victim") == []
        assert store.pending_vectors(10) == []
        assert store.superseded_by(SHELF, [heir.id]) == {}
        view = observe(store.snapshot(SHELF), Probe(terms=("victim",), query=((1, 2),)))
        assert (view.facts, view.aliases) == ((heir, kept), ())
        assert view.postings == {"victim": {}}
        assert view.similarities == {heir.id: 3.0, kept.id: 3.0}
        (stats,) = store.stats().namespaces
        assert (stats.total, stats.oldest_at, store.stats().pending_vectors) == (2, at(1), 0)
        assert store.pruned(at(0)) == []
        assert sorted(store.pruned(at(2))) == sorted((SHELF, fact_id) for fact_id in ids[:2])
        assert sorted(store.pruned(at(9))) == sorted((SHELF, fact_id) for fact_id in ids)

    def test_a_pruned_record_comes_back_as_it_was(self, store: MemoryStore) -> None:
        """Contract 8.2: undo brings it back within the grace."""
        store.use_model(MODEL)
        fact, other = a_fact("sky", confidence="verified"), a_fact("sea", created_at=at(1))
        add(store, fact, other)
        embed(store, fact, [1, 2])
        before = everything(store)
        patch(store, fact, pruned_at=at(5))
        assert everything(store) != before
        patch(store, fact, pruned_at=None)
        assert everything(store) == before
        assert store.pruned(at(9)) == []

    def test_a_pruned_record_is_deleted_for_good(self, store: MemoryStore) -> None:
        """Contract 8.2: after the grace it goes."""
        fact = a_fact()
        add(store, fact)
        patch(store, fact, pruned_at=at(5))
        store.apply(WriteBatch(delete=tuple(store.pruned(at(6)))))
        assert store.pruned(at(6)) == []
        with pytest.raises(FactChangedError):
            patch(store, fact, pruned_at=None)

    def test_a_pinned_fact_is_never_pruned(self, store: MemoryStore) -> None:
        """Contract 8.5: pins are exempt, also when the pin comes between look and commit."""
        pinned = a_fact("pinned", pinned=True, pinned_at=at(1))
        add(store, pinned)
        with pytest.raises(FactChangedError):
            patch(store, pinned, pruned_at=at(5))
        assert store.list(SHELF) == [pinned]
        assert store.pruned(at(9)) == []

    @pytest.mark.parametrize("change", ["pin", "expected", "text"])
    def test_other_patches_do_not_reach_a_pruned_record(
        self, store: MemoryStore, change: str
    ) -> None:
        """Contract 4.3 and 8.2: to all but undo it is an unknown id."""
        fact = a_fact()
        changes: dict[str, Any] = {
            "pin": {"pinned_at": at(6)},
            "expected": {"expected": fact, "superseded_by": "agent"},
            "text": {"text": "new", "terms": ("new",)},
        }[change]
        add(store, fact)
        patch(store, fact, pruned_at=at(5))
        with pytest.raises(FactChangedError):
            patch(store, fact, **changes)
        patch(store, fact, pruned_at=None)
        assert store.list(SHELF) == [fact]

    def test_its_last_vitals_may_come_in_the_batch_that_prunes(self, store: MemoryStore) -> None:
        """Contract 8.2: one run decays and prunes."""
        fact = a_fact()
        add(store, fact)
        store.apply(
            WriteBatch(
                vitals=(vitals_of(fact, 1, 0.005, 2),), patches=(patch_of(fact, pruned_at=at(5)),)
            )
        )
        assert store.list(SHELF) == []
        patch(store, fact, pruned_at=None)
        assert store.list(SHELF) == [replace(fact, access_count=1, weight=0.005, accessed_at=at(2))]

    def test_its_id_stays_taken(self, store: MemoryStore) -> None:
        """Contract 4.1: an id is an identity as long as its record exists."""
        fact = a_fact()
        add(store, fact)
        patch(store, fact, pruned_at=at(5))
        with pytest.raises(FactChangedError):
            add(store, replace(fact, text="again"))

    def test_an_older_snapshot_keeps_it(self, store: MemoryStore) -> None:
        """Contract 5.3: one consistent snapshot; only fetching the record itself may fail."""
        fact, other = a_fact("sky"), a_fact("sky sea", created_at=at(1))
        add(store, fact, other)
        snapshot = store.snapshot(SHELF)
        probe = Probe(terms=("sky",))
        before = observe(snapshot, probe)
        patch(store, fact, pruned_at=at(5))
        assert replace(observe(snapshot, probe), facts=()) == replace(before, facts=())


class Deletion(Suite):
    """What erasing promises."""

    def test_a_deleted_fact_is_gone_from_every_read(self, store: MemoryStore) -> None:
        """Contract 4.3: an explicit delete removes the record."""
        store.use_model(MODEL)
        heir = a_fact("heir", created_at=at(1))
        victim = a_fact("victim")
        ancestor = a_fact("ancestor", superseded_by=heir.id)
        pending = a_fact("victim too", created_at=at(2))
        vocabulary = an_alias("a", "b")
        add(store, heir, victim, ancestor, pending, vocabulary)
        embed(store, heir, [1, 0])
        embed(store, victim, [0, 1])
        gone: list[FactId] = [victim.id, ancestor.id, pending.id, vocabulary.id]
        store.apply(WriteBatch(delete=tuple((SHELF, fact_id) for fact_id in gone)))
        assert store.get(SHELF, gone) == []
        assert store.list(SHELF) == [heir]
        assert store.find_text(SHELF, "victim") == []
        assert store.pending_vectors(10) == []
        assert store.superseded_by(SHELF, [heir.id]) == {}
        view = observe(store.snapshot(SHELF), Probe(terms=("victim",), query=((0, 1),)))
        assert view.facts == (heir,)
        assert view.postings == {"victim": {}}
        assert view.similarities == {heir.id: 0.0}
        assert view.aliases == ()
        assert store.stats().namespaces[0].total == 1

    def test_deleting_what_is_not_there_is_no_error(self, store: MemoryStore) -> None:
        """Interface: unknown ids are ignored, and an id of another namespace is unknown."""
        fact = a_fact()
        add(store, fact)
        store.apply(WriteBatch(delete=((SHELF, new_id()), (ELSEWHERE, fact.id))))
        assert store.list(SHELF) == [fact]

    def test_a_namespace_stays_known_when_its_last_fact_goes(self, store: MemoryStore) -> None:
        """Interface: every namespace that was ever written to is listed."""
        fact = a_fact()
        add(store, fact)
        store.apply(WriteBatch(delete=((SHELF, fact.id),)))
        assert store.namespaces() == [SHELF]
        assert store.snapshot(SHELF).count == 0

    def test_an_emptied_shelf_keeps_its_facts_alone(self, store: MemoryStore) -> None:
        """Interface: checkpoints, graph and curations of one shelf go, others' stay."""
        fact = a_fact()
        for shelf in (SHELF, ELSEWHERE):
            one, two = (Node(namespace=shelf, id=n, label=n, type="unknown") for n in "ab")
            link = Edge(
                namespace=shelf, source="a", target="b", relation="agent_link", created_at=at(1)
            )
            curation = AuditEntry(
                at=at(2), action="pin", namespace=shelf, old_text="old", new_text="", source="t"
            )
            saved = Checkpoint(id=new_id(), agent_id=shelf, created_at=at(3), state={"n": 1})
            store.apply(
                WriteBatch(nodes=(one, two), edges=(link,), audit=(curation,), checkpoints=(saved,))
            )
        add(store, fact)
        kept = everything(store)
        store.apply(WriteBatch(emptied=(SHELF, new_namespace())))
        assert store.checkpoints(SHELF) == []
        assert store.neighbours(SHELF, ["a"]) == []
        assert store.links(SHELF, "agent_link", None) == []
        assert [one.namespace for one in store.audit(9)] == [ELSEWHERE]
        assert (store.stats().nodes, store.stats().edges) == (2, 1)
        assert len(store.checkpoints(ELSEWHERE)) == 1
        assert store.list(SHELF) == [fact]
        assert everything(store) != kept

    def test_a_shelf_is_emptied_before_the_rest_of_the_batch(self, store: MemoryStore) -> None:
        """Interface: what comes in the same batch stays, and the shelf fills up again."""
        old, new = (
            Checkpoint(id=new_id(), agent_id=SHELF, created_at=at(n), state={"n": n})
            for n in (1, 2)
        )
        store.apply(WriteBatch(checkpoints=(old,)))
        store.apply(WriteBatch(emptied=(SHELF,), checkpoints=(new,)))
        assert store.checkpoints(SHELF) == [new]
