"""How weights fall with time, and what is found to have fallen too far."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.store.base import Decay, WriteBatch
from graymatter_mcp.store.conformance.bookkeeping import vitals_of
from graymatter_mcp.store.conformance.kit import ELSEWHERE, SHELF, Suite, a_fact, add, at

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore


class Fading(Suite):
    """What decay is promised to be."""

    @pytest.mark.parametrize(
        ("weight", "hours", "expected"),
        [
            (1.0, 0, 1.0),
            (1.0, -5, 1.0),
            (1.0, 24, 0.9771599684),
            (1.0, 720, 0.5),
            (1.0, 1440, 0.25),
            (1.0, 4783, 0.0100055511),
            (1.0, 4784, 0.0099959234),
            (0.3, 720, 0.3),
            (0.5, 720, 0.5),
        ],
    )
    def test_a_weight_halves_every_half_life_and_never_rises(
        self, store: MemoryStore, weight: float, hours: float, expected: float
    ) -> None:
        """Contract 8.2, worked numbers."""
        fact = a_fact()
        add(store, fact)
        store.apply(WriteBatch(vitals=(vitals_of(fact, 0, weight=weight),)))
        assert store.snapshot(SHELF).details([0])[0].weight == weight
        decay = a_decay(at(hours * 3600), timedelta(hours=720))
        assert store.count_fading(decay) == (round(weight, 10) != expected)
        store.apply(WriteBatch(decay=decay))
        (found,) = store.get(SHELF, [fact.id])
        assert round(found.weight, 10) == expected
        assert store.count_fading(decay) == 0
        (details,) = store.snapshot(SHELF).details([0])
        assert details.weight == found.weight

    def test_only_what_faded_noticeably_is_lowered(self, store: MemoryStore) -> None:
        """Contract 8.2: pinned records and other namespaces aside."""
        fresh, old = a_fact("fresh", created_at=at(3600)), a_fact("old")
        pinned, faint = a_fact("pinned", pinned=True, pinned_at=at(0)), a_fact("faint")
        foreign, gone = a_fact("foreign", agent_id=ELSEWHERE), a_fact("gone", superseded_by="agent")
        add(store, fresh, old, pinned, faint, foreign, gone)
        store.apply(WriteBatch(vitals=(vitals_of(faint, 0, weight=0.005),)))

        def counted(by: float) -> int:
            return store.count_fading(a_decay(at(3600), timedelta(hours=1), by=by))

        assert [counted(by) for by in (0.0, 0.499, 0.501)] == [2, 2, 0]
        store.apply(WriteBatch(decay=a_decay(at(3600), timedelta(hours=1))))
        weights = {fact.text: fact.weight for fact in store.list(SHELF)}
        assert weights == {"fresh": 1, "old": 0.5, "pinned": 1, "faint": 0.005, "gone": 0.5}
        assert store.list(ELSEWHERE)[0].weight == 1

    def test_a_decay_goes_in_portions(self, store: MemoryStore) -> None:
        """ADR 0037: the batches of other calls come between them."""
        add(store, *(a_fact(f"n {number}") for number in range(5)))
        decay = a_decay(at(3600), timedelta(hours=1), limit=2)
        left = [store.count_fading(decay)]
        for _ in range(3):
            store.apply(WriteBatch(decay=decay))
            left.append(store.count_fading(decay))
        assert left == [5, 3, 1, 0]

    def test_a_weight_falls_from_the_last_read_on(self, store: MemoryStore) -> None:
        """Contract 8.2: though its count may not be on the disk yet."""
        late, early = a_fact("late"), a_fact("early")
        add(store, late, early)
        store.touch(SHELF, [late.id], at(3600))
        store.touch(SHELF, [early.id], at(1800))
        store.apply(WriteBatch(decay=a_decay(at(3600), timedelta(seconds=1800))))
        found = {fact.text: (fact.weight, fact.access_count) for fact in store.list(SHELF)}
        assert found == {"late": (1.0, 1), "early": (0.5, 1)}

    def test_what_is_faint_is_given_in_portions(self, store: MemoryStore) -> None:
        """Contract 8.2: by its weight, or by what time has made of it."""
        old, faint, pinned = a_fact("old"), a_fact("faint"), a_fact("p", pinned_at=at(0))
        fresh = a_fact("fresh", created_at=at(3600))
        add(store, old, faint, replace(pinned, pinned=True), fresh)
        store.apply(WriteBatch(vitals=(vitals_of(faint, 0, weight=0.3),)))

        def found(below: float, limit: int = 9) -> set[str]:
            facts = store.faint(SHELF, at(3600), timedelta(hours=1), below, limit)
            return {fact.text for fact in facts}

        assert [found(below) for below in (0.3, 0.4, 0.6)] == [set(), {"faint"}, {"faint", "old"}]
        assert len(found(0.6, limit=1)) == 1


def a_decay(now: datetime, half_life: timedelta, *, by: float = 0.0, limit: int = 99) -> Decay:
    """Build the decay of `SHELF`."""
    return Decay(namespace=SHELF, now=now, half_life=half_life, by=by, limit=limit)
