"""The client's side of the tests: raw messages to the toy server, in process or over pipes."""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import anyio
import anyio.lowlevel

from graymatter_mcp.contract.load import Bundle
from graymatter_mcp.surfaces.mcp.exchange import Exchange
from graymatter_mcp.surfaces.mcp.instructions import INSTRUCTIONS
from graymatter_mcp.surfaces.mcp.server import build_server
from tests.surfaces.mcp.toy_server import ToyCalls, contract

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.mcp.answers import ToolCalls

Message = dict[str, Any]

DEADLINE_S = 30.0
ROOT = Path(__file__).parents[3]
SCRIPT = Path(__file__).with_name("toy_server.py")

ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "2.6"},
}
ERAS = ("handshake", "modern")


def request(
    request_id: object, method: str, params: Mapping[str, Any] | None = None, *, era: str = ""
) -> Message:
    """Build one request; in the modern era with its envelope."""
    message: Message = {"jsonrpc": "2.0", "id": request_id, "method": method}
    if era == "modern":
        message["params"] = {**(params or {}), "_meta": ENVELOPE}
    elif params is not None:
        message["params"] = dict(params)
    return message


def call(request_id: object, tool: str, *, era: str = "", **arguments: object) -> Message:
    """Build one tool call."""
    return request(request_id, "tools/call", {"name": tool, "arguments": arguments}, era=era)


def initialize(request_id: object = "init", version: str = "2025-11-25") -> Message:
    """Build the opening of the handshake era."""
    client = {"name": "tester", "version": "1.5"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": client}
    return request(request_id, "initialize", params)


def opening(era: str) -> Message:
    """Build the first message of an era, under the id "init"."""
    return initialize() if era == "handshake" else request("init", "server/discover", era=era)


def as_line(message: object) -> bytes:
    """Write a message, or bytes as they are, as one line."""
    raw = message if isinstance(message, bytes) else json.dumps(message).encode()
    return raw + b"\n"


class _Memory:
    """Source and sink of an exchange, in memory."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent
        self.received = b""

    async def receive(self) -> bytes:
        await anyio.lowlevel.checkpoint()
        chunk, self._sent = self._sent[:4096], self._sent[4096:]
        return chunk

    async def send(self, data: bytes) -> None:
        await anyio.lowlevel.checkpoint()
        self.received += data

    def is_broken(self) -> bool:
        return False


def talk(
    *messages: object, instructions: str | None = None, calls: ToolCalls | None = None
) -> list[Message]:
    """Serve one connection in process: all answers to these messages, then the end of input."""
    ends = _Memory(b"".join(map(as_line, messages)))
    said = INSTRUCTIONS if instructions is None else instructions
    bundle = Bundle(tools=tuple(contract(name) for name in ToyCalls().tools))
    server = build_server(bundle, calls or ToyCalls(), version="7.8.9", instructions=said)

    async def serve() -> None:
        with anyio.fail_after(DEADLINE_S):
            await Exchange(ends, ends).serve(server)

    anyio.run(serve)
    return [json.loads(line) for line in ends.received.splitlines()]


def answer_to(request_id: object, answers: list[Message]) -> Message:
    """Return the only answer under an id."""
    (answer,) = (answer for answer in answers if answer["id"] == request_id)
    return answer


class Wire:
    """The toy server as a child process, over raw pipes."""

    def __init__(
        self,
        *arguments: str,
        stdin: int | IO[bytes] = subprocess.PIPE,
        env: Mapping[str, str] | None = None,
    ) -> None:
        # Unbuffered output would put text that was printed before the claim on the wire at once.
        inherited = {name: v for name, v in os.environ.items() if name != "PYTHONUNBUFFERED"}
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**inherited, "PYTHONPATH": str(ROOT), **(env or {})},
        )
        self._pending = b""

    def __enter__(self) -> Self:
        """Enter; the process runs already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave no process and no pipe behind."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def send(self, *messages: object) -> None:
        """Send messages, one line each; bytes as they are."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"".join(map(as_line, messages)))
        self.process.stdin.flush()

    def receive(self) -> Message:
        """Return the next answer; fails after a deadline or at the end of output."""
        assert self.process.stdout is not None
        while b"\n" not in self._pending:
            ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE_S)
            chunk = os.read(self.process.stdout.fileno(), 1 << 20) if ready else b""
            assert chunk, "the server is silent"
            self._pending += chunk
        line, _, self._pending = self._pending.partition(b"\n")
        return json.loads(line)

    def ask(self, message: Message) -> Message:
        """Send one request and return the next answer."""
        self.send(message)
        return self.receive()

    def end(self) -> tuple[list[Message], str, int]:
        """Close stdin; return the answers not yet received, stderr, and the exit code."""
        out, err = self.process.communicate(timeout=DEADLINE_S)
        lines = (self._pending + out).splitlines()
        return [json.loads(line) for line in lines], err.decode(), self.process.returncode
