"""The keyword leg: words of the text, its subject and its day, with phrases in order.

The store indexes words of texts alone. What the leg adds to them comes from the shelf's index: the
subject counts once more, and the day in words, so that "in May 2023" finds what was said then. The
days that a question asks about ("yesterday", "last week") are one more word, which facts of them
hold; and a fact counts in part the words of those told around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.compounds import lent_by_compounds
from graymatter_mcp.engine.plane.shelf_index import DAY, MONTH, YEAR
from graymatter_mcp.ranking.aliases import effective_query, expand
from graymatter_mcp.ranking.days import MONTHS, asked_days
from graymatter_mcp.ranking.hybrid.keyword import keyword_scores
from graymatter_mcp.ranking.hybrid.stop_words import is_stop_word
from graymatter_mcp.ranking.hybrid.text import holds_phrase, phrases
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.corpus import Corpus, Part
    from graymatter_mcp.ranking.days import Days
    from graymatter_mcp.ranking.tokens import Analyzer

_LAST_DAY: Final = 31
_YEAR_DIGITS: Final = 4

Posting = tuple["NDArray[np.int32]", "NDArray[np.float64]"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The index terms of a query, and where each stands in a corpus."""

    tokens: Sequence[str]
    """Unstemmed tokens of the query as sent."""
    postings: Sequence[Posting]
    """One per token, aliases and repeats included, and one for the days asked about; of a token
    that no fact holds, where it stands in compounds."""
    rows: Sequence[NDArray[np.int32]]
    """Of each distinct term of the query as sent: the rows that hold it, in no compound."""
    lent: Sequence[Posting]
    """Of terms of the query as sent that no row holds: those that hold them in compounds."""
    holds_phrases: NDArray[np.bool_] | None
    """Rows that hold every quoted phrase; None where none was quoted."""


def query_terms(corpus: Corpus, text: str, analyzer: Analyzer, today: date) -> Terms:
    """Look the words of a query up.

    Args:
        corpus: What may be found.
        text: Of the query, as sent.
        analyzer: The one that the store indexes with.
        today: What words such as "yesterday" are reckoned from.
    """
    tokens = [token for token in tokenize(text) if not is_stop_word(token)]
    sent = analyzer.index_terms(tokens)
    added_to = [expand(tokens, part.snapshot.aliases) for part in corpus.parts]
    by_part = [analyzer.index_terms(added) for added in added_to]
    wanted = list(dict.fromkeys([*sent, *(term for added in by_part for term in added)]))
    months = {analyzer.index_term(name): number for number, name in enumerate(MONTHS, 1)}
    found = {
        term: _posting(
            corpus,
            [
                _in_part(part, term, months) if term in sent or term in by_part[at] else _nothing()
                for at, part in enumerate(corpus.parts)
            ],
        )
        for term in wanted
    }
    missing = {term for term, (rows, _) in found.items() if not rows.size}
    lent: dict[str, Posting] = {}
    if missing:
        texts = [effective_query(text, added) for added in added_to]
        lent = _in_compounds(corpus, texts, missing, analyzer)
    counted = found | lent
    added = [term for term in wanted if term not in set(sent)]
    days = asked_days(text, today)
    return Terms(
        tokens=tokens,
        postings=[
            *(counted[term] for term in (*sent, *added)),
            *([] if days is None else [_of_days(corpus, days)]),
        ],
        rows=[found[term][0] for term in dict.fromkeys(sent)],
        lent=[lent[term] for term in dict.fromkeys(sent) if term in lent],
        holds_phrases=_with_phrases(corpus, text, analyzer),
    )


def keyword_leg(corpus: Corpus, terms: Terms) -> NDArray[np.float64]:
    """Return BM25 of every row, over the eligible ones."""
    return keyword_scores(
        terms.postings,
        eligible=corpus.eligible,
        lengths=corpus.lengths,
        previous=corpus.previous,
        steps=corpus.steps,
        holds_phrases=terms.holds_phrases,
    )


