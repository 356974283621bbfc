"""Real engines in this process, where a test needs a clock or a model of its own."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio.from_thread import start_blocking_portal

from contract_tests.caller import Caller
from contract_tests.clients import PythonClient
from graymatter_mcp import Config, EmbeddingMode
from graymatter_mcp.compose import open_memory
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
from graymatter_mcp.surfaces.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from pathlib import Path

    from graymatter_mcp.embedding.base import Embedder
    from graymatter_mcp.engine.base import Memory

START: Final = datetime(2026, 1, 1, tzinfo=UTC)

Answer = TypeVar("Answer")


def keyword_config(directory: Path, **options: Any) -> Config:
    """Build a configuration without vectors and without background work."""
    return Config(
        data_dir=directory,
        embedding_mode=EmbeddingMode.KEYWORD,
        async_consolidate=False,
        **options,
    )


class StillClock(Clock):
    """Stands still until it is moved; still gives every write a stamp of its own."""

    def __init__(self) -> None:
        self.at = START
        super().__init__(lambda: self.at)

    def move(self, **by: float) -> None:
        """Move by a timedelta."""
        self.at += timedelta(**by)


class ScriptedClock(StillClock):
    """Gives stamps and identities in a prescribed order."""

    def __init__(self, stamps: list[tuple[datetime, FactId]]) -> None:
        super().__init__()
        self._stamps = iter(stamps)

    def stamp(self) -> tuple[datetime, FactId]:
        """Return the next prescribed stamp."""
        return next(self._stamps)


class Engine:
    """Runs methods of one memory from plain code, all on one loop."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._context = start_blocking_portal()
        self._portal = self._context.__enter__()

    def run(self, method: Callable[..., Awaitable[Answer]], *args: Any, **options: Any) -> Answer:
        """Wait for one call."""
        return self._portal.call(partial(method, *args, **options))

    def stop(self) -> None:
        """End the loop; whoever opened the memory closes it before."""
        self._context.__exit__(None, None, None)


@contextmanager
def engine(config: Config, clock: Clock | None = None) -> Generator[Engine]:
    """Open the memory of a directory as `compose` does, with a clock of one's own."""
    owned = open_memory(config, clock=clock)
    opened = Engine(owned.memory)
    try:
        yield opened
    finally:
        opened.run(owned.aclose)
        opened.stop()


@contextmanager
def engine_with(
    load: Callable[[], Embedder], config: Config, kind: type[DuckDBStore] = DuckDBStore
) -> Generator[Engine]:
    """Open a memory whose model is what `load` makes."""
    analyzer = Analyzer(config.stem_language)
    config.data_dir.mkdir(parents=True, exist_ok=True)
    store = kind(config.data_dir / "gray.duckdb", stem=analyzer.index_term)
    opened = Engine(LocalMemory(store, load, analyzer, config, Clock()))
    try:
        yield opened
    finally:
        opened.run(opened.memory.aclose)
        opened.stop()


@contextmanager
def serving(memory: Memory) -> Generator[Caller]:
    """Serve a memory to the official client without a process between."""
    bundle = load_bundle(("core",))
    client = PythonClient(build_server(bundle, Dispatcher(bundle, memory)), "auto")
    try:
        yield Caller(client)
    finally:
        client.close()
