from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.store.conformance import StoreConformance
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.store.memory import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from graymatter_mcp.store.base import MemoryStore
    from graymatter_mcp.store.conformance import StoreMaker


class DuckDBMaker:
    """Makes stores, each in a file of its own below one directory, and closes them all."""

    persists = True

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._opened: list[tuple[DuckDBStore, Path, Callable[[str], str]]] = []

    def make(self, stem: Callable[[str], str] | None = None) -> DuckDBStore:
        """Open a new file."""
        path = self._directory / f"{len(self._opened)}.duckdb"
        return self._open(path, stem or identity)

    def reopen(self, store: MemoryStore) -> DuckDBStore:
        """Close the store and open its file again."""
        return self._again(store, read_only=False)

    def freeze(self, store: MemoryStore) -> DuckDBStore:
        """Close the store and open its file read-only."""
        return self._again(store, read_only=True)

    def close(self) -> None:
        """Close every store made."""
        for store, _, _ in self._opened:
            store.close()

    def _open(
        self, path: Path, stem: Callable[[str], str], *, read_only: bool = False
    ) -> DuckDBStore:
        store = DuckDBStore(path, stem=stem, read_only=read_only)
        self._opened.append((store, path, stem))
        return store

    def _again(self, store: MemoryStore, *, read_only: bool) -> DuckDBStore:
        store.close()
        ((path, stem),) = [(path, stem) for known, path, stem in self._opened if known is store]
        return self._open(path, stem, read_only=read_only)


class TestDuckDBStore(StoreConformance):
    """The system of record passes the suite."""

    @pytest.fixture
    def maker(self, tmp_path: Path) -> Iterator[StoreMaker]:
        """Give the suite its stores."""
        maker = DuckDBMaker(tmp_path)
        yield maker
        maker.close()