def _of_days(corpus: Corpus, days: Days) -> Posting:
    """Return the visible facts that speak of some days."""
    first, last = (10_000 * day.year + 100 * day.month + day.day for day in days)
    day = 10_000 * corpus.column(YEAR) + 100 * corpus.column(MONTH) + corpus.column(DAY)
    rows = np.flatnonzero((day >= first) & (day <= last) & corpus.eligible).astype(np.int32)
    return rows, np.ones(rows.size, np.float64)


def _nothing() -> Posting:
    return np.empty(0, np.int32), np.empty(0, np.float64)


def _posting(corpus: Corpus, parts: Sequence[Posting]) -> Posting:
    if len(parts) == 1:
        return parts[0]
    rows = [
        found + np.int32(start) for (found, _), start in zip(parts, corpus.starts, strict=False)
    ]
    return np.concatenate(rows), np.concatenate([tf for _, tf in parts])


def _in_part(part: Part, term: str, months: dict[str, int]) -> Posting:
    """Return where a term stands on one shelf: in texts, in subjects, in days."""
    snapshot, index = part.snapshot, part.index
    (found,) = snapshot.postings([term])
    beside = [
        index.is_about(index.subjects_with[term], snapshot.size)
        if term in index.subjects_with
        else None,
        _on_day(part, term, months),
    ]
    more = [np.flatnonzero(mask & snapshot.eligible) for mask in beside if mask is not None]
    if not any(rows.size for rows in more):
        return found.rows, found.tf
    counts = np.zeros(snapshot.size)
    is_held = np.zeros(snapshot.size, np.bool_)
    counts[found.rows] = found.tf
    is_held[found.rows] = True
    for rows in more:
        counts[rows] += 1.0
        is_held[rows] = True
    held = np.flatnonzero(is_held)
    return held.astype(np.int32), counts[held]


def _in_compounds(
    corpus: Corpus, texts: Sequence[str], missing: set[str], analyzer: Analyzer
) -> dict[str, Posting]:
    """Return where terms that nothing visible holds stand in compounds, on any shelf.

    Args:
        corpus: What may be found.
        texts: The query with what the aliases of each part add to it.
        missing: The terms.
        analyzer: The one that the store indexes with.
    """
    by_part = [
        lent_by_compounds(part.snapshot, text, missing, analyzer)
        for part, text in zip(corpus.parts, texts, strict=True)
    ]
    terms = dict.fromkeys(term for lent in by_part for term in lent)
    return {
        term: _posting(corpus, [lent.get(term, _nothing()) for lent in by_part]) for term in terms
    }


def _on_day(part: Part, term: str, months: dict[str, int]) -> NDArray[np.bool_] | None:
    column = part.index.column
    size = part.snapshot.size
    if term in months:
        return column(MONTH, size) == months[term]
    if not (term.isascii() and term.isdigit()) or (term[0] == "0"):
        return None
    if len(term) == _YEAR_DIGITS:
        return column(YEAR, size) == int(term)
    if len(term) < _YEAR_DIGITS and int(term) <= _LAST_DAY:
        return column(DAY, size) == int(term)
    return None


def _with_phrases(corpus: Corpus, text: str, analyzer: Analyzer) -> NDArray[np.bool_] | None:
    """Return which rows hold each phrase that a query quotes; None where it quotes none."""
    wanted = [tokens for phrase in phrases(text) if (tokens := tokenize(phrase))]
    if not wanted:
        return None
    terms = list(dict.fromkeys(analyzer.index_terms([t for tokens in wanted for t in tokens])))
    holds = np.zeros(corpus.size, np.bool_)
    for at, part in enumerate(corpus.parts):
        # Only texts with all the words have to be read.
        counts = np.zeros(part.snapshot.size, np.int32)
        for found in part.snapshot.postings(terms):
            counts[found.rows] += 1
        rows: list[int] = np.flatnonzero(counts == len(terms)).tolist()
        for row, content in zip(rows, part.snapshot.texts(rows), strict=True):
            held = tokenize(content)
            holds[corpus.starts[at] + row] = all(holds_phrase(held, one) for one in wanted)
    return holds
