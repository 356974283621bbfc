"""One tokeniser for facts and queries, the stemming of its tokens, and identifier queries."""

from __future__ import annotations

import re
import threading
from functools import cache
from importlib import import_module
from itertools import pairwise
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Final, Protocol, cast

from graymatter_mcp.ranking.irregular import BASE_OF
from graymatter_mcp.ranking.scripts import (
    JOINER_CLASS,
    compose,
    fold,
    is_cjk,
    is_number,
    patterns,
    strip_accents,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STOP_WORDS = (
    "a an the is it in on at to for of and or but not with this that was are be by as from up has"
    " had have its my me we he she they you i"
)
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())

_JOINERS: Final = frozenset("_-./\\:@#+")
_LEFT_SIGNS: Final = "_-./\\:@#+"
_RIGHT_SIGNS: Final = "_-./\\:@"
"""`#` and `+` stay on the right: C++ and C# are names."""

_ENGLISH: Final = "english"
_ASCII_RUN: Final = re.compile(rf"[a-z0-9{JOINER_CLASS}]+")
_ASCII_WORD: Final = re.compile(r"[a-z0-9]+")


def tokenize(text: str) -> tuple[str, ...]:
    """Split a text into unstemmed tokens, in order, repeats kept.

    Words are folded (`scripts.fold`), CJK comes as overlapping pairs, stop words and one-character
    words that are neither a number nor CJK are left out; a joined token such as ``db/pool.py``
    follows the words it holds.

    Source: contract 5.2.
    """
    # ASCII folds to its lower case and needs only small patterns: several times faster.
    if text.isascii():
        return tuple(_tokens(_ASCII_RUN.findall(text.lower())))
    return tokenize_unicode(text)


def tokenize_unicode(text: str) -> tuple[str, ...]:
    """Do the work of `tokenize` without its short cut for ASCII."""
    return tuple(_tokens(patterns().run.findall(fold(text))))


def is_joined(token: str) -> bool:
    """Whether the token is a joined one, such as ``v1.2.3`` or ``c++``."""
    return not _JOINERS.isdisjoint(token)


def has_number(token: str) -> bool:
    """Whether a character of the token is a number (category N)."""
    if token.isascii():
        return not token.isalpha() and any(char.isdigit() for char in token)
    return any(map(is_number, token))


def _tokens(runs: Iterable[str]) -> Iterator[str]:
    for run in runs:
        if run.isalnum() and run.isascii():
            if (len(run) > 1 and run not in STOP_WORDS) or run.isdigit():
                yield run
        else:
            yield from _words(run)
            joined = run.lstrip(_LEFT_SIGNS).rstrip(_RIGHT_SIGNS)
            if is_joined(joined):
                yield joined


def _words(run: str) -> Iterator[str]:
    if run.isascii():
        segments = _ASCII_WORD.findall(run)
    else:
        segments = [
            segment
            for word in patterns().word.findall(run.replace("_", " "))
            for segment in patterns().segment.findall(word)
        ]
    for segment in segments:
        if not segment.isascii() and is_cjk(segment[0]):
            yield from _pairs(segment)
        elif (len(segment) > 1 and segment not in STOP_WORDS) or is_number(segment[0]):
            yield segment


def _pairs(segment: str) -> Iterator[str]:
    if len(segment) == 1:
        yield segment
    for start in range(len(segment) - 1):
        yield segment[start : start + 2]


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...  # noqa: N802 - the library's name


@cache
def stem_languages() -> tuple[str, ...]:
    """Return the names of the Snowball algorithms that `Analyzer` takes, ascending."""
    package = import_module("snowballstemmer")
    names = (module.name for module in iter_modules(package.__path__))
    return tuple(sorted(n.removesuffix("_stemmer") for n in names if n.endswith("_stemmer")))


