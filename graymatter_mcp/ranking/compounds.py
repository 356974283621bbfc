"""Compound words: which terms a word that is no term may stand in, and of which it may be made.

What is compared is the word as written beside its stem, with terms, which are stems: a stemmer for
one language cuts words of another at the end, alike or not at all, but never in the middle.
"""

from __future__ import annotations

from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

LENT: Final = 0.5
"""What a compound counts as, in occurrences of the word: less than the word itself, which counts 1,
and more than a neighbour's, 0.3 (`context.ONE_STEP`)."""
MOST_TERMS: Final = 32
"""Terms that one word may stand in; the shortest first, which add least to it."""
MOST_CUTS: Final = 16
"""Ways to take one word apart."""
MOST_WORDS: Final = 16
"""Words of one query that are looked into, so that a page sent as a query costs no more."""

_LEAST_LETTERS: Final = 5
"""Of a word that is looked into: shorter ones stand in anything."""
_MOST_LETTERS: Final = 64
_LEFT_OVER: Final = 4
"""Letters, linking ones included, by which a compound is longer: fewer are mostly an ending."""
_LEAST_PART: Final = 3
_WHOLE_PART: Final = 4
"""Letters of every part but one: `tag` and `hof` are words, and two such are chance."""
_MOST_PARTS: Final = 3
_LINKS: Final = ("", "s", "es", "n", "en", "e", "er")
"""What stands between two parts: Wartung-s-vertrag, Kind-er-garten."""
_ENDINGS: Final = ("", "e", "n", "en", "er", "s", "es", "a", "an", "ar", "or", "et")
"""What a word may end in elsewhere: German, Dutch and Swedish cases and plurals."""
_LONG_ENDINGS: Final = tuple(ending for ending in _ENDINGS if len(ending) != 1)
"""Those of very short words, to which one letter more gives another word."""
_FINALS: Final = ("e", "a")
"""A last letter that a first part loses: Schul-leiter, skol-buss."""
_MOST_STEMMED: Final = 4
"""Letters that a stemmer takes off a part."""
_LATIN: Final = "\u024f"


def is_looked_into(word: str) -> bool:
    """Whether an unstemmed word may be a compound or a part of one: Latin letters, neither few."""
    return _LEAST_LETTERS <= len(word) <= _MOST_LETTERS and word.isalpha() and max(word) <= _LATIN


def compounds(word: str, stem: str, terms_with: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the index terms that begin or end with a word and are longer by a word.

    Args:
        word: Unstemmed.
        stem: Its index term.
        terms_with: Gives the index terms that contain some letters.

    Returns:
        Each once, the shortest first, equal lengths by code point.
    """
    tails = {form for form in (word, stem) if len(form) >= _LEAST_LETTERS}
    # A first part stands as written: its stem would begin other words too (party, particular).
    heads = {word, word[:-1]} if _loses_its_end(word) else {word}
    found = {term for form in heads | tails for term in terms_with(form) if is_looked_into(term)}
    kept = (
        term
        for term in found
        if any(_begins(term, head) for head in heads) or any(_ends(term, tail) for tail in tails)
    )
    return sorted(kept, key=lambda term: (len(term), term))


def parts(
    word: str, knows: Callable[[str], bool], index_term: Callable[[str], str]
) -> Sequence[tuple[tuple[str, ...], ...]]:
    """Return the ways to write a word as two or three words of the shelf.

    Args:
        word: Unstemmed.
        knows: Whether something is an index term that some eligible fact holds.
        index_term: The stemmer.

    Returns:
        For each way, for each part, the index terms that stand for it: any of them will do.
    """

    @cache
    def forms(part: str) -> tuple[str, ...]:
        endings = _ENDINGS if len(part) >= _WHOLE_PART else _LONG_ENDINGS
        known = dict.fromkeys(form for ending in endings if knows(form := part + ending))
        for cut in range(1, _MOST_STEMMED + 1):
            # Stemming is slow, so only where it can lead to a term.
            if len(part) - cut >= _LEAST_PART and knows(part[:-cut]):
                stem = index_term(part)
                known |= dict.fromkeys([stem] if knows(stem) else [])
                break
        return tuple(known)

    ways = (way for way in _cuts(word, forms, _MOST_PARTS) if _is_likely(way))
    return [tuple(map(forms, way)) for way in islice(ways, MOST_CUTS)]


def _loses_its_end(word: str) -> bool:
    return word.endswith(_FINALS) and len(word) > _LEAST_LETTERS


def _begins(term: str, head: str) -> bool:
    return term.startswith(head) and len(term) - len(head) >= _LEFT_OVER


def _ends(term: str, tail: str) -> bool:
    return any(
        term.endswith(tail + ending) and len(term) - len(tail + ending) >= _LEFT_OVER
        for ending in _ENDINGS
    )


def _cuts(
    word: str, forms: Callable[[str], tuple[str, ...]], most: int
) -> Iterator[tuple[str, ...]]:
    """Yield the ways to cut a word into at least two known parts, the shortest first part first."""
    for end in range(_LEAST_PART, len(word) - _LEAST_PART + 1):
        if not forms(word[:end]):
            continue
        for link in _LINKS:
            rest = word[end + len(link) :]
            if len(rest) < _LEAST_PART or not word.startswith(link, end):
                continue
            if forms(rest):
                yield word[:end], rest
            if most > 2:
                yield from ((word[:end], *more) for more in _cuts(rest, forms, most - 1))


def _is_likely(way: Sequence[str]) -> bool:
    return sum(len(part) < _WHOLE_PART for part in way) <= 1
