from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import (
    AloneSession,
    Session,
    command,
    connected,
    greet,
    greeted,
    is_running,
    owner_note,
    owner_pid,
    processes_of,
    tool_call,
    wait_until,
)
from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    environment,
    graymatter,
    initialize,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENTS: Final = 12
OURS: Final = {"gray.duckdb", "owner.lock", "owner.json", "lines.sock", "http.sock", "owner.log"}


def mode_of(path: Path) -> int:
    """Return the permission bits."""
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.fixture
def foreground(store: Path) -> Iterator[subprocess.Popen[bytes]]:
    """An owner that a person started."""
    with subprocess.Popen(
        [graymatter(), "--dir", str(store), "daemon", "run"],
        stderr=subprocess.PIPE,
        env=environment(),
    ) as owner:
        assert owner.stderr is not None
        said = owner.stderr.readline().decode()
        assert said == f"graymatter: owning {store} (pid {owner.pid})\n"
        yield owner
        owner.terminate()
        assert owner.wait(DEADLINE_S) == 0


def test_bridges_started_at_once_share_one_owner(store: Path) -> None:
    """F1, issue 3: all are served, no other process is left, and it is the one announced."""
    wires = [BridgeWire(store) for _ in range(CLIENTS)]
    try:
        for number, wire in enumerate(wires):
            call = tool_call(1, "memory_add", {"agent_id": "a", "text": f"fact {number}"})
            wire.send(initialize("2025-11-25"), call)
        for wire in wires:
            answers = [wire.receive(), wire.receive()]
            assert answers[1]["result"]["structuredContent"]["stored"] is True
        bridges = {wire.process.pid for wire in wires}
        wait_until(lambda: processes_of(store) - bridges == {owner_pid(store)}, "one owner")
    finally:
        for wire in wires:
            wire.close()
    with Session(store) as session:
        assert len(session.facts("a")) == CLIENTS


def test_only_the_user_can_read_what_an_owner_makes(store: Path) -> None:
    """Design 2 and 6: 0700 and 0600, whatever the umask."""
    old = os.umask(0)
    try:
        session = Session(store)
    finally:
        os.umask(old)
    with session:
        session.ok("memory_add", agent_id="a", text="x")
        assert mode_of(store) == 0o700
        assert {path.name for path in store.iterdir()} >= OURS
        assert {path.name: oct(mode_of(path)) for path in store.iterdir()} == {
            path.name: oct(0o600) for path in store.iterdir()
        }


def test_an_idle_owner_leaves_without_a_trace(store: Path) -> None:
    """C70, F2: no process, no socket, no note; the facts are there."""
    with Session(store, GRAYMATTER_IDLE_EXIT="0.5s") as session:
        session.ok("memory_add", agent_id="a", text="stays")
        owner = owner_pid(store)
    wait_until(lambda: not is_running(owner), "the owner leaves")
    left = {path.name for path in store.iterdir()}
    assert left & {"lines.sock", "http.sock", "owner.json"} == set()
    # It keeps its room for a note on a full disk, and nothing that the note said.
    assert (store / "owner.spare").read_bytes().strip() == b""
    assert processes_of(store) == set()
    with Session(store) as session:
        assert session.facts("a") == ["stays"]


@pytest.fixture
def runtime() -> Iterator[Path]:
    """A runtime directory with a short path, wherever the tests keep theirs."""
    with tempfile.TemporaryDirectory(prefix="gm-", dir="/tmp") as name:
        yield Path(name)


def test_a_path_too_long_for_a_socket_is_served_from_a_private_folder(
    tmp_path: Path, runtime: Path
) -> None:
    """Design 2: the folder is 0700, the sockets 0600, and they go with the owner."""
    store = tmp_path / ("long" * 30) / "store"
    with Session(store, XDG_RUNTIME_DIR=str(runtime)) as session:
        session.ok("memory_add", agent_id="a", text="x")
        doors = [Path(owner_note(store)[door]) for door in ("lines", "http")]
        (private,) = runtime.iterdir()
        assert {door.parent for door in doors} == {private}
        assert mode_of(private) == 0o700
        assert [mode_of(door) for door in doors] == [0o600, 0o600]
        assert command(store, "daemon", "stop").returncode == 0
    assert list(private.iterdir()) == []


def test_a_runtime_directory_too_long_for_a_socket_is_passed_over(
    tmp_path: Path, runtime: Path
) -> None:
    """Design 2: the next short one serves, in a folder as private."""
    deep = tmp_path / ("deep" * 30)
    store = tmp_path / ("long" * 30) / "store"
    with Session(store, XDG_RUNTIME_DIR=str(deep), TMPDIR=str(runtime)) as session:
        assert session.ok("memory_add", agent_id="a", text="x")["stored"] is True
        door = Path(owner_note(store)["lines"])
        assert door.parent.parent == runtime
        assert mode_of(door.parent) == 0o700
        assert command(store, "daemon", "stop").returncode == 0
    assert not deep.exists()


def test_a_private_folder_of_somebody_else_is_not_used(tmp_path: Path, runtime: Path) -> None:
    """House 5, question 9: a link laid there before us leads nowhere."""
    (runtime / "trap").mkdir(parents=True)
    (runtime / f"graymatter-{os.getuid()}").symlink_to(runtime / "trap")
    store = tmp_path / ("long" * 30) / "store"
    with Session(store, XDG_RUNTIME_DIR=str(runtime)) as session:
        text = session.refused("memory_add", agent_id="a", text="x")
    assert text == f"store unavailable: graymatter-{os.getuid()} belongs to somebody else"
    assert list((runtime / "trap").iterdir()) == []


