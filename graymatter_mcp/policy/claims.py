"""What a text claims: who is spoken of, in which frame, with which values, yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.polarity import Polarity, read_polarity
from graymatter_mcp.policy.values import Value, is_value_like, read_rest
from graymatter_mcp.policy.vocabulary import (
    AUXILIARIES,
    CHANGE_WORDS,
    CHANGES,
    DETERMINERS,
    DIRECTIONS,
    EVENTS,
    LINKING,
    LOCATIVES,
    PREPOSITIONS,
    SPEAKERS,
)
from graymatter_mcp.policy.words import Piece, pieces, sentences, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

_CACHED: Final = 4096
"""Characters of the longest text whose claims are kept: longer ones are rare and fill memory."""
_LINK: Final = Piece("word", "is", "is")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence or clause as the rules of contradiction see it."""

    subject: frozenset[str]
    """Stems and speakers before the linking verb; empty when there is none."""
    located: frozenset[str]
    """Stems of phrases that say where or when: they may stand on either side of the verb."""
    verb: str
    """Lemma of the linking verb, or ""."""
    frame: tuple[str, ...]
    """Sorted stems, marks that begin with ``=`` and kinds of value in angle brackets."""
    frame_words: tuple[str, ...]
    """The distinct stems of the frame: English index terms of the text."""
    frame_tokens: tuple[str, ...]
    """The same words unstemmed, for an index with another stemmer."""
    capitals: frozenset[tuple[str, str]]
    """Stem and spelling of each word with a capital: Adams is not Adam."""
    values: tuple[Value, ...]
    """By kind, in order of appearance within a kind."""
    is_negative: bool
    is_negated: bool
    """Negated by a word, not by the negative half of a pair."""
    is_event: bool
    """Reports an event or asks something: it neither contradicts nor is contradicted."""


def claims(content: str) -> tuple[Claim, ...]:
    """Return the claims of a text, in order.

    Source: data-plane contract 5.4, rules 1 to 3; what it leaves open is in ADR 0031.
    """
    return _cached(content) if len(content) <= _CACHED else _claims(content)


def _claims(content: str) -> tuple[Claim, ...]:
    return tuple(
        _claim(pieces(sentence), is_question=asks) for sentence, asks in sentences(content)
    )


_cached = lru_cache(maxsize=4096)(_claims)


def _claim(all_pieces: list[Piece], *, is_question: bool) -> Claim:
    said = _without_change_words(all_pieces)
    polarity = read_polarity(said)
    is_event = is_question or polarity.is_act or not EVENTS.isdisjoint(piece.low for piece in said)
    said, is_change = _settle_change(polarity.words)
    is_event = is_event and not (is_change and not is_question and not polarity.is_act)
    at = _linking(said)
    if at is None:
        return _build((), said, "", (), polarity, is_event=is_event)
    before, verb = said[:at], LINKING.get(said[at].low, "be")
    after = said[at + 1 :]
    while after and verb == "be" and LINKING.get(after[0].low) == "be":
        after = after[1:]
    rest = read_rest(before, after, verb)
    return _build(before, rest.words, verb, rest.values, polarity, is_event=is_event)


def _without_change_words(said: Sequence[Piece]) -> list[Piece]:
    if CHANGE_WORDS.isdisjoint(piece.low for piece in said) and said and said[0].raw != "A":
        return list(said)
    return [piece for at, piece in enumerate(said) if not _is_dropped(said, at)]


def _is_dropped(said: Sequence[Piece], at: int) -> bool:
    piece = said[at]
    after = said[at + 1] if at + 1 < len(said) else None
    if at == 0 and piece.raw == "A":
        # The article; before a verb, "A" is the name of somebody or something.
        return after is not None and after.low not in LINKING
    # "New York" is a name; "New" before another capital may be one.
    is_name = piece.low == "new" and piece.is_capital and after is not None and after.is_capital
    return piece.low in CHANGE_WORDS and not is_name


