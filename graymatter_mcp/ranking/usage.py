"""Aliases learnt from use: which unknown word stood for which word of the store."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from graymatter_mcp.ranking.weak_match import MatchedWord

PENDING_MINUTES: Final = 30
"""How long the unknown words of a weak match wait for a strong one; a later weak match wins."""
PAIR_DAYS: Final = 30
"""How long an observed pair is kept."""
OBSERVATIONS: Final = 2
"""How often a pair must be seen before it becomes an alias."""
ANY_WORD: Final = -1
"""The affinity that asks for no common prefix."""


def pairs(
    pending: Iterable[str], matched: Sequence[MatchedWord], affinity: int = 3
) -> tuple[tuple[str, str], ...]:
    """Pair each unknown word of a weak match with a word of the strong match that followed.

    Args:
        pending: Unstemmed words of the weak match that no fact held.
        matched: Words of the strong match that occur in the store.
        affinity: Characters of prefix that both must share; -1 for none.

    Returns:
        (unknown word, word of the store) in the order of `pending`. The longest common prefix wins
        (with affinity -1 it does not count), then the highest idf, then the term. A word that was
        matched itself is no longer unknown and gets no pair.

    Source: contract 8.4, "Learnt from use".
    """
    known = {match.word for match in matched}
    found: list[tuple[str, str]] = []
    for word in dict.fromkeys(pending):
        rivals = [m for m in matched if affinity < 0 or _common_prefix(word, m.word) >= affinity]
        if word in known or not rivals:
            continue
        best = min(rivals, key=lambda m: (-_affinity(word, m.word, affinity), -m.idf, m.term))
        found.append((word, best.word))
    return tuple(found)


def _affinity(word: str, other: str, affinity: int) -> int:
    return 0 if affinity < 0 else _common_prefix(word, other)


def _common_prefix(word: str, other: str) -> int:
    pairs_ = zip(word, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs_))
