"""The only place that picks implementations."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass, replace
from importlib import resources
from typing import TYPE_CHECKING

from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.errors import InvalidArgumentError, ReadOnlyError, StoreUnavailableError
from graymatter_mcp.model.config import BUNDLED_MODEL, Config
from graymatter_mcp.owner.election import Ownership, prepare_directory
from graymatter_mcp.owner.filesystems import refuse_network
from graymatter_mcp.ranking.hybrid.abstain import Calibration
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.requirements import wrong_version
from graymatter_mcp.settings import DATABASE_FILE, holds_store
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.store.memory import InMemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graymatter_mcp.embedding.base import Embedder


@dataclass(frozen=True, slots=True)
class OwnedMemory:
    """A memory, and the directory held for it."""

    memory: LocalMemory
    ownership: Ownership | None
    """None where nothing can be written, so that nobody can own it."""

    async def aclose(self) -> None:
        """Close the memory, then let the directory go."""
        await self.memory.aclose()
        if self.ownership is not None:
            self.ownership.release()


def open_memory(
    config: Config,
    *,
    may_create: bool = True,
    clock: Clock | None = None,
    ownership: Ownership | None = None,
) -> OwnedMemory:
    """Open the memory of a directory in this process.

    Args:
        config: Checked here.
        may_create: Whether a directory without a store becomes one.
        clock: Replaced only by tests.
        ownership: The directory, when it is held already; released with the memory, and announced
            by its holder.

    Raises:
        InvalidArgumentError: A setting is out of range.
        NoStoreError: There is no store and none may be created.
        StoreUnavailableError: The directory is held by another process, or cannot be used.
    """
    config.check()
    problem = wrong_version()
    if problem is not None:
        raise StoreUnavailableError(problem)
    analyzer = _analyzer(config)
    directory = config.data_dir
    refuse_network(directory.absolute(), is_forced=config.force_network_fs)
    prepare_directory(
        directory,
        DATABASE_FILE,
        may_create=may_create and not config.read_only,
        has_store=holds_store(directory),
    )
    is_alone = ownership is None
    if ownership is None:
        ownership = _own(directory, config)
    read_only = config.read_only or ownership is None
    with ExitStack() as undo:
        if ownership is not None:
            undo.callback(ownership.release)
        path = directory / DATABASE_FILE
        store = DuckDBStore(path, stem=analyzer.index_term, read_only=read_only)
        undo.callback(store.close)
        if not read_only:
            # By name, not by descriptor: opening the file here would drop DuckDB's lock on it.
            path.chmod(0o600)
        if is_alone and ownership is not None:
            # A note without doors says that nobody can come, and whoever reads it gives up: an
            # owner that still opens leaves that to its doors.
            ownership.announce({})
        load, model_key = _model(config)
        memory = LocalMemory(
            store,
            load,
            analyzer,
            replace(config),
            Clock() if clock is None else clock,
            model_key=model_key,
            calibrations=calibrations(),
            scratch=lambda: InMemoryStore(stem=analyzer.index_term),
            is_in_place=_place_of(ownership, path),
        )
        undo.pop_all()
    return OwnedMemory(memory, ownership)


def calibrations() -> dict[str, Calibration]:
    """Read the constants of hybrid search by model key; what is not there has none."""
    file = resources.files("graymatter_mcp.ranking.hybrid") / "calibrations.json"
    by_key: dict[str, dict[str, float]] = json.loads(file.read_text(encoding="utf-8"))
    return {key: Calibration(**constants) for key, constants in by_key.items()}


def _place_of(ownership: Ownership | None, database: Path) -> Callable[[], bool]:
    """Return what tells whether the directory and the database in it are still those we opened."""
    if ownership is None:
        return lambda: True
    opened = database.stat()

    def is_in_place() -> bool:
        try:
            found = database.stat()
        except OSError:
            return False
        is_same = (found.st_dev, found.st_ino) == (opened.st_dev, opened.st_ino)
        return is_same and ownership.is_in_place()

    return is_in_place


def _own(directory: Path, config: Config) -> Ownership | None:
    """Take the directory; None where it holds a store that can only be read."""
    path = directory / DATABASE_FILE
    is_writable = os.access(directory, os.W_OK) and (not path.exists() or os.access(path, os.W_OK))
    if is_writable or not path.exists():
        return Ownership(directory)
    if config.strict_write and not config.read_only:
        raise ReadOnlyError("the store can only be read here, and strict_write is on")
    return None


def _analyzer(config: Config) -> Analyzer:
    try:
        return Analyzer(config.stem_language if config.stem_keywords else None)
    except ValueError as exc:
        raise InvalidArgumentError(f"stem_language: {exc}") from exc


def _model(config: Config) -> tuple[Callable[[], Embedder] | None, str]:
    """Return what loads the model, and the key it will have if that is known before."""
    if config.is_keyword_only:
        return None, ""
    if config.model == BUNDLED_MODEL:
        return MiniLM, MiniLM.model_key

    def load() -> Embedder:
        # Imported on use: it brings torch, seconds and hundreds of megabytes.
        from graymatter_mcp.embedding.sentence import SentenceTransformerEmbedder

        return SentenceTransformerEmbedder(config.model)

    return load, ""
