"""Which things a text names: quoted strings, identifiers, capitalised names, numbers, amounts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graymatter_mcp.ranking.tokens import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Collection

MAX_ENTITIES: Final = 12
_MIN_LENGTH: Final = 2
_MAX_LENGTH: Final = 64

_CALENDAR: Final = frozenset(
    [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
        "monday",
        "tuesday",
        "wednesday",
        "thursday",
        "friday",
        "saturday",
        "sunday",
    ]
)

# One alternative a kind, the most specific first; the group's name is the kind. A plain word is
# taken whole: to look for the others from each of its letters on takes several times as long.
_ENTITY: Final = re.compile(
    r"""
      [`"“](?P<quoted>[^`"”\n]{2,64})[`"”]
    | (?P<amount>\$\d[\d.,]*\d|\$\d)
    | (?P<identifier>[^\W_]\w*+(?:[._/:\-]++\w++)++)
    | (?P<camel>[^\W\d_]*[a-z][A-Z]\w*)
    | (?P<mixed>[^\W\d_]+\d\w*|\d+[^\W\d_]\w*)
    | (?P<number>\d{3,})
    | (?P<name>[A-Z]\w+(?:[ ][A-Z]\w+)*)
    | (?P<plain>[^\W_]+)
    """,
    re.VERBOSE,
)
_SENTENCE_END: Final = ".!?:\n"


def entities(text: str, known: Collection[str] | None = None) -> tuple[str, ...]:
    """Return the first 12 distinct things the text names, casefolded, in order of appearance.

    Bare lower-case words, stop words, months and weekdays never count.

    Args:
        text: As stored.
        known: Casefolded subjects of the shelf. A capitalised run at the start of a sentence counts
            if it or its first word is one; from behind an article or another stop word it counts
            anyway. None, for a caller without a shelf: there it counts if it has two words.

    Source: data-plane contract 6.2.
    """
    found: dict[str, None] = {}
    for match in _ENTITY.finditer(text):
        if match.lastgroup == "plain":
            continue
        entity = (match.group(match.lastgroup or 0) or "").casefold().strip()
        if match.lastgroup == "name":
            entity = _name(text, match.start(), entity, known)
        if match.lastgroup == "identifier" and entity.replace("-", "").isalpha():
            continue
        if _MIN_LENGTH <= len(entity) <= _MAX_LENGTH and entity not in STOP_WORDS:
            found.setdefault(entity)
    return tuple(found)[:MAX_ENTITIES]


def _name(text: str, start: int, run: str, known: Collection[str] | None) -> str:
    """Return the part of a run of capitalised words that is a name, or ""."""
    words = run.split()
    if all(word in _CALENDAR for word in words):
        return ""
    before = text[:start].rstrip(" ")
    is_first = not before or before[-1] in _SENTENCE_END
    if not is_first:
        return run
    if known is None:
        return run if len(words) > 1 else ""
    if run in known or words[0] in known:
        return run
    return " ".join(words[1:]) if words[0] in STOP_WORDS else ""
