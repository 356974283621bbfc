"""Snapshots: filtered before anything is counted, equal to the naive count, and unchanging."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from graymatter_mcp.model.facts import Alias
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.corpora import (
    LETTERS,
    PROPERTY,
    TERMS,
    History,
    a_history,
    cut_plural,
    play,
)
from graymatter_mcp.store.conformance.kit import (
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    embed,
    new_namespace,
    patch,
    patch_of,
    vectors_of,
    with_terms,
)
from graymatter_mcp.store.conformance.view import Probe, arrays_of, observe, predict

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance.kit import StoreMaker


class Snapshots(Suite):
    """What a snapshot promises."""

    @pytest.fixture
    def stemming_store(self, maker: StoreMaker) -> MemoryStore:
        """Return an empty store whose terms are tokens without their plural s."""
        return maker.make(cut_plural)

    @PROPERTY
    @given(history=a_history())
    def test_every_statistic_equals_the_naive_count(
        self, store: MemoryStore, history: History
    ) -> None:
        """Contract 5.3: statistics are over live, eligible content facts of the one namespace."""
        store.use_model(MODEL)
        namespace = new_namespace()
        records = play(store, namespace, history)
        probe = Probe(terms=TERMS, letters=LETTERS, query=((1, 2, -3), (4, 0, 1)))
        for min_level in (0, 1, 2):
            view = observe(store.snapshot(namespace, min_level), probe)
            assert view == predict(records, probe, min_level=min_level)

    @PROPERTY
    @given(history=a_history())
    def test_stems_join_postings_while_lengths_count_tokens(
        self, stemming_store: MemoryStore, history: History
    ) -> None:
        """Interface: postings and neighbours are of index terms, lengths of tokens."""
        namespace = new_namespace()
        records = play(stemming_store, namespace, history)
        probe = Probe(terms=TERMS, letters=LETTERS)
        expected = predict(records, probe, stem=cut_plural)
        assert observe(stemming_store.snapshot(namespace), probe) == expected

    def test_a_worked_corpus_counts_as_written_out_by_hand(self, store: MemoryStore) -> None:
        """Contract 5.3: N, df, tf and mean length, by hand."""
        first = a_fact("ant bee ant", created_at=at(1), confidence="verified")
        second = a_fact("bee", created_at=at(2))
        third = a_fact("ant cow dog eel", created_at=at(3), confidence="unverified")
        add(store, first, second, third)
        probe = Probe(terms=("ant", "bee", "fox"))
        everything = observe(store.snapshot(SHELF), probe)
        assert (everything.count, everything.mean_length) == (3, 8 / 3)
        assert everything.postings == {
            "ant": {first.id: 2.0, third.id: 1.0},
            "bee": {first.id: 1.0, second.id: 1.0},
            "fox": {},
        }
        inferred = observe(store.snapshot(SHELF, 1), probe)
        assert (inferred.count, inferred.mean_length) == (2, 2.0)
        assert inferred.postings["ant"] == {first.id: 2.0}
        assert inferred.newest_first == (second.id, first.id)
        verified = observe(store.snapshot(SHELF, 2), probe)
        assert (verified.count, verified.mean_length, verified.facts) == (1, 3.0, (first,))

    def test_the_level_asked_for_hides_no_alias(self, store: MemoryStore) -> None:
        """Contract 5.1: aliases are split off before the filter."""
        add(store, an_alias("deploy", "rollout"), a_fact("deploy", confidence="unverified"))
        snapshot = store.snapshot(SHELF, 2)
        assert list(snapshot.aliases) == [Alias(term="deploy", equivalents=("rollout",))]
        assert snapshot.count == 0

    def test_arrays_have_one_entry_per_row_and_the_promised_types(self, store: MemoryStore) -> None:
        """Interface of Snapshot: shapes and types; the newest-first order names every row once."""
        store.use_model(MODEL)
        fact = a_fact("ant ant bee")
        add(store, fact, a_fact("bee", superseded_by="agent"), an_alias("a", "b"))
        embed(store, fact, [1, 2])
        snapshot = store.snapshot(SHELF)
        arrays = arrays_of(snapshot)
        assert {array.shape for array in arrays.values()} == {(snapshot.size,)}
        assert {name: array.dtype for name, array in arrays.items()} == {
            "eligible": np.dtype(np.bool_),
            "is_gone": np.dtype(np.bool_),
            "lengths": np.dtype(np.float64),
            "levels": np.dtype(np.int8),
            "age_order": np.dtype(np.int64),
            "id_order": np.dtype(np.int64),
            "recency_rank": np.dtype(np.int32),
        }
        order = snapshot.recency_order
        assert order.dtype == np.dtype(np.int32)
        assert sorted(order.tolist()) == np.flatnonzero(snapshot.eligible).tolist()
        assert snapshot.recency_rank[order].tolist() == list(range(1, snapshot.count + 1))
        assert int((snapshot.recency_rank > 0).sum()) == snapshot.count
        (found,) = snapshot.postings(["ant"])
        assert (found.rows.dtype, found.tf.dtype) == (np.dtype(np.int32), np.dtype(np.float64))
        similarities = snapshot.similarities(np.array([[1, 2]], np.int16))
        assert similarities is not None
        assert (similarities.dtype, similarities.shape) == (np.float32, (snapshot.size,))

    def test_rows_that_hold_no_stored_content_are_gone(self, store: MemoryStore) -> None:
        """Interface of is_gone: what was reworded or deleted is counted once or not at all."""
        kept, reworded, deleted = (a_fact(f"n {number}") for number in range(3))
        add(store, kept, reworded, deleted, a_fact("old", superseded_by="agent"))
        store.snapshot(SHELF)
        patch(store, reworded, text="other words")
        store.apply(WriteBatch(delete=((SHELF, deleted.id),)))
        snapshot = store.snapshot(SHELF)
        is_stored = ~snapshot.is_gone
        assert int(is_stored.sum()) == snapshot.stored == 3
        assert int((is_stored & ~snapshot.is_live).sum()) == 1

    def test_rows_are_fetched_in_the_order_given(self, store: MemoryStore) -> None:
        """Interface of facts, fact_ids and texts."""
        facts = [a_fact(f"n {number}", created_at=at(number)) for number in range(4)]
        add(store, *facts)
        snapshot = store.snapshot(SHELF)
        newest = snapshot.recency_order.tolist()
        shuffled = [newest[1], newest[3], newest[0]]
        wanted = [facts[2], facts[0], facts[3]]
        assert snapshot.facts(shuffled) == wanted
        assert snapshot.fact_ids(shuffled) == [fact.id for fact in wanted]
        assert snapshot.texts(shuffled) == [fact.text for fact in wanted]
        assert (snapshot.facts([]), snapshot.fact_ids([]), snapshot.texts([])) == ([], [], [])

    def test_postings_answer_each_term_in_the_order_asked(self, store: MemoryStore) -> None:
        """Interface of postings: unknown and repeated terms have their place too."""
        add(store, a_fact("ant ant bee"))
        frequencies = [
            p.tf.tolist() for p in store.snapshot(SHELF).postings(["bee", "fox", "ant", "bee"])
        ]
        assert frequencies == [[1.0], [], [2.0], [1.0]]
        assert store.snapshot(SHELF).postings([]) == []
        assert list(store.snapshot(SHELF).cooccurring([])) == []

    def test_terms_are_found_by_letters_that_they_contain(self, store: MemoryStore) -> None:
        """Interface of terms_with and may_hold: also those that came since it was last asked."""
        first = a_fact("seacoast coast coastline", confidence="unverified")
        add(store, first)
        probe = Probe(letters=("coast", "seacoast", "line", "coa st"))
        assert observe(store.snapshot(SHELF), probe).containing == {
            "coast": {"seacoast", "coast", "coastline"},
            "seacoast": {"seacoast"},
            "line": {"coastline"},
            "coa st": set(),
        }
        assert observe(store.snapshot(SHELF, 1), probe).containing["coast"] == set()
        add(store, a_fact("coastguard"))
        snapshot = store.snapshot(SHELF, 1)
        assert observe(snapshot, probe).containing["coast"] == {"coastguard"}
        assert not snapshot.may_hold("unheard")
        patch(store, first, text="guard", terms=("guard",))
        assert observe(store.snapshot(SHELF), probe).containing["coast"] == {"coastguard"}

    def test_a_changed_label_moves_the_fact_in_the_next_snapshot(self, store: MemoryStore) -> None:
        """Contract 4.4: changing only a label takes effect in the next recall."""
        fact = a_fact("ant", confidence="unverified")
        add(store, fact)
        assert store.snapshot(SHELF, 2).count == 0
        patch(store, fact, confidence="verified")
        view = observe(store.snapshot(SHELF, 2), Probe(terms=("ant",)))
        assert (view.levels, view.postings) == ({fact.id: 2}, {"ant": {fact.id: 1.0}})


class Isolation(Suite):
    """A snapshot is one instant: what is written later does not show in it."""

    PROBE = Probe(terms=("ant", "bee", "cow"), letters=("a", "w"), query=((1, 2),))

    @pytest.mark.parametrize("min_level", [0, 1])
    def test_later_writes_leave_a_snapshot_as_it_was(
        self, store: MemoryStore, min_level: int
    ) -> None:
        """Contract 5.3: order, scores and lineage come from one consistent snapshot."""
        store.use_model(MODEL)
        kept, retired, relabelled, reworded, late = (
            a_fact(f"ant bee {n}", created_at=at(n)) for n in range(5)
        )
        add(store, kept, retired, relabelled, reworded, late, an_alias("ant", "bee"))
        for fact in (kept, retired, reworded):
            embed(store, fact, [3, int(fact.text[-1])])
        snapshot = store.snapshot(SHELF, min_level)
        before = observe(snapshot, self.PROBE)
        arrays = {name: array.copy() for name, array in arrays_of(snapshot).items()}
        new = [a_fact(f"ant cow {n}", created_at=at(n - 50)) for n in range(100)]
        store.apply(
            WriteBatch(
                facts=tuple(map(with_terms, [*new, an_alias("cow", "ox")])),
                patches=(
                    patch_of(retired, superseded_by=new[0].id),
                    patch_of(relabelled, confidence="unverified"),
                    patch_of(reworded, text="cow", terms=("cow",)),
                ),
                vectors=(vectors_of(late, [[9, 9]]), vectors_of(new[0], [[9, 9]])),
                model_key=MODEL,
            )
        )
        store.use_model("another")
        after = observe(snapshot, self.PROBE)
        # Facts are compared by the next test.
        assert replace(after, facts=()) == replace(before, facts=())
        assert {name: array.tolist() for name, array in arrays_of(snapshot).items()} == {
            name: array.tolist() for name, array in arrays.items()
        }

    def test_an_older_snapshot_still_fetches_the_facts_as_they_were(
        self, store: MemoryStore
    ) -> None:
        """Interface of Snapshot: one namespace at one instant, records too."""
        fact, other = a_fact("ant"), a_fact("bee", created_at=at(1))
        add(store, fact, other)
        snapshot = store.snapshot(SHELF)
        patch(store, fact, confidence="verified", superseded_by="agent")
        patch(store, other, text="cow", terms=("cow",))
        assert observe(snapshot, Probe()).facts == (fact, other)

    def test_a_deletion_leaves_the_statistics_of_an_older_snapshot(
        self, store: MemoryStore
    ) -> None:
        """Contract 5.3: one consistent snapshot; only fetching an erased record may fail."""
        store.use_model(MODEL)
        facts = [a_fact(f"ant bee {n}", created_at=at(n)) for n in range(3)]
        add(store, *facts)
        embed(store, facts[1], [1, 1])
        snapshot = store.snapshot(SHELF)
        before = observe(snapshot, self.PROBE)
        store.apply(WriteBatch(delete=((SHELF, facts[1].id),)))
        assert replace(observe(snapshot, self.PROBE), facts=()) == replace(before, facts=())
        assert observe(store.snapshot(SHELF), self.PROBE).facts == (facts[0], facts[2])
