"""The way out of one connection: which requests wait for an answer, which lines for the peer."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

import anyio

from graymatter_mcp.bridge.lines import encode, error_message

if TYPE_CHECKING:
    from graymatter_mcp.bridge.lines import JsonId


class Sink(Protocol):
    """Where lines go."""

    async def send(self, data: bytes) -> None:
        """Write all bytes. Raises OSError when the peer is gone."""
        ...

    def is_broken(self) -> bool:
        """Whether nobody can read any more what would be written."""
        ...


class Outgoing:
    """Answers to the client; `put` never waits, so no cancellation can split or lose one."""

    def __init__(self, sink: Sink) -> None:
        self.is_gone = False
        self.unanswered: dict[int, JsonId] = {}
        self.unsent_bytes = 0
        self._sink = sink
        self._lines: deque[bytes] = deque()
        self._is_closing = False
        self._more = anyio.Event()
        self._progress: anyio.Event | None = None
        """Only where somebody waits for it."""

    def answer(self, number: int, result: dict[str, Any]) -> None:
        """Queue the result of a request, under the client's own id."""
        self.put({"jsonrpc": "2.0", "id": self._settle(number), "result": result})

    def refuse(self, number: int, code: int, message: str, details: object = None) -> None:
        """Queue the error of a request, likewise."""
        self.put(error_message(self._settle(number), code, message, details))

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
        if self._progress is None:
            self._progress = anyio.Event()
        await self._progress.wait()

    async def wait_for(self, number: int) -> None:
        """Wait until a request is answered or dropped."""
        while number in self.unanswered:
            await self.wait_progress()

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

    def _settle(self, number: int) -> JsonId | None:
        self._notify()
        return self.unanswered.pop(number, None)

    def _notify(self) -> None:
        if self._progress is not None:
            self._progress.set()
            self._progress = None
