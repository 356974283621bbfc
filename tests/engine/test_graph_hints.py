from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import CapabilityUnsupportedError, StoreUnavailableError
from graymatter_mcp.store.base import Node
from tests.engine.desk import AGENT, QUIET, Desk, until

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.engine.conftest import DeskMaker

WITH_GRAPH = replace(QUIET, knowledge_graph=True)
TOP = "We ask Maria Lopez about `atlas`"


class FixedGraph:
    """Answers every question with the same labels, or not at all."""

    def __init__(self, labels: Sequence[str], error: Exception | None = None) -> None:
        self._labels = labels
        self._error = error

    def neighbours(self, agent_id: str, node_ids: Sequence[str]) -> list[Node]:
        """See the protocol."""
        if self._error is not None:
            raise self._error
        return [Node(namespace=AGENT, id=one, label=one, type="entity") for one in self._labels]


class EveryWord:
    """Names every word."""

    def extract(self, text: str) -> list[str]:
        """See the protocol."""
        return text.casefold().split()


def hinted(make_desk: DeskMaker) -> Desk:
    """Open a desk whose graph knows four neighbours of what its one ranked fact names."""
    desk = make_desk(config=WITH_GRAPH)
    desk.add(TOP)
    for label in ("one", "two", "three", "four"):
        desk.run(desk.memory.link, AGENT, label, "atlas")
    return desk


def test_at_most_three_hints_follow_the_ranked_facts(make_desk: DeskMaker) -> None:
    """Contract 5.11; C69."""
    facts = hinted(make_desk).facts("atlas")
    assert facts[0] == TOP
    assert len(facts) == 4
    assert set(facts[1:]) <= {"one", "two", "three", "four"}


def test_hints_never_exceed_the_number_asked_for(make_desk: DeskMaker) -> None:
    """Contract 5.7: top_k is what the caller can take."""
    desk = hinted(make_desk)
    assert len(desk.facts("atlas", top_k=2)) == 2
    assert desk.facts("atlas", top_k=1) == [TOP]


def test_a_filter_and_a_receipt_come_without_hints(make_desk: DeskMaker) -> None:
    """Contract 5.11: hints have no declared confidence and no ranks."""
    desk = hinted(make_desk)
    assert desk.facts("atlas", min_confidence="unverified") == [TOP]
    (receipt,) = desk.receipts("atlas")
    assert receipt.kg_links == ("maria lopez", "atlas")


def test_without_the_switch_there_are_no_hints_and_no_entities(desk: Desk) -> None:
    """C69."""
    desk.add(TOP)
    desk.run(desk.memory.link, AGENT, "one", "atlas")
    desk.consolidate()
    assert desk.facts("atlas") == [TOP]
    assert desk.receipts("atlas")[0].kg_links is None
    status = desk.run(desk.memory.status)
    assert (status.auto_populate, status.nodes, status.edges) == (False, 2, 1)


def test_retired_texts_and_texts_already_listed_are_no_hints(make_desk: DeskMaker) -> None:
    """Contract 5.11."""
    desk = make_desk(config=WITH_GRAPH)
    desk.add(TOP)
    old = desk.add("the old way")
    desk.add("a listed fact")
    for label in ("the old way", "a listed fact", old.id, "fresh"):
        desk.run(desk.memory.link, AGENT, label, "atlas")
    desk.run(desk.memory.forget, AGENT, "the old way")
    assert desk.facts("atlas") == [TOP, "a listed fact", "fresh"]


@pytest.mark.parametrize(
    "error", [StoreUnavailableError("gone"), RuntimeError("someone else's graph")]
)
def test_an_error_in_the_graph_ends_the_hints_and_not_the_recall(
    make_desk: DeskMaker, error: Exception
) -> None:
    """Contract 5.11; the graph may be the caller's own."""
    desk = make_desk()
    desk.add(TOP)
    desk.memory.set_graph(FixedGraph(["a", "b"]), EveryWord())
    assert desk.facts("atlas") == [TOP, "a", "b"]
    desk.memory.set_graph(FixedGraph([], error), EveryWord())
    assert desk.facts("atlas") == [TOP]


def test_consolidation_gives_the_graph_what_facts_name(make_desk: DeskMaker) -> None:
    """Contract 8.2, step 4; C69: by the background run as well."""
    config = replace(WITH_GRAPH, async_consolidate=True, consolidate_threshold=1)
    desk = make_desk(config=config)
    desk.add("We ask Maria Lopez about `atlas`")
    until(lambda: desk.run(desk.memory.status).edges == 1)
    names = [node.id for node in desk.store.neighbours(AGENT, ["atlas"])]
    assert names == ["maria lopez"]


def test_a_memory_without_a_graph_says_so(desk: Desk) -> None:
    """C27."""
    desk.memory.set_graph(None, None)
    with pytest.raises(CapabilityUnsupportedError, match="knowledge graph not available"):
        desk.run(desk.memory.link, AGENT, "a", "b")
