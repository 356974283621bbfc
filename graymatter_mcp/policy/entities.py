"""Which things a text names: quoted strings, identifiers, capitalised names, numbers, amounts."""

from __future__ import annotations

import re
from typing import Final

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

# One alternative a kind, the most specific first; the group's name is the kind.
_ENTITY: Final = re.compile(
    r"""
      [`"“](?P<quoted>[^`"”\n]{2,64})[`"”]
    | (?P<amount>\$\d[\d.,]*\d|\$\d)
    | (?P<identifier>[^\W_]\w*(?:[._/:\-]+\w+)+)
    | (?P<camel>[^\W\d_]+[a-z][A-Z]\w*)
    | (?P<mixed>[^\W\d_]+\d\w*|\d+[^\W\d_]\w*)
    | (?P<number>\d{3,})
    | (?P<name>[A-Z][\w]+(?:[ ][A-Z][\w]+)*)
    """,
    re.VERBOSE,
)
_SENTENCE_END: Final = ".!?:\n"


def entities(text: str) -> tuple[str, ...]:
    """Return the first 12 distinct things the text names, casefolded, in order of appearance.

    A capitalised word at the start of a sentence counts only as part of a longer name: its capital
    says nothing. Bare lower-case words, months and weekdays never count.

    Source: data-plane contract 6.2.
    """
    found: dict[str, None] = {}
    for match in _ENTITY.finditer(text):
        entity = (match.group(match.lastgroup or 0) or "").casefold().strip()
        if match.lastgroup == "name" and not _is_name(text, match.start(), entity):
            continue
        if match.lastgroup == "identifier" and entity.replace("-", "").isalpha():
            continue
        if _MIN_LENGTH <= len(entity) <= _MAX_LENGTH:
            found.setdefault(entity)
    return tuple(found)[:MAX_ENTITIES]


def _is_name(text: str, start: int, entity: str) -> bool:
    if all(word in _CALENDAR for word in entity.split()):
        return False
    before = text[:start].rstrip(" ")
    is_first = not before or before[-1] in _SENTENCE_END
    return not is_first or " " in entity
