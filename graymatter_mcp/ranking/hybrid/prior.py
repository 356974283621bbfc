"""What a fact's confidence and age make of its score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CURRENT_STATE_TYPES: Final = frozenset({"deployment_state", "setup_fact"})
"""Memory types of which the newest is likely the true one."""

_DOUBTED: Final = 0.7
_FRESH_GAIN: Final = 0.15
_FRESH_DAYS: Final = 30.0


def prior(
    confidence: NDArray[np.float64],
    age_days: NDArray[np.float64],
    is_current_state: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the factor of each score, in [0.7, 1.15].

    Args:
        confidence: Of the source, in [0, 1]; 1.0 where nobody said otherwise.
        age_days: Days since the last change of content; below 0, for a clock set back, it is 0.
        is_current_state: Facts whose type is one of `CURRENT_STATE_TYPES`.

    Source: data-plane contract 4.7.
    """
    fresh = np.where(
        is_current_state, _FRESH_GAIN * np.exp(-np.maximum(age_days, 0.0) / _FRESH_DAYS), 0.0
    )
    return (_DOUBTED + (1.0 - _DOUBTED) * confidence) * (1.0 + fresh)
