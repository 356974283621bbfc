"""The directory of a running product, spoilt between two clients: what is there, what is said."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pytest

from contract_tests.manifest import promise
from contract_tests.processes import (
    Session,
    command,
    end_all,
    owner_pid,
    processes_of,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.slow

_PINNED: Final = "SELECT text FROM fact_changes WHERE pinned_at IS NOT NULL"
FIXTURES: Final = Path(__file__).parents[1] / "tests" / "store" / "fixtures"
RELEASED: Final = sorted(one.name.removesuffix(".duckdb.gz") for one in FIXTURES.glob("*.gz"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory that does not exist yet."""
    directory = tmp_path / "store"
    yield directory
    end_all(directory)


def kill_owner(store: Path) -> None:
    """Kill the owner and wait until its lock is free."""
    pid = owner_pid(store)
    os.kill(pid, signal.SIGKILL)
    end_all(store)


def added(session: Session, texts: list[str]) -> None:
    """Add facts; each must be acknowledged."""
    for text in texts:
        session.ok("memory_add", agent_id="a", text=text)


def doctor(store: Path) -> dict[str, dict[str, str]]:
    """Return the checks of `doctor --full` by name."""
    document = json.loads(command(store, "--json", "doctor", "--full").stdout)
    return {check["name"]: check for check in document["checks"]}


@promise("storage:kills")
def test_a_kill_within_any_of_fifty_writes_costs_none_that_was_acknowledged(store: Path) -> None:
    """F24: `kill -9` within 50 writes, several times: it opens, every fact is there."""
    texts = [f"write {number}" for number in range(50)]
    with Session(store) as session:
        for number, text in enumerate(texts):
            if number % 10 == 7:
                # A call that asks the tables goes another way than one that only adds.
                change = {"action": "update", "target": texts[number - 1], "text": text}
                session.ok("memory_reflect", agent_id="a", **change)
            else:
                added(session, [text])
            if number % 9 == 8:
                os.kill(owner_pid(store), signal.SIGKILL)
    kill_owner(store)
    replaced = {texts[number - 1] for number in range(50) if number % 10 == 7}
    with Session(store) as session:
        facts = session.facts("a")
    assert sorted(facts) == sorted(set(texts) - replaced)
    found = doctor(store)
    assert found["damage"]["status"] == "ok"
    assert "fail" not in {check["status"] for check in found.values()}


