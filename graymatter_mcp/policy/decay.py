"""When an unused fact goes cold, and when a read brings it back."""

from __future__ import annotations

import math
from typing import Final

DEFAULT_BASE_DAYS: Final = 7
"""For facts without a retention of their own."""


def effective_days(base: float, hits: int) -> float:
    """Return how many days without a read a fact stays warm: base x log2(hits + 1).

    Hits start at 1, so a fact that was never read stays for `base` days.

    Source: data-plane contract 7.5.
    """
    return base * math.log2(hits + 1)


def is_demoted(*, base: float, hits: int, idle_days: float, is_pinned: bool = False) -> bool:
    """Whether a warm fact goes cold.

    Args:
        base: `baseEffectiveDays` of its retention, else the configured default, in days.
        hits: 1 plus its counted reads.
        idle_days: Since the last counted read, else since the last change of content.
        is_pinned: A pinned fact never goes cold.
    """
    return not is_pinned and idle_days > effective_days(base, hits)


def is_promoted(*, base: float, hits: int, idle_days: float) -> bool:
    """Whether a cold fact that a search returns becomes warm; that read already counts."""
    return effective_days(base, hits + 1) > idle_days
