"""What of a fact is indexed, what a query quotes, and how much content a text has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graymatter_mcp.ranking.hybrid.stop_words import is_stop_word
from graymatter_mcp.ranking.stamp import stamp_of
from graymatter_mcp.ranking.tokens import is_joined

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date

_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_SUBJECT_WORDS: Final = 4
# Up to three words, none of which starts small; scripts without case have no small letters.
_SPEAKER: Final = re.compile(r"\s*([^\W\d_][\w'\u2019.-]*(?: [^\W\d_][\w'\u2019.-]*){0,2}): ")
_QUOTED: Final = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»')


def day_words(day: date) -> str:
    """Return the day as people write it: ``7 May 2023``."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def indexed_text(content: str, day: date, subject: str | None) -> str:
    """Return the text that the keyword leg indexes.

    Args:
        content: Of the fact.
        day: On which it happened, else was stored.
        subject: See `subject_of`.

    Source: data-plane contract 4.2.
    """
    return "\n".join(part for part in (subject, content, day_words(day)) if part)


def subject_of(content: str, metadata_subject: object, entities: Sequence[str]) -> str | None:
    """Return whom or what a fact is about, casefolded, or None.

    Args:
        content: Of the fact.
        metadata_subject: `metadata.subject`; anything but a string with words is ignored.
        entities: What the content names, casefolded, in order of appearance.

    Returns:
        The first there is of: the subject in metadata, a speaker (``Name: ``), the first entity
        that begins among the first four words. A stamp in brackets may stand before them.

    Source: data-plane contract 4.2.
    """
    if isinstance(metadata_subject, str) and metadata_subject.strip():
        return metadata_subject.strip().casefold()
    content = content[len(stamp_of(content)) :]
    match = _SPEAKER.match(content)
    if match and not any(word[0].islower() for word in match[1].split()):
        return match[1].casefold()
    head = content.casefold()
    for entity in entities:
        start = _place(entity, head)
        # The mark makes a quote before the entity part of its word.
        if start >= 0 and len(f"{head[:start]}.".split()) <= _SUBJECT_WORDS:
            return entity
    return None


def _place(words: str, text: str) -> int:
    """Return where whole words first stand in a text, or -1.

    Without a pattern: to compile one for each entity would take most of the time.
    """
    start = text.find(words)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(words) :][:1]
        if not _is_word(before) and not _is_word(after):
            return start
        start = text.find(words, start + 1)
    return -1


def _is_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def content_tokens(tokens: Iterable[str]) -> int:
    """Return how many unstemmed tokens are neither stop words nor repeat others in joined form.

    Source: data-plane contract 4.3, t.
    """
    return sum(1 for token in tokens if not is_joined(token) and not is_stop_word(token))


def phrases(query: str) -> tuple[str, ...]:
    """Return what a query puts in double quotes, in order."""
    found = ("".join(groups) for groups in _QUOTED.findall(query))
    return tuple(phrase for phrase in found if phrase.strip())


def holds_phrase(tokens: Sequence[str], phrase_tokens: Sequence[str]) -> bool:
    """Whether the tokens of a phrase stand in a text side by side, in its order.

    Joined tokens repeat the words before them, so they count only where a phrase has nothing else.

    Args:
        tokens: Of the text, in order.
        phrase_tokens: Of the phrase, in order; none of them stands in any text.

    Source: data-plane contract 4.2.
    """
    words = [token for token in tokens if not is_joined(token)]
    wanted = [token for token in phrase_tokens if not is_joined(token)]
    if not wanted:
        words, wanted = list(tokens), list(phrase_tokens)
    starts = range(len(words) - len(wanted) + 1)
    return any(words[start : start + len(wanted)] == wanted for start in starts)
