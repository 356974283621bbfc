from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.errors import ReadOnlyError
from graymatter_mcp.model.facts import FactKind
from tests.engine.desk import QUIET, Desk

if TYPE_CHECKING:
    from tests.engine.conftest import DeskMaker

LEARNING = replace(QUIET, usage_alias=True)
LEARNT = "alias: depl = deployment"


def observe(desk: Desk, *, pause: dict[str, float] | None = None, **options: Any) -> None:
    """Ask in vain for ``depl``, then with the words of the store."""
    desk.recall("depl timetable", learn=True, **options)
    desk.now.forward(**(pause or {"minutes": 30}))
    desk.recall("deployment window", learn=True, **options)


def filled(make_desk: DeskMaker, **options: Any) -> Desk:
    """Open a desk with two facts."""
    desk = make_desk(**options)
    desk.add("The deployment window is Tuesday")
    desk.add("Lunch is at noon")
    return desk


def test_a_pair_seen_twice_becomes_an_alias_that_widens_queries(make_desk: DeskMaker) -> None:
    """Contract 8.4, learnt from use: two observations, the common prefix long enough."""
    desk = filled(make_desk, config=LEARNING)
    observe(desk)
    assert LEARNT not in desk.listed()
    observe(desk)
    alias = desk.listed()[LEARNT]
    assert (alias.kind, alias.alias_source) == (FactKind.ALIAS, "usage")
    assert desk.receipts("depl")[0].ranks.keyword_rank == 1


def test_words_wait_thirty_minutes_for_a_strong_match(make_desk: DeskMaker) -> None:
    """Contract 8.4."""
    desk = filled(make_desk, config=LEARNING)
    observe(desk, pause={"minutes": 30, "seconds": 1})
    observe(desk, pause={"minutes": 30, "seconds": 1})
    assert LEARNT not in desk.listed()


@pytest.mark.parametrize(("days", "is_learnt"), [(30, True), (31, False)])
def test_a_pair_seen_once_is_kept_thirty_days(
    make_desk: DeskMaker, days: int, is_learnt: bool
) -> None:
    """Contract 8.4."""
    desk = filled(make_desk, config=LEARNING)
    observe(desk, pause={"seconds": 0})
    desk.now.forward(days=days)
    observe(desk, pause={"seconds": 0})
    assert (LEARNT in desk.listed()) is is_learnt


@pytest.mark.parametrize(
    ("config", "options"),
    [
        (QUIET, {}),
        (LEARNING, {"min_confidence": "unverified"}),
        (replace(LEARNING, usage_alias_affinity=5), {}),
    ],
    ids=["switched off", "filtered", "prefix too short"],
)
def test_nothing_is_learnt_where_it_must_not_be(
    make_desk: DeskMaker, config: Any, options: dict[str, Any]
) -> None:
    """Contract 8.4: off by default, never under a filter, never below the affinity."""
    desk = filled(make_desk, config=config)
    for _ in range(3):
        observe(desk, **options)
    assert LEARNT not in desk.listed()


def test_a_store_that_takes_no_alias_still_answers(
    make_desk: DeskMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C64: reads go on, also where a read would have taught the store a word."""
    desk = filled(make_desk, config=LEARNING)
    observe(desk)
    refused: list[object] = []

    def refuse(batch: object) -> None:
        refused.append(batch)
        raise ReadOnlyError

    monkeypatch.setattr(desk.store, "apply", refuse)
    observe(desk)
    assert len(refused) == 1
    assert desk.facts("deployment window")[0] == "The deployment window is Tuesday"
