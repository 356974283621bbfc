"""A data directory that goes away under an open memory."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final

import anyio
import pytest

from graymatter_mcp.compose import open_memory
from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.model.config import Config, EmbeddingMode
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.requests import RememberRequest, WriteOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from graymatter_mcp.engine.local import LocalMemory

AGENT: Final = Namespace("a")


def _move(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))


def _replace(directory: Path) -> None:
    _move(directory)
    shutil.copytree(directory.with_name("elsewhere"), directory)


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()


def _delete_database(directory: Path) -> None:
    (directory / "gray.duckdb").unlink()


LOSSES: Final[dict[str, Callable[[Path], Any]]] = {
    "deleted": shutil.rmtree,
    "moved": _move,
    "replaced": _replace,
    "emptied": _empty,
    "database deleted": _delete_database,
}

WRITES: Final[dict[str, Callable[[LocalMemory], Any]]] = {
    "remember": lambda memory: memory.remember(RememberRequest(namespace=AGENT, text="new")),
    "alias": lambda memory: memory.add_alias(AGENT, "k8s", ["kubernetes"], Origin()),
    "revise": lambda memory: memory.revise(AGENT, "old", "new", WriteOptions(), Origin()),
    "forget": lambda memory: memory.forget(AGENT, "old"),
    "pin": lambda memory: memory.set_pinned(AGENT, "old", True),
    "checkpoint": lambda memory: memory.save_checkpoint(AGENT, {"step": 1}),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_write_into_a_directory_that_is_gone_is_not_acknowledged(
    tmp_path: Path, loss: str, write: str
) -> None:
    """Issue 3: an acknowledged write must not vanish; nobody would look for it there."""
    directory = tmp_path / "memory"

    async def main() -> None:
        owned = open_memory(Config(data_dir=directory, embedding_mode=EmbeddingMode.KEYWORD))
        await owned.memory.remember(RememberRequest(namespace=AGENT, text="old"))
        LOSSES[loss](directory)
        with pytest.raises(StoreUnavailableError, match="moved or deleted"):
            await WRITES[write](owned.memory)
        await owned.aclose()

    anyio.run(main)
