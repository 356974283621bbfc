"""The way out of one connection: which requests wait for an answer, which lines for the peer."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

import anyio
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from graymatter_mcp.bridge.lines import INTERNAL_ERROR, encode, error_message

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared.message import SessionMessage

    from graymatter_mcp.bridge.lines import JsonId


class Sink(Protocol):
    """Where lines go."""

    async def send(self, data: bytes) -> None:
        """Write all bytes. Raises OSError when the peer is gone."""
        ...

    def is_broken(self) -> bool:
        """Whether nobody can read any more what would be written."""
        ...


class SdkStream:
    """What the SDK asks of both stream ends besides the transfer."""

    async def aclose(self) -> None:
        """Nothing to free: the exchange outlives the SDK's loop to flush."""

    async def __aenter__(self) -> Self:
        """Enter; nothing to prepare."""
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Leave; nothing to free."""
        return None


class Outgoing(SdkStream):
    """Answers to the client; `send` never waits, so no cancellation can split or lose one."""

    def __init__(self, sink: Sink) -> None:
        self.is_gone = False
        self.unanswered: dict[int, JsonId] = {}
        self.unsent_bytes = 0
        self._sink = sink
        self._lines: deque[bytes] = deque()
        self._is_closing = False
        self._more = anyio.Event()
        self._progress = anyio.Event()

    async def send(self, item: SessionMessage, /) -> None:
        """Queue what the SDK says, under the client's own id."""
        match item.message:
            case JSONRPCResponse(id=number, result=result):
                body = {"jsonrpc": "2.0", "id": self._settle(number), "result": result}
            case JSONRPCError(id=number, error=error):
                # Code 0 is the SDK's mark of an exception that nobody caught; its text may
                # hold anything.
                body = error_message(
                    self._settle(number),
                    error.code or INTERNAL_ERROR,
                    error.message if error.code else "Internal error",
                    error.data,
                )
            case JSONRPCNotification() | JSONRPCRequest() as message:
                body = message.model_dump(by_alias=True, mode="json", exclude_unset=True)
        self.put(body)

    def put(self, message: dict[str, Any]) -> None:
        """Queue one message."""
        if self.is_gone:
            return
        line = encode(message)
        self._lines.append(line)
        self.unsent_bytes += len(line)
        self._more.set()

    def drop(self, number: int) -> None:
        """Forget a request that the client cancelled: it is never answered."""
        self._settle(number)

    async def wait_progress(self) -> None:
        """Wait until an answer was given or sent, or the peer is gone."""
        await self._progress.wait()

    async def run(self) -> None:
        """Write lines until closed and empty, or until nobody reads them."""
        while True:
            if not self._lines:
                if self._is_closing:
                    return
                await self._more.wait()
                self._more = anyio.Event()
                continue
            batch = b"".join(self._lines)
            self._lines.clear()
            try:
                await self._sink.send(batch)
            except OSError:
                self.is_gone = True
                self._lines.clear()
                self._notify()
                return
            self.unsent_bytes -= len(batch)
            self._notify()

    def close(self) -> None:
        """Let `run` end once everything is written."""
        self._is_closing = True
        self._more.set()

    def look(self) -> bool:
        """Whether the peer is gone, as far as can be seen without writing."""
        self.is_gone = self.is_gone or self._sink.is_broken()
        return self.is_gone

    def _settle(self, number: str | int | None) -> JsonId | None:
        self._notify()
        return self.unanswered.pop(number, None) if isinstance(number, int) else None

    def _notify(self) -> None:
        self._progress.set()
        self._progress = anyio.Event()
