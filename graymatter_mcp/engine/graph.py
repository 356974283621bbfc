"""The knowledge graph as recall uses it: what a text names, and what stands beside it."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.policy.entities import entities
from graymatter_mcp.store.base import Edge, Node

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.store.base import MemoryStore

MAX_HINTS: Final = 3
CO_OCCURS: Final = "co_occurs"


@runtime_checkable
class GraphAccessor(Protocol):
    """Reads a graph."""

    def neighbours(self, agent_id: Namespace, node_ids: Sequence[str]) -> Sequence[Node]:
        """Return nodes one edge away, best first, never one of `node_ids`."""
        ...


@runtime_checkable
class EntityExtractor(Protocol):
    """Finds what a text names."""

    def extract(self, text: str) -> Sequence[str]:
        """Return node ids, lower case."""
        ...


class RuleExtractor:
    """The built-in extractor: rules, no model."""

    def extract(self, text: str) -> Sequence[str]:
        """See the protocol."""
        return entities(text)


class StoreGraph:
    """The graph kept in the store."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store

    def neighbours(self, agent_id: Namespace, node_ids: Sequence[str]) -> Sequence[Node]:
        """See the protocol."""
        return self._store.neighbours(agent_id, node_ids) if node_ids else ()


def graph_of(facts: Sequence[Fact], extractor: EntityExtractor) -> tuple[list[Node], list[Edge]]:
    """Return a node for each thing the facts name, and an edge for each two named together."""
    nodes: list[Node] = []
    edges: list[Edge] = []
    for fact in facts:
        names = extractor.extract(fact.text)
        nodes += [Node(namespace=fact.agent_id, id=n, label=n, type="entity") for n in names]
        edges += [
            Edge(
                namespace=fact.agent_id,
                source=source,
                target=target,
                relation=CO_OCCURS,
                created_at=fact.created_at,
            )
            for source, target in combinations(sorted(names), 2)
        ]
    return nodes, edges


def hints(
    graph: GraphAccessor,
    extractor: EntityExtractor,
    store: MemoryStore,
    namespace: Namespace,
    top: tuple[FactId, str],
    listed: Sequence[str],
) -> tuple[str, ...]:
    """Return up to three labels that stand beside what the top fact names.

    Args:
        graph: Where neighbours are looked up.
        extractor: Finds what the top text names.
        store: Tells which fact nodes are retired.
        namespace: The graph's shelf.
        top: Identity and text of the first ranked fact; the identity may be a linked node.
        listed: Texts that the answer already holds; they are skipped.
    """
    fact_id, text = top
    found: dict[str, None] = {}
    for node in graph.neighbours(namespace, [*extractor.extract(text), fact_id.lower()]):
        if node.label in listed or node.label in found or _is_retired(store, node):
            continue
        found[node.label] = None
        if len(found) == MAX_HINTS:
            break
    return tuple(found)


def _is_retired(store: MemoryStore, node: Node) -> bool:
    if node.type == "fact":
        facts = store.get(node.namespace, [FactId(node.id.upper())])
        return not facts or facts[0].is_superseded
    same = store.find_text(node.namespace, node.label)
    return bool(same) and all(fact.is_superseded for fact in same)
