"""Content facts in portions by creation, and the marks that tell how far somebody came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.store.base import Place, WriteBatch
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    SHELF,
    StoreMaker,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    new_id,
    patch,
    patch_of,
    reopened,
)

if TYPE_CHECKING:
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.store.base import MemoryStore


def place_of(fact: Fact) -> Place:
    """Return the place behind a fact."""
    return Place(created_at=fact.created_at, fact_id=fact.id)


class Contents(Suite):
    """What is promised to whoever works through a namespace."""

    def test_contents_come_in_portions_by_creation(self, store: MemoryStore) -> None:
        """ADR 0037: equal stamps by id; aliases and other namespaces aside, retired ones not."""
        first, second = new_id(), new_id()
        late = a_fact("late", created_at=at(5))
        twin, early = a_fact("twin", id=second), a_fact("early", id=first)
        gone = a_fact("gone", created_at=at(3), superseded_by="agent")
        foreign, alias = a_fact("foreign", agent_id=ELSEWHERE), an_alias("a", "b")
        add(store, late, twin, early, gone, foreign, alias)
        order = [early, twin, gone, late]
        for size in (1, 2, 3, 9):
            seen: list[Fact] = []
            behind: Place | None = None
            while (portion := store.contents(SHELF, behind, size)).places:
                assert portion.places == [place_of(fact) for fact in portion.facts]
                assert len(portion.places) <= size
                seen += portion.facts
                behind = portion.places[-1]
            assert seen == order
        counts = [store.count_contents(SHELF, place_of(fact)) for fact in order]
        assert counts == [1, 2, 3, 4]

    def test_a_pruned_fact_keeps_its_place_and_is_not_shown(self, store: MemoryStore) -> None:
        """ADR 0037: whoever counts must count the same before and after."""
        one, two = a_fact("one"), a_fact("two", created_at=at(1))
        add(store, one, two)
        patch(store, one, pruned_at=at(9))
        portion = store.contents(SHELF, None, 1)
        assert (portion.facts, portion.places) == ([], [place_of(one)])
        assert store.count_contents(SHELF, place_of(two)) == 2
        store.apply(WriteBatch(delete=((SHELF, one.id),)))
        assert store.count_contents(SHELF, place_of(two)) == 1

    def test_a_mark_is_replaced_and_lasts(self, maker: StoreMaker, store: MemoryStore) -> None:
        """ADR 0037."""
        assert store.mark("one") == ""
        store.apply(WriteBatch(marks=(("one", "a"), ("two", "b"))))
        store.apply(WriteBatch(marks=(("one", "c"), ("two", ""))))
        assert (store.mark("one"), store.mark("two")) == ("c", "")
        assert reopened(maker, store).mark("one") == "c"

    def test_a_mark_goes_with_its_batch(self, store: MemoryStore) -> None:
        """House 5, question 6: all of a batch or nothing."""
        fact = a_fact()
        with pytest.raises(FactChangedError):
            store.apply(
                WriteBatch(patches=(patch_of(fact, pinned_at=at(1)),), marks=(("one", "a"),))
            )
        assert store.mark("one") == ""