def _stemmer(language: str) -> _Stemmer:
    if language not in stem_languages():
        valid = ", ".join(stem_languages())
        raise ValueError(f"unknown stem language {language!r}; use one of: {valid}")
    # Not `snowballstemmer.stemmer`: it silently hands over to PyStemmer where that is installed,
    # whose rules may be of another release, and the same query must rank the same everywhere.
    module = import_module(f"snowballstemmer.{language}_stemmer")
    name = "".join(part.capitalize() for part in language.split("_")) + "Stemmer"
    return cast("_Stemmer", getattr(module, name)())  # the library carries no types


_LONGEST_STEMMED: Final = 64
"""Letters of the longest word that is stemmed: beyond is no word of any language that Snowball
knows, and the stemmer's time grows with the square of it."""


class Analyzer:
    """Turns tokens into index terms; safe to share between threads.

    Args:
        language: A Snowball algorithm such as ``english``, or None for no stemming.

    Raises:
        ValueError: The language is unknown; the message names the valid ones.
    """

    def __init__(self, language: str | None) -> None:
        self._stemmer = None if language is None else _stemmer(language)
        self._base_of = BASE_OF if language == _ENGLISH else {}
        self._stems: dict[str, str] = {}
        # The pure stemmer keeps its word in itself between steps.
        self._lock = threading.Lock()

    def index_term(self, token: str) -> str:
        """Stem a word; very long ones, joined tokens and words with a number stay as they are.

        An English word of irregular form has the stem of its base: ``ran`` that of ``run``.
        """
        stem = self._stems.get(token)
        return self._learn(token) if stem is None else stem

    def index_terms(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Map each token, in order."""
        return tuple([self.index_term(token) for token in tokens])

    def _learn(self, token: str) -> str:
        if self._stemmer is None or len(token) > _LONGEST_STEMMED:
            return token
        if is_joined(token) or has_number(token):
            return token
        with self._lock:
            stem = self._stemmer.stemWord(self._base_of.get(token, token)) or token
            self._stems[token] = stem
        return stem


def identifiers(query: str) -> tuple[str, ...] | None:
    """Return the unstemmed tokens a fact must all hold when the query is made of identifiers.

    An identifier is a joined token (unless its only joiner is ``-`` between letters), a word with a
    number, or a word typed with a capital after a small letter.

    Args:
        query: As sent, since the case of its letters counts.

    Returns:
        Each identifier once, in order of appearance; None unless every word, stop words aside, is
        an identifier or part of one.

    Source: contract 5.3.
    """
    found, parts, others = _sorted_words(query)
    return tuple(found) if found and others.keys() <= parts else None


def plain_words(query: str) -> tuple[str, ...]:
    """Return the unstemmed words of a query that neither are identifiers nor stand in one.

    Args:
        query: As sent, since the case of its letters counts.
    """
    found, parts, others = _sorted_words(query)
    return tuple(word for word in others if word not in parts and word not in found)


def _sorted_words(query: str) -> tuple[dict[str, None], set[str], dict[str, None]]:
    """Return the identifiers of a query, the words that joined ones hold, and the others."""
    found: dict[str, None] = {}
    parts: set[str] = set()
    others: dict[str, None] = {}
    for run in patterns().run.findall(compose(query)):
        tokens = tokenize(run)
        if tokens and is_joined(tokens[-1]) and not _is_compound(tokens[-1]):
            found[tokens[-1]] = None
            parts.update(tokens[:-1])
            continue
        capitals = _camel_words(run)
        for word in tokens:
            if has_number(word) or word in capitals:
                found[word] = None
            elif not is_joined(word):
                others[word] = None
    return found, parts, others


def _is_compound(token: str) -> bool:
    """Whether the token is words with hyphens between them, as prose has them."""
    pieces = token.split("-")
    if not all(pieces) or any(map(is_joined, pieces)):
        return False
    beside = [piece[-1] for piece in pieces[:-1]] + [piece[0] for piece in pieces[1:]]
    return not any(map(is_number, beside))


def _camel_words(run: str) -> set[str]:
    return {
        token
        for word in patterns().word.findall(run.replace("_", " "))
        for segment in patterns().segment.findall(word)
        if any(a.islower() and b.isupper() for a, b in pairwise(strip_accents(segment)))
        for token in tokenize(segment)
    }
