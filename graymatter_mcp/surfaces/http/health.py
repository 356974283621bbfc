"""Whether the process lives, and whether its store answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import anyio

from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.surfaces.http.messages import json_answer

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest

OK: Final = json_answer(200, {"status": "ok"})
UNAVAILABLE: Final = json_answer(503, {"error": "store unavailable"})
LEAVING: Final = json_answer(503, {"error": "server is draining"}, (b"retry-after", b"1"))
PROBE_TIMEOUT_S: Final = 5.0


class Health:
    """The two probes; neither says more than yes or no."""

    def __init__(self, memory: Memory, is_draining: Callable[[], bool]) -> None:
        self._memory = memory
        self._is_draining = is_draining

    async def live(self, _: HttpRequest) -> HttpAnswer:
        """Answer as long as the process can."""
        return OK

    async def ready(self, _: HttpRequest) -> HttpAnswer:
        """Ask the store."""
        if self._is_draining():
            return LEAVING
        try:
            with anyio.fail_after(PROBE_TIMEOUT_S):
                await self._memory.ping()
        except (GraymatterError, TimeoutError):
            return UNAVAILABLE
        return OK
