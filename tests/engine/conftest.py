"""Desks: each test that takes ``make_desk`` runs on every store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest
from anyio.from_thread import start_blocking_portal

from tests.engine.desk import QUIET, Desk, make_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal


class DeskMaker(Protocol):
    """Opens a desk; options as of `Desk`."""

    def __call__(self, **options: Any) -> Desk:
        """Open it on a fresh store."""
        ...


@pytest.fixture(scope="session")
def portal() -> Iterator[BlockingPortal]:
    """Run the event loop that all desks share."""
    with start_blocking_portal() as portal:
        yield portal


@pytest.fixture(params=["memory", "duckdb"])
def kind(request: pytest.FixtureRequest) -> str:
    """Name the store."""
    return request.param


@pytest.fixture
def make_desk(portal: BlockingPortal, kind: str, tmp_path: Path) -> Iterator[DeskMaker]:
    """Give the test desks and clear them away."""
    desks: list[Desk] = []

    def make(**options: Any) -> Desk:
        path = tmp_path / f"{len(desks)}.duckdb"
        store = make_store(kind, path, options.get("config", QUIET))
        desks.append(Desk(portal, store, **options))
        return desks[-1]

    yield make
    for desk in desks:
        desk.close()


@pytest.fixture
def desk(make_desk: DeskMaker) -> Desk:
    """Open a desk without a model."""
    return make_desk()
