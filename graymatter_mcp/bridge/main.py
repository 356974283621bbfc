"""`graymatter mcp serve` as a client spawns it: answers at once, and carries the rest."""

from __future__ import annotations

import _signal  # pyright: ignore[reportMissingImports] - `signal` costs a third of the start
import os
import sys

from graymatter_mcp.bridge.claim import claim_stdio
from graymatter_mcp.bridge.directory import DirectoryError, holds_store, locate
from graymatter_mcp.bridge.handshake import Handshake
from graymatter_mcp.bridge.lines import (
    LIMIT_VARIABLE,
    MAX_LINE_BYTES,
    MIN_LINE_BYTES,
    LineSplitter,
    Notification,
    Refusal,
    Request,
    encode,
    error_message,
    read_line,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator
    from typing import Any, NoReturn

    from graymatter_mcp.bridge.lines import Overlong
    from graymatter_mcp.bridge.relay import Relay

DRAIN_TIMEOUT_S = 330.0
"""Longest wait for answers after the input ended: above the slowest call, five minutes."""
HURRY_TIMEOUT_S = 0.8
"""The same after a signal."""
CORE = "core"
"""What is served unless more is asked for."""
_LOOK_S = 1.0
"""How often to look whether the client is still there."""
_READ_BYTES = 256 * 1024
_PREFIX = "GRAYMATTER_"
_TRUE = ("1", "true", "yes", "on")


class Invocation:
    """What the command line asked, as far as the bridge understands it."""

    __slots__ = ("directory", "is_quiet", "may_create", "toolsets")

    def __init__(
        self, *, directory: str | None, is_quiet: bool, may_create: bool, toolsets: str
    ) -> None:
        self.directory = directory
        self.toolsets = toolsets
        self.is_quiet = is_quiet
        self.may_create = may_create


def understood(arguments: list[str]) -> Invocation | None:
    """Return the call if it is one for the bridge; None leaves it to the whole command line."""
    if os.environ.get("GRAYMATTER_NO_DAEMON", "").strip().lower() in _TRUE:
        return None
    rest = list(arguments)
    directory: str | None = None
    is_quiet = False
    while rest and rest[0].startswith("--"):
        flag, equals, value = rest.pop(0).partition("=")
        if flag == "--dir" and (equals or rest):
            directory = value if equals else rest.pop(0)
        elif flag == "--quiet" and not equals:
            is_quiet = True
        else:
            return None
    if rest[:2] != ["mcp", "serve"]:
        return None
    return _serving(rest[2:], directory, is_quiet=is_quiet)


def _serving(rest: list[str], directory: str | None, *, is_quiet: bool) -> Invocation | None:
    """Read what follows ``mcp serve``."""
    may_create = True
    toolsets = CORE
    while rest:
        flag, equals, value = rest.pop(0).partition("=")
        if flag == "--no-create" and not equals:
            may_create = False
        elif flag == "--toolset" and (equals or rest):
            toolsets = selection(value if equals else rest.pop(0))
        else:
            return None
    if not os.path.isfile(built_path(toolsets)):
        return None  # the whole command line says what is wrong with the names
    return Invocation(
        directory=directory, is_quiet=is_quiet, may_create=may_create, toolsets=toolsets
    )


def selection(value: str) -> str:
    """Return a list of toolsets in the order in which they are always listed."""
    return ",".join(sorted(value.split(",")))


def serve(invocation: Invocation) -> NoReturn:
    """Serve the client that spawned us, and leave with it."""
    try:
        directory, why = locate(invocation.directory, os.environ)
    except DirectoryError as exc:
        _give_up(str(exc))
    if not invocation.may_create and not holds_store(directory):
        _give_up("there is no memory here, and none may be created")
    try:
        limit = line_limit(os.environ.get(LIMIT_VARIABLE))
    except ValueError as exc:
        _give_up(f"{LIMIT_VARIABLE}: {exc}")
    session = Session(
        directory, limit, may_create=invocation.may_create, toolsets=invocation.toolsets
    )
    for name in session.unknown_variables():
        sys.stderr.write(f"graymatter: unknown variable {name}: is it misspelt?\n")
    if not invocation.is_quiet:
        sys.stderr.write(f"graymatter: serving {directory} (by {why})\n")
        sys.stderr.flush()
    session.run()
    os._exit(0)


def line_limit(value: str | None) -> int:
    """Read the longest line in bytes.

    Raises:
        ValueError: It is no whole number, or too small for any message.
    """
    if value is None:
        return MAX_LINE_BYTES
    try:
        limit = int(value)
    except ValueError:
        raise ValueError("must be a number of bytes") from None
    if limit < MIN_LINE_BYTES:
        raise ValueError(f"must be at least {MIN_LINE_BYTES}")
    return limit


def _give_up(reason: str) -> NoReturn:
    sys.stderr.write(reason + "\n")
    sys.stderr.flush()
    os._exit(1)


def built_path(toolsets: str) -> str:
    """Return where the generated answers of a selection of toolsets lie, if it is one."""
    name = "built.json" if toolsets == CORE else f"built.{os.path.basename(toolsets)}.json"
    return os.path.join(os.path.dirname(__file__), name)


def built_answers(toolsets: str = CORE) -> dict[str, Any]:
    """Read the generated file of answers of a selection of toolsets."""
    import json

    with open(built_path(toolsets), encoding="utf-8") as file:
        return json.load(file)


class Session:
    """One client, from its first line to its last."""

    def __init__(self, directory: str, limit: int, *, may_create: bool, toolsets: str) -> None:
        self._parent = os.getppid()
        self._directory = directory
        self._limit = limit
        self._may_create = may_create
        self._wire = claim_stdio()
        self._toolsets = toolsets
        self._built = built_answers(toolsets)
        self._handshake = Handshake(self._built)
        self._relay: Relay | None = None
        self._turn: threading.Lock | None = None
        signals: Any = _signal
        for number in (signals.SIGTERM, signals.SIGINT, signals.SIGHUP):
            signals.signal(number, self._hurry)
        signals.signal(signals.SIGALRM, self._look)
        signals.setitimer(signals.ITIMER_REAL, _LOOK_S, _LOOK_S)

    def unknown_variables(self) -> list[str]:
        """Return the variables with our prefix that no setting reads, ascending."""
        known = self._built["variables"]
        return sorted(name for name in os.environ if name.startswith(_PREFIX) and name not in known)

    def run(self) -> None:
        """Serve until the input ends and all that was read is answered."""
        for line in self._lines():
            message = read_line(line, self._limit)
            if isinstance(message, Refusal):
                self._write(encode(error_message(message.id, message.code, message.message)))
            elif isinstance(message, Request):
                self._take(message)
            elif isinstance(message, Notification):
                self._relayed().notify(message)
            if self._relay is None:
                # The first line is answered: now there is time for the owner.
                self._relayed()
        if self._relay is not None:
            self._relay.drain(DRAIN_TIMEOUT_S)

    def _take(self, request: Request) -> None:
        result = self._handshake.answer(request)
        if result is None:
            self._relayed().request(request)
            return
        if self._relay is not None and request.method == "initialize":
            self._relay.open()
        self._write(encode({"jsonrpc": "2.0", "id": request.id, "result": result}))

    def _lines(self) -> Iterator[bytes | Overlong]:
        splitter = LineSplitter(self._limit)
        while True:
            try:
                chunk = os.read(self._wire.stdin, _READ_BYTES)
            except BlockingIOError:
                # Whoever shares the pipe has made it so.
                self._wait(self._wire.stdin, is_input=True)
                continue
            except OSError:
                chunk = b""
            if not chunk:
                yield from splitter.finish()
                return
            yield from splitter.feed(chunk)

    def _write(self, line: bytes) -> None:
        """Write one line; two threads do, once there is a relay."""
        if self._turn is None:
            self._write_all(line)
        else:
            with self._turn:
                self._write_all(line)

    def _write_all(self, line: bytes) -> None:
        rest = memoryview(line)
        while rest:
            try:
                rest = rest[os.write(self._wire.stdout, rest) :]
            except BlockingIOError:
                self._wait(self._wire.stdout, is_input=False)
            except OSError:
                os._exit(0)  # nobody reads any more

    @staticmethod
    def _wait(fd: int, *, is_input: bool) -> None:
        import select

        poll = select.poll()
        poll.register(fd, select.POLLIN if is_input else select.POLLOUT)
        poll.poll()

    def _relayed(self) -> Relay:
        """Return the relay, which is loaded and started by the first need."""
        if self._relay is None:
            import threading

            from graymatter_mcp.bridge.link import own_command, reach_owner
            from graymatter_mcp.bridge.relay import Relay

            self._turn = threading.Lock()
            command = own_command(self._directory, may_create=self._may_create)
            self._relay = Relay(
                self._handshake,
                self._write,
                lambda: reach_owner(
                    self._directory, self._built["version"], command, toolsets=self._toolsets
                ),
            )
            self._relay.start()
        return self._relay

    def _look(self, *_: object) -> None:
        """Leave when the client is gone, though others may hold its ends of our pipes."""
        import select

        poll = select.poll()
        poll.register(self._wire.stdout, 0)
        if os.getppid() != self._parent or poll.poll(0):
            os._exit(0)
        if self._relay is not None:
            from graymatter_mcp.bridge.link import reap

            reap()

    def _hurry(self, *_: object) -> None:
        """Leave within a second; what is answered meanwhile still gets out."""
        import time

        deadline = time.monotonic() + HURRY_TIMEOUT_S
        # Not `drain`: the signal may have come while this very thread held the relay's lock.
        while self._relay is not None and not self._relay.is_idle and time.monotonic() < deadline:
            time.sleep(0.01)
        os._exit(0)
