"""MCP over the process's own stdin and stdout, with nothing else ever on stdout.

Why not the SDK's `stdio_server`: its thread hops cost half of a call, it says nothing to lines it
cannot read, and it loses answers at the end of the input. Waiting for readiness on the loop needs
neither threads nor a change of the descriptors' mode, which is shared with the parent process.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
from typing import TYPE_CHECKING, Final, NoReturn

import anyio
import anyio.to_thread

from graymatter_mcp.bridge.claim import ClaimedStdio, claim_stdio
from graymatter_mcp.bridge.lines import MAX_LINE_BYTES
from graymatter_mcp.surfaces.mcp.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

READ_BYTES: Final = 256 * 1024
"""Most that one read takes: the default capacity of a pipe is less."""

_HAS_POLL: Final = hasattr(select, "poll")


class StdioWire:
    """Private ends of stdin and stdout; also an exchange's source and sink."""

    def __init__(self, claimed: ClaimedStdio, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max_line_bytes = max_line_bytes
        self._stdin = claimed.stdin
        self._stdout = claimed.stdout
        self._can_wait = _HAS_POLL
        self._exchange: Exchange | None = None
        self.is_stopped = False

    async def receive(self) -> bytes:
        """Wait for bytes of stdin; empty at its end."""
        if self._can_wait:
            try:
                await anyio.wait_readable(self._stdin)
                return os.read(self._stdin, READ_BYTES)
            except PermissionError:
                # epoll's word for files and devices that never block for long.
                self._can_wait = False
            except BlockingIOError:
                # Another holder of the pipe was faster.
                return await self.receive()
        return await anyio.to_thread.run_sync(
            os.read, self._stdin, READ_BYTES, abandon_on_cancel=True
        )

    async def send(self, data: bytes) -> None:
        """Write all of `data` to stdout, in pieces that a ready pipe takes without blocking."""
        if not _HAS_POLL:
            await anyio.to_thread.run_sync(self._write_blocking, data)
            return
        rest = memoryview(data)
        while rest:
            if not self._poll(select.POLLOUT) & select.POLLOUT:
                await anyio.wait_writable(self._stdout)
            try:
                rest = rest[os.write(self._stdout, rest[: select.PIPE_BUF]) :]
            except BlockingIOError:
                await anyio.wait_writable(self._stdout)

    def is_broken(self) -> bool:
        """Whether the reader of stdout has closed it."""
        return _HAS_POLL and bool(self._poll(0) & (select.POLLERR | select.POLLNVAL))

    def stop(self) -> None:
        """Read no further and let the serving call drain; harmless at any time."""
        self.is_stopped = True
        if self._exchange is not None:
            self._exchange.stop()

    async def serve(self, server: GraymatterServer, lifespan_state: object) -> None:
        """Serve the client of this wire until it leaves or `stop`."""
        self._exchange = Exchange(self, self, max_line_bytes=self._max_line_bytes)
        if self.is_stopped:
            self._exchange.stop()
        await self._exchange.serve(server, lifespan_state)

    def _poll(self, events: int) -> int:
        poll = select.poll()
        poll.register(self._stdout, events)
        return sum(seen for _, seen in poll.poll(0))

    def _write_blocking(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._stdout, rest) :]


async def serve_stdio(
    server: GraymatterServer, lifespan_state: object = None, *, wire: StdioWire | None = None
) -> None:
    """Serve one client on stdio; returns when all that was read is answered and written."""
    await (wire or StdioWire(claim_stdio())).serve(server, lifespan_state)


def run_stdio(main: Callable[[StdioWire], Awaitable[None]]) -> NoReturn:
    """Claim stdio, run `main` to its end and leave the process with 0.

    `main` opens what it needs, awaits `serve_stdio(..., wire=wire)`, and closes. SIGTERM, SIGINT
    and SIGHUP end the serving cleanly. What `main` raises is raised.
    """
    wire = StdioWire(claim_stdio())
    try:
        anyio.run(_run_and_leave, main, wire, backend="asyncio")
    except BaseExceptionGroup as group:
        # Only the task group of `_run_and_leave` can have wrapped it.
        raise group.exceptions[0] from None
    raise AssertionError("unreachable: the process has left")


async def _run_and_leave(main: Callable[[StdioWire], Awaitable[None]], wire: StdioWire) -> None:
    async with anyio.create_task_group() as tasks:
        if sys.platform != "win32":
            tasks.start_soon(_stop_on_signal, wire)
        await main(wire)
        _leave()


async def _stop_on_signal(wire: StdioWire) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            if wire.is_stopped:
                # Asked twice: leave without waiting for answers.
                _leave()
            wire.stop()


def _leave() -> NoReturn:
    # The interpreter's own way out takes 0.25 s and more, and joins threads still at work.
    logging.shutdown()
    sys.stderr.flush()
    os._exit(0)
