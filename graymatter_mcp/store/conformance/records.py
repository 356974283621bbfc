"""Records beside facts: checkpoints and the graph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.model.checkpoints import Checkpoint, Message
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.store.base import (
    Edge,
    Node,
    WriteBatch,
)
from graymatter_mcp.store.conformance.kit import (
    ELSEWHERE,
    SHELF,
    START,
    Suite,
    at,
    new_id,
    ulid,
)

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore

STATES: list[dict[str, Any] | None] = [
    None,
    {},
    {"whole": 1, "real": 1.0, "zero": 0, "minus": -0.0, "yes": True, "no": False, "none": None},
    {
        "big": [2**63, -(2**63) - 1, 2**64, 10**40],
        "exact": [0.1, 1e22, 5e-324, 1.7976931348623157e308],
    },
    {"deep": [[[[{"a": [{"b": {}}]}]]]], "empty": [[], {}, ""]},
    {"": "blank key", "caf\u00e9 \U0001f600": "\ufeff\r\n\t\u2028 ", "a.b $[0]": "'\"\\"},
    {"z": 1, "a": 2, "m": 3},
    {"long": "x" * 1_000_000},
]


def save(store: MemoryStore, *checkpoints: Checkpoint) -> None:
    """Store checkpoints in one batch."""
    store.apply(WriteBatch(checkpoints=checkpoints))


def node(node_id: str, namespace: Namespace = SHELF) -> Node:
    """Build a node whose label is its id in capitals."""
    return Node(namespace=namespace, id=node_id, label=node_id.upper(), type="unknown")


def edge(source: str, target: str, weight: float = 1.0, relation: str = "agent_link") -> Edge:
    """Build an edge of `SHELF`."""
    return Edge(
        namespace=SHELF,
        source=source,
        target=target,
        relation=relation,
        created_at=START,
        weight=weight,
    )


class Checkpoints(Suite):
    """What saved states are promised."""

    @pytest.mark.parametrize("state", STATES, ids=range(len(STATES)))
    def test_a_state_comes_back_as_it_went_in(
        self, store: MemoryStore, state: dict[str, Any] | None
    ) -> None:
        """Contract 7: numbers come back as they went in, and there is no size limit."""
        saved = Checkpoint(id=new_id(), agent_id=SHELF, created_at=START, state=state)
        save(store, saved)
        (found,) = store.checkpoints(SHELF)
        assert found == saved
        # 1 == 1.0 == True, and -0.0 == 0: only the spelling tells them apart, and the key order.
        assert repr(found.state) == repr(state)

    def test_messages_and_metadata_come_back(self, store: MemoryStore) -> None:
        """Contract 7: a record has messages and a string map beside its state."""
        saved = Checkpoint(
            id=new_id(),
            agent_id=SHELF,
            created_at=at(0.000001),
            messages=(
                Message(role="user", content=" hi\r\n"),
                Message(role="", content="\U0001f600"),
            ),
            metadata={"source": "hooks", "session_id": "caf\u00e9"},
        )
        save(store, saved)
        assert store.checkpoints(SHELF) == [saved]

    def test_checkpoints_come_newest_first_then_by_id_descending(self, store: MemoryStore) -> None:
        """Contract 7: resume gives the newest by created_at, then by id; nothing is overwritten."""
        low, middle, high, newest, oldest = (
            Checkpoint(id=ulid(n), agent_id=SHELF, created_at=at(second), state={"n": n})
            for n, second in ((1, 5), (2, 5), (3, 5), (0, 5.000001), (9, -1))
        )
        save(store, middle, oldest, high)
        save(store, newest, low, Checkpoint(id=ulid(50), agent_id=ELSEWHERE, created_at=at(99)))
        assert store.checkpoints(SHELF) == [newest, high, middle, low, oldest]
        assert store.namespaces() == [ELSEWHERE, SHELF]

    def test_a_caller_that_changes_its_objects_changes_nothing_stored(
        self, store: MemoryStore
    ) -> None:
        """Contract 4.3: values are read once, at the call."""
        state: dict[str, Any] = {"goals": ["one"]}
        metadata = {"source": "mcp"}
        saved = Checkpoint(
            id=new_id(), agent_id=SHELF, created_at=START, state=state, metadata=metadata
        )
        save(store, saved)
        state["goals"].append("two")
        metadata["source"] = "changed"
        (found,) = store.checkpoints(SHELF)
        assert (found.state, found.metadata) == ({"goals": ["one"]}, {"source": "mcp"})
        assert found.state is not None
        found.state["goals"] = None
        assert store.checkpoints(SHELF)[0].state == {"goals": ["one"]}


class Graph(Suite):
    """What nodes and edges are promised."""

    def test_neighbours_are_found_in_both_directions_heaviest_first(
        self, store: MemoryStore
    ) -> None:
        """Interface of neighbours: by weight descending, then id; one edge away; never a seed."""
        nodes = tuple(map(node, ("a", "b", "c", "d", "e", "f", "\u00e9t\u00e9")))
        edges = (
            edge("a", "b", 0.5),
            edge("c", "a", 0.9),
            edge("a", "d", 0.5),
            edge("d", "e", 1.0),
            edge("a", "\u00e9t\u00e9", 0.5),
            edge("a", "a", 1.0),
        )
        store.apply(WriteBatch(nodes=nodes, edges=edges))
        assert [n.id for n in store.neighbours(SHELF, ["a"])] == ["c", "b", "d", "\u00e9t\u00e9"]
        assert [n.id for n in store.neighbours(SHELF, ["a", "d"])] == [
            "e",
            "c",
            "b",
            "\u00e9t\u00e9",
        ]
        assert store.neighbours(SHELF, ["e"]) == [node("d")]
        assert store.neighbours(SHELF, ["f", "nobody"]) == []
        assert store.neighbours(SHELF, []) == []
        assert store.neighbours(ELSEWHERE, ["a"]) == []

    def test_a_node_reached_twice_comes_once_by_its_heaviest_edge(self, store: MemoryStore) -> None:
        """Interface of neighbours: nodes, not edges, are returned."""
        edges = (
            edge("a", "b", 0.2),
            edge("b", "a", 0.8),
            edge("a", "b", 0.4, "mentions"),
            edge("a", "c", 0.6),
        )
        store.apply(WriteBatch(nodes=tuple(map(node, "abc")), edges=edges))
        assert [n.id for n in store.neighbours(SHELF, ["a"])] == ["b", "c"]
        assert store.stats().edges == 4

    def test_what_exists_is_kept_as_it_is(self, store: MemoryStore) -> None:
        """Interface of WriteBatch: nodes and edges that exist are not written again."""
        nodes = tuple(map(node, "abc"))
        store.apply(WriteBatch(nodes=nodes, edges=(edge("a", "b", 0.9), edge("a", "c", 0.5))))
        impostor = replace(node("b"), label="other", type="person")
        store.apply(
            WriteBatch(nodes=(impostor, node("b", ELSEWHERE)), edges=(edge("a", "b", 0.1),))
        )
        assert store.neighbours(SHELF, ["a"]) == [node("b"), node("c")]
        assert (store.stats().nodes, store.stats().edges) == (4, 2)

    def test_the_same_node_and_edge_twice_in_one_batch_is_one(self, store: MemoryStore) -> None:
        """Contract 6: linking a node to itself, or twice, is no error."""
        store.apply(
            WriteBatch(
                nodes=(node("a"), node("a"), node("b")), edges=(edge("a", "b"), edge("a", "b"))
            )
        )
        assert (store.stats().nodes, store.stats().edges) == (2, 1)
