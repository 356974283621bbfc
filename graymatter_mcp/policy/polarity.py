"""Whether a sentence affirms or denies: negations, and pairs such as enabled and disabled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp.policy.vocabulary import ACTS, LINKING, NEGATIONS, PAIRS, PREPOSITIONS
from graymatter_mcp.policy.words import Piece

if TYPE_CHECKING:
    from collections.abc import Sequence

_CUES: Final = NEGATIONS | PAIRS.keys() | {"do", "does", "longer"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Polarity:
    """What a sentence affirms or denies, and its other words."""

    words: list[Piece]
    marks: tuple[str, ...]
    """One for each pair; one for more than one negation, so that such a sentence equals only its
    like: what two of them mean together is not for a rule to say."""
    is_negative: bool
    is_negated: bool
    is_act: bool
    """Somebody enabled or stopped something: an event."""
    has_direction_pair: bool
    """Added to and removed from: the preposition belongs to the pair."""


def read_polarity(said: Sequence[Piece]) -> Polarity:
    """Take negations and words of pairs out of a sentence.

    Source: data-plane contract 5.4, rule 4.
    """
    lows = [piece.low for piece in said]
    # Most sentences affirm; they are most of the time of a hygiene report.
    if _CUES.isdisjoint(lows) and "n't" not in " ".join(lows):
        return _affirmed(list(said))
    words: list[Piece] = []
    pairs: list[tuple[str, bool]] = []
    negations = 0
    is_act = False
    for at, piece in enumerate(said):
        if _is_negation(said, at):
            negations += 1
            words.extend(_left_of_negation(piece))
        elif _is_beside_negation(said, at):
            continue
        elif _is_pair(said, at):
            pairs.append(PAIRS[piece.low])
            is_act = is_act or _is_act(said, at)
        else:
            words.append(piece)
    count = negations + sum(is_negative for _, is_negative in pairs)
    marks = [f"=pair:{name}" for name, _ in pairs]
    return Polarity(
        words=words,
        marks=(*marks, f"=negations:{count}") if count > 1 else tuple(marks),
        is_negative=count % 2 == 1,
        is_negated=negations > 0,
        is_act=is_act,
        has_direction_pair=any(name == "added" for name, _ in pairs),
    )


def _affirmed(words: list[Piece]) -> Polarity:
    return Polarity(
        words=words,
        marks=(),
        is_negative=False,
        is_negated=False,
        is_act=False,
        has_direction_pair=False,
    )


def _is_negation(said: Sequence[Piece], at: int) -> bool:
    low = said[at].low
    if low.endswith("n't"):
        return True
    # "No 5" is a number, not a denial.
    is_number = low == "no" and at + 1 < len(said) and said[at + 1].low[:1].isdigit()
    return low in NEGATIONS and not is_number


def _is_beside_negation(said: Sequence[Piece], at: int) -> bool:
    """Whether the word belongs to a negation: "no longer", "do not"."""
    low = said[at].low
    if low == "longer":
        return at > 0 and said[at - 1].low == "no"
    return low in {"do", "does"} and at + 1 < len(said) and _is_negation(said, at + 1)


def _left_of_negation(piece: Piece) -> list[Piece]:
    """Return what an auxiliary with a negation leaves behind: "isn't" leaves "is"."""
    low = piece.low
    if low == "cannot" or low.startswith("can'"):
        return [Piece("modal", "can", "can")]
    if not low.endswith("n't"):
        return []
    verb = {"won't": "will", "shan't": "shall"}.get(low, low[:-3])
    kind = "word" if verb in LINKING else "modal"
    return [] if verb in {"do", "does"} else [Piece(kind, verb, verb)]


def _is_pair(said: Sequence[Piece], at: int) -> bool:
    low = said[at].low
    if low not in {"on", "off"}:
        return low in PAIRS
    is_last = at == len(said) - 1
    return is_last and at > 0 and (said[at - 1].low in LINKING or said[at - 1].kind == "sign")


def _is_act(said: Sequence[Piece], at: int) -> bool:
    if said[at].low not in ACTS or at + 1 == len(said):
        return False
    if any(LINKING.get(piece.low) == "be" or piece.kind == "sign" for piece in said[:at]):
        return False
    return at > 0 and said[at + 1].low not in PREPOSITIONS
