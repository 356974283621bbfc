from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from graymatter_mcp.compose import open_memory
from graymatter_mcp.engine.clock import Clock
from graymatter_mcp.errors import NoStoreError, StoreUnavailableError
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.config import Config, EmbeddingMode
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.requests import RememberRequest
from graymatter_mcp.owner.election import LOCK_FILE, OWNER_FILE, SPARE_FILE, Ownership
from tests.engine.desk import START


@pytest.fixture
def config(tmp_path: Path) -> Config:
    """Name a directory; keyword only."""
    return Config(data_dir=tmp_path / "memory", embedding_mode=EmbeddingMode.KEYWORD)


@pytest.mark.parametrize("is_there", [False, True])
def test_nothing_is_created_where_nothing_may_be(config: Config, is_there: bool) -> None:
    """Contract 10.1, --no-create."""
    if is_there:
        config.data_dir.mkdir()
    with pytest.raises(NoStoreError):
        open_memory(config, may_create=False)
    assert config.data_dir.exists() is is_there
    assert not is_there or not list(config.data_dir.iterdir())


def test_a_marker_alone_is_enough_to_create_the_database(config: Config) -> None:
    """Contract 10.1, --no-create: the directory was prepared."""
    config.data_dir.mkdir()
    (config.data_dir / "MEMORY.md").touch()
    anyio.run(open_memory(config, may_create=False).aclose)
    assert (config.data_dir / "gray.duckdb").is_file()


def test_the_directory_is_held_until_the_memory_is_closed(config: Config) -> None:
    """Contract 10.2: one owner per directory; a failed opening holds nothing."""
    owned = open_memory(config)
    with pytest.raises(StoreUnavailableError, match="pid"):
        open_memory(config)
    assert (config.data_dir / OWNER_FILE).is_file()
    anyio.run(owned.aclose)
    assert [one.name for one in config.data_dir.iterdir() if one.name == OWNER_FILE] == []
    anyio.run(open_memory(config).aclose)


def test_who_holds_the_directory_already_announces_itself(config: Config) -> None:
    """F1: a note without doors would turn away who waits for an owner that still opens."""
    config.data_dir.mkdir()
    with Ownership(config.data_dir) as held:
        owned = open_memory(config, ownership=held)
        assert not (config.data_dir / OWNER_FILE).exists()
        anyio.run(owned.aclose)


def test_an_opening_that_cannot_announce_itself_holds_nothing(config: Config) -> None:
    """Contract 10.2: neither the store nor the directory stays taken."""
    config.data_dir.mkdir()
    obstacle = config.data_dir / SPARE_FILE
    obstacle.mkdir()
    with pytest.raises(OSError, match="directory"):
        open_memory(config)
    obstacle.rmdir()
    anyio.run(open_memory(config).aclose)


def test_a_damaged_database_is_reported_and_left_alone(config: Config) -> None:
    """Contract 9.4: our error, and the lock is free afterwards."""
    config.data_dir.mkdir()
    database = config.data_dir / "gray.duckdb"
    database.write_bytes(b"this is no database at all" * 1000)
    for _ in range(2):
        with pytest.raises(StoreUnavailableError, match="cannot be opened"):
            open_memory(config)
    assert database.read_bytes() == b"this is no database at all" * 1000
    assert {one.name for one in config.data_dir.iterdir()} == {"gray.duckdb", LOCK_FILE}


def test_the_clock_can_be_set_by_a_test(config: Config) -> None:
    """House: `now` is an argument, all the way down."""
    owned = open_memory(config, clock=Clock(lambda: START))

    async def main() -> None:
        fact = await owned.memory.remember(RememberRequest(namespace=Namespace("a"), text="t"))
        assert fact.created_at == START
        await owned.aclose()

    anyio.run(main)


def test_an_evaluation_tries_the_round_trip_beside_the_store(config: Config) -> None:
    """Data-plane contract 7.2, case 11: in a store in memory; without a model case 8 is skipped."""

    async def evaluate() -> list[str]:
        owned = open_memory(config)
        found = await owned.memory.plane.evaluate(LOCAL_CALLER)
        await owned.aclose()
        assert found.failed == 0
        return [case.name for case in found.cases if case.is_skipped]

    assert anyio.run(evaluate) == [
        "meaning is found without shared words",
        "an unanswerable query returns nothing",
    ]
