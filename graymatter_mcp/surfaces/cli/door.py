"""How a command reaches the memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import anyio

from graymatter_mcp.compose import open_memory

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.surfaces.cli.app import Invocation

Answer = TypeVar("Answer")


def call_memory(
    invocation: Invocation,
    work: Callable[[Memory], Awaitable[Answer]],
    *,
    may_create: bool = True,
) -> Answer:
    """Run one piece of work on the memory that the call means, and close it.

    Raises:
        GraymatterError: The memory cannot be opened, or the work failed.
    """
    config = invocation.config()

    async def run() -> Answer:
        owned = open_memory(config, may_create=may_create)
        try:
            return await work(owned.memory)
        finally:
            await owned.aclose()

    return anyio.run(run)
