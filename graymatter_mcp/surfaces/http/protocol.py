"""uvicorn's HTTP protocol, with bounds on what a client may send and how long it may take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from graymatter_mcp.surfaces.http.messages import (
    JSON_TYPE,
    SAFETY_HEADERS,
    HttpAnswer,
    error_answer,
    send_answer,
)

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from uvicorn.config import Config
    from uvicorn.server import ServerState

    from graymatter_mcp.surfaces.http.connections import Ticket
    from graymatter_mcp.surfaces.http.limits import HttpLimits

CLOSE: Final = ((b"connection", b"close"),)
BAD_REQUEST: Final = error_answer(400, "this is no HTTP request that can be read")
TOO_SLOW: Final = error_answer(408, "the request did not arrive in time")


def written(answer: HttpAnswer) -> bytes:
    """Write an answer for a connection that no request was read from; it ends with it."""
    headers = (
        *SAFETY_HEADERS,
        *CLOSE,
        (b"content-type", JSON_TYPE),
        (b"content-length", b"%d" % len(answer.body)),
    )
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers)
    return STATUS_LINE[answer.status] + lines + b"\r\n" + answer.body


def too_large_head(limit: int) -> HttpAnswer:
    """Say that the request line and headers are too long together."""
    return error_answer(431, f"request line and headers exceed {limit} bytes")


class GuardedProtocol(HttpToolsProtocol):
    """One connection; only complete heads of bounded size, sent in time, become requests."""

    def __init__(
        self, config: Config, state: ServerState, ticket: Ticket, limits: HttpLimits
    ) -> None:
        super().__init__(config, state, {})
        self._ticket = ticket
        self._limits = limits
        self._in_head = True
        self._heads = 0
        """Complete ones so far."""
        self._head_bytes = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the clock: a client that connects has something to say."""
        super().connection_made(transport)
        self._start_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._stop_timer()
        self._ticket.give_back()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on, as long as the head stays within its bounds."""
        heads, was_in_head = self._heads, self._in_head
        super().data_received(data)
        is_still_in_head = was_in_head and heads == self._heads
        if not is_still_in_head or self.transport.is_closing():
            return
        self._start_timer()
        self._head_bytes += len(data)
        if self._head_bytes > self._limits.head_bytes:
            self._end_with(too_large_head(self._limits.head_bytes))

    def on_headers_complete(self) -> None:
        """Pass the request on, or refuse what is too long although it came at once."""
        self._in_head = False
        self._heads += 1
        self._head_bytes = 0
        self._stop_timer()
        self._ticket.busy()
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self._limits.head_bytes:
            app: Any = self.app
            self.app = self._refuse_head
            super().on_headers_complete()
            self.app = app
        else:
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Wait for the next head."""
        super().on_message_complete()
        self._in_head = True

    def on_response_complete(self) -> None:
        """Make the place available, and end a connection whose peer does not read."""
        super().on_response_complete()
        if self.transport.is_closing():
            self.loop.call_later(self._limits.client_timeout_s, self.transport.abort)
        elif self.cycle.response_complete:
            self._ticket.idle()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection, at once if its peer has not read the last answer."""
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            super().timeout_keep_alive_handler()

    def send_400_response(self, msg: str) -> None:
        """Refuse what cannot be read, as everything else is refused."""
        self._end_with(BAD_REQUEST)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing: anybody can ask for an upgrade as often as they like."""

    def _start_timer(self) -> None:
        if self._timer is None:
            self._timer = self.loop.call_later(self._limits.client_timeout_s, self._time_is_up)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_is_up(self) -> None:
        self._timer = None
        if self._head_bytes:
            self._end_with(TOO_SLOW)
        else:
            self.transport.abort()

    def _end_with(self, answer: HttpAnswer) -> None:
        self._stop_timer()
        if self.transport.is_closing():
            return
        self.transport.write(written(answer))
        self.transport.close()
        self.loop.call_later(self._limits.client_timeout_s, self.transport.abort)

    async def _refuse_head(
        self, _: object, __: object, send: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> None:
        await send_answer(send, too_large_head(self._limits.head_bytes), CLOSE)
