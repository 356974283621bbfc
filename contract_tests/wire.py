"""Raw JSON-RPC lines to a running server: the client that adds nothing and forgives nothing."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Message = dict[str, Any]

DEADLINE_S: Final = 60.0
"""Generous: nothing waits this long unless it is broken."""

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_REVISION: Final = "2026-07-28"
REVISIONS: Final = (*HANDSHAKE_REVISIONS, STATELESS_REVISION)
"""Every protocol revision that the SDK speaks, oldest first."""

CLIENT_INFO: Final = {"name": "contract-tests", "version": "1.5"}
ENVELOPE: Final = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
}


def graymatter() -> str:
    """Return the installed command of this interpreter's environment."""
    command = shutil.which("graymatter", path=str(Path(sys.executable).parent))
    assert command is not None, "the package is not installed"
    return command


def environment(**variables: str) -> dict[str, str]:
    """Return ours without anything that steers graymatter, keyword only, then `variables`."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GRAYMATTER_") and name != "CLAUDE_PROJECT_DIR"
    }
    # An owner that a bridge has started leaves with its last client, and not 15 minutes later.
    return {**kept, "GRAYMATTER_MODEL": "none", "GRAYMATTER_IDLE_EXIT": "1s", **variables}


def request(request_id: object, method: str, params: Mapping[str, Any] | None = None) -> Message:
    """Build one request."""
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": dict(params)}


def initialize(version: str, request_id: object = "opening") -> Message:
    """Build the opening of the handshake revisions."""
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT_INFO}
    return request(request_id, "initialize", params)


def as_line(message: object) -> bytes:
    """Write a message, or bytes as they are, as one line."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    return raw + b"\n"


class Wire(Protocol):
    """One connection. A transport is what opens one; see `conftest.TRANSPORTS`."""

    def ask(self, message: object) -> Message:
        """Send one request and return the next answer."""
        ...

    def send(self, *messages: object) -> None:
        """Send messages without waiting."""
        ...

    def receive(self) -> Message:
        """Return the next answer."""
        ...

    def close(self) -> None:
        """Leave nothing running."""
        ...


class StdioWire:
    """A server as a child process, over pipes: the owner of its directory itself."""

    options: ClassVar[Sequence[str]] = ("--no-daemon",)

    def __init__(self, directory: Path, arguments: Sequence[str] = (), **variables: str) -> None:
        # A file, because nobody reads it meanwhile and a full pipe would stop the server.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the wire
        self.process = subprocess.Popen(
            [graymatter(), "--dir", str(directory), *self.options, "mcp", "serve", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=environment(**variables),
        )
        self._chunks: list[bytes] = []
        self._lines: deque[bytes] = deque()

    def __enter__(self) -> Self:
        """Enter; the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    def send(self, *messages: object) -> None:
        """Send messages, one line each; bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(as_line, messages)))
        self.process.stdin.flush()

    def receive_line(self) -> bytes:
        """Return the next raw line; fails at the deadline and at the end of output."""
        assert self.process.stdout is not None
        while not self._lines:
            ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
            chunk = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            assert chunk, f"the server is silent: {self.stderr()[-2000:]}"
            self._chunks.append(chunk)
            if b"\n" in chunk:
                *lines, rest = b"".join(self._chunks).split(b"\n")
                self._lines.extend(lines)
                self._chunks = [rest]
        return self._lines.popleft()

    def receive(self) -> Message:
        """Return the next answer."""
        return json.loads(self.receive_line())

    def ask(self, message: object) -> Message:
        """Send one request and return the next answer."""
        self.send(message)
        return self.receive()

    def end(self) -> tuple[list[bytes], int]:
        """Close stdin; return the lines not yet received and the exit code."""
        out, _ = self.process.communicate(timeout=DEADLINE_S)
        lines = [*self._lines, *b"".join([*self._chunks, out]).splitlines()]
        return lines, self.process.returncode

    def stderr(self) -> str:
        """Return what the server wrote to stderr so far."""
        self._stderr.seek(0)
        return self._stderr.read().decode()

    def close(self) -> None:
        """Ask the process to end by closing its input, and make sure that it does."""
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        try:
            self.process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._stderr.close()


class BridgeWire(StdioWire):
    """A server as clients spawn it: a bridge to an owner that it starts, over pipes."""

    options = ()
