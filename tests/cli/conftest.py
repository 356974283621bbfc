"""A command in a directory of its own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.cli.command import Command
from tests.cli.in_process import InProcess

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def graymatter(tmp_path: Path) -> Command:
    """Run where nothing is."""
    return Command(tmp_path)


@pytest.fixture
def here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[InProcess]:
    """Run where nothing is, in this process, with the umask that the command sets itself."""
    before = os.umask(0o077)
    yield InProcess(tmp_path, capsys)
    os.umask(before)
