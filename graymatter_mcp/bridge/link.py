"""The way to the owner: find it, start it, greet it."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress

from graymatter_mcp.bridge.directory import read_owner
from graymatter_mcp.bridge.patience import LivedTime

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

CONNECT_TIMEOUT_S = 2.0
START_TIMEOUT_S = 10.0
COMING_UP_TIMEOUT_S = 30.0
"""The same while the process that we started still lives: a busy machine is no failure."""
EXACTLY_ONCE = "exactly-once-v1"
UNAUTHORIZED = "unauthorized"
EXIT_TAKEN = 3
"""Exit status of a started owner that found the directory taken: another one is there."""

REASON = "graymatter: "
"""Begins the line in which an owner tells why it does not come up."""

_POLL_S = 0.005
_HELLO_BYTES = 4096
_left: list[int] = []
"""Pids of owners that we started and nobody watches any more."""


class NoOwnerError(Exception):
    """No owner can be had; the text says why."""


class Owner:
    """A greeted connection to an owner."""

    def __init__(self, connection: socket.socket, hello: dict[str, Any], rest: bytes) -> None:
        self.connection = connection
        self.rest = rest
        """Bytes that came behind the greeting."""
        self.is_exact = EXACTLY_ONCE in (hello.get("capabilities") or ())


def reach_owner(
    directory: str, version: str, command: list[str], *, toolsets: str = "core"
) -> Owner:
    """Connect to the owner of a directory, starting one when there is none.

    Args:
        directory: The data directory.
        version: Ours; an idle owner that is older is asked to leave.
        command: Starts an owner in the foreground of its own session.
        toolsets: What this connection shall serve, names separated by commas.

    Raises:
        NoOwnerError: None answered in time.
    """
    lived = LivedTime(2 * CONNECT_TIMEOUT_S)
    started: _Started | None = None
    reap()
    try:
        while True:
            owner = _greet(directory, version, toolsets)
            if owner is not None:
                return owner
            if started is None or started.has_ended:
                started = _Started(command)
            reason = started.failure()
            if reason is not None:
                raise NoOwnerError(reason)
            is_coming_up = not started.has_ended
            if lived.look() > (COMING_UP_TIMEOUT_S if is_coming_up else START_TIMEOUT_S):
                raise NoOwnerError(_why_late(directory))
            time.sleep(_POLL_S)
    except OSError as exc:
        raise NoOwnerError("no process can be started; run: graymatter doctor") from exc
    finally:
        if started is not None:
            started.let_go()


def attend(directory: str) -> socket.socket | None:
    """Become a client of the owner that runs, which does not leave for want of one meanwhile.

    Starts no owner, and asks none to make way: it may be of any version.

    Args:
        directory: The data directory.

    Returns:
        The connection, to be closed by the caller; None where no owner answers.
    """
    try:
        owner = _greet(directory, "", "core")
    except NoOwnerError:
        return None
    return None if owner is None else owner.connection


def _why_late(directory: str) -> str:
    note = read_owner(directory) or {}
    connection = connect(note, "lines")
    if connection is None:
        return "the owner did not start in time; run: graymatter doctor"
    connection.close()
    pid = note.get("pid")
    name = f"pid {pid}" if isinstance(pid, int) else "pid unknown"
    return f"the owner ({name}) does not answer; wait for it, or end it and try again"


def reap() -> None:
    """Forget started owners that have ended; until then they look alive to whoever waits."""
    for pid in list(_left):
        try:
            has_ended = os.waitpid(pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            has_ended = True  # somebody else in this process asked first
        if has_ended:
            _left.remove(pid)


def own_command(directory: str, *, may_create: bool) -> list[str]:
    """Return the arguments of Python that start an owner on demand."""
    command = [sys.executable, "-m", "graymatter_mcp", "--dir", directory]
    command += ["daemon", "run", "--on-demand"]
    return command if may_create else [*command, "--no-create"]


def _greet(directory: str, version: str, toolsets: str) -> Owner | None:
    """Connect and exchange greetings; None when nobody answers, or an older owner left."""
    note = read_owner(directory)
    if note is None:
        return None
    connection = connect(note, "lines")
    if connection is None:
        return None
    hello = {
        "graymatter": "hello",
        "version": version,
        "token": note.get("token", ""),
        "toolsets": toolsets,
    }
    try:
        connection.sendall(json.dumps(hello).encode() + b"\n")
        answer, rest = _read_hello(connection)
    except OSError:
        connection.close()
        return None
    if answer.get("graymatter") == "hello":
        connection.settimeout(None)
        return Owner(connection, answer, rest)
    connection.close()
    if answer.get("graymatter") == "leaving" or answer.get("reason") == UNAUTHORIZED:
        # The token was that of an owner before it, whose note we had read.
        return None
    raise NoOwnerError(str(answer.get("reason", "the owner did not greet")))


def connect(note: dict[str, Any], door: str) -> socket.socket | None:
    """Connect to one of the doors that an owner's note names; None when it does not answer."""
    address: Any = note.get(door)
    try:
        if isinstance(address, str):
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                connection.settimeout(CONNECT_TIMEOUT_S)
                connection.connect(address)
            except OSError:
                connection.close()
                raise
            return connection
        if isinstance(address, list):
            host, port = str(address[0]), int(address[1])  # pyright: ignore[reportUnknownArgumentType]
            connection = socket.create_connection((host, port), CONNECT_TIMEOUT_S)
            # Else a message in two parts waits 40 ms for the system to acknowledge the first.
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return None


