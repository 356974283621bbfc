"""What the data plane keeps: details, history, handles, accounts, feed and audit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.store.base import NEVER, Document, Edge, Event, FactDetails, WriteBatch
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    MODEL,
    SHELF,
    Suite,
    a_fact,
    add,
    at,
    embed,
    patch,
    patch_of,
    reopened,
    ulid,
    vectors_of,
    with_terms,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import MemoryStore, Snapshot
    from graymatter_mcp.store.conformance.kit import StoreMaker


def detailed(fact: Fact, **fields: Any) -> FactDetails:
    """Build details of a fact."""
    values: dict[str, Any] = {"sensitivity": 2, "content_at": fact.created_at, **fields}
    return FactDetails(namespace=fact.agent_id, fact_id=fact.id, **values)


def stored_fact(seconds: float, text: str = "the sky is blue", **fields: Any) -> Fact:
    """Build a fact whose id says when it was stored, as the engine makes them."""
    moment = at(seconds)
    number = int(moment.timestamp() * 1000) << 80
    return a_fact(text, **{"id": ulid(number), "created_at": moment, **fields})


def capture(store: MemoryStore, fact: Fact, **fields: Any) -> None:
    """Store a fact with its details, as the data plane does."""
    store.apply(
        WriteBatch(
            at=fact.created_at,
            facts=(with_terms(fact),),
            details=(detailed(fact, **fields),),
            is_fresh=True,
        )
    )


def ids_of(snapshot: Snapshot) -> set[FactId]:
    """Return the eligible facts."""
    return set(snapshot.fact_ids(np.flatnonzero(snapshot.eligible).tolist()))


def now_and_later(maker: StoreMaker, store: MemoryStore) -> Iterator[MemoryStore]:
    """Yield the store, and what a reopening finds where it persists."""
    yield store
    if maker.persists:
        again = maker.reopen(store)
        assert again is not None
        yield again


class PlaneFacts(Suite):
    """Facts as the data plane keeps them."""

    def test_details_are_columns_of_the_snapshot(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 1.2: what filters need is there row by row, and survives a restart."""
        plain, rich = stored_fact(0, "plain"), stored_fact(1, "rich")
        add(store, plain)
        capture(
            store,
            rich,
            sensitivity=1,
            content_at=at(2),
            expires_at=at(90),
            is_cold=True,
            agent_name="ada",
            record="{}",
        )
        for one in now_and_later(maker, store):
            seen = one.snapshot(SHELF)
            rows = first, second = seen.rows_of([plain.id, rich.id])
            assert seen.sensitivity[[first, second]].tolist() == [-1, 1]
            assert seen.is_cold[[first, second]].tolist() == [False, True]
            assert int(seen.expires_at[first]) == NEVER
            assert int(seen.content_at[second] - seen.created_at[second]) == 1_000_000
            assert seen.agent_names[first] == seen.agent_code("") == 0
            assert seen.agent_names[second] == seen.agent_code("ada")
            assert seen.agent_code("bob") == -1
            assert seen.records(rows) == ["", "{}"]
            assert seen.usage([first]) == [(0, plain.accessed_at)]
            assert seen.rows_of([ulid(5)]) == [-1]

    def test_the_core_sees_neither_the_sensitive_nor_the_expired(self, store: MemoryStore) -> None:
        """Data plane 1.5: of data-plane facts the core shows those up to private."""
        shown, secret, brief, old = (stored_fact(n, f"fact {n}") for n in range(4))
        capture(store, shown)
        capture(store, secret, sensitivity=3)
        capture(store, brief, expires_at=at(60))
        capture(store, old, is_active=False)
        assert ids_of(store.snapshot(SHELF, now=at(59))) == {shown.id, brief.id}
        assert ids_of(store.snapshot(SHELF, now=at(60))) == {shown.id}

    def test_the_latest_details_win(self, maker: StoreMaker, store: MemoryStore) -> None:
        """Data plane 1.2: each change appends a version."""
        fact = stored_fact(0)
        capture(store, fact, record="1")
        before = store.snapshot(SHELF)
        store.apply(WriteBatch(at=at(5), details=(detailed(fact, sensitivity=3, record="2"),)))
        assert (before.records([0]), before.sensitivity.tolist()) == (["1"], [2])
        for one in now_and_later(maker, store):
            seen = one.snapshot(SHELF)
            assert (seen.records([0]), seen.sensitivity.tolist()) == (["2"], [3])

    def test_another_choice_of_rows_has_its_own_statistics(self, store: MemoryStore) -> None:
        """Data plane 4.1: every statistic is taken over the eligible set."""
        facts = [stored_fact(n, text) for n, text in enumerate(["a b", "a c", "a d e f"])]
        add(store, *facts)
        for fact in facts:
            embed(store, fact, [1, 2])
        store.use_model(MODEL)
        whole = store.snapshot(SHELF)
        chosen = whole.eligible.copy()
        chosen[whole.rows_of([facts[2].id])[0]] = False
        part = whole.narrowed(chosen)
        assert (part.count, part.mean_length) == (2, 2.0)
        assert [len(p.rows) for p in part.postings(["a", "d"])] == [2, 0]
        assert len(whole.postings(["a"])[0].rows) == whole.count == 3
        similar = part.similarities(np.array([[3, 4]], np.int16))
        assert similar is not None
        assert np.isfinite(similar).sum() == 2
        assert ids_of(part) == {facts[0].id, facts[1].id}

    def test_vectors_come_back_by_row(self, store: MemoryStore) -> None:
        """Data plane 6: what is near a fact is asked with its own vector."""
        fact, bare = stored_fact(0), stored_fact(1, "bare")
        add(store, fact, bare)
        store.use_model(MODEL)
        store.apply(WriteBatch(vectors=(vectors_of(fact, [[1, 2], [3, 4]]),), model_key=MODEL))
        seen = store.snapshot(SHELF)
        row, other = seen.rows_of([fact.id, bare.id])
        windows = seen.vectors(row)
        assert windows is not None
        assert windows.tolist() == [[1, 2], [3, 4]]
        assert seen.vectors(other) is None


