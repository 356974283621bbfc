"""Callers write adds to the journal, in groups; a thread commits to the tables."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.errors import StoreClosedError
from graymatter_mcp.store.base import EPOCH, Vitals, WriteBatch
from graymatter_mcp.store.conformance.kit import SHELF, a_fact, ulid, with_terms
from graymatter_mcp.store.duckdb.database import Database
from graymatter_mcp.store.duckdb.journal import NUMBER, Journal
from graymatter_mcp.store.duckdb.rows import WriterMemory
from graymatter_mcp.store.duckdb.schema import migrate
from graymatter_mcp.store.duckdb.store import DuckDBStore
from graymatter_mcp.store.duckdb.writer import Writer
from tests.store.test_recovery import die, numbered, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from graymatter_mcp.store.duckdb.journal import Rows
    from graymatter_mcp.store.duckdb.requests import OnCommit
    from graymatter_mcp.store.duckdb.rows import AppliedBatch

DEADLINE_S = 60


def group(number: int) -> dict[str, list[tuple[int]]]:
    """Return a group as the journal takes it."""
    return {NUMBER: [(number,)]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return where a store will be."""
    return tmp_path / "gray.duckdb"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    """Return an empty journal."""
    journal = Journal(tmp_path / "gray.journal")
    yield journal
    journal.close()


def open_writer(database: Database, path: Path, journal: Journal, on_commit: OnCommit) -> Writer:
    """Return the writer of a new file."""
    with database.use() as connection:
        migrate(connection, path)
    memory = WriterMemory(
        model_ids={},
        seq=0,
        feed=0,
        events=0,
        namespaces=set(),
        group=0,
        changed=0,
        receipts=set(),
        reworded={},
    )
    return Writer(database, journal, memory, on_commit)


def nobody(_applied: Sequence[AppliedBatch], _seq: int) -> None:
    """Hear of a commit."""


def test_an_add_waits_for_no_commit_of_the_tables(path: Path, journal: Journal) -> None:
    """Issue 3: a call that only adds is as fast as the disk, whatever the database does."""
    database = Database(path)
    may_go_on = threading.Event()

    def hold(applied: Sequence[AppliedBatch], _seq: int) -> None:
        if any(one.batch.vitals for one in applied):
            assert may_go_on.wait(DEADLINE_S)

    writer = open_writer(database, path, journal, hold)
    vitals = Vitals(namespace=SHELF, fact_id=ulid(1), access_count=1, accessed_at=EPOCH, weight=1.0)
    held = writer.submit(WriteBatch(vitals=(vitals,)))
    added = writer.submit(WriteBatch(facts=(with_terms(a_fact("new")),), is_fresh=True))
    added.result(DEADLINE_S)
    assert not held.done()
    may_go_on.set()
    held.result(DEADLINE_S)
    writer.close()
    with database.use() as connection:
        assert connection.execute("SELECT text FROM facts").fetchall() == [("new",)]
    database.close()


def test_the_journal_drops_what_the_database_has_and_keeps_the_rest(
    tmp_path: Path, journal: Journal
) -> None:
    """Issue 3: the journal starts anew while writes go on."""
    journal.append(group(1))
    middle = journal.end
    journal.append(group(2))
    journal.drop(middle)
    assert journal.read() == [group(2)]
    journal.append(group(3))
    assert journal.read() == [group(2), group(3)]
    journal.drop(middle)
    assert journal.read() == [group(2), group(3)]
    journal.drop(journal.end)
    assert (journal.size, journal.read()) == (0, [])
    journal.append(group(4))
    again = Journal(tmp_path / "gray.journal")
    assert again.read() == [group(4)]
    again.close()
    assert [file.name for file in tmp_path.iterdir()] == ["gray.journal"]


def test_what_a_killed_process_left_of_a_shorter_journal_is_not_read(tmp_path: Path) -> None:
    """Issue 3: the file under its own name is the whole one until the other replaces it."""
    journal = Journal(tmp_path / "gray.journal")
    journal.append(group(1))
    journal.close()
    (tmp_path / "gray.journal.rest").write_bytes(b"half a li")
    journal = Journal(tmp_path / "gray.journal")
    assert journal.read() == [group(1)]
    journal.close()
    assert [file.name for file in tmp_path.iterdir()] == ["gray.journal"]


def test_a_kill_while_the_journal_is_shortened_loses_nothing(path: Path) -> None:
    """F24: acknowledged facts are in the database's file or in the journal, at any moment."""
    for count in range(200, 1000, 200):
        DuckDBStore(path).close()
        die(path, 200, "fresh", "tidy")
        assert texts(path) == numbered(count)


def test_what_comes_behind_the_end_is_refused_and_not_stored(path: Path, journal: Journal) -> None:
    """F24: nobody is told that something is stored which no journal and no table will have."""
    database = Database(path)
    writer = open_writer(database, path, journal, nobody)
    writer.close()
    late = writer.submit(WriteBatch(facts=(with_terms(a_fact("late")),), is_fresh=True))
    assert isinstance(late.exception(DEADLINE_S), StoreClosedError)
    assert journal.size == 0
    database.close()


def test_callers_that_wait_together_share_one_append(
    path: Path, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 3: group commit: while one group reaches the disk, the next one gathers."""
    database = Database(path)
    writer = open_writer(database, path, journal, nobody)
    begun, may_go_on = threading.Event(), threading.Event()
    groups: list[list[str]] = []
    append = Journal.append

    def slow(journal: Journal, rows: Rows, *, waiting: int = 0) -> None:
        groups.append([row[3] for row in rows["facts"]])
        begun.set()
        assert may_go_on.wait(DEADLINE_S)
        append(journal, rows, waiting=waiting)

    monkeypatch.setattr(Journal, "append", slow)

    def add(number: int) -> None:
        fact = with_terms(a_fact(str(number)))
        writer.submit(WriteBatch(facts=(fact,), is_fresh=True)).result(DEADLINE_S)

    with ThreadPoolExecutor(9) as pool:
        first = pool.submit(add, 0)
        assert begun.wait(DEADLINE_S)
        others = [pool.submit(add, number) for number in range(1, 9)]
        waiting = writer._queue  # pyright: ignore[reportPrivateUsage] - nothing else tells who waits
        while waiting.qsize() < len(others):
            time.sleep(0.001)
        may_go_on.set()
        for one in (first, *others):
            one.result(DEADLINE_S)
    writer.close()
    database.close()
    assert [len(group) for group in groups] == [1, 8]
    assert sorted(text for group in groups for text in group) == sorted(map(str, range(9)))
