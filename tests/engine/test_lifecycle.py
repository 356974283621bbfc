from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.engine import lifecycle
from graymatter_mcp.engine.background import Background
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.lifecycle import Consolidator
from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.results import ConsolidationReport
from tests.engine.desk import AGENT, BY_HAND, QUIET, Desk, until

if TYPE_CHECKING:
    from tests.engine.conftest import DeskMaker

HALF_LIFE = timedelta(hours=720)


def test_after_one_half_life_the_weight_is_one_half_and_a_second_run_changes_nothing(
    desk: Desk,
) -> None:
    """C65."""
    desk.add("deploys run")
    desk.now.forward(hours=720)
    assert desk.consolidate() == ConsolidationReport(decayed=1)
    assert desk.listed()["deploys run"].weight == 0.5
    assert desk.consolidate() == ConsolidationReport()
    assert desk.listed()["deploys run"].weight == 0.5


def test_a_read_restarts_the_clock_and_never_raises_the_weight(desk: Desk) -> None:
    """C65."""
    desk.add("deploys run")
    desk.now.forward(hours=720)
    desk.consolidate()
    desk.recall("deploys")
    desk.now.forward(hours=24)
    assert desk.consolidate() == ConsolidationReport()
    assert desk.listed()["deploys run"].weight == 0.5


def test_what_fell_below_the_floor_is_gone_from_every_view(desk: Desk) -> None:
    """C66, C49: a retired fact too; a pinned one stays as it is."""
    desk.add("deploys run")
    desk.add("deploys walk")
    desk.add("deploys rest")
    desk.run(desk.memory.set_pinned, AGENT, "deploys rest", True)
    desk.run(desk.memory.forget, AGENT, "deploys walk")
    desk.now.forward(hours=4783)
    assert desk.consolidate() == ConsolidationReport(decayed=2)
    assert set(desk.listed()) == {"deploys run", "deploys walk", "deploys rest"}
    desk.now.forward(hours=1)
    assert desk.consolidate() == ConsolidationReport(decayed=2, pruned=2)
    assert list(desk.listed()) == desk.facts("deploys") == ["deploys rest"]
    assert desk.listed()["deploys rest"].weight == 1.0
    assert desk.run(desk.memory.stats, AGENT).fact_count == 1
    assert [one.action for one in desk.store.audit(9)].count("prune") == 2


def test_a_pruned_record_is_kept_thirty_days_and_then_erased(desk: Desk) -> None:
    """Contract 8.2, step 3."""
    desk.add("deploys run")
    desk.now.forward(hours=4800)
    desk.consolidate()
    end_of_time = desk.now() + timedelta(days=999)
    assert len(desk.store.pruned(end_of_time)) == 1
    desk.now.forward(days=30)
    desk.consolidate()
    assert len(desk.store.pruned(end_of_time)) == 1
    desk.now.forward(seconds=1)
    desk.consolidate()
    assert desk.store.pruned(end_of_time) == []


def test_an_unpinned_fact_fades_by_all_the_time_since_it_was_read(desk: Desk) -> None:
    """Contract 8.5."""
    desk.add("deploys run")
    desk.run(desk.memory.set_pinned, AGENT, "deploys run", True)
    desk.now.forward(hours=720)
    desk.consolidate()
    assert desk.listed()["deploys run"].weight == 1.0
    desk.run(desk.memory.set_pinned, AGENT, "deploys run", False)
    desk.consolidate()
    assert desk.listed()["deploys run"].weight == 0.5


def test_a_retired_fact_fades_and_comes_back_in_no_scope(desk: Desk) -> None:
    """C49."""
    desk.add("deploys run")
    desk.run(desk.memory.forget, AGENT, "deploys run")
    assert desk.listed()["deploys run"].weight == 1.0
    assert desk.facts("deploys") == []
    desk.now.forward(hours=720)
    desk.consolidate()
    assert desk.listed()["deploys run"].weight == 0.5


def test_an_empty_namespace_consolidates_to_nothing(desk: Desk) -> None:
    """C67."""
    assert desk.consolidate() == ConsolidationReport()


def test_a_write_consolidates_at_the_threshold_and_not_below(make_desk: DeskMaker) -> None:
    """C67: retired facts and aliases count."""
    config = replace(QUIET, async_consolidate=True, consolidate_threshold=3)
    desk = make_desk(config=config)
    desk.add("deploys run")
    desk.now.forward(hours=720)
    desk.alias("deploy", "rollout")
    desk.add("lunch")
    until(lambda: desk.listed()["deploys run"].weight < 1)
    assert round(desk.listed()["deploys run"].weight, 3) == 0.5


