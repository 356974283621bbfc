"""From an older schema to ours: after a backup, in one piece or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.store.duckdb.schema import check_version, migrate, stored_version

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a small file of schema 1 that holds three facts."""
    path = tmp_path / "gray.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("CREATE TABLE meta (key VARCHAR NOT NULL, value VARCHAR NOT NULL)")
    connection.execute("INSERT INTO meta VALUES ('schema_version', '1')")
    connection.execute("CREATE TABLE facts (text VARCHAR NOT NULL)")
    connection.execute("INSERT INTO facts VALUES ('a'), ('b'), ('c')")
    connection.close()
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return scripts that lead to schema 3."""
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "0002_notes.sql").write_text(
        "CREATE TABLE notes (note VARCHAR NOT NULL); INSERT INTO notes SELECT text FROM facts;"
    )
    (folder / "0003_more.sql").write_text("CREATE TABLE more (more VARCHAR NOT NULL);")
    return folder


def state(path: Path) -> tuple[int, list[str]]:
    """Return the schema version and the tables that migrations made."""
    connection = duckdb.connect(str(path))
    try:
        rows = connection.execute(
            "SELECT table_name FROM duckdb_tables()"
            " WHERE table_name IN ('notes', 'more') ORDER BY table_name"
        ).fetchall()
        assert connection.execute("SELECT count(*) FROM facts").fetchall() == [(3,)]
        return stored_version(connection), [name for (name,) in rows]
    finally:
        connection.close()


def test_each_step_is_taken_once_and_the_last_backup_is_kept(path: Path, folder: Path) -> None:
    """F35: an older store is migrated after a backup."""
    connection = duckdb.connect(str(path))
    migrate(connection, path, folder=folder, target=3)
    assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(3,)]
    migrate(connection, path, folder=folder, target=3)
    connection.close()
    assert state(path) == (3, ["more", "notes"])
    (kept,) = path.parent.glob("gray.duckdb.before-*")
    assert kept.name == "gray.duckdb.before-3"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert state(kept) == (2, ["notes"])


def test_a_step_that_fails_leaves_the_old_schema(path: Path, folder: Path) -> None:
    """F35: in one piece or not at all."""
    (folder / "0002_notes.sql").write_text("CREATE TABLE notes (note VARCHAR); SELECT error('no');")
    connection = duckdb.connect(str(path))
    with pytest.raises(duckdb.Error):
        migrate(connection, path, folder=folder, target=2)
    connection.close()
    assert state(path) == (1, [])


def test_an_older_schema_that_cannot_be_migrated_is_named(path: Path) -> None:
    """Issue: a read-only store says why it does not open."""
    connection = duckdb.connect(str(path), read_only=True)
    with pytest.raises(StoreUnavailableError, match="open it once where it can be written"):
        check_version(connection, 2)
    connection.close()


KILLED = """
import json, os, signal, sys
from pathlib import Path
import duckdb
from graymatter_mcp.store.duckdb.schema import migrate
from tests.store.test_migrations import state

path, folder = Path(sys.argv[1]), Path(sys.argv[2])
original = path.read_bytes()

class Fragile:
    def __init__(self, connection, statements):
        self.connection, self.left = connection, statements
    def execute(self, *arguments):
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return self.connection.execute(*arguments)

def forked(work):
    # Each step in a process of its own; this one never opens the file.
    pid = os.fork()
    if not pid:
        work()
        sys.stdout.flush()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

def look():
    print(json.dumps(state(path)))

def again():
    connection = duckdb.connect(str(path))
    migrate(connection, path, folder=folder, target=2)
    connection.close()
    look()

for statements in range(99):
    path.write_bytes(original)
    path.with_name(path.name + ".wal").unlink(missing_ok=True)
    def killed():
        migrate(Fragile(duckdb.connect(str(path)), statements), path, folder=folder, target=2)
    status = forked(killed)
    assert forked(look) == 0 and forked(again) == 0
    if status == 0:
        break
    assert status == -signal.SIGKILL
"""


def test_a_kill_before_any_statement_leaves_the_old_schema_or_the_new_one(
    path: Path, folder: Path
) -> None:
    """F35: kill in the middle of each migration: opens again."""
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    states = [json.loads(line) for line in done.stdout.splitlines()]
    killed, opened_again = states[::2], states[1::2]
    old: list[object] = [1, []]
    new: list[object] = [2, ["notes"]]
    turn = killed.index(new)
    assert turn > 5
    assert killed == [old] * turn + [new] * (len(killed) - turn)
    assert opened_again == [new] * len(killed)
    assert path.with_name("gray.duckdb.before-2").exists()


OURS = """
import os, signal, sys
from pathlib import Path
import duckdb
from graymatter_mcp.store.duckdb.schema import migrate
from graymatter_mcp.store.duckdb.store import DuckDBStore

path = Path(sys.argv[1])

class Fragile:
    def __init__(self, connection, statements):
        self.connection, self.left = connection, statements
    def execute(self, *arguments):
        if not self.left:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return self.connection.execute(*arguments)

def forked(work):
    pid = os.fork()
    if not pid:
        work()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

for statements in range(999):
    for one in path.parent.iterdir():
        one.unlink()
    status = forked(lambda: migrate(Fragile(duckdb.connect(str(path)), statements), path))
    assert forked(lambda: DuckDBStore(path).close()) == 0, statements
    if status == 0:
        break
    assert status == -signal.SIGKILL
print(statements)
"""


def test_a_kill_before_any_statement_of_our_own_migrations_leaves_what_opens(
    tmp_path: Path,
) -> None:
    """F35: kill in the middle of each migration, from the first to the newest: opens again."""
    done = subprocess.run(
        [sys.executable, "-c", OURS, str(tmp_path / "gray.duckdb")],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    )
    assert int(done.stdout) > 3
