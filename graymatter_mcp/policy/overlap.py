"""Which sets of words overlap: a join by Jaccard similarity over an inverted index of bit sets."""

from __future__ import annotations

from collections import defaultdict
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


class OverlapIndex:
    """Finds the sets that are similar enough to another.

    The posting of a word is one integer, a bit for each set. The postings of a set's words are
    added up in bit-sliced counters, so that all sets are counted at once, without a loop over
    pairs: even where thousands of facts share a template, a set costs some dozen operations on
    integers.

    Args:
        sets: The sets; a set is known by its place here.
        numerator: Of the least Jaccard similarity.
        denominator: Of the same; whole numbers, since a share must not round.
    """

    def __init__(self, sets: Sequence[frozenset[str]], numerator: int, denominator: int) -> None:
        self._numerator = numerator
        self._denominator = denominator
        self._lengths: defaultdict[int, int] = defaultdict(int)
        self._postings: defaultdict[str, int] = defaultdict(int)
        for place, words in enumerate(sets):
            self._lengths[len(words)] |= 1 << place
            for word in words:
                self._postings[word] |= 1 << place

    def similar(self, words: frozenset[str], among: int = -1) -> int:
        """Return a bit for each set that is similar enough.

        Args:
            words: The set to compare with.
            among: A bit for each set that counts; all by default.
        """
        counters: list[int] = []
        for word in words:
            _add(counters, self._postings.get(word, 0) & among)
        found = 0
        for shared, sets in self._by_needed(len(words)).items():
            found |= sets and sets & _at_least(counters, shared)
        return found

    def _by_needed(self, length: int) -> dict[int, int]:
        """Map how many words must be shared to the sets of which that is asked."""
        needed: defaultdict[int, int] = defaultdict(int)
        for other, sets in self._lengths.items():
            shared = -(-self._numerator * (length + other) // (self._numerator + self._denominator))
            if 0 < shared <= min(length, other):
                needed[shared] |= sets
        return needed


def _add(counters: list[int], posting: int) -> None:
    for place in count():
        if not posting:
            return
        if place == len(counters):
            counters.append(posting)
            return
        counters[place], posting = counters[place] ^ posting, counters[place] & posting


def _at_least(counters: Sequence[int], least: int) -> int:
    if least >> len(counters):
        return 0
    above, equal = 0, -1
    for place in reversed(range(len(counters))):
        if least >> place & 1:
            equal &= counters[place]
        else:
            above |= equal & counters[place]
            equal &= ~counters[place]
    return above | equal


def places(bits: int) -> Iterator[int]:
    """Yield the places of the bits that are set, ascending."""
    while bits:
        lowest = bits & -bits
        yield lowest.bit_length() - 1
        bits ^= lowest


def clusters(sets: Sequence[frozenset[str]]) -> list[list[int]]:
    """Return the places of sets that hang together by a Jaccard similarity of at least 1/2.

    Each cluster ascends and has two members or more; the largest comes first, then the one with
    the earliest member.
    """
    twins: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for place, words in enumerate(sets):
        if words:
            twins[words].append(place)
    distinct = list(twins)
    index = OverlapIndex(distinct, 1, 2)
    groups: dict[int, int] = {}
    """A bit for each member, by the last one that joined."""
    last = list(range(len(distinct)))
    for place, words in enumerate(distinct):
        group = 1 << place
        similar = index.similar(words, group - 1)
        while similar:
            other = _last(last, (similar & -similar).bit_length() - 1)
            last[other] = place
            group |= groups.pop(other)
            similar &= ~group
        groups[place] = group
    found = [
        sorted(member for place in places(group) for member in twins[distinct[place]])
        for group in groups.values()
    ]
    return sorted(
        (cluster for cluster in found if len(cluster) > 1),
        key=lambda cluster: (-len(cluster), cluster[0]),
    )


def _last(last: list[int], place: int) -> int:
    while last[place] != place:
        last[place] = last[last[place]]
        place = last[place]
    return place
