"""Memories without a model, in a directory of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp import Config, EmbeddingMode, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Name a directory; keyword only, so that nothing is loaded."""
    return Config(data_dir=tmp_path / "memory", embedding_mode=EmbeddingMode.KEYWORD)


@pytest.fixture
def memory(config: Config) -> Iterator[Memory]:
    """Open a memory."""
    with Memory.open(config) as memory:
        yield memory
