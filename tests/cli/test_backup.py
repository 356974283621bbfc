"""`graymatter backup`, `restore` and `compact` as a user runs them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.cli.command import Command
    from tests.cli.in_process import InProcess


@pytest.fixture
def owned(graymatter: Command) -> Iterator[Command]:
    """Run commands that share an owner of their own, with two facts."""
    graymatter.environment.pop("GRAYMATTER_NO_DAEMON")
    for text in ("deploys run on Tuesday", "the port is 8137"):
        graymatter.json("remember", "ana", text)
    assert graymatter.json("daemon", "status")["running"]
    yield graymatter
    graymatter("daemon", "stop")


def test_a_backup_is_made_by_the_owner_and_replaces_nothing_unasked(
    owned: Command, tmp_path: Path
) -> None:
    """Contract 11.2: {path, bytes, facts, verified: true}, through the owner."""
    out = tmp_path / "copy.duckdb"
    made = owned.json("backup", "copy.duckdb")
    assert made == {
        "path": str(out),
        "bytes": out.stat().st_size,
        "facts": 2,
        "verified": True,
    }
    before = out.read_bytes()
    refused = owned("--json", "backup", "copy.duckdb").complaint
    assert refused == {
        "error": "a file is there already; --force replaces it",
        "code": "invalid_argument",
    }
    assert out.read_bytes() == before
    owned.json("remember", "ana", "a third fact")
    assert owned.json("backup", "copy.duckdb", "--force")["facts"] == 3
    assert owned.json("daemon", "status")["running"]


@pytest.mark.parametrize("out", ["no/such/folder/copy", ".graymatter/copy", "."])
def test_a_backup_goes_nowhere_harmful(here: InProcess, out: str, tmp_path: Path) -> None:
    """Issue: a wrong place is refused and nothing is written."""
    here.json("remember", "ana", "the port is 8137")
    before = sorted(one.name for one in tmp_path.rglob("*"))
    assert here("--json", "backup", out, "--force").complaint["code"] == "invalid_argument"
    assert sorted(one.name for one in tmp_path.rglob("*")) == before


def test_an_owner_keeps_restore_and_compact_away(owned: Command) -> None:
    """Issue: both refuse while an owner runs, and say how to end it."""
    owned.json("backup", "copy.duckdb")
    for command in (["restore", "copy.duckdb", "--force"], ["compact"]):
        refused = owned("--json", *command).complaint
        assert refused["code"] == "store_unavailable"
        assert "graymatter daemon stop" in refused["error"]
    assert owned.json("recall", "ana", "port", "--top-k", "1")["facts"] == ["the port is 8137"]


def test_a_restored_memory_has_the_facts_of_its_backup_and_the_other_is_kept(
    here: InProcess, tmp_path: Path
) -> None:
    """Issue: keeps the replaced store aside."""
    here.json("remember", "ana", "the port is 8137")
    here.json("backup", "copy.duckdb")
    here.json("remember", "ana", "written later")
    refused = here("--json", "restore", "copy.duckdb").complaint
    assert refused["code"] == "invalid_argument"
    made = here.json("restore", "copy.duckdb", "--force")
    path = tmp_path / ".graymatter" / "gray.duckdb"
    assert {**made, "replaced": "?", "bytes": 0} == {
        "path": str(path),
        "bytes": 0,
        "facts": 1,
        "verified": True,
        "replaced": "?",
    }
    assert here.json("recall", "ana", "written port")["facts"] == ["the port is 8137"]
    kept = path.with_name(made["replaced"])
    other = tmp_path / "other"
    other.mkdir()
    (other / "gray.duckdb").write_bytes(kept.read_bytes())
    again = here.json("--dir", str(other), "recall", "ana", "written port")
    assert sorted(again["facts"]) == ["the port is 8137", "written later"]
    assert here.json("doctor")["ok"]
    here.json("remember", "ana", "and on it goes")
    assert here.json("doctor")["ok"]


def test_a_backup_restores_into_a_new_directory(here: InProcess, tmp_path: Path) -> None:
    """Issue: a backup is all it takes on another machine."""
    here.json("remember", "ana", "the port is 8137")
    here.json("backup", "copy.duckdb")
    made = here.json("--dir", "fresh", "restore", "copy.duckdb")
    assert "replaced" not in made
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o700
    found = here.json("--dir", "fresh", "recall", "ana", "port")
    assert found["facts"] == ["the port is 8137"]


def test_what_is_no_backup_replaces_nothing(here: InProcess, tmp_path: Path) -> None:
    """Issue: restore verifies first."""
    here.json("remember", "ana", "the port is 8137")
    here.json("backup", "copy.duckdb")
    intact = (tmp_path / "copy.duckdb").read_bytes()
    (tmp_path / "noise").write_bytes(os.urandom(20_000))
    (tmp_path / "short").write_bytes(intact[: len(intact) // 2])
    (tmp_path / "used").write_bytes(intact)
    (tmp_path / "used.wal").write_bytes(b"a log")
    path = tmp_path / ".graymatter" / "gray.duckdb"
    before = path.read_bytes()
    for name in ("noise", "short", "used", "absent", "."):
        refused = here("--json", "restore", name, "--force").complaint
        assert refused["code"] in ("store_unavailable", "invalid_argument")
    assert path.read_bytes() == before
    assert here.json("recall", "ana", "port")["facts"] == ["the port is 8137"]
    assert not list(path.parent.glob(".restore*"))


def test_a_compacted_memory_answers_as_before(here: InProcess, tmp_path: Path) -> None:
    """Issue: compact drops dead rows; facts stay."""
    for number in range(3):
        here.json("remember", "ana", f"fact number {number}")
        here.json("recall", "ana", "fact")
    before = here.json("recall", "ana", "number 2")
    size = (tmp_path / ".graymatter" / "gray.duckdb").stat().st_size
    made = here.json("compact")
    assert made["bytes_before"] == size
    assert made["rows_dropped"] > 0
    assert made["bytes_after"] == (tmp_path / ".graymatter" / "gray.duckdb").stat().st_size
    assert here.json("recall", "ana", "number 2") == before
    assert here.json("doctor", "--full")["ok"]


def test_there_is_nothing_to_copy_where_no_memory_is(here: InProcess, tmp_path: Path) -> None:
    """Contract 11.1: exit 1 for every error; nothing is created."""
    for command in ("backup", "compact"):
        arguments = [command, "copy"] if command == "backup" else [command]
        assert here("--json", *arguments).complaint["code"] == "routing"
    assert list(tmp_path.iterdir()) == []
