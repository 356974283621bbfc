"""Callers at the same time: nothing lost, nothing twice, one winner."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TYPE_CHECKING

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import (
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    at,
    new_id,
    patch_of,
    settled,
    vectors_of,
    with_terms,
)
from graymatter_mcp.store.conformance.view import Probe, observe

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance.kit import StoreMaker

THREADS = 8


def at_once(task: Callable[[int], object]) -> list[object]:
    """Call the task with 0 ... 7, each in a thread, all starting together; return the results."""
    barrier = Barrier(THREADS, timeout=60)

    def run(number: int) -> object:
        barrier.wait()
        return task(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(run, range(THREADS)))


class Races(Suite):
    """What holds when threads meet."""

    def test_identical_adds_from_many_threads_are_all_stored(self, store: MemoryStore) -> None:
        """Contract 3.4: the same text thirty times is thirty facts."""
        facts = [a_fact("same text", created_at=at(n)) for n in range(30)]

        def add_share(number: int) -> None:
            for fact in facts[number::THREADS]:
                add(store, fact)
                assert store.get(SHELF, [fact.id]) == [fact]

        at_once(add_share)
        assert store.find_text(SHELF, "same text") == facts
        view = observe(store.snapshot(SHELF), Probe(terms=("same",)))
        assert view.count == 30
        assert view.postings["same"] == {fact.id: 1.0 for fact in facts}

    def test_of_racing_revisions_exactly_one_wins(self, store: MemoryStore) -> None:
        """Contract 6: a source that moved fails the batch; the loser's heir is not stored."""
        sources = [a_fact(f"old {n}", created_at=at(n)) for n in range(5)]
        add(store, *sources)
        heirs = [a_fact(f"new {n}", created_at=at(10)) for n in range(THREADS)]

        def revise(number: int) -> bool:
            heir = heirs[number]
            patches = [patch_of(s, expected=s, superseded_by=heir.id) for s in sources]
            # Every second caller takes the sources the other way round.
            ordered = patches if number % 2 else patches[::-1]
            try:
                store.apply(WriteBatch(facts=(with_terms(heir),), patches=tuple(ordered)))
            except FactChangedError:
                return False
            return True

        outcomes = at_once(revise)
        assert outcomes.count(True) == 1
        winner = heirs[outcomes.index(True)]
        assert observe(store.snapshot(SHELF), Probe()).facts == (winner,)
        assert store.superseded_by(SHELF, [heir.id for heir in heirs]) == {
            winner.id: sorted(source.id for source in sources)
        }
        assert len(store.list(SHELF)) == 6

    def test_an_id_raced_for_is_given_once(self, store: MemoryStore) -> None:
        """Contract 4.1: an id is an identity, also between threads."""
        fact_id = new_id()

        def claim(number: int) -> bool:
            try:
                add(store, a_fact(f"claim {number}", id=fact_id))
            except FactChangedError:
                return False
            return True

        outcomes = at_once(claim)
        assert outcomes.count(True) == 1
        assert [f.text for f in store.list(SHELF)] == [f"claim {outcomes.index(True)}"]

    def test_a_failing_batch_takes_no_other_callers_batch_with_it(self, store: MemoryStore) -> None:
        """Contract 4.3: each call is its own transaction, however commits are grouped."""
        facts = [[a_fact(f"n {n} {k}") for k in range(5)] for n in range(THREADS)]

        def write(number: int) -> int:
            failures = 0
            for fact in facts[number]:
                bad = (patch_of(a_fact(), confidence=""),) if number % 2 else ()
                try:
                    store.apply(WriteBatch(facts=(with_terms(fact),), patches=bad))
                except FactChangedError:
                    failures += 1
            return failures

        assert at_once(write) == [0, 5] * 4
        expected = {fact.id for number in range(0, THREADS, 2) for fact in facts[number]}
        assert {fact.id for fact in store.list(SHELF)} == expected
        assert set(observe(store.snapshot(SHELF), Probe()).by_id) == expected

    def test_touches_and_counters_from_many_threads_all_count(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 3.2: every recall that returned a fact counts."""
        fact = a_fact()
        add(store, fact)

        def use(number: int) -> None:
            for turn in range(25):
                store.touch(SHELF, [fact.id], at(number * 100 + turn))
                store.apply(WriteBatch(counters=(("consolidations", 1),)))

        at_once(use)
        store = settled(maker, store)
        (found,) = store.list(SHELF)
        assert (found.access_count, found.accessed_at) == (200, at(724))
        assert store.stats().counters == {"consolidations": 200}

    def test_readers_beside_a_writer_see_whole_batches_only(self, store: MemoryStore) -> None:
        """Contract 5.3: recall works on one consistent snapshot."""
        store.use_model(MODEL)
        writers = 2

        def pair(number: int, turn: int) -> WriteBatch:
            facts = [a_fact(f"pair {side}", created_at=at(number * 50 + turn)) for side in "lr"]
            return WriteBatch(
                facts=tuple(map(with_terms, facts)),
                vectors=tuple(vectors_of(fact, [[1, 1]]) for fact in facts),
                model_key=MODEL,
            )

        def work(number: int) -> None:
            for turn in range(15):
                if number < writers:
                    store.apply(pair(number, turn))
                    continue
                view = observe(store.snapshot(SHELF), Probe(terms=("pair", "l"), query=((1, 1),)))
                assert view.count % 2 == 0
                assert len(view.postings["pair"]) == view.count == len(view.facts)
                assert len(view.postings["l"]) * 2 == view.count
                assert len(view.similarities or {}) == view.count

        at_once(work)
        assert store.snapshot(SHELF).count == writers * 15 * 2
