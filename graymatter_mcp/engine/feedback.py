"""What a plain answer says when query and store use different words."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from graymatter_mcp.ranking.tokens import tokenize
from graymatter_mcp.ranking.usage import OBSERVATIONS, PAIR_DAYS, PENDING_MINUTES, pairs
from graymatter_mcp.ranking.weak_match import (
    Assessment,
    QueryMatch,
    Verdict,
    assess,
    feedback,
    query_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from graymatter_mcp.engine.recall import Recalled
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Snapshot


def match_of(recalled: Recalled, analyzer: Analyzer) -> QueryMatch:
    """Gather what the feedback rules need of one recall."""
    words = query_words(recalled.tokens, analyzer)
    return QueryMatch(
        words=words,
        df=_document_frequencies(recalled.snapshot, list(words)),
        count=recalled.snapshot.count,
        returned=[frozenset(analyzer.index_terms(tokenize(text))) for text in recalled.texts],
    )


def weak_match_feedback(recalled: Recalled, match: QueryMatch) -> str:
    """Return the note of contract 5.10, or "" for a match that needs none."""
    snapshot = recalled.snapshot

    def cooccurring(seeds: Sequence[str]) -> Iterable[tuple[str, int, int]]:
        return [(one.term, one.with_seed, one.df) for one in snapshot.cooccurring(seeds)]

    return feedback(
        match, cooccurring=cooccurring, df=lambda terms: _document_frequencies(snapshot, terms)
    )


def _document_frequencies(snapshot: Snapshot, terms: Sequence[str]) -> Mapping[str, int]:
    found = snapshot.postings(terms)
    return {term: len(postings.rows) for term, postings in zip(terms, found, strict=True)}


@dataclass(frozen=True, slots=True)
class _Pending:
    words: tuple[str, ...]
    at: datetime


@dataclass(slots=True)
class _Observed:
    times: int
    at: datetime


class UsageLearner:
    """Aliases learnt from use; observations live in memory, and losing them costs a repetition."""

    def __init__(self, affinity: int) -> None:
        self._affinity = affinity
        self._pending: dict[Namespace, _Pending] = {}
        self._observed: dict[tuple[Namespace, str, str], _Observed] = {}
        self._lock = threading.Lock()

    def observe(
        self, namespace: Namespace, match: QueryMatch, now: datetime
    ) -> list[tuple[str, str]]:
        """Note one plain recall; return the pairs that have now been seen often enough.

        Source: contract 8.4, "Learnt from use".
        """
        assessment = assess(match)
        with self._lock:
            if assessment.verdict is Verdict.WEAK and assessment.unknown:
                self._pending[namespace] = _Pending(assessment.unknown, now)
            if assessment.verdict is not Verdict.STRONG:
                return []
            return self._learn(namespace, assessment, now)

    def _learn(
        self, namespace: Namespace, assessment: Assessment, now: datetime
    ) -> list[tuple[str, str]]:
        pending = self._pending.pop(namespace, None)
        if pending is None or now - pending.at > timedelta(minutes=PENDING_MINUTES):
            return []
        learnt: list[tuple[str, str]] = []
        for word, known in pairs(pending.words, assessment.matched, self._affinity):
            key = (namespace, word, known)
            seen = self._observed.pop(key, None)
            is_fresh = seen is not None and now - seen.at <= timedelta(days=PAIR_DAYS)
            times = (seen.times if seen and is_fresh else 0) + 1
            if times >= OBSERVATIONS:
                learnt.append((word, known))
            else:
                self._observed[key] = _Observed(times, now)
        return learnt
