"""One promise as a check that anyone can run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.contract.kit.case import Case


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A promise, and how it is tried."""

    id: str
    """Row of the behaviour manifest."""
    text: str
    run: Callable[[Case], None]
    """Raises `BrokenPromiseError` when the promise does not hold."""
    writes: bool
    """Whether it stores something, in a namespace of its own."""
    streams_only: bool = False
    """Whether it sends what only a stream can carry."""


class Topic:
    """Collects the checks of one module, in the order in which they stand."""

    def __init__(self) -> None:
        self.checks: list[Check] = []

    def reads(
        self, check_id: str, *, streams_only: bool = False
    ) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
        """Take a function as a check that changes nothing."""
        return self._take(check_id, writes=False, streams_only=streams_only)

    def writes(self, check_id: str) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
        """Take a function as a check that stores facts."""
        return self._take(check_id, writes=True, streams_only=False)

    def _take(
        self, check_id: str, *, writes: bool, streams_only: bool
    ) -> Callable[[Callable[[Case], None]], Callable[[Case], None]]:
        def take(run: Callable[[Case], None]) -> Callable[[Case], None]:
            text = (run.__doc__ or "").strip()
            self.checks.append(
                Check(id=check_id, text=text, run=run, writes=writes, streams_only=streams_only)
            )
            return run

        return take
