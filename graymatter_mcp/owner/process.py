"""The life of an owner: listen, serve, leave when idle or asked, drain."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Protocol

import anyio

from graymatter_mcp.owner.doors import (
    CAPABILITIES,
    LinesDoor,
    address_of,
    bind_doors,
    listen,
    new_token,
)
from graymatter_mcp.owner.http import HttpDoor, uvicorn_server

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.owner.doors import Toolsets
    from graymatter_mcp.owner.election import Ownership
    from graymatter_mcp.surfaces.http.routes import Route
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

logger = logging.getLogger(__name__)

_WATCH_S: Final = 0.25
_DRAIN_POLL_S: Final = 0.01
DRAIN_TIMEOUT_S: Final = 15.0
LAST_RESORT_S: Final = 25.0
"""After being asked to leave: all that was acknowledged is on the disk, whatever still works."""


class StdioClient(Protocol):
    """A client on this process's own stdin and stdout."""

    def stop(self) -> None:
        """Read no further."""
        ...

    async def serve(self, server: GraymatterServer, lifespan_state: object) -> None:
        """Serve until the client leaves."""
        ...


class RemoteDoor(Protocol):
    """A door for callers of other machines."""

    @property
    def calls(self) -> int:
        """Requests at work now."""
        ...

    def stop(self) -> None:
        """Let nobody in any more; who waits for an answer gets it."""
        ...

    async def serve(self) -> None:
        """Serve until cancelled."""
        ...


