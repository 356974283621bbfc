"""Words of a query that no fact holds, looked for inside compounds and the other way round."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.ranking.compounds import (
    LENT,
    MOST_TERMS,
    MOST_WORDS,
    compounds,
    is_looked_into,
    parts,
)
from graymatter_mcp.ranking.tokens import plain_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Rows, Snapshot


def lent_by_compounds(
    snapshot: Snapshot, query: str, missing: AbstractSet[str], analyzer: Analyzer
) -> dict[str, tuple[NDArray[np.int32], NDArray[np.float64]]]:
    """Return where terms that no fact holds stand in compounds, or are said in several words.

    A fact counts them as half an occurrence, however often it holds them: never as much as the
    word itself would.

    Args:
        snapshot: What may be found.
        query: As typed, aliases added: identifiers are left as they are.
        missing: Index terms of the query that have no postings.
        analyzer: The one that the store indexes with.

    Returns:
        (rows, tf) of each of these terms that stands for a word which is looked into.
    """
    if not any(map(str.isalpha, missing)):
        return {}  # numbers and identifiers: what most unknown terms are
    words = {analyzer.index_term(word): word for word in plain_words(query)}
    looked_into = [one for one, word in words.items() if one in missing and is_looked_into(word)]
    found: dict[str, tuple[NDArray[np.int32], NDArray[np.float64]]] = {}
    for term in looked_into[:MOST_WORDS]:
        rows = _union(
            [
                _in_compounds(snapshot, words[term], term),
                *_in_parts(snapshot, words[term], words.keys() - missing, analyzer),
            ]
        )
        found[term] = rows, np.full(rows.size, LENT)
    return found


def _in_compounds(snapshot: Snapshot, word: str, term: str) -> Rows:
    found: list[Rows] = []
    for compound in compounds(word, term, snapshot.terms_with):
        if len(found) == MOST_TERMS:
            break
        (postings,) = snapshot.postings([compound])
        if postings.rows.size:
            found.append(postings.rows)
    return _union(found)


def _in_parts(
    snapshot: Snapshot, word: str, asked: AbstractSet[str], analyzer: Analyzer
) -> list[Rows]:
    """Return the facts that hold all parts of a word, for each way to take it apart.

    Not where the query asks for a part by itself: it would count twice.
    """

    def rows_of(term: str) -> Rows:
        return snapshot.postings([term])[0].rows

    def knows(term: str) -> bool:
        return snapshot.may_hold(term) and rows_of(term).size > 0

    found: list[Rows] = []
    for way in parts(word, knows, analyzer.index_term):
        if not asked.isdisjoint(chain(*way)):
            continue
        first, *others = (_union([rows_of(term) for term in terms]) for terms in way)
        for other in others:
            first = np.intersect1d(first, other, assume_unique=True)
        found.append(first)
    return found


def _union(rows: Sequence[Rows]) -> Rows:
    return np.unique(np.concatenate([np.empty(0, np.int32), *rows]))
