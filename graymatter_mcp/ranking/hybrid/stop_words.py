"""English words that say nothing about what a text is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.ranking.tokens import STOP_WORDS
from graymatter_mcp.ranking.weak_match import QUESTION_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable

# English alone: the list of another language would take words from this one, as German "die" would.
_OTHERS: Final = (
    "about above after again against all also am among any anyone anything because been "
    "before being below between both cannot could did do does doing down during each either "
    "else ever every few further he her here hers herself him himself his how however if into "
    "itself just like me more most myself neither never no nor now off once only other others "
    "ours ourselves out over own per please same she should since some someone something such "
    "tell than their theirs them themselves then there these they those though through too "
    "under until upon us very we were what whatever when whenever where whether which while "
    "who whoever why within without would yet your yours yourself yourselves let aren couldn "
    "didn doesn hadn hasn haven isn mustn needn shouldn wasn weren wouldn ve ll"
)
_WITH_CONTENT: Final = frozenset({"may", "long"})
"""Question words that are also a month or a measure."""
_ENGLISH: Final = (STOP_WORDS | QUESTION_WORDS | frozenset(_OTHERS.split())) - _WITH_CONTENT


def is_stop_word(token: str) -> bool:
    """Whether an unstemmed token is an English word without content of its own."""
    return token in _ENGLISH


def content_terms(tokens: Iterable[str]) -> tuple[str, ...]:
    """Return the distinct tokens that are no stop words, in order."""
    return tuple(dict.fromkeys(token for token in tokens if not is_stop_word(token)))
