"""A small crash run of the real thing, and the arithmetic of what it found."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from bench import crash
from bench.__main__ import parser
from bench.aftermath import lost_writes
from bench.scribes import Write

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("mode", ["plain", "damaged-log"])
def test_a_few_kills_lose_nothing(tmp_path: Path, mode: str) -> None:
    """Issue: kills of bridges and owner: nothing acknowledged is lost, nothing is there twice."""
    line = ["crash", "--mode", mode, "--keyword-only", "--clients", "2", "--kills", "6"]
    tables = crash.measure(parser().parse_args([*line, "--round", "3", "--dir", str(tmp_path)]))
    assert not crash.has_failed(tables)
    counts = {row.what: row.value for row in tables[0].rows}
    assert counts["writes acknowledged"] > 0
    assert sum(value for what, value in counts.items() if what.startswith("kills of")) >= 6


def test_a_write_is_lost_when_it_or_half_of_it_is_missing() -> None:
    """Issue: what was acknowledged, and is not there; worked by hand."""
    added, gone = Write("a", "added"), Write("a", "gone")
    replaced, undone = Write("a", "new", "old"), Write("a", "newer", "still live")
    found = Counter(["added", "old", "new", "still live", "newer"])
    live = {"added", "new", "still live", "newer"}
    assert lost_writes([added, gone, replaced, undone], found, live) == [gone, undone]
