"""What a claim says of its subject: dates, times, versions, ports, names, places, numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.vocabulary import (
    ANSWERING_VERBS,
    ANSWERS,
    COUNTED,
    DETERMINERS,
    NAMED,
    NUMBERING,
    PREPOSITIONS,
    UNITS,
    YEAR_WORDS,
)
from graymatter_mcp.policy.words import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

_NUMBER: Final = re.compile(
    r"[~≈]?(?P<sign>[$€£¥₹])?(?P<number>[-+\u2212]?\d+(?:[.,'_/\u2013-]\d+)*)"
    r"(?P<unit>%|°?[^\W\d_]+|[$€£¥₹])?"
)
_THOUSANDS: Final = re.compile(r"[-+\u2212]?\d{1,3}(?:,\d{3})+")
_VERSION: Final = re.compile(r"(?:v\d+(?:\.\d+)+|\d+(?:\.\d+){2,})(?:[-+][\w.]+)?")
_BARE_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)*(?:[-+][\w.]+)?")
_SHA: Final = re.compile(r"sha(?:256)?[-_:][a-z0-9]{6,}|sha(?=[a-z]*\d)[a-z0-9]{6,}")
_HOST_PORT: Final = re.compile(
    r"(?P<host>(?:\w+://)?[\w.\-]*[^\W_]):(?P<port>\d{2,5})(?P<path>/.*)?"
)
_TAGGED: Final = re.compile(r"(?P<name>[\w./\-]*[^\W\d_][\w./\-]*):(?P<tag>[\w.\-]+)")
_PART: Final = re.compile(r"[^\W_]+")
_YEAR: Final = re.compile(r"(?:19|20)\d\d")
_NAME_LIKE: Final = re.compile(r".*[\d_:/.\-A-Z].*")
_MAX_ANSWER_WORDS: Final = 4


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a claim, in the spelling in which equal values are equal."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Rest:
    """What follows the linking verb, with its values taken out."""

    values: tuple[Value, ...]
    words: tuple[Piece, ...]


def is_value_like(piece: Piece) -> bool:
    """Whether the piece could be a value wherever it stood."""
    return piece.kind in {"date", "time"} or any(char.isdigit() for char in piece.raw)


class _Reader:
    def __init__(self, before: Sequence[Piece], rest: Sequence[Piece], verb: str) -> None:
        self._before = before
        self._rest = rest
        self._verb = verb
        self.values: list[Value] = []
        self.words: list[Piece] = []

    def read(self) -> Rest:
        at = 0
        if taken := self._answer(0, ANSWERING_VERBS.get(self._verb)):
            at = taken
        while at < len(self._rest):
            at += self._take(at)
        return Rest(tuple(self.values), tuple(self.words))

    def _take(self, at: int) -> int:
        piece = self._rest[at]
        if piece.kind in {"date", "time"}:
            self._add(piece.kind, piece.low.replace(",", ""))
            return 1
        if piece.kind == "word":
            if taken := self._name(at):
                return taken
            if piece.low in ANSWERS and (taken := self._participle(at)):
                return taken
            if is_value_like(piece) and self._is_value(at, piece):
                return 1
        self.words.append(piece)
        return 1

    def _add(self, kind: str, text: str) -> None:
        self.values.append(Value(kind, text))

    def _previous(self, at: int) -> Piece | None:
        """Return the word before, the linking verb skipped."""
        if at:
            return self._rest[at - 1]
        return self._before[-1] if self._before else None

    def _name(self, at: int) -> int:
        previous = self._previous(at)
        if previous is None or previous.low not in NAMED:
            return 0
        taken = at
        while taken < len(self._rest) and _NAME_LIKE.fullmatch(self._rest[taken].raw):
            taken += 1
        if taken == at:
            return 0
        words = self._rest[at:taken]
        # The name of an image says which one; its tag is the value.
        if len(words) == 1 and (tagged := _TAGGED.fullmatch(words[0].low)):
            self.words.extend(_parts(tagged["name"]))
            self._add("name", tagged["tag"])
        else:
            self._add("name", " ".join(word.low for word in words))
        return taken - at

    def _participle(self, at: int) -> int:
        taken = self._answer(at + 1, ANSWERS[self._rest[at].low])
        if taken:
            self.words.append(self._rest[at])
        return taken and taken - at

    def _answer(self, at: int, prepositions: frozenset[str] | None) -> int:
        """Take the one answer that starts at `at`; return where it ends, or 0."""
        if prepositions is None:
            return 0
        if prepositions:
            if at >= len(self._rest) or self._rest[at].low not in prepositions:
                return 0
            at += 1
        end = at
        while end < len(self._rest) and self._rest[end].low not in PREPOSITIONS:
            end += 1
        answer = self._rest[at:end]
        if not 0 < len(answer) <= _MAX_ANSWER_WORDS or not _is_one(answer, self._rest[end:]):
            return 0
        self._add("answer", " ".join(word.low for word in answer))
        return end

    def _is_value(self, at: int, piece: Piece) -> bool:
        """Take the piece for a value if it is one."""
        previous = self._previous(at)
        word = "" if previous is None else previous.low
        if word == "port" and piece.low.isdigit():
            self._add("port", piece.low)
        elif host := _HOST_PORT.fullmatch(piece.raw):
            self.words.extend(_parts(host["host"]))
            self.words.extend(_parts(host["path"] or ""))
            self._add("port", host["port"])
        elif _SHA.fullmatch(piece.low):
            self._add("sha", piece.low)
        elif _VERSION.fullmatch(piece.low) or (
            word in {"version", "release"} and _BARE_VERSION.fullmatch(piece.low)
        ):
            return self._version(at, piece)
        else:
            return self._number(at, piece)
        return True

    def _version(self, at: int, piece: Piece) -> bool:
        if self._names_one(at, piece.low):
            return False
        self._add("version", piece.low.removeprefix("v"))
        return True

    def _number(self, at: int, piece: Piece) -> bool:
        match = _NUMBER.fullmatch(piece.low)
        if match is None or self._names_one(at, piece.low):
            return False
        unit = match["unit"]
        if unit is not None and unit not in UNITS:
            return False
        number = match["number"]
        self._add("number", number.replace(",", "") if _THOUSANDS.fullmatch(number) else number)
        self.words.extend(Piece("part", mark, mark) for mark in (match["sign"], unit) if mark)
        return True

    def _names_one(self, at: int, number: str) -> bool:
        """Whether the number belongs to a name: an item of many, a product, a year."""
        if at == 0:
            return False
        previous = self._rest[at - 1]
        if previous.low in NUMBERING and at > 1:
            previous = self._rest[at - 2]
        if previous.kind != "word":
            return False
        low = previous.low
        if low in COUNTED or low.removesuffix("s") in COUNTED or low == "#":
            return True
        if low in YEAR_WORDS and _YEAR.fullmatch(number):
            return True
        return previous.is_capital and low not in {"port", "version"}


def _parts(text: str) -> list[Piece]:
    """Return the words of a piece that was cut, and the whole: the index holds only the words."""
    if not text:
        return []
    words = [Piece("word", word, word.casefold()) for word in _PART.findall(text)]
    return [*words, Piece("part", text, text.casefold())]


def _is_one(answer: Sequence[Piece], after: Sequence[Piece]) -> bool:
    return (
        all(word.kind == "word" and word.low not in {"and", "or"} for word in answer)
        and answer[0].low not in DETERMINERS
        and all(word.kind != "comma" and word.low not in {"and", "or"} for word in after)
    )


def read_rest(before: Sequence[Piece], rest: Sequence[Piece], verb: str) -> Rest:
    """Take the values out of what follows a linking verb.

    Args:
        before: The subject part; its last word may say what a value is.
        rest: What follows the verb.
        verb: The lemma of the verb.

    Source: data-plane contract 5.4, rule 2.
    """
    return _Reader(before, rest, verb).read()
