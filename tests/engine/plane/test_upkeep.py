"""Unused facts go cold, read ones come back, expired ones are erased."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.engine.plane import reads
from graymatter_mcp.engine.plane.writes import PlaneSettings
from graymatter_mcp.errors import ForbiddenError
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.accounts import Role
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import EntryUpdate
from graymatter_mcp.model.reports import Decayed, ImportEntry
from tests.engine.desk import until
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.model.ids import FactId

QUIET = PlaneSettings(upkeep_every=timedelta(0))


@pytest.fixture
def opened(portal: BlockingPortal, tmp_path: Path) -> Iterator[Callable[..., Brain]]:
    """Open data planes on one file, and close the last one."""
    brains: list[Brain] = []

    def open_one(**options: Any) -> Brain:
        if brains:
            brains[-1].close()
            options.setdefault("now", brains[-1].now)
        options.setdefault("settings", QUIET)
        brains.append(Brain(portal, tmp_path / "gray.duckdb", **options))
        return brains[-1]

    yield open_one
    brains[-1].close()


@pytest.fixture
def brain(opened: Callable[..., Brain]) -> Brain:
    """Open a data plane without passes of its own."""
    return opened()


def decay(brain: Brain, caller: Caller = LOCAL_CALLER, days: int | None = None) -> Decayed:
    """Make one pass."""
    return brain.run(brain.plane.decay, caller, days)


def idle(brain: Brain, hits: int, days: float, tier: str = "warm", **fields: Any) -> FactId:
    """Store a fact that was last read or changed some days ago."""
    at = brain.now.now - timedelta(days=days)
    entry: Any = {"tier": tier, **fields}
    brain.take(
        [
            ImportEntry(
                index=0, content="The queue is called jobs", hits=hits, created_at=at, **entry
            )
        ]
    )
    return brain.exported()[0].id


def test_a_fact_that_nobody_reads_goes_cold_after_its_base(brain: Brain) -> None:
    """D58: base 7, warm at 6.9 days, cold at 7.1."""
    new = brain.remember("The queue is called jobs")
    brain.now.forward(days=6.9)
    assert decay(brain) == Decayed(demoted=0, promoted=0, expired=0)
    assert brain.entry(new.id).tier == "warm"
    brain.now.forward(days=0.2)
    assert decay(brain) == Decayed(demoted=1, promoted=0, expired=0)
    assert brain.entry(new.id).tier == "cold"
    stats = brain.run(brain.plane.stats, LOCAL_CALLER)
    assert (stats.total_warm, stats.total_cold) == (0, 1)
    assert stats.last_decay_at == brain.now.now


def test_reads_make_a_fact_last(brain: Brain) -> None:
    """D58: hits 15 and 14 days idle stays, and 27.9; 28.1 do not."""
    brain.remember("The queue is called jobs")
    for _ in range(14):
        brain.search("queue jobs")
    assert brain.exported()[0].hits == 15
    brain.now.forward(days=27.9)
    assert decay(brain).demoted == 0
    brain.now.forward(days=0.2)
    assert decay(brain).demoted == 1


def test_a_cold_fact_comes_back_with_a_search(brain: Brain) -> None:
    """D58: hits 20 and 14 days idle; `tier` is warm in that answer, and stays so."""
    fact_id = idle(brain, 20, 14, "cold")
    assert decay(brain).promoted == 0
    (found,) = brain.search("queue jobs")
    assert (found.id, found.tier) == (fact_id, "warm")
    until(lambda: brain.entry(fact_id).tier == "warm")


def test_a_change_that_comes_before_the_warming_stays(
    opened: Callable[..., Brain], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: what follows an answer touches the tier alone, of the fact as it is by then."""
    later: list[Callable[[], object]] = []

    class Held(ThreadPoolExecutor):
        """Keeps what it is given until it is asked for."""

        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            """Keep a call."""
            later.append(partial(fn, *args, **kwargs))
            return Future()

    monkeypatch.setattr(reads, "ThreadPoolExecutor", Held)
    brain = opened()
    fact_id = idle(brain, 20, 14, "cold")
    brain.search("queue jobs")
    update = EntryUpdate(id=fact_id, sensitivity="sensitive", metadata={"mood": "fine"})
    brain.run(brain.plane.update, LOCAL_CALLER, update)
    (warming,) = later
    warming()
    entry = brain.entry(fact_id)
    assert (entry.tier, entry.metadata["sensitivity"], entry.metadata["mood"]) == (
        "warm",
        "sensitive",
        "fine",
    )
    brain.run(brain.plane.forget, LOCAL_CALLER, fact_id, None)
    warming()
    assert brain.exported() == []


