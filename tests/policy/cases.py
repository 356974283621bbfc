"""The case table of capture: pairs of texts and what must become of the old one."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CaptureCase:
    """A fact that is stored, a text that is captured, and what must follow."""

    expected: str
    """``supersede``, ``merge`` or ``keep`` (both)."""
    old: str
    new: str
    why: str


def capture_cases() -> tuple[CaptureCase, ...]:
    """Read the table beside this file."""
    with Path(__file__).with_name("capture_cases.tsv").open(encoding="utf-8", newline="") as lines:
        rows = csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
        return tuple(CaptureCase(**row) for row in rows)
