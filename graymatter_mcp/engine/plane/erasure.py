"""What dies with its owner: facts, and what else is on their shelves."""

from __future__ import annotations

from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Estate:
    """What goes."""

    facts: tuple[tuple[Namespace, FactId], ...] = ()
    shelves: tuple[Namespace, ...] = ()
    entries: int = 0
    """How many of the facts are entries of a caller."""


NOTHING: Final = Estate()


def estate_of(store: MemoryStore, scopes: Collection[Scope]) -> Estate:
    """Return everything on the shelves of some owners.

    What was pruned is among the facts: it is out of sight, and not yet erased.
    """
    shelves = tuple(sorted(name for name in store.namespaces() if owned(name)[0] in scopes))
    facts = [fact for shelf in shelves for fact in store.list(shelf)]
    pruned = [one for one in store.pruned(_ALWAYS) if one[0] in shelves]
    return Estate(
        facts=(*((fact.agent_id, fact.id) for fact in facts), *pruned),
        shelves=shelves,
        entries=sum(fact.kind == FactKind.CONTENT for fact in facts),
    )