def test_loopback_tcp_serves_bridges_and_commands(store: Path) -> None:
    """Design 2: for systems without Unix sockets; the token is asked for there too."""
    with Session(store, GRAYMATTER_LOOPBACK_TCP="1") as session:
        session.ok("memory_add", agent_id="a", text="over tcp")
        note = owner_note(store)
        assert [note[door][0] for door in ("lines", "http")] == ["127.0.0.1"] * 2
        assert not list(store.glob("*.sock"))
        found = command(store, "--json", "recall", "a", "tcp")
        assert json.loads(found.stdout)["facts"] == ["over tcp"]
        for token in (None, "", "wrong", note["token"][:-1], note["token"] + "x", 7):
            with connected(store, "lines") as connection:
                hello = {"graymatter": "hello", "version": "0", "token": token}
                assert greet(connection, hello)["reason"] == "unauthorized"
        assert session.facts("a") == ["over tcp"]


def test_status_and_stop_start_nothing(store: Path) -> None:
    """Contract 10.2."""
    for verb in ("status", "stop"):
        done = command(store, "--json", "daemon", verb)
        assert done.returncode == 0
        assert json.loads(done.stdout) == {"running": False, "data_dir": str(store)}
    assert not store.exists()


def test_status_tells_who_runs(store: Path) -> None:
    """Contract 11.3."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        document = json.loads(command(store, "--json", "daemon", "status").stdout)
        assert document.pop("uptime_s") >= 0
        assert "exactly-once-v1" in document.pop("capabilities")
        assert document == {
            "running": True,
            "pid": owner_pid(store),
            "version": owner_note(store)["version"],
            "data_dir": str(store),
            "clients": 1,
            "is_foreground": False,
        }


def test_a_foreground_owner_takes_over_from_one_on_demand(store: Path) -> None:
    """Contract 10.4: connected clients go on, and see all that they stored."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        first = owner_pid(store)
        with subprocess.Popen(
            [graymatter(), "--dir", str(store), "--quiet", "daemon", "run"], env=environment()
        ) as second:
            wait_until(lambda: not is_running(first), "the first owner makes way")
            session.ok("memory_add", agent_id="a", text="after")
            assert owner_pid(store) == second.pid
            assert session.facts("a") == ["after", "before"]
            second.send_signal(signal.SIGINT)
            assert second.wait(DEADLINE_S) == 0


@pytest.mark.usefixtures("foreground")
def test_a_second_foreground_owner_is_refused_by_pid(store: Path) -> None:
    """Contract 10.4: daemon run and --no-daemon alike; the first goes on."""
    first = owner_pid(store)
    for arguments in (("daemon", "run"), ("--no-daemon", "mcp", "serve")):
        done = command(store, *arguments)
        assert (done.returncode, done.stdout) == (1, b"")
        assert f"pid {first}" in done.stderr.decode()
        assert b"Traceback" not in done.stderr
    with Session(store) as session:
        assert session.ok("memory_add", agent_id="a", text="x")["stored"] is True
    assert owner_pid(store) == first


def test_others_attach_to_a_process_that_is_its_own_owner(store: Path) -> None:
    """Design 2: --no-daemon keeps the directory, not the others out; it leaves with its client."""
    with AloneSession(store) as alone:
        alone.ok("memory_add", agent_id="a", text="of the first")
        assert owner_pid(store) == alone.process.pid
        with Session(store) as session:
            session.ok("memory_add", agent_id="a", text="of the second")
            assert alone.facts("a") == ["of the second", "of the first"]
            assert alone.end() == ([], 0)
            session.ok("memory_add", agent_id="a", text="of the orphan")
            assert session.facts("a") == ["of the orphan", "of the second", "of the first"]


def newer(store: Path) -> dict[str, Any]:
    """Greet the owner as a client of a later version does."""
    with connected(store, "lines") as connection:
        hello = {"graymatter": "hello", "version": "99.1", "token": owner_note(store)["token"]}
        return greet(connection, hello)


def test_an_idle_older_owner_leaves_for_a_newer_client(store: Path) -> None:
    """Contract 10.4."""
    with Session(store, GRAYMATTER_IDLE_EXIT="0") as session:
        session.ok("memory_add", agent_id="a", text="x")
        owner = owner_pid(store)
    wait_until(lambda: newer(store) == {"graymatter": "leaving"}, "the owner is idle")
    wait_until(lambda: not is_running(owner), "the owner leaves")


def test_a_busy_older_owner_names_its_pid_and_both_versions(store: Path) -> None:
    """Contract 10.4: and its clients notice nothing."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        note = owner_note(store)
        assert newer(store) == {
            "graymatter": "refused",
            "reason": f"the owner (pid {note['pid']}) runs {note['version']}, this client is 99.1:"
            " end the other clients, or run: graymatter daemon stop",
        }
        assert session.facts("a") == ["x"]


@pytest.mark.usefixtures("foreground")
def test_a_foreground_owner_does_not_leave_for_a_newer_client(store: Path) -> None:
    """Contract 10.4: a person started it, a person ends it."""
    assert f"pid {owner_pid(store)}" in newer(store)["reason"]
    greeted(store).close()
