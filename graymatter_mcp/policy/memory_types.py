"""What kind of knowledge a fact is, how long it stays useful, and how worthy it looks."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class MemoryType(StrEnum):
    """The eight types, in the order in which their patterns are tried."""

    USER_PREFERENCE = "user_preference"
    BUG_ROOT_CAUSE = "bug_root_cause"
    DECISION = "decision"
    DEPLOYMENT_STATE = "deployment_state"
    SETUP_FACT = "setup_fact"
    PROJECT_CONVENTION = "project_convention"
    SAFETY_CONSTRAINT = "safety_constraint"
    GENERAL = "general"


MEMORY_TYPES: Final = tuple(MemoryType)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long a type keeps its worth."""

    policy: str
    base_effective_days: int
    supersede_aggressively: bool
    """A hint for clients; contradiction treats every type alike."""


def _retention(policy: str, days: int, *, aggressively: bool) -> Retention:
    return Retention(policy=policy, base_effective_days=days, supersede_aggressively=aggressively)


RETENTION: Final[Mapping[str, Retention]] = MappingProxyType(
    {
        MemoryType.USER_PREFERENCE: _retention("long_lived", 365, aggressively=False),
        MemoryType.BUG_ROOT_CAUSE: _retention("medium", 120, aggressively=False),
        MemoryType.DECISION: _retention("medium_long", 180, aggressively=False),
        MemoryType.DEPLOYMENT_STATE: _retention("current_only", 30, aggressively=True),
        MemoryType.SETUP_FACT: _retention("supersede_aggressively", 60, aggressively=True),
        MemoryType.PROJECT_CONVENTION: _retention("long_lived", 240, aggressively=True),
        MemoryType.SAFETY_CONSTRAINT: _retention("long_lived", 365, aggressively=False),
        MemoryType.GENERAL: _retention("standard", 90, aggressively=False),
    }
)

_CUES: Final = {
    MemoryType.USER_PREFERENCE: "prefer|prefers|likes|wants|communication style|response style",
    MemoryType.BUG_ROOT_CAUSE: ("root cause|post-?mortem|failed because|bug|incident|regression"),
    MemoryType.DECISION: "decision|decided|chose|choose|selected|approved",
    MemoryType.DEPLOYMENT_STATE: (
        "deploy|deployment|rollout|image|container|k3s|docker|endpoint|runs on|host|port"
    ),
    MemoryType.SETUP_FACT: (
        "setup|current setup|configured|configuration|model|server|service|endpoint|runs on|host"
        "|port|version"
    ),
    MemoryType.PROJECT_CONVENTION: (
        "convention|standard|pattern|workflow|project uses|codebase uses"
    ),
    MemoryType.SAFETY_CONSTRAINT: (
        "safety|security|privacy|never|do not|don't|must not|credential|secret"
    ),
}
_PATTERNS: Final = {kind: re.compile(rf"\b(?:{cues})\b") for kind, cues in _CUES.items()}

_REUSE: Final[Mapping[str, float]] = {
    MemoryType.DECISION: 0.75,
    MemoryType.BUG_ROOT_CAUSE: 0.7,
    MemoryType.GENERAL: 0.45,
}
_REUSE_OF_OTHERS: Final = 0.85
_DURABLE: Final = ((80, 0.9), (40, 0.75), (0, 0.55))
"""From how many characters on a text counts as how durable."""
_RELEVANT: Final = re.compile(
    r"\b(?:i|me|my|mine|we|our|us|user|users|team|wife|husband|partner|spouse|family|household"
    r"|kids?|children|project|projects|repo|repository|codebase|deployment|deploy|server|service"
    r"|workflow|preference|prefers?)\b",
    re.IGNORECASE,
)


def classify(namespace: str, content: str, explicit: str | None) -> MemoryType:
    """Return the explicit type if it is legal, else the first whose pattern matches.

    Source: data-plane contract 5.2.
    """
    if explicit in RETENTION:
        return MemoryType(explicit)
    text = f"{namespace} {content}".lower()
    matches = (kind for kind, pattern in _PATTERNS.items() if pattern.search(text))
    return next(matches, MemoryType.GENERAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worthiness:
    """How worthy of keeping a fact looks, each in [0, 1] with 3 decimals; it rejects nothing."""

    durable: float
    reuse_likelihood: float
    user_relevance: float
    confidence: float
    overall: float


def worthiness(
    content: str,
    memory_type: str,
    confidence: float | None,
    personal_terms: Sequence[str] = (),
) -> Worthiness:
    """Score a fact by its length, its type, its words and its writer's confidence.

    Args:
        content: The white space around it does not count as length.
        memory_type: One of `MEMORY_TYPES`.
        confidence: In [0, 1]; None reads as 1.
        personal_terms: Configured words that mark a text as relevant, whatever their case.

    Source: data-plane contract 5.2.
    """
    length = len(content.strip())
    durable = next(score for least, score in _DURABLE if length >= least)
    reuse = _REUSE.get(memory_type, _REUSE_OF_OTHERS)
    relevance = 0.9 if _is_relevant(content, personal_terms) else 0.65
    sure = 1.0 if confidence is None else confidence
    return Worthiness(
        durable=durable,
        reuse_likelihood=reuse,
        user_relevance=relevance,
        confidence=_rounded(sure),
        overall=_rounded(0.3 * durable + 0.3 * reuse + 0.25 * relevance + 0.15 * sure),
    )


def _is_relevant(content: str, personal_terms: Sequence[str]) -> bool:
    if _RELEVANT.search(content):
        return True
    terms = "|".join(re.escape(term.casefold()) for term in personal_terms if term)
    return bool(terms and re.search(rf"(?<!\w)(?:{terms})(?!\w)", content.casefold()))


def _rounded(value: float) -> float:
    # 0.6125 has no exact binary form; without the slack it could round down.
    return math.floor((value + 1e-9) * 1000 + 0.5) / 1000
