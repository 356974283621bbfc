"""A command in a directory of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.cli.command import Command

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def graymatter(tmp_path: Path) -> Command:
    """Run where nothing is."""
    return Command(tmp_path)
