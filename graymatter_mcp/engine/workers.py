"""Where the engine's work is done: in threads, counted, so that closing can wait for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from anyio import to_thread

from graymatter_mcp.errors import GraymatterError, StoreClosedError, StoreUnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable

_WAITING_CALLS: Final = 64
"""Calls at once that mostly wait for the disk; more wait their turn, and share a commit."""

GONE: Final = "the data directory was moved or deleted, and the write went with it"
"""What a writer hears whose facts nobody would find again."""

_DRAIN_S: Final = 30.0
"""How long closing waits for calls that have begun."""

Answer = TypeVar("Answer")


class Workers:
    """Runs calls in threads; the event loop only waits."""

    def __init__(self, note_call: Callable[[], None], is_in_place: Callable[[], bool]) -> None:
        """Prepare.

        Args:
            note_call: Told of each call as it begins.
            is_in_place: Whether the memory is still where its callers look for it.
        """
        self._note_call = note_call
        self._is_in_place = is_in_place
        self._limiter = anyio.CapacityLimiter(_WAITING_CALLS)
        self.cores = os.cpu_count() or 1
        # Ranking is work for a core: more threads than cores only take turns.
        self._ranking_limiter = anyio.CapacityLimiter(self.cores)
        self._calls = 0
        self._is_idle = anyio.Event()
        self.is_closed = False

    def check_open(self) -> None:
        """Refuse when closed.

        Raises:
            StoreClosedError: It is.
        """
        if self.is_closed:
            raise StoreClosedError

    async def run(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run work that mostly waits for the disk."""
        return await self._run(self._limiter, work, *args)

    async def write(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run work that changes the memory.

        Raises:
            StoreUnavailableError: The directory is not there any more, so nobody will find what was
                written.
        """

        def run() -> Answer:
            try:
                answer = work(*args)
            except GraymatterError as exc:
                if self._is_in_place():
                    raise
                raise StoreUnavailableError(GONE) from exc
            # Behind the write: a directory that goes while it is written takes it along.
            if not self._is_in_place():
                raise StoreUnavailableError(GONE)
            return answer

        return await self.run(run)

    async def rank(self, work: Callable[..., Answer], *args: Any) -> Answer:
        """Run work that keeps a core busy."""
        return await self._run(self._ranking_limiter, work, *args)

    async def _run(
        self, limiter: anyio.CapacityLimiter, work: Callable[..., Answer], *args: Any
    ) -> Answer:
        self.check_open()
        self._calls += 1
        self._note_call()
        try:
            return await to_thread.run_sync(work, *args, limiter=limiter)
        finally:
            self._calls -= 1
            if self.is_closed and not self._calls:
                self._is_idle.set()

    def refuse_more(self) -> None:
        """Take no further calls."""
        self.is_closed = True

    async def drain(self) -> None:
        """Wait for the calls that have begun: the database refuses to close under a reader."""
        if self._calls:
            with anyio.move_on_after(_DRAIN_S):
                await self._is_idle.wait()
