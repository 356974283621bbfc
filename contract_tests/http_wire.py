"""A server that listens, as a process, and a client that adds nothing to what a test sends."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from contract_tests.wire import (
    DEADLINE_S,
    ENVELOPE,
    STATELESS_REVISION,
    environment,
    graymatter,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contract_tests.wire import Message

START_DEADLINE_S: Final = 180.0
"""More than generous: a start costs seconds of work, which a busy machine stretches."""
OPEN: Final = ("--no-auth",)
JSON_HEADERS: Final = {"content-type": "application/json", "accept": "application/json"}
_LISTENING: Final = re.compile(r"listening on (\S+):(\d+)")
_POLL_S: Final = 0.02


@dataclass(frozen=True, slots=True)
class Response:
    """One HTTP answer, as it came."""

    status: int
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def document(self) -> Any:
        """The JSON in the body."""
        return json.loads(self.body)


class HttpServer:
    """`graymatter mcp serve --http`, on a port of the system's choice."""

    def __init__(
        self, directory: Path, *arguments: str, command: Sequence[str] = (), **variables: str
    ) -> None:
        self.directory = directory
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        words = command or ("mcp", "serve", "--http", "127.0.0.1:0")
        self.process = subprocess.Popen(
            [graymatter(), "--dir", str(directory), *words, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._stderr,
            env=environment(**variables),
        )
        try:
            self.host, self.port = self._where()
        except BaseException:
            self.close()
            raise

    def _where(self) -> tuple[str, int]:
        deadline = time.monotonic() + START_DEADLINE_S
        while time.monotonic() < deadline:
            found = _LISTENING.search(self.stderr())
            if found is not None:
                return found[1], int(found[2])
            assert self.process.poll() is None, f"the server ended: {self.stderr()[-2000:]}"
            time.sleep(_POLL_S)
        raise AssertionError(f"the server does not listen: {self.stderr()[-2000:]}")

    def __enter__(self) -> Self:
        """Enter; it listens already."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @property
    def url(self) -> str:
        """Where MCP is."""
        return f"http://{self.host}:{self.port}/mcp"

    def stderr(self) -> str:
        """Return what it wrote to stderr so far."""
        size = os.fstat(self._stderr.fileno()).st_size
        return os.pread(self._stderr.fileno(), size, 0).decode()

    def connect(self) -> http.client.HTTPConnection:
        """Open a connection that is kept."""
        return http.client.HTTPConnection(self.host, self.port, timeout=DEADLINE_S)

    def raw(self) -> socket.socket:
        """Open a connection for bytes."""
        return socket.create_connection((self.host, self.port), DEADLINE_S)

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send one request over a connection of its own."""
        connection = self.connect()
        try:
            return ask(connection, method, path, body, headers)
        finally:
            connection.close()

    def stop(self) -> int:
        """Ask it to end; return its exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE_S)

    def close(self) -> None:
        """Make sure that it has ended."""
        if self.process.poll() is None:
            self.stop()
        self._stderr.close()


def ask(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Send one request over a connection that is kept."""
    connection.request(method, path, body, dict(headers or {}))
    return response_of(connection)


def response_of(connection: http.client.HTTPConnection) -> Response:
    """Return the answer to the request that was sent."""
    answer = connection.getresponse()
    content = answer.read()
    return Response(
        answer.status, {name.lower(): value for name, value in answer.getheaders()}, content
    )


def mcp_headers(message: object, **more: str) -> dict[str, str]:
    """Return the headers that a client of the message's era sends with it."""
    headers = {**JSON_HEADERS, **more}
    if not isinstance(message, dict):
        return headers
    fields: dict[str, Any] = message  # pyright: ignore[reportUnknownVariableType] - as JSON
    params: Any = fields.get("params")
    given: dict[str, Any] = params if isinstance(params, dict) else {}  # pyright: ignore[reportUnknownVariableType] - as JSON
    if next(iter(ENVELOPE)) in (given.get("_meta") or {}):
        headers["mcp-protocol-version"] = STATELESS_REVISION
        headers["mcp-method"] = str(fields.get("method"))
        if "name" in given:
            headers["mcp-name"] = str(given["name"])
    return headers


class HttpWire:
    """A wire to a server of its own, open to everybody on loopback."""

    def __init__(self, directory: Path, arguments: Sequence[str] = ()) -> None:
        self._server = HttpServer(directory, *OPEN, *arguments, GRAYMATTER_RATE_LIMIT="0")
        self._connection = self._server.connect()
        self._answers: deque[Message] = deque()

    def send(self, *messages: object) -> None:
        """Post messages one after the other; their answers wait to be received."""
        for message in messages:
            body = message if isinstance(message, bytes) else json.dumps(message).encode()
            given = _read(body)
            answer = ask(self._connection, "POST", "/mcp", body, mcp_headers(given))
            if answer.status == http.client.ACCEPTED:
                assert answer.body == b""
            else:
                self._answers.append(answer.document)

    def receive(self) -> Message:
        """Return the next answer."""
        return self._answers.popleft()

    def ask(self, message: object) -> Message:
        """Post one request; return its answer."""
        self.send(message)
        return self.receive()

    def close(self) -> None:
        """End the server."""
        self._connection.close()
        self._server.close()


def _read(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def trusting(certificate: Path) -> ssl.SSLContext:
    """Return a client's context that trusts one certificate."""
    return ssl.create_default_context(cafile=str(certificate))
