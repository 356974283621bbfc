"""Which records a correction means: by their text, or by their ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.engine.write import as_fact_id, checked_namespace
from graymatter_mcp.errors import FactNotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import MemoryStore


def live_facts(store: MemoryStore, namespace: Namespace, target: str) -> list[Fact]:
    """Return every live record of exactly this text.

    Raises:
        FactNotFoundError: There is none.
    """
    found = store.find_text(checked_namespace(namespace), target)
    live = [fact for fact in found if not fact.is_superseded]
    if not live:
        raise not_found(target)
    return live


def not_found(target: str) -> FactNotFoundError:
    """Name the text that no record has."""
    return FactNotFoundError(f'target fact not found: "{target}"')


def known_facts(store: MemoryStore, namespace: Namespace, fact_ids: Sequence[FactId]) -> list[Fact]:
    """Return the records of all these ids.

    Raises:
        FactNotFoundError: One of them is unknown, or none was given.
    """
    wanted = list(dict.fromkeys(fact_ids))
    valid = [one for one in wanted if as_fact_id(one) == one]
    found = store.get(checked_namespace(namespace), valid)
    missing = set(wanted) - {fact.id for fact in found}
    if missing or not found:
        raise FactNotFoundError(f'no fact with id "{min(missing, default="")}"')
    return found
