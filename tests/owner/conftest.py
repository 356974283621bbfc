"""A directory whose processes all end with the test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract_tests.processes import end_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory that does not exist yet; fails when a process outlives the test."""
    directory = tmp_path / "store"
    yield directory
    end_all(directory)
