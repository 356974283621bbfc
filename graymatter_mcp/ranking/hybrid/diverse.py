"""Results that say different things: equal texts once, near copies only to fill up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable
    from collections.abc import Set as AbstractSet

_NEAR: Final = 0.75


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """What is asked of the text of a row."""

    key: Callable[[int], Hashable]
    """Equal for rows of equal text."""
    tokens: Callable[[int], AbstractSet[str]]
    """Distinct tokens; asked at most once for a row."""
    same_claims: Callable[[int, int], bool]
    """Whether two rows name the same values and names; asked only of near copies."""


def diverse(ordered: Iterable[int], k: int, texts: Texts, *, may_fill: bool) -> list[int]:
    """Choose up to k rows, in order.

    A row whose text was seen already is left out. A row is set aside when a chosen one has a token
    Jaccard of at least 0.75 with it and the same values and names.

    Args:
        ordered: Rows, best first; read only as far as needed.
        k: >= 1.
        texts: The texts of the rows.
        may_fill: Whether those set aside fill up what is missing to k; not under a token budget.

    Source: data-plane contract 4.10.
    """
    seen: set[Hashable] = set()
    places: dict[int, int] = {}
    chosen: dict[int, AbstractSet[str]] = {}
    aside: list[int] = []
    for place, row in enumerate(ordered):
        key = texts.key(row)
        if key in seen:
            continue
        seen.add(key)
        places[row] = place
        words = texts.tokens(row)
        if any(_are_near(words, held) and texts.same_claims(row, o) for o, held in chosen.items()):
            aside.append(row)
            continue
        chosen[row] = words
        if len(chosen) == k:
            break
    filling = aside[: k - len(chosen)] if may_fill else []
    return sorted([*chosen, *filling], key=places.__getitem__)


def _are_near(one: AbstractSet[str], other: AbstractSet[str]) -> bool:
    # Sizes alone rule most pairs out: the smaller over the larger is the most there can be.
    small, large = sorted((len(one), len(other)))
    if small == 0 or small < _NEAR * large:
        return False
    shared = len(one & other)
    return shared >= _NEAR * (small + large - shared)
