"""How mirrors share memory, seen through the store that owns them."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.base import NewFact, NewVectors, Vitals, WriteBatch
from graymatter_mcp.store.conformance.kit import MODEL, SHELF, a_fact, add, at, embed
from graymatter_mcp.store.duckdb import mirrors as mirrors_module
from graymatter_mcp.store.duckdb import read
from graymatter_mcp.store.duckdb.mirror import Mirror
from graymatter_mcp.store.duckdb.mirrors import Mirrors
from graymatter_mcp.store.duckdb.rows import AppliedBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from graymatter_mcp.model.facts import Fact


class Loads:
    """An empty database that notes which namespaces were read."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, namespace: Namespace) -> Mirror:
        """Read nothing."""
        self.asked.append(namespace)
        return Mirror(str)


def no_facts(*_: object, **__: object) -> list[Fact]:
    """Fetch nothing."""
    return []


def test_the_mirror_asked_for_longest_ago_leaves_when_memory_is_short() -> None:
    """Issue: mirrors are bounded by what they take, least recently used first."""
    loads = Loads()
    mirrors = Mirrors(loads, max_bytes=0)
    for name in ("a", "b", "a"):
        mirrors.snapshot(Namespace(name), 0, 0, no_facts)
    assert loads.asked == ["a", "b", "a"]


def test_a_mirror_that_fits_is_read_once() -> None:
    """Issue: mirrors are loaded lazily and kept."""
    loads = Loads()
    mirrors = Mirrors(loads)
    for name in ("a", "b", "a", "b"):
        mirrors.snapshot(Namespace(name), 0, 0, no_facts)
    assert loads.asked == ["a", "b"]


def test_a_mirror_is_the_same_however_many_rows_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 3: a large namespace is read in portions."""
    path = tmp_path / "gray.duckdb"
    store = DuckDBStore(path)
    store.use_model(MODEL)
    for number in range(10):
        fact = a_fact(f"word{number % 3} and {number}", created_at=at(number))
        add(store, fact)
        embed(store, fact, [number, 10 - number], [number, number])
    store.close()

    def signals() -> list[object]:
        again = DuckDBStore(path)
        again.use_model(MODEL)
        snapshot = again.snapshot(SHELF)
        similarities = snapshot.similarities(np.array([[3, 4]], np.int16))
        assert similarities is not None
        postings = snapshot.postings(["word0", "word1", "word2", "and", "7"])
        again.close()
        return [
            snapshot.texts(range(snapshot.size)),
            similarities.tolist(),
            [(one.rows.tolist(), one.tf.tolist()) for one in postings],
            snapshot.cooccurring(["word1"]),
        ]

    whole = signals()
    monkeypatch.setattr(read, "AT_ONCE", 3)
    assert signals() == whole


def test_a_read_counted_while_older_counts_are_stored_stays(tmp_path: Path) -> None:
    """Contract, 5.4: counts are stored in batches, and none is lost between two of them."""
    fact = a_fact()
    store = DuckDBStore(tmp_path / "gray.duckdb")
    try:
        add(store, fact)
        store.touch(SHELF, [fact.id], at(1))
        on_its_way = Vitals(
            namespace=SHELF, fact_id=fact.id, access_count=1, accessed_at=at(1), weight=0.5
        )
        store.touch(SHELF, [fact.id], at(2))
        store.apply(WriteBatch(vitals=(on_its_way,)))
        snapshot = store.snapshot(SHELF)
        assert snapshot.usage(snapshot.rows_of([fact.id])) == [(2, at(2))]
        (kept,) = store.get(SHELF, [fact.id])
        assert (kept.access_count, kept.accessed_at, kept.weight) == (2, at(2), 0.5)
    finally:
        store.close()
    again = DuckDBStore(tmp_path / "gray.duckdb")
    try:
        (kept,) = again.get(SHELF, [fact.id])
        assert (kept.access_count, kept.weight) == (2, 0.5)
    finally:
        again.close()


def test_a_mirror_that_cannot_follow_is_built_anew_and_the_write_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: what is committed is never told to have failed, and never hidden."""
    store = DuckDBStore(tmp_path / "gray.duckdb")
    first, second = a_fact("The lamp is green"), a_fact("The lamp is dark", created_at=at(1))
    add(store, first)
    assert store.snapshot(SHELF).size == 1

    def fail(*_: object) -> None:
        raise KeyError("nobody knows")

    monkeypatch.setattr(mirrors_module, "replay", fail)
    add(store, second)
    store.apply(WriteBatch(at=at(2), delete=((SHELF, first.id),)))
    assert store.snapshot(SHELF).fact_ids([0]) == [second.id]
    store.close()


def test_a_shelf_that_nobody_reads_holds_nothing_of_what_is_written() -> None:
    """Issue 5: memory does not grow while a dropped mirror waits to be asked for."""
    mirrors = Mirrors(Loads())
    mirrors.snapshot(SHELF, 0, 0, no_facts)
    windows = np.zeros((1, 2), np.int16)
    is_held = weakref.ref(windows)
    fact = a_fact("The lamp is green")
    vectors = (NewVectors(namespace=SHELF, fact_id=fact.id, text=fact.text, windows=windows),)
    moved = WriteBatch(moves=((SHELF, fact.id, Namespace("elsewhere")),))
    written = WriteBatch(facts=(NewFact(fact=fact, terms=("lamp",)),))
    applied = [
        AppliedBatch(batch=batch, states=(), must_rebuild=has_moved, vectors=vectors, promised=0)
        for batch, has_moved in ((moved, True), (written, False))
    ]
    mirrors.committed(applied, 1)
    del windows, vectors, applied
    assert is_held() is None


def test_shelves_of_which_nothing_is_known_leave_when_memory_is_short() -> None:
    """Issue 5: an empty mirror takes memory too, and callers may name any shelf."""
    loads = Loads()
    mirrors = Mirrors(loads, max_bytes=100_000)
    names = [f"shelf {number}" for number in range(20)]
    for name in [*names, names[0]]:
        mirrors.snapshot(Namespace(name), 0, 0, no_facts)
    assert loads.asked == [*names, names[0]]
