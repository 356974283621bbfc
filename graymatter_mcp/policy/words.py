"""Cuts a text into sentences, and a sentence into words, values written in one piece and signs."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.vocabulary import MODALS, PRONOUNS
from graymatter_mcp.ranking.scripts import compose, fold
from graymatter_mcp.ranking.tokens import STOP_WORDS, Analyzer, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator

_ENGLISH: Final = (
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sep sept oct nov dec"
)
_OTHERS: Final = (
    "januar februar märz mai juni juli oktober dezember janvier février mars avril juin juillet"
    " août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto"
    " septiembre octubre noviembre diciembre"
)
_CAPITALS: Final = "|".join(month.capitalize() for month in _ENGLISH.split())
_MONTHS: Final = "|".join(
    f"[{name[0]}{name[0].upper()}]{name[1:]}" for name in f"{_ENGLISH} {_OTHERS}".split()
)

_ABBREVIATIONS: Final = "Dr|Mr|Mrs|Ms|Prof|St|No|Nr|vs|ca|e.g|i.e|etc|approx|z.B"
# Behind the full stop, since a look-behind before it would be tried at every character.
_NO_END: Final = "".join(
    rf"(?<!\b{re.escape(abbreviation)}\.)" for abbreviation in _ABBREVIATIONS.split("|")
)
_SENTENCE: Final = re.compile(
    rf"\.(?=\s|$){_NO_END}(?!\s(?:{_MONTHS})\b)|[!?]+(?=\s|$)|[;\n\r\u2028\u2029。؟؛।]+"
)
_QUESTION: Final = frozenset("?؟")
# Widths are folded before; a full stop of Chinese or Japanese is no full stop of NFKC.
_SPELLING: Final = {ord("\u2018"): "'", ord("\u2019"): "'"}

_CLOCK: Final = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp][Mm])?"
_OUTSIDE: Final = r"[^\s,、=\"“”„«»()\[\]{}|「」『』《》<>]"
_PIECE: Final = re.compile(
    rf"""
      (?P<date>(?<!\w)(?:
          \d{{4}}-\d{{2}}-\d{{2}} | \d{{4}}/\d{{2}}/\d{{2}} | \d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}
        | \d{{1,2}}(?:st|nd|rd|th|er|\.)?\s(?:of\s|de\s)?(?:{_MONTHS})(?:,?\s(?:de\s)?\d{{4}})?
        | (?:{_CAPITALS})\.?\s\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s\d{{4}})?
      )(?![\w:/.-]*\w))
    | (?P<time>(?<![\w:.])(?:{_CLOCK}|\d{{1,2}}\s?[AaPp][Mm])(?:[-\u2013]{_CLOCK})?(?![\w:]))
    | (?P<sign>=)
    | (?P<comma>[,、])
    | (?P<run>(?:{_OUTSIDE}|(?<=\d),(?=\d))+)
    """,
    re.VERBOSE,
)
_EDGES: Final = "-\u2013\u2014*•·'`.…!¡¿?_~"
_END: Final = "'`.…!?~*_"


@dataclass(frozen=True, slots=True)
class Piece:
    """A word, a value in one piece, or a sign; `low` is casefolded and without a possessive."""

    kind: str
    raw: str
    low: str

    @property
    def is_capital(self) -> bool:
        """Whether it starts with a capital letter."""
        return self.raw[0].isupper()


_COLON: Final = Piece("sign", ":", ":")


@dataclass(frozen=True, slots=True)
class Terms:
    """What a word adds to a frame."""

    tokens: tuple[str, ...]
    stems: tuple[str, ...]
    marks: tuple[str, ...]
    """What the index leaves out and a claim must not: single letters, pronouns, symbols."""


def sentences(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each sentence, clause after a semicolon or line, and whether it asks something."""
    start = 0
    text = compose(text).translate(_SPELLING)
    for end in _SENTENCE.finditer(text):
        if sentence := text[start : end.start()].strip():
            yield sentence, not _QUESTION.isdisjoint(end.group())
        start = end.end()
    if sentence := text[start:].strip():
        yield sentence, False


def pieces(sentence: str) -> list[Piece]:
    """Return the pieces of a sentence, in order; a colon behind a word is a sign of its own."""
    found: list[Piece] = []
    for match in _PIECE.finditer(sentence):
        kind = match.lastgroup or ""
        raw = match.group()
        if kind == "run":
            found.extend(_run(raw))
        else:
            found.append(Piece(kind, raw, raw.casefold()))
    return found


# Kept, since texts share most of their words: this halves the time of a text.
@lru_cache(maxsize=16_384)
def _run(raw: str) -> tuple[Piece, ...]:
    has_colon = raw.endswith(":")
    word = raw.rstrip(":").rstrip(_END)
    if not (word[:1] == "-" and word[1:2].isdigit()):
        word = word.lstrip(_EDGES)
    low = word.casefold()
    if low.endswith("'s"):
        word, low = word[:-2], low[:-2]
    # A modal counts as a mark: of "cannot" the index holds no "can". "Will" may be a name.
    kind = "modal" if low in MODALS and word == low else "word"
    found = [Piece(kind, word, low)] if low else []
    return (*found, _COLON) if has_colon else tuple(found)


@lru_cache(maxsize=1)
def _analyzer() -> Analyzer:
    return Analyzer("english")


@lru_cache(maxsize=16_384)
def terms(word: str) -> Terms:
    """Return the index tokens of a word, their English stems, and what the index leaves out."""
    tokens = tokenize(word)
    marks = [f"={char}" for char in word if unicodedata.category(char) in {"Sc", "So", "Sm"}]
    if not tokens:
        low = fold(word)
        if low in PRONOUNS or (low and low not in STOP_WORDS) or (word.isupper() and low != "i"):
            marks.append(f"={low}")
    return Terms(tokens, _analyzer().index_terms(tokens), tuple(marks))
