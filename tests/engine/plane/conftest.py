"""Offices: each test that takes ``office`` runs on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.engine.desk import make_store
from tests.engine.plane.office import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def office(kind: str, tmp_path: Path) -> Iterator[Office]:
    """Open one on an empty store."""
    store = make_store(kind, tmp_path / "office.duckdb")
    yield Office(store)
    store.close()
