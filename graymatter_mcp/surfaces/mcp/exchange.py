"""One connection of lines: feeds the SDK's server, answers what it cannot, drains at the end.

The SDK cancels what is in flight as soon as its input ends, correlates "7" with 7, loses one of
two requests with equal ids on cancellation, and cannot name an id that is not clean text. So each
request travels under a number of our own, and the input ends only when all are answered.
"""

from __future__ import annotations

import uuid
from collections import deque
from typing import TYPE_CHECKING, Any, Final, Protocol, Self

import anyio
from mcp.server.runner import serve_dual_era_loop
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCNotification, JSONRPCRequest

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
from graymatter_mcp.surfaces.mcp.outgoing import Outgoing, SdkStream, Sink
from graymatter_mcp.surfaces.mcp.server import connection_session

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

    from graymatter_mcp.bridge.lines import JsonId

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


class IncomingStream(SdkStream):
    """Messages from the client; ends when all that was read is answered."""

    def __init__(self, source: Source, outgoing: Outgoing, max_line_bytes: int) -> None:
        self._source = source
        self._outgoing = outgoing
        self._max_line_bytes = max_line_bytes
        self._splitter = LineSplitter(max_line_bytes)
        self._lines: deque[bytes | Overlong] = deque()
        self._numbers: dict[JsonId, int] = {}
        self._count = 0
        self._has_ended = False
        self._is_stopped = False
        self._reading: anyio.CancelScope | None = None

    def stop(self) -> None:
        """Read no further; what was read is answered in a hurry."""
        self._is_stopped = True
        if self._reading is not None:
            self._reading.cancel()

    def __aiter__(self) -> Self:
        """Iterate over the messages: what the SDK does."""
        return self

    async def __anext__(self) -> SessionMessage:
        """Return the next message, or end as `receive` does."""
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def receive(self) -> SessionMessage:
        """Wait for the next message for the server.

        Raises:
            EndOfStream: The input ended and every request is answered, or time is up.
        """
        while True:
            await self._wait_for_room()
            if self._lines:
                message = self._accept(self._lines.popleft())
                if message is not None:
                    return message
            elif self._has_ended:
                await self._drain()
                raise anyio.EndOfStream
            else:
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

    def _accept(self, line: bytes | Overlong) -> SessionMessage | None:
        match read_line(line, self._max_line_bytes):
            case Refusal() as refusal:
                self._outgoing.put(error_message(refusal.id, refusal.code, refusal.message))
                return None
            case Request() as request:
                return self._number(request)
            case Notification(method="notifications/cancelled") as notice:
                return self._cancellation(notice)
            case Notification() as notice:
                return SessionMessage(_notification(notice.method, notice.params))
            case None:
                return None

    def _number(self, request: Request) -> SessionMessage:
        self._count += 1
        number = self._count
        self._numbers[request.id] = number
        self._outgoing.unanswered[number] = request.id
        if len(self._numbers) > 2 * MAX_IN_FLIGHT:
            self._numbers = {name: n for n, name in self._outgoing.unanswered.items()}

        async def unanswered() -> None:
            self._outgoing.drop(number)

        # Constructed unchecked: `read_line` checked it, and pydantic refuses lone surrogates,
        # which the tools answer better.
        message = JSONRPCRequest.model_construct(
            jsonrpc="2.0", id=number, method=request.method, params=request.params
        )
        return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=unanswered))

    def _cancellation(self, notice: Notification) -> SessionMessage | None:
        params = notice.params or {}
        name = params.get("requestId")
        number = self._numbers.get(name) if is_id(name) else None
        if number not in self._outgoing.unanswered:
            return None
        return SessionMessage(_notification(notice.method, {**params, "requestId": number}))

    async def _drain(self) -> None:
        out = self._outgoing
        with anyio.move_on_after(DRAIN_TIMEOUT_S) as waiting:
            while out.unanswered:
                if self._is_stopped or out.look():
                    soon = anyio.current_time() + HURRY_TIMEOUT_S
                    waiting.deadline = min(waiting.deadline, soon)
                with anyio.move_on_after(PEER_CHECK_S):
                    await out.wait_progress()


class Exchange:
    """One client's connection, over any pair of byte ends."""

    def __init__(self, source: Source, sink: Sink, *, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._outgoing = Outgoing(sink)
        self._incoming = IncomingStream(source, self._outgoing, max_line_bytes)

    def stop(self) -> None:
        """Stop reading; `serve` returns once what was read is answered, within a second."""
        self._incoming.stop()

    async def serve(self, server: Server[Any], lifespan_state: object = None) -> None:
        """Serve both protocol eras until the client leaves; everything read is answered."""
        connection_session.set(uuid.uuid4().hex)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write_out)
            await serve_dual_era_loop(
                server, self._incoming, self._outgoing, lifespan_state=lifespan_state
            )
            self._outgoing.close()
            tasks.cancel_scope.deadline = anyio.current_time() + FLUSH_TIMEOUT_S

    async def _write_out(self) -> None:
        await self._outgoing.run()
        if self._outgoing.is_gone:
            self.stop()


def _notification(method: str, params: dict[str, Any] | None) -> JSONRPCNotification:
    return JSONRPCNotification.model_construct(jsonrpc="2.0", method=method, params=params)
