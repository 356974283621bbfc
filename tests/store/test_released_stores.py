"""Stores written by every released version open and answer the same."""

from __future__ import annotations

import gzip
import importlib.util
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp import Memory
from graymatter_mcp.model.config import Config
from graymatter_mcp.store.duckdb.recovery import read_reports
from graymatter_mcp.store.duckdb.schema import SCHEMA_VERSION
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from types import ModuleType

FIXTURES = Path(__file__).parent / "fixtures"
VERSIONS = [one.name.removesuffix(".duckdb.gz") for one in sorted(FIXTURES.glob("*.duckdb.gz"))]


def writer() -> ModuleType:
    """Load the module that made the fixtures."""
    spec = importlib.util.spec_from_file_location(
        "write_fixture", FIXTURES.with_name("write_fixture.py")
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_is_a_store_of_the_first_release() -> None:
    """F35: kept as fixtures."""
    assert "0.1.0" in VERSIONS


@pytest.mark.parametrize("version", VERSIONS)
def test_a_store_of_a_released_version_answers_as_it_did(version: str, tmp_path: Path) -> None:
    """F35: the same facts are found as before; a store that is migrated has its backup."""
    directory = tmp_path / "memory"
    directory.mkdir(mode=0o700)
    path = directory / "gray.duckdb"
    path.write_bytes(gzip.decompress((FIXTURES / f"{version}.duckdb.gz").read_bytes()))
    expected: dict[str, Any] = json.loads((FIXTURES / f"{version}.json").read_text("utf-8"))
    with Memory(config=Config(data_dir=directory)) as memory:
        assert memory.wait_until_settled()
        answers: dict[str, Any] = json.loads(json.dumps(writer().answers(memory)))
    # How well an order is found gets better with releases: what is found stays.
    for name in ("recall", "recall_all"):
        for told in (answers, expected):
            told[name] = {query: sorted(texts) for query, texts in told[name].items()}
    assert answers == expected
    assert read_reports(path) == []
    store = DuckDBStore(path)
    assert {check.status for check in store.check(full=True)} == {"ok"}
    store.close()
    was_migrated = any(directory.glob("gray.duckdb.before-*"))
    assert was_migrated == (version == "0.1.0" and SCHEMA_VERSION > 1)
