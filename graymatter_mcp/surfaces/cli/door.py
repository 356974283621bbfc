"""How a command reaches the memory: through the owner, or as one."""

from __future__ import annotations

from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar, cast

import anyio

from graymatter_mcp.bridge.directory import holds_store
from graymatter_mcp.bridge.link import NoOwnerError, attend, own_command, reach_owner
from graymatter_mcp.errors import NoStoreError, StoreUnavailableError
from graymatter_mcp.owner.client import Presence, RemoteMemory

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.surfaces.cli.app import Invocation

Answer = TypeVar("Answer")


def call_memory(
    invocation: Invocation,
    work: Callable[[Memory], Awaitable[Answer]],
    *,
    may_create: bool = True,
    may_start: bool = True,
) -> Answer:
    """Run one piece of work on the memory that the call means.

    Args:
        invocation: Names the directory, and whether an owner is wanted.
        work: Awaited once.
        may_create: Whether a directory without a memory gets one.
        may_start: Whether an owner is started where none runs; else this process is the owner.

    Raises:
        GraymatterError: The memory cannot be reached, or the work failed.
    """
    config = invocation.config()
    if not may_create and not holds_store(str(config.data_dir)):
        raise NoStoreError("there is no memory here")
    if invocation.is_in_process:
        return anyio.run(_in_process, config, work)
    directory = str(config.data_dir)
    presence = Presence(partial(_reach if may_start else attend, directory))
    if not presence.renew():
        return anyio.run(_in_process, config, work)

    async def run() -> Answer:
        memory = cast("Memory", RemoteMemory(config.data_dir, presence))  # methods by name
        try:
            return await work(memory)
        finally:
            await memory.aclose()

    return anyio.run(run)


def _reach(directory: str) -> socket.socket:
    version = metadata.version("graymatter-mcp")
    try:
        owner = reach_owner(directory, version, own_command(directory, may_create=True))
    except NoOwnerError as exc:
        raise StoreUnavailableError(str(exc)) from exc
    return owner.connection


async def _in_process(config: Config, work: Callable[[Memory], Awaitable[Answer]]) -> Answer:
    # Imported on use: it brings the database and the model.
    from graymatter_mcp.compose import open_memory

    owned = open_memory(config)
    try:
        return await work(owned.memory)
    finally:
        await owned.aclose()
