"""A server as a child process: one message a line, on pipes."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.wire.base import DEADLINE_S, Message, WireError, decode, encode

if TYPE_CHECKING:
    from collections.abc import Sequence

_END_S: Final = 10.0
"""How long a server may take to end after its input has."""


class StdioWire:
    """A connection to a server that this process starts and ends."""

    is_stream = True

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the caller names the server to start
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as exc:
            raise WireError("the command cannot be started: check its name and arguments") from exc
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._waiting: dict[object, Message] = {}

    def ask(self, message: Message, revision: str) -> Message:
        """Send one request and return the answer with its id."""
        del revision
        self._send(encode(message))
        while message["id"] not in self._waiting:
            answer = self._receive()
            if "method" in answer:
                continue
            if not isinstance(answer.get("id"), (str, int)):
                raise WireError("the server answered without the id of a request")
            if answer["id"] == message["id"] and type(answer["id"]) is not type(message["id"]):
                raise WireError("the server changed the type of an id")
            self._waiting[answer["id"]] = answer
        return self._waiting.pop(message["id"])

    def tell(self, message: Message, revision: str) -> None:
        """Send a notification."""
        del revision
        self._send(encode(message))

    def ask_raw(self, line: bytes) -> Message:
        """Send bytes as one line and return the next answer."""
        self._send(line)
        return self._receive()

    def close(self) -> None:
        """Close the input, wait for the end, and make sure of it."""
        for stream in (self._process.stdin,):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        try:
            self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reader.join(_END_S)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + b"\n")
            self._process.stdin.flush()
        except OSError as exc:
            raise WireError("the server has ended") from exc

    def _receive(self) -> Message:
        try:
            line = self._lines.get(timeout=DEADLINE_S)
        except queue.Empty:
            raise WireError("the server is silent") from None
        if line is None:
            raise WireError("the server has ended")
        return decode(line)
