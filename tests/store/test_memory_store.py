from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import StoreClosedError
from graymatter_mcp.store.conformance import StoreConformance
from graymatter_mcp.store.memory import InMemoryStore, identity

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance import StoreMaker


class InMemoryMaker:
    """Makes stores that leave nothing behind."""

    persists = False

    def make(self, stem: Callable[[str], str] | None = None) -> InMemoryStore:
        """Return a new store."""
        return InMemoryStore(stem=stem or identity)

    def reopen(self, store: MemoryStore) -> MemoryStore | None:
        """Return None: there is nothing to open."""

    def freeze(self, store: MemoryStore) -> MemoryStore:
        """Refuse writes from now on."""
        store.read_only = True
        return store


class TestInMemoryStore(StoreConformance):
    """The reference passes the suite it is measured by."""

    @pytest.fixture
    def maker(self) -> StoreMaker:
        """Give the suite its stores."""
        return InMemoryMaker()


def test_every_method_of_a_closed_store_raises_the_typed_error() -> None:
    """Contract 9.1: anything after close raises StoreClosedError."""
    store = InMemoryStore()
    store.close()
    with pytest.raises(StoreClosedError):
        store.stats()