class OwnerProcess:
    """Serves one memory to all processes of its user, until it may leave."""

    def __init__(
        self,
        memory: Memory,
        ownership: Ownership,
        directory: Path,
        build: Callable[[Toolsets], GraymatterServer],
        *,
        version: str,
        idle_exit_s: float,
        is_foreground: bool,
        loopback_tcp: bool = False,
        remote: RemoteDoor | None = None,
        toolsets: Toolsets = ("core",),
        routes: Callable[[], Sequence[Route]] = tuple,
    ) -> None:
        """Prepare; nothing listens before `run`.

        Args:
            memory: Open.
            ownership: The directory, held.
            directory: Where the note and the sockets go.
            build: Makes the MCP server of one connection.
            version: Told to clients.
            idle_exit_s: Seconds without clients after which it leaves; 0 is never.
            is_foreground: Whether a person or a service manager started it.
            loopback_tcp: Listen on 127.0.0.1 as where Unix sockets do not exist.
            remote: A door beyond those for this user's own processes.
            toolsets: What a client on this process's own stdio is served.
            routes: Makes the routes of REST, for this user's own processes.
        """
        self._memory = memory
        self._ownership = ownership
        self._directory = directory
        self._version = version
        self._idle_exit_s = idle_exit_s
        self._is_foreground = is_foreground
        self._loopback_tcp = loopback_tcp
        self._remote = remote
        self._token = new_token()
        self._leaving = anyio.Event()
        self._started_at = time.time()
        self._build = build
        self._toolsets = toolsets
        self._has_stdio = False
        self._lines = LinesDoor(self._token, self._hello, build, self.leave)
        self._http = HttpDoor(
            memory,
            self._token,
            self.describe,
            self.leave,
            is_foreground=is_foreground,
            routes=routes,
        )

    def leave(self) -> None:
        """Ask the owner to drain and end; what hangs then does not keep the process."""
        if not self._leaving.is_set():
            self._leaving.set()
            last_resort = threading.Timer(LAST_RESORT_S, os._exit, (1,))
            last_resort.daemon = True
            last_resort.start()

    def describe(self) -> dict[str, Any]:
        """Say what this owner is, as ``daemon status`` shows it."""
        return {
            "running": True,
            "pid": os.getpid(),
            "version": self._version,
            "data_dir": str(self._directory),
            "uptime_s": round(time.time() - self._started_at, 3),
            "clients": self._lines.clients,
            "capabilities": list(CAPABILITIES),
            "is_foreground": self._is_foreground,
        }

    async def run(
        self, client: StdioClient | None = None, on_ready: Callable[[], None] | None = None
    ) -> None:
        """Listen until asked to leave, then answer what was asked before.

        Args:
            client: A client on this process's own stdio; the owner leaves with it.
            on_ready: Called once clients can come.
        """
        doors = bind_doors(self._directory, ("lines", "http"), loopback_tcp=self._loopback_tcp)
        addresses = {name: address_of(door) for name, door in doors.items()}
        server = uvicorn_server(self._http.app())
        async with anyio.create_task_group() as tasks:
            accepting = anyio.CancelScope()

            async def accept() -> None:
                with accepting:
                    await listen(doors["lines"], self._lines.serve)

            tasks.start_soon(accept)
            tasks.start_soon(server.serve, [doors["http"]])
            tasks.start_soon(self._watch_signals)
            tasks.start_soon(self._watch_idle)
            if self._remote is not None:
                tasks.start_soon(self._remote.serve)
            self._announce(addresses)
            tasks.start_soon(self._watch_place, addresses)
            if on_ready is not None:
                on_ready()
            if client is not None:
                tasks.start_soon(self._serve_stdio, client)
            await self._leaving.wait()
            # First nobody new finds us, then those who are here get their answers.
            self._ownership.withdraw()
            server.should_exit = True
            self._stop_reading(client)
            with anyio.move_on_after(DRAIN_TIMEOUT_S):
                await self._drained()
            accepting.cancel()
            tasks.cancel_scope.cancel()
        for address in addresses.values() if self._ownership.is_in_place() else ():
            if isinstance(address, str):
                await anyio.Path(address).unlink(missing_ok=True)

    def _stop_reading(self, client: StdioClient | None) -> None:
        for door in (self._lines, self._remote, client):
            if door is not None:
                door.stop()

    def _announce(self, addresses: dict[str, Any]) -> None:
        self._ownership.announce({**addresses, "token": self._token, "version": self._version})

    async def _watch_place(self, addresses: dict[str, Any]) -> None:
        """Leave a directory that is no longer ours, and mend a note that was lost."""
        while True:
            await anyio.sleep(_WATCH_S)
            sockets = [address for address in addresses.values() if isinstance(address, str)]
            if not self._ownership.is_in_place() or not all(map(os.path.exists, sockets)):
                logger.warning("leaving: the directory was moved or emptied")
                self.leave()
                return
            if not self._ownership.is_announced():
                with suppress(OSError):
                    self._announce(addresses)

    async def _drained(self) -> None:
        while self._is_busy() or self._has_stdio:  # noqa: ASYNC110 - once
            await anyio.sleep(_DRAIN_POLL_S)

    def _is_busy(self) -> bool:
        remote_calls = 0 if self._remote is None else self._remote.calls
        return bool(self._lines.clients or self._http.calls or remote_calls)

    async def _serve_stdio(self, client: StdioClient) -> None:
        self._has_stdio = True
        try:
            await client.serve(self._build(self._toolsets), None)
        finally:
            self._has_stdio = False
        self.leave()

    async def _hello(self, hello: dict[str, Any]) -> dict[str, Any]:
        """Answer a greeting; an idle owner makes way for a newer client."""
        if self._leaving.is_set():
            return {"graymatter": "leaving"}
        theirs = str(hello.get("version", ""))
        if _number(theirs) > _number(self._version):
            if self._is_foreground or self._is_busy():
                reason = (
                    f"the owner (pid {os.getpid()}) runs {self._version}, this client is {theirs}:"
                    " end the other clients, or run: graymatter daemon stop"
                )
                return {"graymatter": "refused", "reason": reason}
            return {"graymatter": "leaving"}
        return {
            "graymatter": "hello",
            "version": self._version,
            "pid": os.getpid(),
            "capabilities": list(CAPABILITIES),
            "default_confidence_weight": await self._memory.default_confidence_weight(),
        }

    async def _watch_signals(self) -> None:
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for _ in signals:
                self.leave()

    async def _watch_idle(self) -> None:
        idle_since = time.monotonic()
        while self._idle_exit_s > 0:
            await anyio.sleep(_WATCH_S)
            if self._is_busy() or self._lines.is_greeting:
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since >= self._idle_exit_s:
                logger.info("leaving: nobody was here for %g s", self._idle_exit_s)
                self.leave()
                return


def _number(version: str) -> tuple[int, ...]:
    """Compare versions by their leading numbers; what has none is older than all."""
    parts: list[int] = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            break
        parts.append(int(digits[:9]))
    return tuple(parts)
