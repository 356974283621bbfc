"""A client that costs next to nothing: prepared bytes over kept sockets, one thread for all."""

from __future__ import annotations

import re
import selectors
import socket
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bench.client import ServerFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

_LENGTH: Final = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_OK: Final = b"HTTP/1.1 200 "
_RECEIVED: Final = 64 * 1024


@dataclass(slots=True)
class Line:
    """One kept connection, and the request that it sends again and again."""

    connection: socket.socket
    request: bytes
    proof: bytes
    """What the body of every right answer holds."""
    left: int = 0
    """Calls that have no answer yet."""
    failed: int = 0
    sent_at: float = 0.0
    times_ms: list[float] = field(default_factory=list[float])
    _data: bytes = b""

    def send(self) -> None:
        """Send the request."""
        self.sent_at = time.perf_counter()
        self.connection.sendall(self.request)

    def take(self, data: bytes) -> bool:
        """Take bytes of the answer; whether it is whole now.

        Raises:
            ServerFailedError: The server hung up.
        """
        if not data:
            raise ServerFailedError("the server ended a connection that is kept")
        self._data += data
        head, gap, body = self._data.partition(b"\r\n\r\n")
        length = _LENGTH.search(head) if gap else None
        if length is None or len(body) < int(length[1]):
            return False
        self.times_ms.append((time.perf_counter() - self.sent_at) * 1e3)
        self.failed += not (head.startswith(_OK) and self.proof in body)
        self.left -= 1
        self._data = b""
        return True


def connect(host: str, port: int, head: str, body: bytes, proof: bytes) -> Line:
    """Connect once.

    Args:
        host: Of the server.
        port: Of the server.
        head: Request line and headers, but for the length of the body.
        body: Of every request.
        proof: What the body of every right answer holds.
    """
    connection = socket.create_connection((host, port), 60)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    request = f"{head}host: {host}:{port}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body
    return Line(connection, request, proof)


def fly(lines: Sequence[Line], each: int) -> float:
    """Make `each` calls on every line, one at a time on each; return the seconds it took."""
    with selectors.DefaultSelector() as selector:
        start = time.perf_counter()
        for line in lines:
            line.left = each
            line.times_ms.clear()
            selector.register(line.connection, selectors.EVENT_READ, line)
            line.send()
        waiting = len(lines)
        while waiting:
            for key, _ in selector.select():
                line: Line = key.data
                if line.take(line.connection.recv(_RECEIVED)):
                    if line.left:
                        line.send()
                    else:
                        waiting -= 1
        return time.perf_counter() - start