class PlaneSessions(Suite):
    """Who came before whom."""

    def test_facts_of_one_session_follow_each_other(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 6: `next` leads to the fact before in the same session and agent name."""
        names = (("s", "ada"), ("t", "ada"), ("s", "ada"), ("s", "bob"))
        facts = [stored_fact(n, str(n)) for n in range(4)]
        for fact, (session, name) in zip(facts, names, strict=True):
            capture(store, fact, session=session, agent_name=name)
        for one in now_and_later(maker, store):
            seen = one.snapshot(SHELF)
            rows = seen.rows_of([fact.id for fact in facts])
            assert seen.previous[rows].tolist() == [-1, -1, rows[0], -1]

    def test_a_connection_is_a_session_for_half_an_hour(self, store: MemoryStore) -> None:
        """Data plane 6: where neither fact names a session, connection and time decide."""
        by = Origin(session="c1")
        facts = [
            stored_fact(0, "1", origin=by),
            stored_fact(1800, "2", origin=by),
            stored_fact(3601, "3", origin=by),
            stored_fact(3602, "4"),
            stored_fact(3603, "5"),
        ]
        add(store, *facts)
        seen = store.snapshot(SHELF)
        rows = seen.rows_of([fact.id for fact in facts])
        assert seen.previous[rows].tolist() == [-1, rows[0], -1, -1, rows[3]]

    def test_imported_times_do_not_change_who_came_before(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 4.13: the moment of storing counts, not `createdAt`."""
        facts = [
            a_fact(str(n), id=stored_fact(n).id, created_at=at(-100 * n), accessed_at=at(0))
            for n in range(3)
        ]
        for fact in facts:
            capture(store, fact, session="s")
        for one in now_and_later(maker, store):
            seen = one.snapshot(SHELF)
            rows = seen.rows_of([fact.id for fact in facts])
            assert seen.previous[rows].tolist() == [-1, rows[0], rows[1]]

    def test_a_session_closes_over_what_is_forgotten_or_reworded(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 6: the same neighbours at once, and after every restart."""
        facts = [stored_fact(n, f"fact {n}") for n in range(5)]
        for fact in facts:
            capture(store, fact, session="s")
        assert store.snapshot(SHELF).count == 5
        store.apply(WriteBatch(at=at(10), delete=((SHELF, facts[1].id), (SHELF, facts[4].id))))
        other = patch_of(facts[2], text="other words", terms=("other", "words"))
        store.apply(WriteBatch(at=at(11), patches=(other,)))
        last = stored_fact(12, "last")
        capture(store, last, session="s")
        left = [facts[0].id, facts[2].id, facts[3].id, last.id]
        for one in now_and_later(maker, store):
            seen = one.snapshot(SHELF)
            rows = seen.rows_of(left)
            assert seen.rows_of([facts[1].id, facts[4].id]) == [-1, -1]
            assert seen.previous[rows].tolist() == [-1, *rows[:-1]]
            assert seen.texts(rows) == ["fact 0", "other words", "fact 3", "last"]
            assert ids_of(seen) == set(left)
            assert (seen.count, seen.stored, seen.has_retired) == (4, 4, False)
            assert [len(p.rows) for p in seen.postings(["words", "2"])] == [1, 0]

    def test_a_reworded_fact_waits_for_a_vector_of_its_own(self, store: MemoryStore) -> None:
        """Data plane 3.12: the old vector does not answer for the new text."""
        fact = stored_fact(0, "then")
        add(store, fact, stored_fact(1, "beside"))
        embed(store, fact, [1, 2])
        store.use_model(MODEL)
        assert store.snapshot(SHELF).has_vector.sum() == 1
        store.apply(WriteBatch(at=at(1), patches=(patch_of(fact, text="now", terms=("now",)),)))
        seen = store.snapshot(SHELF)
        (row,) = seen.rows_of([fact.id])
        assert not seen.has_vector[row]
        assert seen.similarities(np.array([[1, 1]], np.int16)) is None
        now = vectors_of(stored_fact(0, "now"), [[3, 4]])
        store.apply(WriteBatch(vectors=(now,), model_key=MODEL))
        again = store.snapshot(SHELF)
        (row,) = again.rows_of([fact.id])
        similar = again.similarities(np.array([[1, 1]], np.int16))
        assert similar is not None
        assert similar[row] == 7
        assert np.isfinite(similar).sum() == 1


class PlaneHistory(Suite):
    """The store as it stood."""

    def test_an_earlier_instant_shows_what_was_valid_then(self, store: MemoryStore) -> None:
        """Data plane 4.13: versions valid at T, facts stored by T, supersession undone."""
        old, heir = stored_fact(0, "old words"), stored_fact(10, "heir")
        capture(store, old, record="1")
        store.apply(
            WriteBatch(
                at=at(10),
                facts=(with_terms(heir),),
                details=(detailed(old, record="2"), detailed(heir)),
                patches=(patch_of(old, superseded_by=heir.id),),
            )
        )
        store.apply(
            WriteBatch(at=at(20), patches=(patch_of(heir, text="new heir", terms=("new", "heir")),))
        )
        before = store.snapshot_at(SHELF, at(9))
        assert (before.texts([0]), before.records([0])) == (["old words"], ["1"])
        assert ids_of(before) == {old.id}
        between = store.snapshot_at(SHELF, at(19))
        assert ids_of(between) == {heir.id}
        assert between.texts(between.rows_of([heir.id])) == ["heir"]
        assert len(between.postings(["new"])[0].rows) == 0
        assert store.snapshot_at(SHELF, at(-1)).size == 0
        assert store.snapshot_at(SHELF, at(20)).texts(between.rows_of([heir.id])) == ["new heir"]

    def test_a_text_of_the_past_has_no_vector_of_the_present(self, store: MemoryStore) -> None:
        """Data plane 4.13: versions without a vector are ranked by keyword."""
        fact, same = stored_fact(0, "then"), stored_fact(1, "same")
        add(store, fact, same)
        store.use_model(MODEL)
        store.apply(WriteBatch(vectors=(vectors_of(fact, [[1, 2]]),), model_key=MODEL))
        store.apply(WriteBatch(at=at(10), patches=(patch_of(fact, text="now", terms=("now",)),)))
        now = stored_fact(0, "now")
        made = (vectors_of(now, [[1, 2]]), vectors_of(same, [[1, 2]]))
        store.apply(WriteBatch(vectors=made, model_key=MODEL))
        query = np.array([[1, 1]], np.int16)
        then = store.snapshot_at(SHELF, at(5)).similarities(query)
        present = store.snapshot_at(SHELF, at(10)).similarities(query)
        assert then is not None
        assert present is not None
        assert (np.isfinite(then).sum(), np.isfinite(present).sum()) == (1, 2)


class PlaneRecords(Suite):
    """What stands beside the facts."""

    def test_handles_lead_to_their_facts(self, maker: StoreMaker, store: MemoryStore) -> None:
        """Data plane 3.11: exact and case-sensitive, each once."""
        fact, other = stored_fact(0), stored_fact(1, "other")
        store.apply(
            WriteBatch(
                facts=(with_terms(fact), with_terms(other)),
                source_refs=((SHELF, fact.id, "a"), (SHELF, other.id, "a"), (SHELF, fact.id, "b")),
                is_fresh=True,
            )
        )
        store.apply(WriteBatch(source_refs=((SHELF, fact.id, "c"), (SHELF, fact.id, "a"))))
        for one in now_and_later(maker, store):
            assert one.with_source_ref("a") == [(SHELF, fact.id), (SHELF, other.id)]
            assert one.with_source_ref("A") == []
            refs = one.source_refs([fact.id, other.id])
            assert refs == {fact.id: ("a", "b", "c"), other.id: ("a",)}

    def test_an_erased_fact_leaves_nothing_behind(self, store: MemoryStore) -> None:
        """Data plane 3.11: versions, details, handles, edges; the feed's entries stay."""
        fact, other = stored_fact(0), stored_fact(1, "other")
        add(store, fact, other)
        edge = Edge(
            namespace=SHELF,
            source=fact.id.lower(),
            target=other.id.lower(),
            relation="agent_link",
            created_at=at(2),
        )
        refs = ((SHELF, fact.id, "a"),)
        store.apply(
            WriteBatch(at=at(2), details=(detailed(fact),), source_refs=refs, edges=(edge,))
        )
        assert store.links(SHELF, "agent_link", None) == [edge]
        assert store.links(SHELF, "agent_link", at(1)) == []
        store.apply(WriteBatch(at=at(3), delete=((SHELF, fact.id),), delete_as="expired"))
        assert store.links(SHELF, "agent_link", None) == []
        assert store.with_source_ref("a") == []
        assert store.snapshot_at(SHELF, at(2)).rows_of([fact.id]) == [-1]
        told = [c.change for c in store.changes(0, None) if c.fact_id == fact.id]
        assert told == ["created", "updated", "expired"]

    def test_the_feed_tells_each_change_in_order(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 8: created, updated, superseded, deleted, with rising numbers."""
        old, heir = stored_fact(0), stored_fact(1, "heir")
        add(store, old)
        retired = patch_of(old, superseded_by=heir.id)
        store.apply(WriteBatch(at=at(1), facts=(with_terms(heir),), patches=(retired,)))
        store.apply(WriteBatch(at=at(2), details=(detailed(heir),)))
        store.apply(WriteBatch(at=at(3), delete=((SHELF, old.id), (SHELF, ulid(9)))))
        for one in now_and_later(maker, store):
            feed = list(one.changes(0, None))
            assert {(c.change, c.fact_id, c.detail) for c in feed[:3]} == {
                ("created", old.id, ""),
                ("created", heir.id, ""),
                ("superseded", old.id, heir.id),
            }
            rest = [(c.change, c.fact_id) for c in feed[3:]]
            assert rest == [("updated", heir.id), ("deleted", old.id)]
            assert [c.seq for c in feed] == sorted({c.seq for c in feed})
            assert list(one.changes(feed[3].seq, None)) == feed[4:]
            assert list(one.changes(0, at(2))) == feed[3:]

    def test_documents_are_replaced_and_taken_away(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 8: accounts are records of the same store."""
        first = [Document(kind="user", key=key, text=text) for key, text in ("1a", "2b")]
        store.apply(WriteBatch(documents=tuple(first)))
        then = (
            Document(kind="user", key="1", text=None),
            Document(kind="user", key="2", text="c"),
            Document(kind="token", key="2", text="t"),
        )
        store.apply(WriteBatch(documents=then))
        for one in now_and_later(maker, store):
            assert one.documents() == [*then[1:]]

    def test_events_are_numbered_by_commit(self, maker: StoreMaker, store: MemoryStore) -> None:
        """Data plane 8: the audit is append-only, and each tenant sees its own."""
        for number in range(3):
            event = Event(at=at(number), tenant="local" if number else "acme", text=str(number))
            store.apply(WriteBatch(events=(event,), is_fresh=True))
        for one in now_and_later(maker, store):
            found = one.events("local", 0, 10)
            assert [numbered.event.text for numbered in found] == ["1", "2"]
            assert one.events("local", found[0].seq, 10) == found[1:]
            assert one.events("local", 0, 1) == found[:1]

    def test_old_entries_can_be_dropped_and_numbers_go_on(self, store: MemoryStore) -> None:
        """Data plane 8: the feed is kept 30 days, the audit 180."""
        for number in range(3):
            fact = stored_fact(number, str(number))
            event = Event(at=at(number), tenant="local", text=str(number))
            store.apply(WriteBatch(facts=(with_terms(fact),), events=(event,), is_fresh=True))
        last = list(store.changes(0, None))[-1].seq
        store.forget_before(at(1), at(99))
        assert [c.at for c in store.changes(0, None)] == [at(1), at(2)]
        assert [one.event.text for one in store.events("local", 0, 9)] == ["2"]
        add(store, stored_fact(9, "more"))
        assert next(store.changes(last, None)).seq > last

    def test_a_failed_precondition_leaves_details_alone(self, store: MemoryStore) -> None:
        """Data plane 5.4: if the transaction fails nothing happened."""
        fact = stored_fact(0)
        capture(store, fact, record="1")
        stale = patch_of(fact, superseded_by="x", expected=a_fact("another text", id=fact.id))
        batch = WriteBatch(
            at=at(1),
            patches=(stale,),
            details=(detailed(fact, record="2"),),
            events=(Event(at=at(1), tenant="local", text="e"),),
        )
        with pytest.raises(FactChangedError):
            store.apply(batch)
        assert store.snapshot(SHELF).records([0]) == ["1"]
        assert store.events("local", 0, 9) == []

    def test_a_fact_moves_with_all_that_is_its_own(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 3.12: an update may name another shelf; the id stays."""
        fact = stored_fact(0)
        capture(store, fact, record="1")
        store.apply(WriteBatch(source_refs=((SHELF, fact.id, "a"),)))
        embed(store, fact, [1, 2])
        store.use_model(MODEL)
        assert store.snapshot(SHELF).count == 1
        store.apply(WriteBatch(at=at(1), moves=((SHELF, fact.id, ELSEWHERE),)))
        for one in now_and_later(maker, store):
            one.use_model(MODEL)
            assert one.snapshot(SHELF).size == 0
            seen = one.snapshot(ELSEWHERE)
            assert (seen.records([0]), seen.has_vector.tolist()) == (["1"], [True])
            assert one.with_source_ref("a") == [(ELSEWHERE, fact.id)]
            assert one.shelves_of([fact.id, ulid(7)]) == {fact.id: ELSEWHERE}
            assert ELSEWHERE in one.namespaces()
            # What is not there does not move.
            with pytest.raises(FactChangedError):
                one.apply(WriteBatch(moves=((SHELF, fact.id, ELSEWHERE),)))

    def test_counts_and_links_of_a_moved_fact_go_with_it(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 3.11 and 3.12: reads that were counted just before, and links of its shelf."""
        fact, other = stored_fact(0), stored_fact(1, "other")
        add(store, fact, other)
        edge = Edge(
            namespace=SHELF,
            source=fact.id.lower(),
            target=other.id.lower(),
            relation="agent_link",
            created_at=at(2),
        )
        store.apply(WriteBatch(edges=(edge,)))
        store.touch(SHELF, [fact.id], at(3))
        store.apply(WriteBatch(at=at(4), moves=((SHELF, fact.id, ELSEWHERE),)))
        for one in now_and_later(maker, store):
            (moved,) = one.get(ELSEWHERE, [fact.id])
            assert (moved.access_count, moved.accessed_at) == (1, at(3))
            assert one.snapshot(ELSEWHERE).usage([0])[0][0] == 1
            store = one
        store.apply(WriteBatch(at=at(5), delete=((ELSEWHERE, fact.id),)))
        assert store.links(SHELF, "agent_link", None) == []

    def test_a_changed_text_gets_its_vector_after_a_restart(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Data plane 3.12 and 7.4: what is owed survives, and is owed for the new text alone."""
        fact = stored_fact(0)
        store.use_model(MODEL)
        add(store, fact)
        embed(store, fact, [1, 2])
        patch(store, fact, text="the sea is deep", terms=("sea", "deep"))
        store = reopened(maker, store)
        store.use_model(MODEL)
        (owed,) = store.pending_vectors(9)
        assert owed.text == "the sea is deep"
        embed(store, fact, [5, 6])
        assert store.pending_vectors(9) == [owed]
        embed(store, replace(fact, text=owed.text), [3, 4])
        assert store.pending_vectors(9) == []

    def test_a_new_fact_can_bring_its_vector(self, maker: StoreMaker, store: MemoryStore) -> None:
        """Data plane 5.7: the vector is stored at once when there is one."""
        store.use_model(MODEL)
        for number in range(2):  # the second model key is known already
            fact = stored_fact(number, f"fact {number}")
            store.apply(
                WriteBatch(
                    facts=(with_terms(fact),),
                    vectors=(vectors_of(fact, [[1, 2], [3, 4]]),),
                    model_key=MODEL,
                    is_fresh=True,
                )
            )
        for one in now_and_later(maker, store):
            one.use_model(MODEL)
            seen = one.snapshot(SHELF)
            assert seen.has_vector.tolist() == [True, True]
            windows = seen.vectors(1)
            assert windows is not None
            assert windows.tolist() == [[1, 2], [3, 4]]
            assert one.pending_vectors(9) == []