def test_a_write_below_the_threshold_changes_no_weight(make_desk: DeskMaker) -> None:
    """C67: runs are made one after the other here, so a later one proves the first is over."""
    desk = make_desk(
        config=replace(
            QUIET, async_consolidate=True, consolidate_threshold=3, max_async_consolidations=1
        )
    )
    busy = Namespace("bob")
    for text in ("one", "two", "three"):
        desk.run(desk.memory.add_alias, busy, text, ["number"], BY_HAND)
    desk.add("deploys run")
    desk.now.forward(hours=720)
    desk.add("lunch")

    def is_busy_one_consolidated() -> bool:
        desk.add("more", agent=busy)
        return desk.listed(busy)["alias: one = number"].weight < 1

    until(is_busy_one_consolidated)
    assert desk.listed()["deploys run"].weight == 1.0


def test_with_the_switch_off_no_write_consolidates(make_desk: DeskMaker) -> None:
    """C58: the thread that would do it is not even made."""
    on = make_desk(config=replace(QUIET, async_consolidate=True))
    off = make_desk(config=replace(QUIET, consolidate_threshold=1))

    def threads() -> int:
        return sum("consolidate" in thread.name for thread in threading.enumerate())

    off.add("deploys run")
    assert threads() == 0
    on.add("deploys run")
    assert threads() == 1


@pytest.mark.parametrize("half_life", [timedelta(0), timedelta(hours=-1)])
def test_a_half_life_must_be_longer_than_zero(desk: Desk, half_life: timedelta) -> None:
    """Contract 9.2: `ConsolidateConfig` is a protocol, so anything may come."""
    desk.add("deploys run")
    with pytest.raises(InvalidArgumentError, match="half_life"):
        desk.run(desk.memory.consolidate, AGENT, half_life)


def test_counts_of_a_namespace_include_what_is_retired(desk: Desk) -> None:
    """Contract 9.2, stats; 11.2, status."""
    first = desk.add("deploys run")
    desk.add("lunch")
    alias = desk.alias("deploy", "rollout")
    desk.run(desk.memory.forget, AGENT, "lunch")
    stats = desk.run(desk.memory.stats, AGENT)
    assert (stats.fact_count, stats.oldest_at, stats.newest_at, stats.avg_weight) == (
        3,
        first.created_at,
        alias.created_at,
        1.0,
    )
    status = desk.run(desk.memory.status)
    assert (status.total_live_facts, status.total_tombstones, status.pinned) == (1, 1, 0)


def test_portions_make_no_difference_to_the_result(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0037."""
    for portion in ("DECAYED", "PRUNED", "ERASED"):
        monkeypatch.setattr(lifecycle, portion, 2)
    for number in range(5):
        desk.add(f"fact {number}")
    desk.now.forward(hours=720)
    assert desk.consolidate() == ConsolidationReport(decayed=5)
    assert {round(fact.weight, 3) for fact in desk.listed().values()} == {0.5}
    desk.now.forward(hours=4064)
    assert desk.consolidate() == ConsolidationReport(decayed=5, pruned=5)
    assert desk.listed() == {}
    desk.now.forward(days=30, seconds=1)
    desk.consolidate()
    assert desk.store.pruned(desk.now()) == []


def test_what_is_left_when_the_end_comes_waits_for_the_next_run(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0037: closing does not wait for a large namespace."""
    for portion in ("DECAYED", "PRUNED", "ERASED"):
        monkeypatch.setattr(lifecycle, portion, 2)
    for number in range(5):
        desk.add(f"fact {number}")
    desk.now.forward(hours=4784)
    consolidator = Consolidator(desk.store, Clock(desk.now))
    report = consolidator.consolidate(AGENT, HALF_LIFE, goes_on=lambda: False)
    assert report == ConsolidationReport(decayed=2, pruned=2)
    assert len(desk.listed()) == 3
    assert consolidator.consolidate(AGENT, HALF_LIFE).pruned == 3
    assert desk.listed() == {}


def test_a_small_namespace_is_counted_again_only_when_it_can_be_due() -> None:
    """ADR 0037: a count goes through the tables, and makes them take what waits for them."""
    counts: list[tuple[str, int]] = []
    written = 0

    def lacking(namespace: Namespace) -> int:
        counts.append((namespace, written))
        return 10 - written

    background = Background(lacking, lambda _: None, Clock(), at_once=1)

    def has_run(namespace: str) -> bool:
        # One at a time: a run of another namespace proves that those before are over.
        background.trigger(Namespace(namespace))
        return (namespace, written) in counts

    for number in range(1, 10):
        written = number
        background.trigger(AGENT)
        until(partial(has_run, f"other {number}"))
    written = 10
    # More than once, since it is dropped while another run goes on.
    until(partial(has_run, AGENT))
    background.close()
    first, *others = [count for name, count in counts if name == AGENT]
    assert (first, set(others)) == (1, {10})
