"""How much each signal of hybrid search counts, and when a query itself asks for the newest."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ASKED_RECENCY: Final = 0.1
"""Weight of recency when the query asks for the newest and the request does not set it."""

_ASKS_FOR_NEWEST: Final = re.compile(
    r"\b(latest|newest|most recent(ly)?|last time|currently|right now|as of now)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """One weight per signal, each in [0, 100]; 0 switches a signal off."""

    keyword: float = 0.5
    vector: float = 0.5
    graph: float = 0.3
    entity: float = 0.1
    recency: float = 0.0


def settled(sent: Mapping[str, float], query: str) -> Weights:
    """Return the default weights with those sent in their place.

    Args:
        sent: Any of the names of `Weights`; what is left out keeps its default.
        query: As sent. Words such as "latest" give recency a weight of 0.1 unless one was sent.

    Source: data-plane contract 4.5.
    """
    defaults = Weights(recency=ASKED_RECENCY if asks_for_newest(query) else 0.0)
    return replace(defaults, **{name: float(weight) for name, weight in sent.items()})


def asks_for_newest(query: str) -> bool:
    """Whether a query has words such as "latest" or "right now"."""
    return _ASKS_FOR_NEWEST.search(query) is not None
