"""Numbers as the contract prints them."""

from __future__ import annotations

from collections.abc import Iterable


def printed(values: Iterable[float], digits: int = 10) -> str:
    """Round each value to `digits` decimals."""
    return " ".join(f"{value:.{digits}f}" for value in values)
