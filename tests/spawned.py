"""A real client that spawns a server as a user's configuration names it."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp import Client, StdioServerParameters

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).parents[1]
"""The checkout, or the unpacked source distribution."""

BIN = Path(sys.executable).parent
"""Where the command `graymatter` of this environment lies."""

FACT = "The staging port is 8137."


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What one client saw of one server."""

    name: str
    version: str
    tools: list[dict[str, Any]]
    facts: list[str]
    """What a search found after `FACT` was added."""


def meet(
    command: str, args: Sequence[str], *, cwd: Path, env: Mapping[str, str], path: Path = BIN
) -> Seen:
    """Start the server, list its tools, add `FACT`, search for it and leave.

    Args:
        command: As configured; looked up in `path` first.
        args: As configured.
        cwd: The project that the client has open.
        env: As configured.
        path: The directory that is first on PATH.
    """
    return anyio.run(_meet, command, list(args), cwd, {**user_environment(path), **env})


def user_environment(path: Path = BIN) -> dict[str, str]:
    """Return a user's shell with `path` first on PATH, where an owner soon leaves by itself."""
    return {"PATH": f"{path}{os.pathsep}{os.environ['PATH']}", "GRAYMATTER_IDLE_EXIT": "1s"}


async def _meet(command: str, args: list[str], cwd: Path, env: dict[str, str]) -> Seen:
    server = StdioServerParameters(command=command, args=args, cwd=cwd, env=env)
    with anyio.fail_after(60):
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            added = await client.call_tool("memory_add", {"agent_id": "a", "text": FACT})
            assert not added.is_error
            found = await client.call_tool("memory_search", {"agent_id": "a", "query": "8137"})
            info = client.server_info
            assert info is not None
            assert found.structured_content is not None
            return Seen(
                name=info.name,
                version=info.version,
                tools=[tool.model_dump(by_alias=True, exclude_none=True) for tool in tools],
                facts=found.structured_content["facts"],
            )
