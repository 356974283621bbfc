"""Unicode as the tokeniser sees it: folding, and the classes its patterns are made of."""

from __future__ import annotations

import re
import sys
import unicodedata
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

JOINER_CLASS: Final = r"_\-./\\:@#+"
"""The joiner signs, written for the inside of a regular expression class."""

_CJK: Final = (
    "\u0e01-\u0e4e\u0e81-\u0ecd\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1100-\u11ff"
    "\u1780-\u17dd\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096"
    "\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
"""Han, Hiragana, Katakana and Hangul, with their iteration and length marks; Thai, Lao, Burmese and
Khmer, which put no space between words either."""

_MARK_BLOCKS: Final = (range(0x300, 0x20000), range(0xE0100, 0xE01F0))
_LETTER_BLOCKS: Final = (
    range(0x41, 0x530),
    range(0x1C80, 0x1C90),
    range(0x1D00, 0x1DC0),
    range(0x1E00, 0x2000),
    range(0x2C60, 0x2C80),
    range(0xA640, 0xA6A0),
    range(0xA720, 0xA800),
    range(0xAB30, 0xAB70),
    range(0x1DF00, 0x1E090),
)

_MAX_MARKS: Final = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class UnicodePatterns:
    """Patterns over folded text of any script."""

    run: re.Pattern[str]
    """Word characters and joiner signs."""
    word: re.Pattern[str]
    """Letters, marks and numbers; underscores must be blanked before."""
    segment: re.Pattern[str]
    """Cuts a word into stretches of CJK and stretches of anything else."""
    cjk: re.Pattern[str]
    accents: re.Pattern[str]
    """Marks that follow a Latin, Greek or Cyrillic letter."""


@cache
def patterns() -> UnicodePatterns:
    """Compile the patterns; on first use, because naming every mark takes about 10 ms."""
    marks = _ranges(
        code
        for block in _MARK_BLOCKS
        for code in block
        if unicodedata.category(chr(code))[0] == "M"
    )
    letters = _ranges(code for block in _LETTER_BLOCKS for code in block if _is_accented(chr(code)))
    # `\w` is L, N and the underscore, exactly (a test goes through every code point).
    return UnicodePatterns(
        run=re.compile(rf"[\w{marks}{JOINER_CLASS}]+"),
        word=re.compile(rf"[\w{marks}]+"),
        segment=re.compile(rf"[{_CJK}]+|[^{_CJK}]+"),
        cjk=re.compile(rf"[{_CJK}]"),
        accents=re.compile(rf"(?<=[{letters}])[{marks}]+"),
    )


@lru_cache(maxsize=1)
def _long_run() -> re.Pattern[str]:
    marks = _ranges(code for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code)))
    return re.compile(rf"([{marks}]{{{_MAX_MARKS}}})[{marks}]+")


def compose(text: str) -> str:
    """Return the text in NFKC, long runs of marks cut short first.

    Ordering the marks of a run takes time that grows with the square of its length. No language
    puts more than a few on one letter; 30 is what the Stream-Safe Text Process of UAX 15 allows.
    """
    if not text.isascii():
        text = _long_run().sub(r"\1", text)
    return unicodedata.normalize("NFKC", text)


def fold(text: str) -> str:
    """Return the text in NFKC, casefolded, without marks on Latin, Greek and Cyrillic letters."""
    folded = compose(text).casefold()
    return strip_accents(folded)


def strip_accents(text: str) -> str:
    """Drop the marks after Latin, Greek and Cyrillic letters; the result is NFKC, case is kept."""
    bare = patterns().accents.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFKC", bare)


def is_number(char: str) -> bool:
    """Whether the character is of category N; `str.isnumeric` would take 一 for one."""
    return unicodedata.category(char)[0] == "N"


def is_cjk(char: str) -> bool:
    """Whether the character is of a script whose words come as overlapping pairs."""
    return patterns().cjk.match(char) is not None


def _is_accented(char: str) -> bool:
    if unicodedata.category(char)[0] != "L":
        return False
    return unicodedata.name(char, "").startswith(("LATIN", "GREEK", "CYRILLIC"))


def _ranges(codes: Iterable[int]) -> str:
    spans: list[list[int]] = []
    for code in codes:
        if spans and spans[-1][1] == code - 1:
            spans[-1][1] = code
        else:
            spans.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in spans)
