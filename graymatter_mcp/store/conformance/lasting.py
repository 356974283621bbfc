"""What outlives a store: everything after reopening, nothing after closing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings

from graymatter_mcp.errors import ReadOnlyError, StoreUnavailableError
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.bookkeeping import audited, vitals_of
from graymatter_mcp.store.conformance.corpora import PROPERTY, TERMS, History, a_history, play
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
    new_namespace,
    patch,
    reopened,
)
from graymatter_mcp.store.conformance.records import edge, node
from graymatter_mcp.store.conformance.view import Probe, observe, predict
from graymatter_mcp.store.conformance.writes import everything

if TYPE_CHECKING:
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance.kit import StoreMaker


def fill(store: MemoryStore) -> None:
    """Write something of every kind."""
    store.use_model(MODEL)
    heir = a_fact("the sea\r\n", created_at=at(2), confidence="verified")
    old = a_fact("the sky", created_at=at(1))
    gone = a_fact("gone", agent_id=Namespace("only once"))
    add(store, heir, old, gone, a_fact("pending sky"), an_alias("sky", "heaven"))
    embed(store, heir, [1, 2], [3, 4])
    embed(store, old, [5, 6])
    patch(store, old, superseded_by=heir.id)
    patch(store, heir, pinned_at=at(3))
    state: JsonObject = {"n": 2**70, "r": 1.0}
    store.apply(
        WriteBatch(
            vitals=(vitals_of(heir, 4, 0.5, 9),),
            nodes=(node("a"), node("b")),
            edges=(edge("b", "a", 0.5),),
            checkpoints=(
                Checkpoint(id=new_id(), agent_id=SHELF, created_at=at(1), state=state),
                Checkpoint(id=new_id(), agent_id=SHELF, created_at=at(2)),
            ),
            audit=(audited(1), audited(2)),
            delete=((gone.agent_id, gone.id),),
            counters=(("consolidations", 3),),
        )
    )


class Lasting(Suite):
    """What closing, reopening and refusing writes promise."""

    def test_a_reopened_store_shows_what_it_showed_before(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 4.3: the answer comes after the commit, so it survives."""
        fill(store)
        before = everything(store)
        lineage = store.superseded_by(SHELF, [fact.id for fact in store.list(SHELF)])
        store = reopened(maker, store)
        store.use_model(MODEL)
        assert everything(store) == before
        assert store.superseded_by(SHELF, [fact.id for fact in store.list(SHELF)]) == lineage

    # Each example opens two stores: shrinking would take minutes.
    @settings(PROPERTY, max_examples=8, phases=(Phase.explicit, Phase.generate))
    @given(history=a_history())
    def test_a_reopened_namespace_still_equals_the_naive_count(
        self, maker: StoreMaker, history: History
    ) -> None:
        """Design 1: a mirror is rebuilt from the tables at will."""
        store = maker.make()
        namespace = new_namespace()
        records = play(store, namespace, history)
        store = reopened(maker, store)
        store.use_model(MODEL)
        probe = Probe(terms=TERMS, query=((1, 2, -3),))
        for min_level in (0, 1):
            view = observe(store.snapshot(namespace, min_level), probe)
            assert view == predict(records, probe, min_level=min_level)

    def test_a_reopened_store_goes_on_where_it_stopped(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 4.3: expectations hold across restarts; later writes win over earlier."""
        fact = a_fact("one")
        add(store, fact)
        patch(store, fact, confidence="verified")
        store.apply(WriteBatch(vitals=(vitals_of(fact, 4, 0.5, 9),)))
        store = reopened(maker, store)
        (read,) = store.list(SHELF)
        patch(store, fact, expected=read, text="two", terms=("two",))
        store.apply(WriteBatch(vitals=(vitals_of(fact, 1, 0.25, 8),)))
        store = reopened(maker, store)
        (found,) = store.list(SHELF)
        assert (found.text, found.confidence) == ("two", "verified")
        assert (found.access_count, found.weight, found.accessed_at) == (1, 0.25, at(8))
        assert store.find_text(SHELF, "one") == []

    def test_a_read_only_store_reads_and_refuses_writes(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 4.3: reads work, writes fail with `store is read-only`."""
        fill(store)
        before = everything(store)
        assert not store.read_only
        frozen = maker.freeze(store)
        frozen.use_model(MODEL)
        assert frozen.read_only
        with pytest.raises(ReadOnlyError, match=r"^store is read-only$"):
            add(frozen, a_fact("never"))
        frozen.ping()
        assert everything(frozen) == before

    def test_a_closed_store_says_that_it_is_not_available(self, store: MemoryStore) -> None:
        """Contract 9.1: close twice is fine; anything after it fails by class."""
        add(store, a_fact())
        store.ping()
        store.close()
        store.close()
        with pytest.raises(StoreUnavailableError):
            store.ping()
        with pytest.raises(StoreUnavailableError):
            add(store, a_fact())
        with pytest.raises(StoreUnavailableError):
            store.list(SHELF)
        with pytest.raises(StoreUnavailableError):
            store.checkpoints(SHELF)
