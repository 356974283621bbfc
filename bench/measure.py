"""The one stopwatch: warmed up, every input used once."""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, TypeVar

from bench.figures import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Input = TypeVar("Input")


def durations_ms(
    call: Callable[[Input], object], inputs: Iterable[Input], *, warm_up: int
) -> list[float]:
    """Time one call an input, in order; the first `warm_up` inputs are spent untimed."""
    source = iter(inputs)
    for value in islice(source, warm_up):
        call(value)
    times: list[float] = []
    for value in source:
        start = perf_counter()
        call(value)
        times.append((perf_counter() - start) * 1e3)
    return times


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (in (0, 1]) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)]


def summary(what: str, times_ms: Sequence[float]) -> Row:
    """Reduce times to a row of a table."""
    return Row(
        what=what,
        value=percentile(times_ms, 0.5),
        p95=percentile(times_ms, 0.95),
        worst=max(times_ms),
        count=len(times_ms),
    )
