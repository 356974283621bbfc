"""One connection of lines: reads requests, answers each in a task of its own, drains at the end.

Each request has a number of our own here: two may have the same id, "7" is not 7, and an id need
not be clean text. The input ends only when all that was read is answered.
"""

from __future__ import annotations

import uuid
from collections import deque
from typing import TYPE_CHECKING, Final, Protocol

import anyio
from mcp.server.runner import modern_error_data
from mcp_types import CONNECTION_CLOSED

from graymatter_mcp.bridge.lines import (
    MAX_LINE_BYTES,
    LineSplitter,
    Notification,
    Overlong,
    Refusal,
    Request,
    error_message,
    is_id,
    read_line,
)
from graymatter_mcp.surfaces.mcp.outgoing import Outgoing, Sink
from graymatter_mcp.surfaces.mcp.server import connection_session
from graymatter_mcp.surfaces.mcp.session import Session

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

    from graymatter_mcp.bridge.lines import JsonId
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

MAX_IN_FLIGHT: Final = 4096
"""Unanswered requests above which no further line is read."""

MAX_UNSENT_BYTES: Final = 64 * 1024 * 1024
"""Answers waiting for the client above which no further line is read."""

DRAIN_TIMEOUT_S: Final = 330.0
"""Longest wait for answers after the input ended: above the slowest call, five minutes."""

HURRY_TIMEOUT_S: Final = 0.8
"""The same after a signal, or when nobody is left to read the answers."""

FLUSH_TIMEOUT_S: Final = 30.0
PEER_CHECK_S: Final = 0.25


class Source(Protocol):
    """Where bytes come from."""

    async def receive(self) -> bytes:
        """Wait for some bytes; empty at the end. Raises OSError when the peer is gone."""
        ...


class Exchange:
    """One client's connection, over any pair of byte ends."""

    def __init__(self, source: Source, sink: Sink, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._source = source
        self._outgoing = Outgoing(sink)
        self._max_line_bytes = max_line_bytes
        self._splitter = LineSplitter(max_line_bytes)
        self._lines: deque[bytes | Overlong] = deque()
        self._numbers: dict[JsonId, int] = {}
        self._count = 0
        self._at_work: dict[int, anyio.CancelScope] = {}
        self._has_ended = False
        self._is_stopped = False
        self._reading: anyio.CancelScope | None = None

    def stop(self) -> None:
        """Stop reading; `serve` returns once what was read is answered, within a second."""
        self._is_stopped = True
        if self._reading is not None:
            self._reading.cancel()

    async def serve(self, server: GraymatterServer, lifespan_state: object = None) -> None:
        """Serve both protocol eras until the client leaves; everything read is answered."""
        connection_session.set(uuid.uuid4().hex)
        session = Session(server, lifespan_state)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_out)
            async with anyio.create_task_group() as calls:
                while (line := await self._next_line()) is not None:
                    await self._take(line, session, calls)
                await self._drain()
                calls.cancel_scope.cancel()
            for number in list(self._outgoing.unanswered):
                self._outgoing.refuse(number, CONNECTION_CLOSED, "Connection closed")
            self._outgoing.close()
            tasks.cancel_scope.deadline = anyio.current_time() + FLUSH_TIMEOUT_S

    async def _write_out(self) -> None:
        await self._outgoing.run()
        if self._outgoing.is_gone:
            self.stop()

    async def _next_line(self) -> bytes | Overlong | None:
        """Wait for the next line; None at the end of the input."""
        while True:
            await self._wait_for_room()
            if self._lines:
                return self._lines.popleft()
            if self._has_ended:
                return None
            await self._read()

    async def _wait_for_room(self) -> None:
        out = self._outgoing
        while len(out.unanswered) >= MAX_IN_FLIGHT or out.unsent_bytes > MAX_UNSENT_BYTES:
            if self._is_stopped or out.is_gone:
                return
            with anyio.move_on_after(PEER_CHECK_S):
                await out.wait_progress()

    async def _read(self) -> None:
        chunk = b""
        if not (self._is_stopped or self._outgoing.is_gone):
            with anyio.CancelScope() as self._reading:
                try:
                    chunk = await self._source.receive()
                except OSError:
                    chunk = b""
        if chunk:
            self._lines.extend(self._splitter.feed(chunk))
        else:
            self._has_ended = True
            self._lines.extend(self._splitter.finish())

    async def _take(self, line: bytes | Overlong, session: Session, calls: TaskGroup) -> None:
        match read_line(line, self._max_line_bytes):
            case Refusal() as refusal:
                self._outgoing.put(error_message(refusal.id, refusal.code, refusal.message))
            case Request() as request:
                await session.open(request.method, request.params)
                number = self._number(request)
                calls.start_soon(self._answer, session, number, request)
                if request.method == "initialize":
                    # What was sent before it finds the session closed, what comes behind it open.
                    await self._outgoing.wait_for(number)
            case Notification(method="notifications/cancelled") as notice:
                self._cancel((notice.params or {}).get("requestId"))
            case Notification() as notice:
                await session.notify(notice.method, notice.params)
            case None:
                pass

    def _number(self, request: Request) -> int:
        self._count += 1
        number = self._count
        self._numbers[request.id] = number
        self._at_work[number] = anyio.CancelScope()
        self._outgoing.unanswered[number] = request.id
        if len(self._numbers) > 2 * MAX_IN_FLIGHT:
            self._numbers = {name: n for n, name in self._outgoing.unanswered.items()}
        return number

    async def _answer(self, session: Session, number: int, request: Request) -> None:
        scope = self._at_work[number]
        with scope:
            try:
                result = await session.request(number, request.method, request.params)
            except Exception as exc:  # noqa: BLE001 - the SDK's own mapping, which says nothing of it
                error = modern_error_data(exc)
                self._outgoing.refuse(number, error.code, error.message, error.data)
            else:
                self._outgoing.answer(number, result)
        del self._at_work[number]
        if scope.cancelled_caught:
            self._outgoing.drop(number)

    def _cancel(self, name: object) -> None:
        """Stop a request that is still at work; it is never answered."""
        number = self._numbers.get(name) if is_id(name) else None
        if number is not None and number in self._at_work:
            self._at_work[number].cancel()

    async def _drain(self) -> None:
        out = self._outgoing
        with anyio.move_on_after(DRAIN_TIMEOUT_S) as waiting:
            while out.unanswered:
                if self._is_stopped or out.look():
                    soon = anyio.current_time() + HURRY_TIMEOUT_S
                    waiting.deadline = min(waiting.deadline, soon)
                with anyio.move_on_after(PEER_CHECK_S):
                    await out.wait_progress()
