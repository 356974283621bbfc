"""The graph is given each fact once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.engine import population
from graymatter_mcp.engine.graph import RuleExtractor, StoreGraph
from graymatter_mcp.engine.population import Population
from tests.engine.desk import AGENT, QUIET, Desk, a_fact, put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.engine.conftest import DeskMaker

WITH_GRAPH = replace(QUIET, knowledge_graph=True)


class Rules(RuleExtractor):
    """The built-in rules; they note what they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def extract(self, text: str) -> Sequence[str]:
        """See the protocol."""
        self.asked.append(text)
        return super().extract(text)


class EveryWord:
    """Names every word, and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def extract(self, text: str) -> list[str]:
        """See the protocol."""
        self.asked.append(text)
        return text.casefold().split()


@pytest.fixture
def desk(make_desk: DeskMaker) -> Desk:
    """Open a desk with a graph."""
    return make_desk(config=WITH_GRAPH)


def consolidated(desk: Desk, extractor: Rules | EveryWord) -> list[str]:
    """Return what a run asked the extractor."""
    extractor.asked.clear()
    desk.now.forward(hours=1)
    desk.consolidate()
    return list(extractor.asked)


@pytest.mark.parametrize("kind", [Rules, EveryWord])
def test_a_run_takes_what_came_since_the_last(
    desk: Desk, kind: type[Rules | EveryWord], monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0037: where nothing is new, nothing is looked at."""
    monkeypatch.setattr(population, "PORTION", 2)
    extractor = kind()
    desk.memory.set_graph(StoreGraph(desk.store), extractor)
    old = [f"the `port` is {number}" for number in (1000, 2000, 3000)]
    for text in old:
        desk.add(text)
    assert consolidated(desk, extractor) == old
    assert consolidated(desk, extractor) == []
    desk.add("the `port` is 4000")
    assert consolidated(desk, extractor) == ["the `port` is 4000"]
    names = {node.id for node in desk.store.neighbours(AGENT, ["port", "`port`"])}
    assert names >= {"1000", "2000", "3000", "4000"}


def test_what_was_just_written_is_looked_at_once_more(desk: Desk) -> None:
    """ADR 0037: a write that was stamped before it may still be under way."""
    rules = Rules()
    desk.memory.set_graph(StoreGraph(desk.store), rules)
    desk.add("`old`")
    desk.now.forward(hours=1)
    desk.add("`young`")
    desk.consolidate()
    assert consolidated(desk, rules) == ["`young`"]
    assert consolidated(desk, rules) == []


def test_an_older_fact_that_comes_late_is_not_missed(desk: Desk) -> None:
    """ADR 0037: an import, or a clock that was put back."""
    rules = Rules()
    desk.memory.set_graph(StoreGraph(desk.store), rules)
    desk.now.forward(hours=5)
    desk.add("`young`")
    assert consolidated(desk, rules) == ["`young`"]
    desk.now.forward(hours=-5)
    put(desk.store, a_fact("`old`", at=desk.now()))
    desk.now.forward(hours=5)
    assert consolidated(desk, rules) == ["`old`", "`young`"]
    assert consolidated(desk, rules) == []


@pytest.mark.parametrize("kind", [Rules, EveryWord])
def test_a_reworded_fact_is_looked_at_again(desk: Desk, kind: type[Rules | EveryWord]) -> None:
    """ADR 0037: by starting over, since it is rare."""
    extractor = kind()
    desk.memory.set_graph(StoreGraph(desk.store), extractor)
    fact = desk.add("`atlas` is up")
    consolidated(desk, extractor)
    desk.run(desk.memory.update_fact, AGENT, replace(fact, text="`borealis` is up"))
    assert consolidated(desk, extractor) == ["`borealis` is up"]


def test_another_extractor_starts_from_the_first_fact(desk: Desk) -> None:
    """Contract 8.2, step 4: the caller's own may find what the one before it did not."""
    desk.add("lower case")
    for extractor in (EveryWord(), EveryWord()):
        desk.memory.set_graph(StoreGraph(desk.store), extractor)
        assert consolidated(desk, extractor) == ["lower case"]


def test_the_rules_go_on_where_an_earlier_process_stopped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ADR 0037: owners leave when idle, and the next one does not begin anew."""
    monkeypatch.setattr(population, "PORTION", 2)
    for number in range(5):
        desk.add(f"`n{number}`")
    desk.now.forward(hours=1)
    first, second = Rules(), Rules()
    Population(desk.store).populate(AGENT, first, desk.now(), lambda: False)
    Population(desk.store).populate(AGENT, second, desk.now(), lambda: True)
    assert first.asked + second.asked == [f"`n{number}`" for number in range(5)]
    assert len(first.asked) == 2
