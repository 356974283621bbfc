"""The confidence guard: strict rules for three options, applied to arguments as they came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import Confidence

if TYPE_CHECKING:
    from collections.abc import Mapping

REFLECT: Final = "memory_reflect"
REFLECT_ACTIONS: Final = ("add", "update", "forget", "link", "pin", "unpin")
MAX_CONFIDENCE_WEIGHT: Final = 0.5

_SEARCHES: Final = frozenset({"memory_search", "memory_search_batch"})
_SUPPORTED_BY: Final = {
    "confidence": frozenset({"memory_add", REFLECT}),
    "min_confidence": _SEARCHES,
    "confidence_weight": _SEARCHES,
}
_LABELS: Final = tuple(label.value for label in Confidence)


def guard_confidence(tool: str, arguments: Mapping[str, object]) -> None:
    """Refuse each confidence option that is present and not exactly right; null is not absent.

    Raises:
        InvalidArgumentError: The first rule that is broken, options in the order of the contract.
    """
    for key, supporters in _SUPPORTED_BY.items():
        if key not in arguments:
            continue
        if tool not in supporters:
            raise InvalidArgumentError(f"{key} is not supported by {tool}")
        if tool == REFLECT and arguments.get("action") in REFLECT_ACTIONS[2:]:
            raise InvalidArgumentError("confidence is supported only by reflect add/update")
        if key == "confidence_weight":
            _check_weight(arguments[key])
        else:
            _check_label(key, arguments[key])


def _check_label(key: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{key} must be a string")
    if value not in _LABELS:
        raise InvalidArgumentError(f"{key} must be verified, inferred or unverified")


def _check_weight(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArgumentError("confidence_weight must be a number")
    # One comparison refuses NaN too, and unlike isfinite it takes integers of any size.
    if not 0 <= value <= MAX_CONFIDENCE_WEIGHT:
        raise InvalidArgumentError("confidence_weight must be finite and between 0 and 0.5")
