"""Offices and their bearers, on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.surfaces.credentials import BearerAuthenticator
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from tests.engine.desk import make_store
from tests.engine.plane.office import Office

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SERVER = "server-token-of-this-test"


@pytest.fixture(params=["memory", "duckdb"])
def office(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Office]:
    """Open one on an empty store."""
    store = make_store(request.param, tmp_path / "office.duckdb")
    yield Office(store)
    store.close()


@pytest.fixture
def bearers(office: Office, tmp_path: Path) -> Iterator[BearerAuthenticator]:
    """The check of bearers that knows the office's tokens."""
    live = LiveTokens(tmp_path)
    authenticator = BearerAuthenticator(SERVER, live)
    authenticator.use(office.accounts)
    yield authenticator
    live.close()
