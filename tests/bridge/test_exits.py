from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.processes import (
    Session,
    command,
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
    as_line,
    environment,
    graymatter,
    initialize,
)

if TYPE_CHECKING:
    from pathlib import Path

OPEN: Final = initialize("2025-11-25")
ENDINGS: Final = ("end of input", "SIGTERM", "SIGINT", "SIGHUP", "nobody reads")


def leave(wire: BridgeWire, ending: str) -> None:
    """Do what a client does that leaves."""
    if ending.startswith("SIG"):
        wire.process.send_signal(signal.Signals[ending])
    else:
        stream = wire.process.stdin if ending == "end of input" else wire.process.stdout
        assert stream is not None
        stream.close()


@pytest.mark.parametrize("is_open", [False, True], ids=["silent client", "open session"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_bridge_ends_with_its_client(store: Path, ending: str, is_open: bool) -> None:
    """F2: each way in which a client leaves, before and after it said anything."""
    with BridgeWire(store) as wire:
        wait_until(lambda: "serving" in wire.stderr(), "the ready line")
        if is_open:
            wire.ask(OPEN)
        leave(wire, ending)
        assert wire.process.wait(DEADLINE_S) == 0


def test_a_signal_lets_an_answer_that_is_being_written_out(store: Path) -> None:
    """Contract 10.2: exit 0 after SIGTERM, and the answer that was on its way is whole."""
    text = "long" * 100_000
    with Session(store, GRAYMATTER_ANSWER_BUDGET="0") as session:
        session.ok("memory_add", agent_id="a", text=text)
        session.send(tool_call(1, "memory_search", {"agent_id": "a", "query": " "}))
        assert session.process.stdout is not None
        assert select.select([session.process.stdout], [], [], DEADLINE_S)[0]
        session.process.send_signal(signal.SIGTERM)
        assert session.receive()["result"]["structuredContent"]["facts"] == [text]
        assert session.process.wait(DEADLINE_S) == 0


def test_a_signal_does_not_wait_for_an_owner_that_sleeps(store: Path) -> None:
    """F2: a call in flight keeps nobody alive."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        os.kill(owner_pid(store), signal.SIGSTOP)
        session.send(tool_call(1, "memory_search", {"agent_id": "a", "query": "x"}))
        session.process.send_signal(signal.SIGTERM)
        assert session.process.wait(DEADLINE_S) == 0


def test_a_bridge_ends_when_its_terminal_closes(store: Path) -> None:
    """Issue 3: a closed terminal, with the bridge as its foreground job."""
    pid, terminal = pty.fork()
    if pid == 0:
        arguments = [graymatter(), "--dir", str(store), "mcp", "serve"]
        os.execve(arguments[0], arguments, environment())  # noqa: S606 - the child of a fork
    os.write(terminal, as_line(OPEN))
    seen = b""
    while b'protocolVersion":"2025-11-25","serverInfo' not in seen:
        seen += os.read(terminal, 65536)
    os.close(terminal)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


CLIENT: Final = """
import subprocess, sys
bridge = subprocess.Popen(sys.argv[1:], stdin=0, stdout=1)
bridge.wait()
"""


@pytest.mark.parametrize("is_open", [False, True], ids=["silent client", "open session"])
def test_a_bridge_ends_when_its_client_was_killed_and_others_hold_the_pipes(
    store: Path, is_open: bool
) -> None:
    """F2: kill -9 of the parent, while this process keeps both pipes open."""
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, graymatter(), "--dir", str(store), "mcp", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stderr is not None
        assert b"serving" in client.stderr.readline()
        bridges = processes_of(store) - {client.pid}
        if is_open:
            client.stdin.write(as_line(OPEN))
            client.stdin.flush()
            assert json.loads(client.stdout.readline())["id"] == "opening"
            bridges -= {owner_pid(store)}
        client.kill()
        client.wait()
        assert bridges
        wait_until(lambda: not any(map(is_running, bridges)), "the bridge ends with its parent")


def test_an_owner_holds_nothing_that_its_first_client_had_open(store: Path) -> None:
    """F2: who waits for the end of a client's pipe does not wait for our owner."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        [graymatter(), "--dir", str(store), "mcp", "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(GRAYMATTER_IDLE_EXIT="0"),
        pass_fds=[writing],
    ) as bridge:
        os.close(writing)
        bridge.communicate(as_line(OPEN) + as_line(tool_call(1, "memory_search", {})))
    assert is_running(owner_pid(store))
    assert select.select([reading], [], [], DEADLINE_S)[0], "somebody holds the pipe"
    assert os.read(reading, 1) == b""
    os.close(reading)


def test_a_stopped_owner_is_not_left_as_a_zombie_of_the_bridge_that_started_it(
    store: Path,
) -> None:
    """F2: `daemon stop` ends at once, and the process table is clean."""
    with Session(store) as session:
        owner = owner_note(store)["pid"]
        stopped = command(store, "--json", "daemon", "stop")
        assert (stopped.returncode, stopped.stderr) == (0, b"")
        assert json.loads(stopped.stdout) == {"running": False, "data_dir": str(store)}
        wait_until(lambda: not _exists(owner), "the owner is reaped")
        assert session.ok("memory_add", agent_id="a", text="x")["stored"] is True
        assert owner_pid(store) != owner


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