def test_the_retention_of_a_type_counts(brain: Brain) -> None:
    """E7: a deployment_state never read lives 30 days."""
    brain.capture("The staging deployment runs on k3s at host alpha")
    brain.now.forward(days=29.9)
    assert decay(brain, days=1).demoted == 0
    brain.now.forward(days=0.2)
    assert decay(brain, days=1).demoted == 1


def test_pinned_facts_and_those_of_the_core_stay_warm(brain: Brain) -> None:
    """D58: pinned never demotes; data-plane contract 1.5: the core's facts stay warm."""
    new = brain.remember("The queue is called jobs")
    assert new.id is not None
    brain.pin(new.id)
    brain.core("The broker listens on the second floor")
    brain.now.forward(days=400)
    assert decay(brain).demoted == 0


def test_a_read_that_came_another_way_is_made_good_by_the_next_pass(brain: Brain) -> None:
    """ADR 0042: a cold fact that was read since the last pass is warm again."""
    new = brain.remember("The queue is called jobs")
    assert new.id is not None
    brain.now.forward(days=8)
    assert decay(brain).demoted == 1
    brain.now.forward(days=1)
    brain.store.touch(Namespace("default"), [new.id], brain.now.now)
    brain.now.forward(hours=1)
    assert decay(brain) == Decayed(demoted=0, promoted=1, expired=0)
    assert brain.entry(new.id).tier == "warm"


def test_what_has_expired_is_erased(brain: Brain) -> None:
    """Data-plane contract 7.5: erased like forget, told as expired."""
    new = brain.remember(
        "The guest code is blue seven", expires_at=brain.now.now + timedelta(days=1)
    )
    brain.now.forward(days=2)
    assert decay(brain).expired == 1
    assert new.id is not None
    assert brain.store.shelves_of([new.id]) == {}
    page = brain.plane.accounts.feed.page(LOCAL_CALLER, 0, None, 10)
    assert [(one.entry_id, one.change) for one in page.changes] == [
        (new.id, "created"),
        (new.id, "expired"),
    ]


def test_only_an_admin_may_ask_and_only_for_their_tenant(brain: Brain) -> None:
    """Data-plane contract 8: admin only; 1.1: nothing crosses the wall of a tenant."""
    create = brain.plane.accounts.users.create
    boss = create(LOCAL_CALLER, "boss", Role.ADMIN, "acme")
    ana = create(LOCAL_CALLER, "ana")
    brain.remember("The queue is called jobs")
    brain.now.forward(days=8)
    with pytest.raises(ForbiddenError, match="admin only"):
        decay(brain, Caller(user_id=ana.id))
    assert decay(brain, Caller(tenant="acme", user_id=boss.id)).demoted == 0
    assert decay(brain).demoted == 1


def test_the_time_of_the_last_pass_and_the_session_survive_a_restart(
    opened: Callable[..., Brain],
) -> None:
    """Data-plane contract 3.13, lastDecayAt; 6: a session joins its facts, cold ones too."""
    brain = opened()
    first = brain.remember("The queue is called jobs", metadata={"session": "s1"})
    brain.now.forward(minutes=45)
    second = brain.remember("The broker listens on the second floor", metadata={"session": "s1"})
    brain.now.forward(days=8)
    assert decay(brain).demoted == 2
    at = brain.now.now
    brain = opened()
    assert brain.run(brain.plane.stats, LOCAL_CALLER).last_decay_at == at
    snapshot = brain.store.snapshot(Namespace("default"))
    assert first.id is not None
    assert second.id is not None
    before, after = snapshot.rows_of([first.id, second.id])
    assert snapshot.previous[after] == before


def test_passes_come_by_themselves(opened: Callable[..., Brain]) -> None:
    """Data-plane contract 7.5: every 6 h; a pass that a process missed is made up for."""
    brain = opened()
    brain.remember("The queue is called jobs")
    brain.now.forward(days=8)
    brain = opened(
        settings=replace(QUIET, upkeep_every=timedelta(hours=6)), upkeep_after=timedelta(0)
    )
    until(lambda: brain.exported()[0].tier == "cold")
