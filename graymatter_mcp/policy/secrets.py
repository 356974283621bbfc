"""Whether a text holds something that looks like a secret, not merely the word for one."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import Final

_KEY_CHARS: Final = r"[A-Za-z0-9_-]"
# A letter or digit before the prefix makes it the end of a word: "task-" is no "sk-".
_KEY: Final = re.compile(
    rf"""(?<![A-Za-z0-9])(?:
      (?:sk-|sk_live_|sk_test_)(?P<sk>{_KEY_CHARS}{{16,}})
    | gh[pousr]_(?P<gh>{_KEY_CHARS}{{30,}})
    | github_pat_(?P<pat>{_KEY_CHARS}{{30,}})
    | glpat-(?P<gl>{_KEY_CHARS}{{18,}})
    | xox[abprs]-(?P<xox>{_KEY_CHARS}{{10,}})
    | A[KS]IA(?P<aws>[A-Z0-9]{{16,}})
    | AIza(?P<aiza>{_KEY_CHARS}{{35,}})
    | hf_(?P<hf>{_KEY_CHARS}{{30,}})
    | gm_(?P<gm>{_KEY_CHARS}{{40,}})
    )""",
    re.VERBOSE,
)
_PEM: Final = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----")
# The look-behind keeps the search linear on runs that repeat the opening.
_JWT: Final = re.compile(
    rf"(?<!{_KEY_CHARS})eyJ{_KEY_CHARS}{{8,}}\.eyJ{_KEY_CHARS}{{8,}}\.{_KEY_CHARS}{{8,}}"
)
_BEARER: Final = re.compile(r"\bbearer\s+([A-Za-z0-9._~+/=-]{20,})", re.IGNORECASE)
_IN_URL: Final = re.compile(r"(?<=[A-Za-z0-9+.-])://[^\s/@:]*:([^\s@/]{4,})@")

_NAME: Final = re.compile(
    r"""(?:(?P<password>password|passwd|pwd)
    | (?:api|access|private)[ _-]?key | client[ _-]?secret
    | secret(?:[ _-](?:access[ _-])?key)? | token | credentials?)
    ["'`]?(?:[ \t]{0,8}(?::=|=>|[=:])|(?P<is>\s{1,8}is(?=\s)))\s{0,8}["'`]?""",
    re.VERBOSE | re.IGNORECASE,
)
_VALUE: Final = re.compile(r"[^\s\"'`]{1,512}")
"""What is looked at: a secret shows itself within that length."""
_MIN_LENGTH: Final = 8
_MIN_PASSWORD_LENGTH: Final = 6
_MIN_ENTROPY: Final = 2.5
_CLASSLESS: Final = frozenset("-._/")

_PLACEHOLDER: Final = re.compile(
    r"\$\{.*|\$\(.*|\$[A-Z_][A-Z0-9_]*|\$[a-z_]+|\$\d|%\w+%|\{.*|<.*|\[.*|\*+|[xX]{4,}|\.+|…+|•+"
    r"|(?i:changeme|change[-_]me|example|placeholder|redacted|todo|dummy)(?:[-_.\d].*)?"
    r"|(?i:your[-_]).*"
)
_JOINED: Final = re.compile(r"[-._/]+")
_WORD: Final = re.compile(r"(?:(?:[A-Z][a-z]+|[a-z]{2,})(?:[A-Z][a-z]{2,})*|[A-Z]+|[a-z])?")
_PATH_PIECE: Final = re.compile(r"~?(?:[A-Z]?[a-z]{0,15}|[A-Z]{0,16})\d{0,4}")
_URL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,15}://[^?]*")
_CALL: Final = re.compile(r"[A-Za-z_.]+[(\[].*")


def looks_secret(content: str) -> bool:
    """Whether the content holds a key, a token or a password, or something shaped like one.

    Placeholders, paths, plain words and the words for secrets are none.

    Source: data-plane contract 5.5.
    """
    return bool(
        _PEM.search(content)
        or _JWT.search(content)
        or any(_is_filled(match.group(match.lastgroup or 0)) for match in _KEY.finditer(content))
        or any(_is_bearer(match.group(1)) for match in _BEARER.finditer(content))
        or any(_is_filled(match.group(1)) for match in _IN_URL.finditer(content))
        or _holds_assignment(content)
    )


def _is_filled(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is None


def _is_bearer(value: str) -> bool:
    # Prose after the word: "bearer authentication/authorization".
    return _is_filled(value) and (value.isalnum() or not _is_words(value))


def _holds_assignment(content: str) -> bool:
    at = 0
    # The value is read again from its start, for it may hold a name and a value of its own.
    while match := _NAME.search(content, at):
        at = match.end()
        value = _value(content, at, is_prose=match["is"] is not None)
        is_secret = _is_password if match["password"] else _is_key
        if is_secret(value):
            return True
    return False


def _value(content: str, start: int, *, is_prose: bool) -> str:
    match = _VALUE.match(content, start)
    value = match.group() if match else ""
    return value.rstrip(".,;:)]}>!?" if is_prose else ".,;:)]}>" if "{" not in value else "")


def _is_password(value: str) -> bool:
    marks = sum(not char.isalpha() and char not in _CLASSLESS for char in value)
    return len(value) >= _MIN_PASSWORD_LENGTH and marks > 0 and not _is_harmless(value)


def _is_key(value: str) -> bool:
    return (
        len(value) >= _MIN_LENGTH
        and len(_classes(value)) > 1
        and _entropy(value) >= _MIN_ENTROPY
        and not _is_harmless(value)
    )


def _classes(value: str) -> set[str]:
    # A capital first letter is how a sentence starts.
    rest = value[1:] if value[0].isupper() else value
    return {_class(char) for char in rest if char not in _CLASSLESS}


def _class(char: str) -> str:
    if char.isdigit():
        return "digit"
    if char.isalpha():
        return "upper" if char.isupper() else "lower"
    return "other"


def _entropy(value: str) -> float:
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def _is_harmless(value: str) -> bool:
    return (
        not _is_filled(value)
        or _is_words(value)
        or _is_path(value)
        or _URL.fullmatch(value) is not None
        or _CALL.fullmatch(value) is not None
    )


def _is_words(value: str) -> bool:
    return all(_WORD.fullmatch(piece) for piece in _JOINED.split(value))


def _is_path(value: str) -> bool:
    return "/" in value and all(_PATH_PIECE.fullmatch(piece) for piece in _JOINED.split(value))