def hang_up(connection: socket.socket) -> None:
    """End a connection for whoever is at work on it; its number stays taken until it is closed."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


def _read_hello(connection: socket.socket) -> tuple[dict[str, Any], bytes]:
    data = b""
    while b"\n" not in data:
        chunk = connection.recv(_HELLO_BYTES)
        if not chunk:
            raise ConnectionResetError
        data += chunk
    line, _, rest = data.partition(b"\n")
    try:
        return dict(json.loads(line)), rest
    except (ValueError, TypeError):
        raise ConnectionResetError from None


class _Started:
    """An owner that we started; it lives on when we leave."""

    def __init__(self, command: list[str]) -> None:
        self.has_ended = False
        # What it says before it serves is the reason when it does not come up.
        self._errors, writing = os.pipe()
        os.set_blocking(self._errors, False)
        null = os.devnull
        try:
            self._pid = os.posix_spawn(
                sys.executable,
                command,
                os.environ,
                file_actions=[
                    (os.POSIX_SPAWN_OPEN, 0, null, os.O_RDONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 1, null, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_DUP2, writing, 2),
                ],
                setsid=True,
                setsigdef=[signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE],
            )
        except OSError:
            os.close(self._errors)
            raise
        finally:
            os.close(writing)

    def failure(self) -> str | None:
        """Return why it ended, or None while it may still come up."""
        if self.has_ended:
            return None
        pid, status = os.waitpid(self._pid, os.WNOHANG)
        if pid == 0:
            return None
        self.has_ended = True
        try:
            said = os.read(self._errors, _HELLO_BYTES).decode("utf-8", "replace").strip()
        except OSError:
            said = ""
        os.close(self._errors)
        code = os.waitstatus_to_exitcode(status)
        if code == EXIT_TAKEN or code < 0:
            # Another owner is there or going; or ours was killed, which says nothing of the next.
            return None
        # Only what is meant for clients: the last words of a crash may hold anything.
        reasons = [line for line in said.splitlines() if line.startswith(REASON)]
        if not reasons:
            return "the owner did not start; run: graymatter doctor"
        return reasons[-1].removeprefix(REASON)

    def let_go(self) -> None:
        """Leave it to itself."""
        if not self.has_ended:
            os.close(self._errors)
            _left.append(self._pid)
