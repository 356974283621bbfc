"""Whether a new text says an old one again, perhaps with more words, so that it may replace it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.claims import Claim, claims
from graymatter_mcp.policy.contradiction import stands
from graymatter_mcp.policy.vocabulary import (
    CHANGE_WORDS,
    LIMITS,
    LINKING,
    NEGATIONS,
    PAIRS,
    ROLES,
)
from graymatter_mcp.policy.words import Piece, pieces, sentences, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ARTICLES: Final = frozenset(["a", "an", "the"])
_SAYS_WHO: Final = 2
"""Words at the start that must stay when no verb marks off the subject."""


def same_claims(new: str, old: str) -> bool:
    """Whether both texts make the same claims, whatever their order and small words.

    Source: data-plane contract 5.6, the candidates that need no vector.
    """
    left = list(claims(old))
    for claim in claims(new):
        twin = next((other for other in left if stands(claim, other)), None)
        if twin is None:
            return False
        left.remove(twin)
    return not left


def refines(new: str, old: str) -> bool:
    """Whether the new text keeps all that the old one says and speaks of the same thing.

    Stricter than the contract asks: the old words stay in their order, articles and change words
    aside, sentence by sentence. What it turns away is inserted beside the old fact (ADR 0031).

    Source: data-plane contract 5.6, without the nearness of vectors.
    """
    old_claims, new_claims = claims(old), claims(new)
    if len(old_claims) != len(new_claims):
        return False
    old_words = [_kept(pieces(sentence)) for sentence, _ in sentences(old)]
    new_words = [_kept(pieces(sentence)) for sentence, _ in sentences(new)]
    return all(
        _claim_refines(*of_both) and _words_refine(*words, has_verb=bool(of_both[0].verb))
        for of_both, words in zip(
            zip(new_claims, old_claims, strict=True),
            zip(new_words, old_words, strict=True),
            strict=True,
        )
    )


def _claim_refines(new: Claim, old: Claim) -> bool:
    if (new.is_negative, new.is_negated) != (old.is_negative, old.is_negated):
        return False
    # More words make another event, and a denial that denies less.
    if (old.is_event or old.is_negated) and new.frame != old.frame:
        return False
    return (
        new.subject == old.subject
        and new.is_event == old.is_event
        and Counter(old.values) <= Counter(new.values)
        and _marks(new) == _marks(old)
    )


def _marks(claim: Claim) -> list[str]:
    return [mark for mark in claim.frame if mark.startswith(("=pair:", "=negations:"))]


def _words_refine(new: Sequence[Piece], old: Sequence[Piece], *, has_verb: bool) -> bool:
    new_keys, old_keys = [_key(piece) for piece in new], [_key(piece) for piece in old]
    if not has_verb and new_keys[:_SAYS_WHO] != old_keys[:_SAYS_WHO]:
        return False
    added = _added(new_keys, old_keys)
    return added is not None and not any(_is_risky(new, at, added) for at in added)


def _kept(said: Sequence[Piece]) -> list[Piece]:
    return [
        piece
        for piece in said
        if piece.kind not in {"comma", "sign"}
        and piece.low not in _ARTICLES
        and (piece.low not in CHANGE_WORDS or piece.is_capital)
    ]


def _key(piece: Piece) -> str:
    if piece.low in LINKING:
        return LINKING[piece.low]
    word = terms(piece.raw)
    return " ".join((*word.stems, *word.marks)) or piece.low


def _added(new: Sequence[str], old: Sequence[str]) -> list[int] | None:
    """Return where the new words stand among the old ones, or None when an old one is missing."""
    added: list[int] = []
    at = 0
    for position, key in enumerate(new):
        if at < len(old) and key == old[at]:
            at += 1
        else:
            added.append(position)
    return added if at == len(old) else None


def _is_risky(said: Sequence[Piece], at: int, added: Sequence[int]) -> bool:
    """Whether an added word may make it another thing, or take something back."""
    piece = said[at]
    if any(word in ROLES or word in LIMITS or word in NEGATIONS for word in _spellings(piece)):
        return True
    if piece.low in PAIRS and piece.low not in {"on", "off"}:
        return True
    return piece.raw[0].isupper() and any(_is_name(said, i, added) for i in (at - 1, at + 1))


def _is_name(said: Sequence[Piece], at: int, added: Sequence[int]) -> bool:
    return 0 <= at < len(said) and at not in added and said[at].is_capital


def _spellings(piece: Piece) -> Iterator[str]:
    yield piece.low
    yield from terms(piece.raw).tokens
    if piece.low.endswith("n't"):
        yield "not"
