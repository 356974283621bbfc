"""Whether a new fact says that an old one is no longer so."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.claims import Claim, claims
from graymatter_mcp.policy.vocabulary import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterable

_SAYING: Final = frozenset(["be", "use", "run", "listen"])
"""Verbs that say the same of a port, a version or a model."""
_LIKE_BEING: Final = frozenset(["have", "cost"])
_OTHERS: Final = frozenset(["=he", "=she", "=they"])
_SIDELESS: Final = frozenset(["port", "version", "model", "imag", "contain"])
"""Stems that name a kind of value: "the API port is 1", "the API uses port 1"."""


def conflict(a: Claim, b: Claim) -> str | None:
    """Return ``scalar`` or ``polarity`` when both claims cannot hold, else None.

    Source: data-plane contract 5.4, rules 4 and 5; what it leaves open is in ADR 0031.
    """
    if a.is_event or b.is_event or a.frame != b.frame or not _is_comparable(a, b):
        return None
    pairs = zip(a.values, b.values, strict=True)
    differing = sum(one != other for one, other in pairs)
    if not (_says_who(a) and _says_who(b)):
        return None
    if a.is_negative != b.is_negative:
        return "polarity" if not differing and a.frame_words else None
    # That neither port is used can be true of both.
    is_denied = a.is_negated or b.is_negated
    return "scalar" if differing == 1 and not is_denied else None


def contradicts(new: str, old: str) -> bool:
    """Whether the new text takes back the old one and loses nothing else that it says.

    Source: data-plane contract 5.4, rule 6.
    """
    by_frame: defaultdict[tuple[str, ...], list[Claim]] = defaultdict(list)
    for claim in claims(new):
        by_frame[claim.frame].append(claim)
    has_conflict = False
    for claim in claims(old):
        rivals = by_frame.get(claim.frame, ())
        if any(stands(claim, rival) for rival in rivals):
            continue
        if not any(conflict(claim, rival) for rival in rivals):
            return False
        has_conflict = True
    return has_conflict


def stands(a: Claim, b: Claim) -> bool:
    """Whether two claims say the same: frame, values and polarity are equal."""
    return (
        a.frame == b.frame
        and a.values == b.values
        and a.is_negative == b.is_negative
        and _is_comparable(a, b)
    )


def same_values_and_names(a: str, b: str) -> bool:
    """Whether two texts hold the same values, names, roles and polarity, wherever they stand.

    Source: data-plane contract 4.10.
    """
    return _particulars(claims(a)) == _particulars(claims(b))


def _says_who(claim: Claim) -> bool:
    """Whether more than he, she, it or they tells who is spoken of."""
    return bool(claim.subject) if claim.verb else _OTHERS.isdisjoint(claim.frame)


def _is_comparable(a: Claim, b: Claim) -> bool:
    if not (a.subject ^ b.subject) <= (a.located & b.located) | _SIDELESS:
        return False
    return _is_same_verb(a.verb, b.verb) and _is_same_spelling(a.capitals, b.capitals)


def _is_same_verb(a: str, b: str) -> bool:
    if a == b:
        return True
    verbs = {a, b}
    return verbs <= _SAYING or ("be" in verbs and bool(verbs & _LIKE_BEING))


def _is_same_spelling(a: frozenset[tuple[str, str]], b: frozenset[tuple[str, str]]) -> bool:
    if a == b:
        return True
    spellings = dict(b)
    return all(spellings.get(stem, word) == word for stem, word in a)


def _particulars(found: Iterable[Claim]) -> tuple[object, ...]:
    values: list[tuple[str, str]] = []
    names: set[str] = set()
    negative = 0
    for claim in found:
        values.extend((value.kind, value.text) for value in claim.values)
        names.update(word for _, word in claim.capitals)
        names.update(
            term
            for term in (*claim.frame, *claim.frame_tokens)
            if term in ROLES or term[0] == "=" or any(char.isdigit() for char in term)
        )
        negative += claim.is_negative
    return sorted(values), names, negative
