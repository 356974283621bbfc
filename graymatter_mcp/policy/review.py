"""Pairs of facts that a person should compare: they may contradict each other."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import product
from typing import TYPE_CHECKING, Final, NamedTuple

from graymatter_mcp.policy.overlap import OverlapIndex, places

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from graymatter_mcp.policy.claims import Claim
    from graymatter_mcp.policy.values import Value

SCALAR: Final = "comparable_scalar_conflict"
POLARITY: Final = "polarity_conflict"
MOST_PAIRS: Final = 20_000
"""Pairs of one shelf that are counted: a thousand readings of one gauge make half a million."""


class _Saying(NamedTuple):
    """What claims of one frame say."""

    values: tuple[Value, ...]
    is_negative: bool


def difference(a: Claim, b: Claim) -> str | None:
    """Return why two claims about the same thing should be compared, or None.

    Source: data-plane contract 7.1: same-kind values differ, or polarity does.
    """
    if a.is_event or b.is_event:
        return None
    return _difference(_Saying(a.values, a.is_negative), _Saying(b.values, b.is_negative))


def _difference(a: _Saying, b: _Saying) -> str | None:
    if a == b:
        return None
    kinds = {value.kind for value in a.values} & {value.kind for value in b.values}
    one, other = (
        Counter(value for value in saying.values if value.kind in kinds) for saying in (a, b)
    )
    if one != other:
        return SCALAR
    return POLARITY if a.is_negative != b.is_negative else None


def comparable_pairs(said: Sequence[Sequence[Claim]]) -> dict[tuple[int, int], str]:
    """Return the pairs of texts of one shelf whose claims share 2/3 of their words and differ.

    Args:
        said: The claims of each text; a text is known by its place.

    Returns:
        Reason by (smaller place, larger place), at most `MOST_PAIRS`.
    """
    found: dict[tuple[int, int], str] = {}
    for (a, b), reason in _pairs(said):
        if a != b:
            found.setdefault((min(a, b), max(a, b)), reason)
            if len(found) == MOST_PAIRS:
                break
    return found


def _pairs(said: Sequence[Sequence[Claim]]) -> Iterator[tuple[tuple[int, int], str]]:
    sayings = _sayings(said)
    frames = list(sayings)
    index = OverlapIndex(frames, 2, 3)
    for place, frame in enumerate(frames):
        for other in places(index.similar(frame, (2 << place) - 1)):
            yield from _of_frames(sayings[frame], sayings[frames[other]], is_same=other == place)


def _sayings(said: Sequence[Sequence[Claim]]) -> dict[frozenset[str], dict[_Saying, list[int]]]:
    found: defaultdict[frozenset[str], dict[_Saying, list[int]]] = defaultdict(dict)
    for place, of_text in enumerate(said):
        for claim in of_text:
            if not claim.is_event:
                saying = _Saying(claim.values, claim.is_negative)
                found[frozenset(claim.frame_words)].setdefault(saying, []).append(place)
    found.pop(frozenset(), None)
    return found


def _of_frames(
    a: dict[_Saying, list[int]], b: dict[_Saying, list[int]], *, is_same: bool
) -> Iterator[tuple[tuple[int, int], str]]:
    order = {saying: place for place, saying in enumerate(a)}
    for one, other in product(a, b):
        if is_same and order[other] <= order[one]:
            continue
        if reason := _difference(one, other):
            yield from ((pair, reason) for pair in product(a[one], b[other]))


def of_near(
    pairs: Iterable[tuple[int, int]], said: Sequence[Sequence[Claim]]
) -> dict[tuple[int, int], str]:
    """Return those of the given pairs of which some claims differ, whatever their frames."""
    found: dict[tuple[int, int], str] = {}
    for a, b in pairs:
        of_both = product(said[a], said[b])
        reason = next(filter(None, (difference(*both) for both in of_both)), None)
        if reason:
            found[min(a, b), max(a, b)] = reason
    return found
