"""A bare MCP client over pipes: costs almost nothing, so the time measured is the server's."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SERVER: Final = "graymatter --dir {dir} mcp serve"
"""How a server is started; ``{dir}`` stands for its data directory."""
SHELF: Final = "bench"
_DEADLINE_S: Final = 120.0
_WITHOUT_VECTORS: Final = "Answered without vectors"
_INITIALIZE: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "graymatter-bench", "version": "1"},
}

Message = dict[str, Any]


class ServerFailedError(Exception):
    """The server ended, stayed silent or answered with an error."""


def command_line(template: str, directory: Path) -> list[str]:
    """Fill the directory in; `graymatter` is the one installed beside this interpreter."""
    words = [word.replace("{dir}", str(directory)) for word in shlex.split(template)]
    beside = Path(sys.executable).with_name("graymatter")
    return [str(beside), *words[1:]] if words[0] == "graymatter" and beside.exists() else words


class Client:
    """One server process and its connection. Leaving the context ends both."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str] | None = None) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the client
        self.started_at = time.perf_counter()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            bufsize=0,
            env={**os.environ, **(env or {})},
        )
        self._pending = b""
        self._last_id = 0

    @property
    def pid(self) -> int:
        """The process that was started, be it server or bridge."""
        return self._process.pid

    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def since_start_ms(self) -> float:
        """Return how long ago the process was started."""
        return (time.perf_counter() - self.started_at) * 1e3

    def initialize(self) -> None:
        """Shake hands; returns at the answer."""
        self.ask("initialize", _INITIALIZE)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def ask(self, method: str, params: Mapping[str, Any]) -> Message:
        """Send one request and return its result.

        Raises:
            ServerFailedError: There is none.
        """
        self._last_id += 1
        self._write(
            {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": dict(params)}
        )
        while True:
            answer = self._read()
            if answer.get("id") == self._last_id and "method" not in answer:
                break
        if "result" not in answer:
            raise ServerFailedError(f"{method}: {answer['error']}")
        return answer["result"]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Call a tool and return its text.

        Raises:
            ServerFailedError: The call failed.
        """
        result = self.ask("tools/call", {"name": tool, "arguments": dict(arguments)})
        text: str = result["content"][0]["text"]
        if result.get("isError"):
            raise ServerFailedError(f"{tool}: {text}")
        return text

    def search(self, query: str, **arguments: object) -> str:
        """Call ``memory_search`` on the benchmark's shelf."""
        return self.call("memory_search", {"agent_id": SHELF, "query": query, **arguments})

    def add(self, text: str) -> str:
        """Call ``memory_add`` on the benchmark's shelf."""
        return self.call("memory_add", {"agent_id": SHELF, "text": text})

    def wait_for_vectors(self) -> None:
        """Search until an answer was made with vectors."""
        deadline = time.monotonic() + _DEADLINE_S
        while _WITHOUT_VECTORS in self.search("is the model there yet"):
            if time.monotonic() > deadline:
                raise ServerFailedError("the model did not load")

    def _write(self, message: Message) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(message).encode() + b"\n")
        except BrokenPipeError:
            raise ServerFailedError(self._last_words()) from None

    def _read(self) -> Message:
        assert self._process.stdout is not None
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self._process.stdout], [], [], _DEADLINE_S)
            chunk = os.read(self._process.stdout.fileno(), 1 << 20) if ready else b""
            if not chunk:
                raise ServerFailedError(self._last_words())
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def _last_words(self) -> str:
        self._stderr.seek(0)
        words = self._stderr.read().decode(errors="replace").strip()
        return words[-500:] or "the server is silent"

    def close(self) -> None:
        """Close the server's input and wait until it is gone; killed when it stays."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(_DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._stderr.close()

    def __enter__(self) -> Self:
        """Return itself; the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()


def is_held(directory: Path) -> bool:
    """Whether some process holds the data directory."""
    try:
        lock = (directory / "owner.lock").open("rb")
    except FileNotFoundError:
        return False
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def owner_pid(directory: Path) -> int | None:
    """Return the process that holds the data directory, None when nobody does or says so."""
    # Without the lock the note is a dead process's, whose number may be anyone's by now.
    if not is_held(directory):
        return None
    try:
        return int(json.loads((directory / "owner.json").read_bytes())["pid"])
    except (FileNotFoundError, ValueError):
        return None


def stop_owner(directory: Path) -> None:
    """End the process that outlives its clients, if there is one: the next run starts cold.

    Raises:
        ServerFailedError: It does not leave.
    """
    pid = owner_pid(directory)
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    deadline = time.monotonic() + _DEADLINE_S
    while is_held(directory):
        if time.monotonic() > deadline:
            raise ServerFailedError("the owner does not leave")
        time.sleep(0.02)
