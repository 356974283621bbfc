"""The entity signal: whether a query names a fact's subject, or things that the fact mentions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.ranking.hybrid.text import holds_phrase
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_MENTIONED: Final = 0.5


def named_subject(query: str, known: Iterable[str]) -> str | None:
    """Return the one known subject that a query names, or None when it names none or several.

    Args:
        query: As sent.
        known: Subjects of the eligible facts; repeats do no harm.
    """
    words = tokenize(query)
    named: str | None = None
    for subject in dict.fromkeys(known):
        tokens = tokenize(subject)
        if tokens and holds_phrase(words, tokens):
            if named is not None:
                return None
            named = subject
    return named


def entity_signal(
    is_of_subject: NDArray[np.bool_] | None, mentioned: NDArray[np.int64], asked: int
) -> NDArray[np.float64]:
    """Return 1.0 for facts of the named subject, else half the share of the query's entities.

    Args:
        is_of_subject: Rows whose subject is the one that the query names; None when there is none.
        mentioned: How many entities of the query each row mentions.
        asked: How many entities the query has.

    Source: data-plane contract 4.4.
    """
    share = _MENTIONED * mentioned / asked if asked else np.zeros(mentioned.size, np.float64)
    return share if is_of_subject is None else np.where(is_of_subject, 1.0, share)
