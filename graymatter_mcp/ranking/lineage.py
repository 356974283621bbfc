"""Who was retired in favour of whom, followed to the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graymatter_mcp.model.ids import FactId


def transitive(
    direct: Callable[[Sequence[FactId]], Mapping[FactId, Sequence[FactId]]], heir: FactId
) -> tuple[FactId, ...]:
    """Return every fact retired in favour of `heir`, directly or through others.

    Args:
        direct: Maps each of some heirs to the ids retired directly in its favour; heirs without any
            may be left out. Called once a generation.
        heir: The fact to start from; never part of the result, even where records form a ring.

    Returns:
        Nearest generation first, ids ascending within one, each id once at its nearest.

    Source: contract, `supersedes` of a receipt.
    """
    found: list[FactId] = []
    seen = {heir}
    generation: Sequence[FactId] = (heir,)
    while generation:
        retired = direct(generation)
        generation = sorted({i for ids in retired.values() for i in ids} - seen)
        seen.update(generation)
        found.extend(generation)
    return tuple(found)