def _settle_change(said: list[Piece]) -> tuple[list[Piece], bool]:
    """Read "moved ... from V1 to V2" as a linking verb with the value V2."""
    lows = [piece.low for piece in said]
    at = next((i for i, low in enumerate(lows) if low in CHANGES), None)
    if at is None or "from" not in lows[at:]:
        return said, False
    start = lows.index("from", at)
    if "to" not in lows[start:]:
        return said, False
    end = lows.index("to", start)
    old, new = said[start + 1 : end], said[end + 1 :]
    if not (any(map(is_value_like, old)) and any(map(is_value_like, new[:3]))):
        return said, False
    if is_value_like(new[0]):
        # "From port 1 to 2" leaves out the second "port".
        new = [*takewhile(lambda piece: not is_value_like(piece), old), *new]
    before = said[:at]
    while before and before[-1].low in AUXILIARIES:
        before = before[:-1]
    changed = said[at + 1 : start]
    if changed and all(piece.low in SPEAKERS for piece in before):
        before, changed = changed, []
    return [*before, _LINK, *changed, *new], True


def _linking(said: Sequence[Piece]) -> int | None:
    """Return where the first linking verb stands, if it has a subject before it."""
    has_subject = False
    for at, piece in enumerate(said):
        is_verb = piece.kind == "sign" or piece.low in LINKING
        if is_verb and has_subject and not _is_noun(said, at):
            return at
        has_subject = has_subject or piece.kind == "word"
    return None


def _is_noun(said: Sequence[Piece], at: int) -> bool:
    """Whether "run", "end", "support" and their like name a thing here."""
    if said[at].kind == "sign" or said[at].low in AUXILIARIES:
        return False
    after = said[at + 1] if at + 1 < len(said) else None
    if after is not None and (after.kind == "sign" or after.low in LINKING):
        return True
    low = said[at - 1].low
    return low in DETERMINERS or low in PREPOSITIONS


def _build(
    before: Sequence[Piece],
    words: Sequence[Piece],
    verb: str,
    values: Sequence[Value],
    polarity: Polarity,
    *,
    is_event: bool,
) -> Claim:
    tokens: list[str] = []
    stems: list[str] = []
    frame = [f"<{value.kind}>" for value in values] + list(polarity.marks)
    capitals: set[tuple[str, str]] = set()
    subject: set[str] = set()
    for piece in (*before, *words):
        if piece.kind != "word":
            frame.extend(() if piece.kind in {"comma", "sign"} else (f"={piece.low}",))
            continue
        word = terms(piece.raw)
        frame.extend(word.marks)
        tokens += word.tokens
        stems += word.stems
        if piece.is_capital:
            capitals.update((stem, piece.low) for stem in word.stems)
    for piece in before:
        word = terms(piece.raw)
        subject.update(word.stems)
        subject.update(
            mark for mark in word.marks if mark[1:] in SPEAKERS or not mark[1:].isalpha()
        )
    if not polarity.has_direction_pair:
        frame.extend(_directions(before))
        frame.extend(_directions(words))
    return Claim(
        subject=frozenset(subject),
        located=frozenset({*_located(before), *_located(words)}),
        verb=verb,
        frame=tuple(sorted(frame + stems)),
        frame_words=tuple(dict.fromkeys(stems)),
        frame_tokens=tuple(dict.fromkeys(tokens)),
        capitals=frozenset(capitals),
        values=tuple(sorted(values, key=lambda value: value.kind)),
        is_negative=polarity.is_negative,
        is_negated=polarity.is_negated,
        is_event=is_event,
    )


def _directions(words: Sequence[Piece]) -> list[str]:
    return [
        f"={word.low}:{stem}"
        for word, after in pairwise(words)
        if word.low in DIRECTIONS
        for stem in terms(after.raw).stems[:1]
    ]


def _located(words: Sequence[Piece]) -> set[str]:
    found: set[str] = set()
    if LOCATIVES.isdisjoint(piece.low for piece in words):
        return found
    is_inside = False
    for at, piece in enumerate(words):
        if piece.low in LOCATIVES:
            is_inside = True
        elif piece.low in DETERMINERS:
            is_inside = is_inside and words[at - 1].low in LOCATIVES
        elif piece.kind != "word" or piece.low in PREPOSITIONS or piece.low in LINKING:
            is_inside = False
        elif is_inside:
            found.update(terms(piece.raw).stems)
    return found
