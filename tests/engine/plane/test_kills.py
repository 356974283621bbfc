"""A process that is killed in the middle of a capture."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime
from random import Random
from typing import TYPE_CHECKING, Final

import pytest

from tests.engine.plane.chain import numbers_in_order

if TYPE_CHECKING:
    from pathlib import Path

KILLS: Final = 12
LONGEST_MS: Final = 60.0
"""A capture takes a few of them: the kill comes anywhere in the first dozen."""


@pytest.mark.slow
def test_a_kill_shows_both_effects_of_a_capture_or_none(tmp_path: Path) -> None:
    """Issue 5; data plane, 5.4: the new fact and the end of the old one commit together."""
    random = Random(20_260_301)  # noqa: S311 - chooses moments
    directory = tmp_path / "store"
    first = 0
    for _ in range(KILLS):
        told = subprocess.run(
            [
                *(sys.executable, "-m", "tests.engine.plane.dies_while_capturing"),
                *(str(directory), str(first), str(random.uniform(0, LONGEST_MS))),
            ],
            capture_output=True,
            check=False,
            text=True,
        )
        assert told.returncode == -9, told.stderr[-2000:]
        acknowledged = [int(line) for line in told.stdout.split()]
        numbers = numbers_in_order(directory, datetime.now(UTC))
        assert numbers == list(range(numbers[-1] + 1))
        # What was acknowledged is there; of the one in flight either all or nothing.
        assert numbers[-1] - acknowledged[-1] in {0, 1}
        first = numbers[-1] + 1
