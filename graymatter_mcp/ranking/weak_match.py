"""Weak-match feedback: whether a query met the store's words, and which words it has instead."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from graymatter_mcp.ranking.bm25 import idf
from graymatter_mcp.ranking.tokens import is_joined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from graymatter_mcp.ranking.tokens import Analyzer

_QUESTION_WORDS = (
    "how what which who whom whose when where why does do did can could should would will shall"
    " must may might long much many often soon our your their"
)
QUESTION_WORDS: Final = frozenset(_QUESTION_WORDS.split())

_ENOUGH_COVERAGE: Final = 0.5
_ENOUGH_OVERLAP: Final = 2
_ENOUGH_NEARBY: Final = 4
_SHOWN: Final = 10
_ADVICE: Final = (
    "Ask again with one of these words if you meant it; if the store calls it something else,"
    " record that with memory_alias."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryMatch:
    """What an effective query met among the eligible facts."""

    words: Mapping[str, str]
    """Index term to unstemmed word, in query order (`query_words`): E."""
    df: Mapping[str, int]
    """Eligible facts that hold each term of `words`; a term left out has none."""
    count: int
    """Eligible facts (N)."""
    returned: Sequence[AbstractSet[str]]
    """The index terms of each fact returned; empty when nothing was ranked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchedWord:
    """A content word of a query that occurs in the store."""

    word: str
    """Unstemmed."""
    term: str
    idf: float


class Verdict(StrEnum):
    """How well a query met the store; `NONE` when it has no words or nothing was ranked."""

    NONE = "none"
    WEAK = "weak"
    STRONG = "strong"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """The verdict and what it rests on."""

    verdict: Verdict
    coverage: int
    """Content terms that occur in the store."""
    overlap: int
    """The most terms of the query that one returned fact holds."""
    unknown: tuple[str, ...]
    """Content words, unstemmed, that no eligible fact holds, in query order."""
    matched: tuple[MatchedWord, ...]
    """The other content words, in query order."""


def query_words(tokens: Iterable[str], analyzer: Analyzer) -> dict[str, str]:
    """Map each distinct index term of a query to the word it came from; joined tokens are left out.

    Where several words share a term, the first that is no question word stands for it.
    """
    words: dict[str, str] = {}
    for token in tokens:
        if not is_joined(token):
            term = analyzer.index_term(token)
            if words.get(term, token) in QUESTION_WORDS:
                words[term] = token
            words.setdefault(term, token)
    return words


def assess(match: QueryMatch) -> Assessment:
    """Judge a match.

    Strong when at least half of the content terms occur in the store and one returned fact holds
    two terms of the query (one, if it has only one).

    Source: contract 5.10.
    """
    terms = set(match.words)
    content = [t for t, word in match.words.items() if word not in QUESTION_WORDS]
    content = content or list(match.words)
    known = [term for term in content if match.df.get(term, 0) > 0]
    overlap = max((len(terms & held) for held in match.returned), default=0)
    if not terms or not match.returned:
        verdict = Verdict.NONE
    elif len(known) >= _ENOUGH_COVERAGE * len(content) and overlap >= min(
        _ENOUGH_OVERLAP, len(terms)
    ):
        verdict = Verdict.STRONG
    else:
        verdict = Verdict.WEAK
    return Assessment(
        verdict=verdict,
        coverage=len(known),
        overlap=overlap,
        unknown=tuple(match.words[t] for t in content if match.df.get(t, 0) == 0),
        matched=tuple(
            MatchedWord(word=match.words[t], term=t, idf=idf(match.count, match.df[t]))
            for t in known
        ),
    )


def feedback(
    match: QueryMatch,
    *,
    cooccurring: Callable[[Sequence[str]], Iterable[tuple[str, int, int]]],
    df: Callable[[Sequence[str]], Mapping[str, int]],
) -> str:
    """Return the three lines that follow a weak match, or "" to stay silent.

    Args:
        match: The query and what it met.
        cooccurring: Gives (term, eligible facts that hold it and a seed, df) of every other term of
            the facts that hold a seed. Called only for a weak match with a seed.
        df: Gives the document frequency of terms of returned facts. Called only when fewer than
            four words stand nearby.

    Source: contract 5.10.
    """
    assessment = assess(match)
    if assessment.verdict is not Verdict.WEAK:
        return ""
    nearby = _nearby(match, cooccurring)
    if len(nearby) < _ENOUGH_NEARBY:
        nearby = _of_returned(match, df)
    if not nearby:
        return ""
    return (
        f"(weak match: {assessment.coverage} of {len(match.words)} terms in your query exist in"
        f" this store)\nnearby vocabulary: {', '.join(nearby[:_SHOWN])}\n{_ADVICE}"
    )


def _nearby(
    match: QueryMatch, cooccurring: Callable[[Sequence[str]], Iterable[tuple[str, int, int]]]
) -> list[str]:
    seeds = [term for term in match.words if match.df.get(term, 0) > 0]
    scores = {
        term: with_seed * idf(match.count, df)
        for term, with_seed, df in (cooccurring(seeds) if seeds else ())
        if term not in match.words and not is_joined(term) and 4 * df <= match.count
    }
    return _best_first(scores)


def _of_returned(match: QueryMatch, df: Callable[[Sequence[str]], Mapping[str, int]]) -> list[str]:
    terms = sorted({term for held in match.returned for term in held if not is_joined(term)})
    others = [term for term in terms if term not in match.words]
    counts = df(others)
    return _best_first({term: idf(match.count, counts.get(term, 0)) for term in others})


def _best_first(scores: Mapping[str, float]) -> list[str]:
    return sorted(scores, key=lambda term: (-scores[term], term))
