"""The facts that die with their owner."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.scopes import owned

if TYPE_CHECKING:
    from collections.abc import Collection

    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.store.base import MemoryStore

_ALWAYS: Final = datetime.max.replace(tzinfo=UTC)


def facts_of(
    store: MemoryStore, scopes: Collection[Scope]
) -> tuple[list[tuple[Namespace, FactId]], int]:
    """Return everything on the shelves of some owners, and how many entries of a caller it is.

    What was pruned is among the first: it is out of sight, and not yet erased.
    """
    shelves = {name for name in store.namespaces() if owned(name)[0] in scopes}
    facts = [fact for shelf in sorted(shelves) for fact in store.list(shelf)]
    pruned = [one for one in store.pruned(_ALWAYS) if one[0] in shelves]
    entries = sum(fact.kind == FactKind.CONTENT for fact in facts)
    return [*((fact.agent_id, fact.id) for fact in facts), *pruned], entries
