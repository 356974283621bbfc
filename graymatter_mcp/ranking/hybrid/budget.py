"""How many items fit into a budget of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

_CHARACTERS_PER_TOKEN: Final = 4


def cost(characters: int) -> int:
    """Return the tokens that a content of so many characters counts for, rounded up."""
    return -(-characters // _CHARACTERS_PER_TOKEN)


def admitted(characters: Iterable[int], max_tokens: int | None) -> int:
    """Return how many of the items, from the first, fit into the budget.

    Args:
        characters: Length of each content as returned, in order; 0 where it is left out.
        max_tokens: None for no limit.

    Returns:
        Items before the first that does not fit; later ones that would are not taken. At least 1
        when there are any.

    Source: data-plane contract 4.11.
    """
    spent = taken = 0
    for length in characters:
        spent += cost(length)
        if taken and max_tokens is not None and spent > max_tokens:
            break
        taken += 1
    return taken
