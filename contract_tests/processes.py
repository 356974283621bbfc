"""Clients as processes: sessions that are spawned, killed and counted."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    StdioWire,
    as_line,
    environment,
    graymatter,
    initialize,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contract_tests.wire import Message

KEY: Final = "graymatter/idempotency_key"
_POLL_S: Final = 0.02


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Wait for a condition; fails at a generous deadline."""
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, f"still waiting: {what}"
        time.sleep(_POLL_S)


def processes_of(directory: Path) -> set[int]:
    """Return the pids of all our processes whose command line names a directory."""
    found: set[int] = set()
    for name in os.listdir("/proc"):  # noqa: PTH208 - glob leaves its iterator open
        with suppress(OSError):
            words = Path("/proc", name, "cmdline").read_bytes().split(b"\0")
            if os.fsencode(directory) in words and b"graymatter" in b" ".join(words):
                found.add(int(name))
    return found


def is_running(pid: int) -> bool:
    """Whether a process exists and has not ended, reaped or not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except OSError:
        return False


def owner_note(directory: Path) -> dict[str, Any]:
    """Return what the owner says of itself, as soon as it says where it listens."""
    note: dict[str, Any] = {}

    def is_there() -> bool:
        with suppress(OSError, ValueError):
            note.update(json.loads((directory / "owner.json").read_text(encoding="utf-8")))
        return "lines" in note

    wait_until(is_there, "an owner's note")
    return note


def owner_pid(directory: Path) -> int:
    """Return the pid of the owner, as soon as there is one."""
    return owner_note(directory)["pid"]


def connected(directory: Path, door: str) -> socket.socket:
    """Connect to a door of the owner."""
    address = owner_note(directory)[door]
    if not isinstance(address, str):
        host, port = address
        return socket.create_connection((host, port), DEADLINE_S)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(DEADLINE_S)
    connection.connect(address)
    return connection


def greet(connection: socket.socket, hello: object) -> dict[str, Any]:
    """Send a greeting; return the owner's, or nothing when it hangs up."""
    connection.sendall(as_line(hello))
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            return {}
        line += byte
    return json.loads(line)


def greeted(directory: Path) -> socket.socket:
    """Connect as a bridge does, up to its first message."""
    connection = connected(directory, "lines")
    hello = {"graymatter": "hello", "version": "0", "token": owner_note(directory)["token"]}
    assert greet(connection, hello)["graymatter"] == "hello"
    return connection


def end_all(directory: Path) -> None:
    """End whatever still serves a directory, each by its pid."""
    for pid in processes_of(directory):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)
    wait_until(
        lambda: not any(map(is_running, processes_of(directory))), "nothing serves the directory"
    )


def command(
    directory: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    """Run one command line to its end."""
    return subprocess.run(
        [graymatter(), "--dir", str(directory), *arguments],
        capture_output=True,
        check=False,
        env=environment(**variables),
        timeout=DEADLINE_S,
    )


def tool_call(
    request_id: object, tool: str, arguments: dict[str, Any], key: str | None = None
) -> Message:
    """Build one tool call of the handshake revisions, with a key of the caller's own."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments}
    if key is not None:
        params["_meta"] = {KEY: key}
    return request(request_id, "tools/call", params)


def piped(
    directory: Path, *messages: object, arguments: Sequence[str] = (), **variables: str
) -> list[Message]:
    """Write all messages, close stdin, and return the answers of a process that ended with 0."""
    with BridgeWire(directory, arguments, **variables) as wire:
        wire.send(*messages)
        lines, status = wire.end()
    assert status == 0
    return [json.loads(line) for line in lines]


class Session(BridgeWire):
    """A spawned client in a handshake revision, after its opening."""

    def __init__(self, directory: Path, arguments: Sequence[str] = (), **variables: str) -> None:
        super().__init__(directory, arguments, **variables)
        self._opened(self)

    @staticmethod
    def _opened(wire: StdioWire) -> None:
        assert "result" in wire.ask(initialize("2025-11-25"))
        wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def result(self, tool: str, key: str | None = None, /, **arguments: Any) -> Message:
        """Call one tool; return the whole result, good or bad."""
        answer = self.ask(tool_call(1, tool, arguments, key))
        assert "result" in answer, answer
        return answer["result"]

    def ok(self, tool: str, key: str | None = None, /, **arguments: Any) -> Message:
        """Call one tool that must succeed; return its payload."""
        result = self.result(tool, key, **arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def refused(self, tool: str, key: str | None = None, /, **arguments: Any) -> str:
        """Call one tool that must fail; return the text."""
        result = self.result(tool, key, **arguments)
        assert result["isError"], result
        return result["content"][0]["text"]

    def facts(self, agent_id: str) -> list[str]:
        """Return every fact, newest first."""
        return self.ok("memory_search", agent_id=agent_id, query=" ", top_k=1000)["facts"]


class AloneSession(Session):
    """The same, in a process that is its own owner."""

    options = ("--no-daemon",)
