"""An opening that fails half-way leaves nothing open, and says why in our own words."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import SHELF, a_fact, add, with_terms
from graymatter_mcp.store.duckdb.journal import NUMBER, Journal
from graymatter_mcp.store.duckdb.recovery import ledger_of
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Callable


def without_a_table(path: Path) -> None:
    """Leave a file that is ours by its version, but not whole."""
    connection = duckdb.connect(str(path))
    connection.execute("DROP TABLE models")
    connection.close()


def with_a_folder_for_a_journal(path: Path) -> None:
    """Put a folder where the journal belongs."""
    path.with_suffix(".journal").unlink()
    path.with_suffix(".journal").mkdir()


def with_a_folder_for_a_ledger(path: Path) -> None:
    """Put a folder where the ledger belongs."""
    ledger_of(path).unlink()
    ledger_of(path).mkdir()


def with_a_promise_that_does_not_fit(path: Path) -> None:
    """Let the journal promise a row that the table cannot take."""
    journal = Journal(path.with_suffix(".journal"))
    journal.append({NUMBER: [(99,)], "counters": [("runs", "many")]})
    journal.close()


DAMAGED = "the store cannot be opened: the file is damaged or of another kind"
BESIDE = "the store cannot be opened: a file beside it cannot be used"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (without_a_table, DAMAGED),
        (with_a_folder_for_a_journal, BESIDE),
        (with_a_folder_for_a_ledger, BESIDE),
        (with_a_promise_that_does_not_fit, DAMAGED),
    ],
)
def test_an_opening_that_fails_half_way_lets_everything_go(
    tmp_path: Path, spoil: Callable[[Path], None], said: str
) -> None:
    """Contract 9.4: our error; no file stays open, no thread stays behind."""
    path = tmp_path / "gray.duckdb"
    DuckDBStore(path).close()
    spoil(path)
    threads = set(threading.enumerate())
    with pytest.raises(StoreUnavailableError, match=f"^{said}"):
        DuckDBStore(path)
    assert open_files(tmp_path) == []
    assert set(threading.enumerate()) == threads


def open_files(directory: Path) -> list[str]:
    """Return the files below a directory that this process has open."""
    found = [one.readlink() for one in Path("/proc/self/fd").iterdir() if one.is_symlink()]
    return [one.name for one in found if directory in one.parents]


def test_open_files_would_be_seen(tmp_path: Path) -> None:
    """House, section 5, question 8: the look itself sees what is open."""
    store = DuckDBStore(tmp_path / "gray.duckdb")
    assert {"gray.duckdb", "gray.journal", "gray.commit_seq"} <= set(open_files(tmp_path))
    store.close()
    assert open_files(tmp_path) == []


def test_a_store_opens_once_the_obstacle_is_gone(tmp_path: Path) -> None:
    """F24: a failed opening costs nothing that was stored."""
    path = tmp_path / "gray.duckdb"
    store = DuckDBStore(path)
    add(store, a_fact("in the tables"))
    store.apply(WriteBatch(facts=(with_terms(a_fact("in the journal")),), is_fresh=True))
    store.close()
    with_a_folder_for_a_ledger(path)
    with pytest.raises(StoreUnavailableError):
        DuckDBStore(path)
    ledger_of(path).rmdir()
    store = DuckDBStore(path)
    assert {fact.text for fact in store.list(SHELF)} == {"in the tables", "in the journal"}
    store.close()