def cut(log: Path) -> None:
    """Cut the log in half."""
    os.truncate(log, log.stat().st_size // 2)


def garble(log: Path) -> None:
    """Overwrite what lies in the middle."""
    data = log.read_bytes()
    middle = len(data) // 2
    log.write_bytes(data[:middle] + os.urandom(200) + data[middle + 200 :])


def lose(log: Path) -> None:
    """Delete it."""
    log.unlink()


@promise("storage:damaged-log")
@pytest.mark.parametrize("spoil", [cut, garble, lose])
def test_a_damaged_log_costs_nothing_acknowledged(
    store: Path, spoil: Callable[[Path], None]
) -> None:
    """F24: cut or garble the write-ahead log: it opens, every acknowledged change is there."""
    texts = [f"fact {number}" for number in range(30)]
    with Session(store) as session:
        added(session, texts)
        # What reads the tables makes them take what the journal has: it is in the log as well.
        assert len(session.facts("a")) == 30
        change = {"action": "update", "target": "fact 4", "text": "fact 4 anew"}
        session.ok("memory_reflect", agent_id="a", **change)
        session.ok("memory_reflect", action="pin", agent_id="a", target="fact 3")
        kill_owner(store)
    log = store / "gray.duckdb.wal"
    assert log.stat().st_size > 1000
    spoil(log)
    with Session(store) as session:
        assert sorted(session.facts("a")) == sorted({*texts, "fact 4 anew"} - {"fact 4"})
        added(session, ["after the damage"])
    end_all(store)
    found = doctor(store)
    assert "missing" not in found["damage"]["detail"]
    assert "fail" not in {check["status"] for check in found.values()}
    with duckdb.connect(str(store / "gray.duckdb"), read_only=True) as tables:
        pinned = tables.sql(_PINNED).fetchall()
    assert pinned == [("fact 3",)]


@promise("storage:side-files")
def test_side_files_that_are_gone_cost_nothing(store: Path) -> None:
    """F24: delete side files."""
    with Session(store) as session:
        added(session, ["kept"])
    end_all(store)
    for one in store.iterdir():
        if one.name != "gray.duckdb":
            one.unlink()
    with Session(store) as session:
        assert session.facts("a") == ["kept"]


@promise("storage:damaged-vectors")
def test_damaged_vectors_fail_no_call(store: Path) -> None:
    """F24: garble vectors."""
    with Session(store, GRAYMATTER_MODEL="all-MiniLM-L6-v2") as session:
        added(session, ["deploys run on Tuesday", "the port is 8137"])
    end_all(store)
    connection = duckdb.connect(str(store / "gray.duckdb"))
    connection.execute("UPDATE vectors SET vector = 'abc'::BLOB")
    connection.close()
    with Session(store, GRAYMATTER_MODEL="all-MiniLM-L6-v2") as session:
        for query in ("deploys", "port"):
            assert session.ok("memory_search", agent_id="a", query=query)["facts"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A data directory on a disk of 24 MB."""
    place = tmp_path / "disk"
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m,mode=0700", "tmpfs", str(place)],
        check=False,
        capture_output=True,
    )
    if done.returncode:
        pytest.skip("NOT TESTED: a full disk needs the right to mount a small file system")
    yield place / "store"
    end_all(place / "store")
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> Path:
    """Take all that is left of a disk."""
    ballast = place / "ballast"
    with ballast.open("ab", buffering=0) as file:
        disk = os.statvfs(place)
        file.write(bytes(disk.f_bavail * disk.f_frsize))
    return ballast


WRITES: Final[dict[str, dict[str, Any]]] = {
    "memory_add": {"text": "more"},
    "memory_reflect": {
        "action": "update",
        "target": "the port is 8137",
        "text": "the port is 8138",
    },
    "checkpoint_save": {"state": {"step": 1}},
}
"""One that only adds, one that asks the tables, one with a record of its own."""


@promise("storage:full-disk")
def test_on_a_full_disk_searches_go_on_and_writes_say_why_not(small_disk: Path) -> None:
    """F24, design 3: with an owner that is there, one that was killed, and one that ended."""
    with Session(small_disk) as session:
        added(session, ["the port is 8137"])
    end_all(small_disk)
    ballast = fill(small_disk.parent)
    for end in (kill_owner, end_all):
        with Session(small_disk) as session:
            assert session.facts("a") == ["the port is 8137"]
            for write in (
                {"tool": "memory_add", "agent_id": "a", "text": "more"},
                {"tool": "memory_reflect", "agent_id": "a", "action": "update",
                 "target": "the port is 8137", "text": "the port is 8138"},
                {"tool": "checkpoint_save", "agent_id": "a", "state": {"step": 1}},
            ):  # fmt: skip
                arguments = dict(write)
                assert "the disk is full" in session.refused(
                    str(arguments.pop("tool")), **arguments
                )
            assert session.facts("a") == ["the port is 8137"]
            end(small_disk)
    ballast.unlink()
    with Session(small_disk) as session:
        added(session, ["there is room"])
        assert session.facts("a") == ["there is room", "the port is 8137"]
    assert doctor(small_disk)["damage"]["status"] == "ok"


@promise("storage:older-stores")
@pytest.mark.parametrize("version", RELEASED)
def test_the_store_of_a_released_version_is_served(store: Path, version: str) -> None:
    """F35: same facts, through the tools."""
    store.mkdir(mode=0o700)
    (store / "gray.duckdb").write_bytes(
        gzip.decompress((FIXTURES / f"{version}.duckdb.gz").read_bytes())
    )
    connection = duckdb.connect(str(store / "gray.duckdb"), read_only=True)
    names = connection.execute("SELECT DISTINCT namespace FROM facts").fetchall()
    connection.close()
    with Session(store) as session:
        facts = {text for (name,) in names for text in session.facts(name)}
        session.ok("memory_add", agent_id="a", text="and it takes new ones")
    assert facts
    assert doctor(store)["facts"]["status"] == "ok"


@promise("storage:newer-store")
def test_the_store_of_a_newer_version_is_refused_untouched(store: Path) -> None:
    """F35: refusal, bytes unchanged; by the tools, the command and doctor."""
    with Session(store) as session:
        added(session, ["kept"])
    end_all(store)
    path = store / "gray.duckdb"
    connection = duckdb.connect(str(path))
    connection.execute("INSERT INTO meta VALUES ('schema_version', '999')")
    connection.close()
    before = path.read_bytes()
    with Session(store) as session:
        said = session.refused("memory_search", agent_id="a", query="kept")
        assert "update graymatter-mcp" in said
        assert "update graymatter-mcp" in session.refused("memory_add", agent_id="a", text="new")
    end_all(store)
    assert path.read_bytes() == before
    for words in (
        ("--no-daemon", "mcp", "serve"),
        ("recall", "a", "kept"),
        ("compact",),
        ("backup", str(store / "copy.duckdb")),
    ):
        done = command(store, *words)
        assert done.returncode != 0
        assert b"update graymatter-mcp" in done.stderr
        end_all(store)
    assert doctor(store)["schema"]["status"] == "fail"
    assert path.read_bytes() == before
    assert not (store / "copy.duckdb").exists()


def owners(store: Path) -> list[int]:
    """Return the processes that own the directory, or will, as far as they have come."""
    found: list[int] = []
    for pid in processes_of(store):
        with suppress(OSError):
            if b"daemon" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                found.append(pid)
    return found


@promise("storage:killed-migration")
def test_a_first_client_that_is_killed_leaves_a_store_that_opens(store: Path) -> None:
    """F35: the first schema is a migration too; its owner is killed as soon as it is there."""
    for _ in range(6):
        with Session(store) as session:
            wait_until(lambda: owners(store), "an owner is started")
            for pid in owners(store):
                os.kill(pid, signal.SIGKILL)
        end_all(store)
    with Session(store) as session:
        added(session, ["it opens"])
        assert session.facts("a") == ["it opens"]
