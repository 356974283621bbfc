"""Vectors: exact products, the best window, one model at a time, never of an older text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.base import NewVectors, PendingVector, WriteBatch
from graymatter_mcp.store.conformance.kit import (
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    embed,
    new_id,
    patch,
    patch_of,
    vectors_of,
    with_terms,
)
from graymatter_mcp.store.conformance.view import Probe, observe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import MemoryStore

OTHER_MODEL = "model-b"


def compared(
    store: MemoryStore, *query: tuple[int, ...], min_level: int = 0
) -> Mapping[FactId, float] | None:
    """Return the finite similarities of `SHELF` by fact id."""
    return observe(store.snapshot(SHELF, min_level), Probe(query=query)).similarities


def pending_of(fact: Fact) -> PendingVector:
    """Return the entry of a fact that waits for a vector."""
    return PendingVector(namespace=fact.agent_id, fact_id=fact.id, text=fact.text)


class Vectors(Suite):
    """What similarities and pending vectors promise."""

    def test_products_of_full_size_vectors_are_exact_whole_numbers(
        self, store: MemoryStore
    ) -> None:
        """Interface: dot products of fixed-point unit vectors are exact, on every platform."""
        store.use_model(MODEL)
        unit = np.random.default_rng(7).standard_normal((41, 384))
        unit /= np.linalg.norm(unit, axis=1, keepdims=True)
        fixed = np.rint(unit * 4085).astype(np.int16)
        facts = [a_fact(f"n {n}", created_at=at(n)) for n in range(40)]
        add(store, *facts)
        store.apply(
            WriteBatch(
                vectors=tuple(
                    vectors_of(fact, [row.tolist()])
                    for fact, row in zip(facts, fixed[:40], strict=True)
                ),
                model_key=MODEL,
            )
        )
        query = tuple(fixed[40].tolist())
        products = fixed[:40].astype(np.int64) @ fixed[40].astype(np.int64)
        expected = {f.id: float(p) for f, p in zip(facts, products.tolist(), strict=True)}
        assert compared(store, query) == expected
        itself = fixed[0].astype(np.int64)
        best = compared(store, tuple(fixed[0].tolist()))
        assert best is not None
        assert best[facts[0].id] == int(itself @ itself)

    def test_the_best_pair_of_windows_counts(self, store: MemoryStore) -> None:
        """Contract 5.3: a text of several windows counts with its best."""
        store.use_model(MODEL)
        long, short, negative = (a_fact(f"n {n}", created_at=at(n)) for n in range(3))
        add(store, long, short, negative)
        embed(store, long, [1, 0], [0, 5], [2, 2])
        embed(store, short, [3, 1])
        embed(store, negative, [-4, -1])
        assert compared(store, (1, 0)) == {long.id: 2.0, short.id: 3.0, negative.id: -4.0}
        assert compared(store, (1, 0), (0, 1)) == {long.id: 5.0, short.id: 3.0, negative.id: -1.0}

    def test_only_eligible_facts_with_a_vector_are_compared(self, store: MemoryStore) -> None:
        """Contract 5.1: what the filter hides does not exist for vectors either."""
        store.use_model(MODEL)
        low = a_fact("low", confidence="unverified")
        high = a_fact("high", confidence="verified", created_at=at(1))
        bare = a_fact("bare", confidence="verified", created_at=at(2))
        retired = a_fact("retired", superseded_by="agent", created_at=at(3))
        alias = an_alias("a", "b", created_at=at(4))
        add(store, low, high, bare, retired, alias)
        for fact in (low, high, retired, alias):
            embed(store, fact, [1, 1])
        assert compared(store, (1, 2)) == {low.id: 3.0, high.id: 3.0}
        assert compared(store, (1, 2), min_level=1) == {high.id: 3.0}
        patch(store, high, superseded_by="agent")
        assert compared(store, (1, 2)) == {low.id: 3.0}
        assert compared(store, (1, 2), min_level=1) is None

    def test_models_never_mix(self, store: MemoryStore) -> None:
        """Contract 5.3: only vectors of the model in use are compared, and switching back works."""
        fact, other = a_fact("one"), a_fact("two", created_at=at(1))
        add(store, fact, other)
        assert compared(store, (1, 1)) is None
        store.use_model(MODEL)
        embed(store, fact, [1, 2])
        embed(store, fact, [7, 7, 7], model_key=OTHER_MODEL)
        embed(store, other, [8, 8, 8], model_key=OTHER_MODEL)
        assert compared(store, (1, 1)) == {fact.id: 3.0}
        assert store.pending_vectors(10) == [pending_of(other)]
        store.use_model(OTHER_MODEL)
        assert compared(store, (1, 0, 0)) == {fact.id: 7.0, other.id: 8.0}
        assert store.pending_vectors(10) == []
        store.use_model("")
        assert compared(store, (1, 1)) is None
        store.use_model(MODEL)
        assert compared(store, (1, 1)) == {fact.id: 3.0}

    def test_choosing_a_model_tells_whether_facts_must_be_embedded_again(
        self, store: MemoryStore
    ) -> None:
        """Design 5: another key means re-embedding, which a pending fact alone does not."""
        fact, retired = a_fact("one"), a_fact("two", created_at=at(1))
        assert not store.use_model(MODEL)
        add(store, fact, retired)
        assert not store.use_model(MODEL)
        embed(store, fact, [1, 2])
        embed(store, retired, [1, 2])
        assert not store.use_model(MODEL)
        assert store.use_model(OTHER_MODEL)
        embed(store, fact, [7], model_key=OTHER_MODEL)
        assert store.use_model(OTHER_MODEL)
        patch(store, retired, superseded_by="agent")
        assert not store.use_model(OTHER_MODEL)
        assert not store.use_model(MODEL)

    def test_without_a_model_nothing_waits_for_a_vector(self, store: MemoryStore) -> None:
        """Contract 9.3: keyword mode has no model, and is not behind with anything."""
        add(store, a_fact())
        assert store.pending_vectors(10) == []
        assert store.stats().pending_vectors == 0
        store.use_model(MODEL)
        assert store.stats().pending_vectors == 1
        store.use_model("")
        assert store.pending_vectors(10) == []
        assert store.stats().pending_vectors == 0

    def test_vectors_of_an_older_text_are_dropped(self, store: MemoryStore) -> None:
        """Interface of NewVectors: the text that was embedded must be the fact's own."""
        store.use_model(MODEL)
        fact = a_fact("old text")
        add(store, fact)
        patch(store, fact, text="new text", terms=("new", "text"))
        embed(store, fact, [1, 1])
        assert compared(store, (1, 1)) is None
        assert store.pending_vectors(10) == [pending_of(replace(fact, text="new text"))]

    def test_vectors_of_facts_that_are_not_there_are_dropped(self, store: MemoryStore) -> None:
        """Interface of NewVectors: embedding may finish after its fact was erased."""
        store.use_model(MODEL)
        fact = a_fact("here")
        add(store, fact)
        embed(store, a_fact("here"), [1, 1])
        embed(store, replace(fact, agent_id=Namespace("elsewhere")), [1, 1])
        assert compared(store, (1, 1)) is None
        assert [entry.fact_id for entry in store.pending_vectors(10)] == [fact.id]

    def test_a_new_text_takes_the_old_vectors_away(self, store: MemoryStore) -> None:
        """Interface of FactPatch: another text has no vectors until new ones come."""
        store.use_model(MODEL)
        fact = a_fact("old text")
        add(store, fact)
        embed(store, fact, [1, 1])
        patch(store, fact, confidence="verified")
        patch(store, fact, text="old text", terms=("old", "text"))
        assert compared(store, (1, 1)) == {fact.id: 2.0}
        patch(store, fact, text="new text", terms=("new", "text"))
        assert compared(store, (1, 1)) is None
        patch(store, fact, text="old text", terms=("old", "text"))
        assert compared(store, (1, 1)) is None
        assert [entry.fact_id for entry in store.pending_vectors(10)] == [fact.id]

    def test_a_fact_or_a_new_text_may_bring_its_vectors_in_one_batch(
        self, store: MemoryStore
    ) -> None:
        """Contract 6: an update embeds first, then commits once."""
        store.use_model(MODEL)
        fact = a_fact("old text")
        store.apply(
            WriteBatch(
                facts=(with_terms(fact),), vectors=(vectors_of(fact, [[1, 2]]),), model_key=MODEL
            )
        )
        assert compared(store, (1, 1)) == {fact.id: 3.0}
        new = replace(fact, text="new text")
        store.apply(
            WriteBatch(
                patches=(patch_of(fact, text="new text", terms=("new", "text")),),
                vectors=(vectors_of(new, [[3, 4]]),),
                model_key=MODEL,
            )
        )
        assert compared(store, (1, 1)) == {fact.id: 7.0}
        assert store.pending_vectors(10) == []

    def test_pending_vectors_are_the_oldest_live_content_of_all_namespaces(
        self, store: MemoryStore
    ) -> None:
        """Contract 4.3 and 8.4: pending ones are picked up; aliases are never embedded."""
        store.use_model(MODEL)
        first = a_fact("first", created_at=at(1), agent_id=Namespace("z"))
        second = a_fact("second", created_at=at(2))
        third = a_fact("third", created_at=at(3), agent_id=Namespace("a"))
        done = a_fact("done", created_at=at(0))
        retired = a_fact("retired", created_at=at(0), superseded_by="agent")
        alias = an_alias("a", "b", created_at=at(0))
        add(store, third, done, retired, alias, second, first)
        embed(store, done, [1])
        expected = [pending_of(fact) for fact in (first, second, third)]
        assert store.pending_vectors(10) == expected
        assert store.pending_vectors(2) == expected[:2]
        assert store.stats().pending_vectors == 3
        patch(store, second, superseded_by=new_id())
        assert store.pending_vectors(10) == [expected[0], expected[2]]

    def test_the_arrays_of_a_batch_may_be_reused_by_the_caller(self, store: MemoryStore) -> None:
        """Interface: what was applied no longer belongs to the caller."""
        store.use_model(MODEL)
        fact = a_fact()
        add(store, fact)
        windows = np.array([[1, 2]], np.int16)
        new = NewVectors(namespace=SHELF, fact_id=fact.id, text=fact.text, windows=windows)
        store.apply(WriteBatch(vectors=(new,), model_key=MODEL))
        windows[:] = 99
        assert compared(store, (1, 1)) == {fact.id: 3.0}
