"""`Memory` in another process: each method is one HTTP request over the owner's local door."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from anyio import to_thread

from graymatter_mcp.bridge.directory import read_owner
from graymatter_mcp.bridge.link import attend, connect
from graymatter_mcp.bridge.unanswered import CHECK_FIRST, OUTCOME_UNKNOWN
from graymatter_mcp.engine.methods import REPEATABLE
from graymatter_mcp.errors import (
    CapabilityUnsupportedError,
    CommitUnknownError,
    GraymatterError,
    StoreClosedError,
    StoreUnavailableError,
)
from graymatter_mcp.owner.wire import METHODS, unpack_error

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

Answer = TypeVar("Answer")

CALL_TIMEOUT_S = 30.0
LONG_CALL_TIMEOUT_S = 300.0
_LONG_CALLS = frozenset({"consolidate", "backup", "check", "wait_until_settled"})


class _LocalConnection(http.client.HTTPConnection):
    """HTTP over a socket that is already connected."""

    def __init__(self, connected: socket.socket, timeout_s: float) -> None:
        super().__init__("localhost")
        connected.settimeout(timeout_s)
        self.sock = connected

    def connect(self) -> None:
        """Keep the connection there is; one request is all it is for."""


def ask_owner(
    directory: Path,
    method: str,
    path: str,
    body: object = None,
    timeout_s: float = CALL_TIMEOUT_S,
    *,
    is_write: bool = False,
) -> Any:
    """Send one request to the owner of a directory and return its JSON answer.

    Args:
        directory: The data directory.
        method: Of HTTP.
        path: Of HTTP.
        body: JSON values; None for no body.
        timeout_s: Longest wait for each step of the answer.
        is_write: Whether a lost answer leaves open what is stored.

    Raises:
        StoreUnavailableError: There is no owner, or it did not answer in time.
        CommitUnknownError: The same of a write that was sent.
        GraymatterError: What the owner answered.
    """
    status, answer = _exchange(directory, method, path, body, timeout_s, is_write=is_write)
    if status != http.HTTPStatus.OK:
        raise unpack_error(answer)
    return answer


def ask_rest(
    directory: Path, method: str, path: str, body: object = None, *, is_write: bool = False
) -> tuple[int, Any]:
    """Send one request of REST to the owner of a directory; return status and JSON of its answer.

    Args:
        directory: The data directory.
        method: Of HTTP.
        path: Of HTTP, with its query.
        body: JSON values; None for no body.
        is_write: Whether a lost answer leaves open what is stored.

    Raises:
        StoreUnavailableError: There is no owner, or it did not answer in time.
        CommitUnknownError: The same of a write that was sent.
    """
    return _exchange(directory, method, path, body, CALL_TIMEOUT_S, is_write=is_write)


def _exchange(
    directory: Path, method: str, path: str, body: object, timeout_s: float, *, is_write: bool
) -> tuple[int, Any]:
    note = read_owner(str(directory))
    connected = None if note is None else connect(note, "http")
    if note is None or connected is None:
        raise StoreUnavailableError("no owner answers for this directory")
    connection = _LocalConnection(connected, timeout_s)
    was_sent = False
    try:
        connection.request(
            method,
            path,
            None if body is None else json.dumps(body).encode(),
            {
                "authorization": f"Bearer {note.get('token', '')}",
                "content-type": "application/json",
            },
        )
        was_sent = True  # before, the owner has half a request at most, which it never carries out
        response = connection.getresponse()
        content = response.read()
        answer = json.loads(content) if content else None
    except TimeoutError as exc:
        pid = note.get("pid", "unknown")
        problem = f"the owner (pid {pid}) did not answer within {timeout_s:.0f} s"
        if was_sent and is_write:
            raise CommitUnknownError(f"outcome unknown: {problem}; {CHECK_FIRST}") from exc
        raise StoreUnavailableError(problem) from exc
    except (OSError, http.client.HTTPException, ValueError) as exc:
        if was_sent and is_write:
            raise CommitUnknownError(OUTCOME_UNKNOWN) from exc
        raise StoreUnavailableError("the owner went away before it answered") from exc
    finally:
        connection.close()
    return response.status, answer


def is_owned(directory: Path) -> bool:
    """Whether an owner answers for the directory."""
    try:
        ask_owner(directory, "GET", "/owner")
    except GraymatterError:
        return False
    return True


class Presence:
    """A connection that makes us a client of an owner: without one it may leave as idle."""

    def __init__(self, reach: Callable[[], socket.socket | None]) -> None:
        """Prepare; nothing is reached before `renew`.

        Args:
            reach: Connects and greets; None where no owner answers.
        """
        self._reach = reach
        self._connection: socket.socket | None = None
        self._lock = threading.Lock()

    def renew(self) -> bool:
        """Make sure of an owner: it may have ended, or another come, since we last looked.

        Returns:
            Whether there is one.
        """
        with self._lock:
            if self._connection is None or not _is_open(self._connection):
                self._drop()
                self._connection = self._reach()
            return self._connection is not None

    def close(self) -> None:
        """Let the owner go on without us."""
        with self._lock:
            self._drop()

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _is_open(connection: socket.socket) -> bool:
    try:
        # Unasked an owner says nothing, so all there can be to read is the end.
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


class RemoteMemory:
    """Implements `engine.base.Memory` by asking an owner; its methods are those of `METHODS`."""

    def __init__(self, directory: Path, presence: Presence | None = None) -> None:
        """Prepare.

        Args:
            directory: The data directory.
            presence: Finds the owner before each request; closed with the memory. By default the
                owner that runs is kept from leaving, and none is started.
        """
        self._directory = directory
        self._presence = presence or Presence(partial(attend, str(directory)))
        self._is_closed = False

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """Return the method that asks the owner."""
        method = METHODS.get(name)
        if method is None:
            raise AttributeError(name)

        async def ask(*args: Any, **kwargs: Any) -> Any:
            if self._is_closed:
                raise StoreClosedError
            body = method.pack(method.bind(args, kwargs))
            timeout_s = LONG_CALL_TIMEOUT_S if name in _LONG_CALLS else CALL_TIMEOUT_S
            send = partial(ask_owner, timeout_s=timeout_s, is_write=name not in REPEATABLE)
            answer = await self._send(send, "POST", f"/rpc/{name}", body)
            return method.unpack_result(answer["result"])

        return ask

    async def ask_rest(
        self, method: str, path: str, body: object, is_write: bool
    ) -> tuple[int, Any]:
        """Send one request of REST; see the function of this name."""
        return await self._send(partial(ask_rest, is_write=is_write), method, path, body)

    async def _send(self, send: Callable[..., Answer], *request: object) -> Answer:
        def find_and_send() -> Answer:
            self._presence.renew()
            return send(self._directory, *request)

        return await to_thread.run_sync(find_and_send)

    def set_graph(self, graph: object, extractor: object) -> None:
        """Refuse: objects of this process cannot serve another."""
        raise CapabilityUnsupportedError(
            "a graph of your own must live in the owner's process: stop the owner first"
        )

    async def aclose(self) -> None:
        """Let the owner go on without us."""
        self._is_closed = True
        self._presence.close()
