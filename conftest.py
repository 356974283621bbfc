"""What no run may pass over in silence: promises that this machine could not test."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the tests that were skipped, by reason, whatever else the run shows."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        reasons[str(report.longrepr[-1]).removeprefix("Skipped: ")] += 1
    for reason, count in reasons.items():
        terminalreporter.write_line(f"!!!! {count} NOT RUN: {reason} !!!!", yellow=True, bold=True)
