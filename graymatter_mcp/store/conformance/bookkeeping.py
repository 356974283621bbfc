"""Book-keeping: vitals, touches, counters, counts and the audit log."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from graymatter_mcp.store.base import (
    AuditEntry,
    NamespaceStats,
    StoreStats,
    Vitals,
    WriteBatch,
)
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    SHELF,
    START,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    new_id,
    patch,
    settled,
)

if TYPE_CHECKING:
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance.kit import StoreMaker


def vitals_of(fact: Fact, access_count: int, weight: float = 1.0, second: float = 0) -> Vitals:
    """Build the vitals of a fact."""
    return Vitals(
        namespace=fact.agent_id,
        fact_id=fact.id,
        access_count=access_count,
        accessed_at=at(second),
        weight=weight,
    )


def audited(number: int) -> AuditEntry:
    """Build the audit entry of this number; later numbers are newer."""
    return AuditEntry(
        at=START + timedelta(milliseconds=number),
        action="update",
        namespace=SHELF,
        old_text=f"old {number}",
        new_text="",
        source="agent_self",
    )


class Audit(Suite):
    """What the audit log is promised."""

    def test_entries_come_back_newest_first(self, store: MemoryStore) -> None:
        """Contract 6: an entry of each curation is kept."""
        store.apply(WriteBatch(audit=(audited(1), audited(2))))
        store.apply(WriteBatch(audit=(audited(3),)))
        assert store.audit(10) == [audited(3), audited(2), audited(1)]
        assert store.audit(2) == [audited(3), audited(2)]

    def test_the_newest_ten_thousand_are_kept(self, store: MemoryStore) -> None:
        """Contract 6: the newest 10,000."""
        for start in (0, 6_000):
            store.apply(WriteBatch(audit=tuple(map(audited, range(start, start + 6_000)))))
        kept = store.audit(20_000)
        assert len(kept) == 10_000
        assert (kept[0], kept[-1]) == (audited(11_999), audited(2_000))


class BookKeeping(Suite):
    """What vitals, touches, counters and counts are promised."""

    def test_the_latest_vitals_win(self, store: MemoryStore) -> None:
        """Interface of Vitals: absolute values; retired facts have them too."""
        live, retired = a_fact(), a_fact("old", created_at=at(-1), superseded_by="agent")
        add(store, live, retired)
        store.apply(WriteBatch(vitals=(vitals_of(live, 5, 0.9, 8),)))
        store.apply(
            WriteBatch(
                vitals=(
                    vitals_of(live, 4, 0.8, 9),
                    vitals_of(retired, 2, 0.1, 7),
                    vitals_of(live, 3, 0.7, 6),
                )
            )
        )
        assert store.list(SHELF) == [
            replace(live, access_count=3, weight=0.7, accessed_at=at(6)),
            replace(retired, access_count=2, weight=0.1, accessed_at=at(7)),
        ]

    def test_vitals_survive_a_patch_and_leave_the_rest_alone(self, store: MemoryStore) -> None:
        """Contract 4.3: patches touch their own fields."""
        fact = a_fact()
        add(store, fact)
        store.apply(WriteBatch(vitals=(vitals_of(fact, 5, 0.5, 8),)))
        patch(store, fact, confidence="verified")
        assert store.list(SHELF) == [
            replace(fact, access_count=5, weight=0.5, accessed_at=at(8), confidence="verified")
        ]

    def test_vitals_of_an_unknown_fact_create_nothing(self, store: MemoryStore) -> None:
        """Contract 4.3: an update never creates a missing fact."""
        fact = a_fact()
        add(store, fact)
        foreign = replace(vitals_of(fact, 9), namespace=ELSEWHERE)
        store.apply(WriteBatch(vitals=(vitals_of(a_fact(), 9), foreign)))
        assert store.list(SHELF) == [fact]

    def test_a_touch_counts_one_access_of_each_live_fact(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 3.2: each returned fact gets access_count + 1 and accessed_at = now."""
        one, two, idle = (a_fact(f"n {n}", created_at=at(-n)) for n in range(3))
        add(store, one, two, idle)
        store.touch(SHELF, [one.id, two.id], at(10))
        store.touch(SHELF, [one.id], at(20))
        store.touch(SHELF, [], at(30))
        store = settled(maker, store)
        assert store.list(SHELF) == [
            replace(one, access_count=2, accessed_at=at(20)),
            replace(two, access_count=1, accessed_at=at(10)),
            idle,
        ]
        assert store.stats().namespaces[0].recalls == 3

    def test_a_touch_counts_from_the_vitals_in_force(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Interface: vitals are absolute, touches add; the later one builds on the earlier."""
        fact, reset = a_fact("one"), a_fact("two", created_at=at(-1))
        add(store, fact, reset)
        store.touch(SHELF, [reset.id], at(10))
        store.apply(WriteBatch(vitals=(vitals_of(fact, 7, 0.5, 1), vitals_of(reset, 4, 0.5, 11))))
        store.touch(SHELF, [fact.id], at(20))
        store = settled(maker, store)
        assert store.list(SHELF) == [
            replace(fact, access_count=8, weight=0.5, accessed_at=at(20)),
            replace(reset, access_count=4, weight=0.5, accessed_at=at(11)),
        ]

    def test_touches_of_retired_unknown_and_foreign_facts_are_ignored(
        self, maker: StoreMaker, store: MemoryStore
    ) -> None:
        """Contract 4.3: access patches skip retired facts."""
        retired = a_fact("old", superseded_by="agent")
        fact = a_fact("here", created_at=at(1))
        add(store, retired, fact)
        store.touch(SHELF, [retired.id, new_id()], at(10))
        store.touch(ELSEWHERE, [fact.id], at(10))
        store = settled(maker, store)
        assert store.list(SHELF) == [fact, retired]
        assert store.namespaces() == [SHELF]

    def test_counters_add_up(self, store: MemoryStore) -> None:
        """Contract 8.3: lifetime counters."""
        store.apply(WriteBatch(counters=(("consolidations", 1), ("facts_consolidated", 7))))
        store.apply(WriteBatch(counters=(("consolidations", 1), ("consolidations", 2))))
        assert store.stats().counters == {"consolidations": 4, "facts_consolidated": 7}

    def test_an_empty_store_counts_nothing(self, store: MemoryStore) -> None:
        """Interface of stats."""
        stats = store.stats()
        assert stats == StoreStats(namespaces=(), pending_vectors=0, nodes=0, edges=0)

    def test_counts_of_each_namespace_are_exact(self, store: MemoryStore) -> None:
        """Interface of stats: namespaces ascending, every record counted once."""
        add(
            store,
            a_fact("one", created_at=at(1), weight=0.5, access_count=3),
            a_fact("two", created_at=at(2), pinned=True, pinned_at=at(5), access_count=1),
            a_fact("three", created_at=at(0), weight=0.25, superseded_by="agent"),
            an_alias("a", "b", created_at=at(9), weight=0.25),
            an_alias("c", "d", created_at=at(3), weight=0.5, superseded_by="agent"),
            a_fact("foreign", agent_id=ELSEWHERE),
        )
        elsewhere, shelf = store.stats().namespaces
        assert shelf == NamespaceStats(
            namespace=SHELF,
            live=2,
            retired=2,
            aliases=1,
            pinned=1,
            recalls=4,
            mean_weight=0.5,
            oldest_at=at(0),
            newest_at=at(9),
        )
        assert (elsewhere.namespace, elsewhere.total, shelf.total) == (ELSEWHERE, 1, 5)
