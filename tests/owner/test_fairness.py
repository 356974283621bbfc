"""How near the next call of one client is while another has thousands waiting."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import anyio

from contract_tests.processes import tool_call
from contract_tests.wire import as_line, initialize
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.surfaces.cli.owner import CALLS_OF_ONE_CLIENT, server_of_one_client
from graymatter_mcp.surfaces.mcp.answers import Caller, ToolAnswer
from graymatter_mcp.surfaces.mcp.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

CALLS: Final = 300
CORES: Final = 2


class Line:
    """Both ends of a connection: what a client says when it may, and how many answers it gets."""

    def __init__(self, may_speak: anyio.Event, *messages: object) -> None:
        self._may_speak = may_speak
        self._said = b"".join(map(as_line, messages))
        self.answers = 0

    async def receive(self) -> bytes:
        """Give everything, then the end."""
        await self._may_speak.wait()
        said, self._said = self._said, b""
        return said

    async def send(self, data: bytes) -> None:
        """Count the answers."""
        self.answers += len([json.loads(line) for line in data.splitlines()])

    def is_broken(self) -> bool:
        """Never."""
        return False


class Shared:
    """What all connections share: as many calls at work as there are cores, in their order."""

    def __init__(self) -> None:
        self.greedy_is_full = anyio.Event()
        self.carried_out: list[object] = []
        self._arrived = 0
        self._modest_is_here = anyio.Event()
        self._cores = anyio.CapacityLimiter(CORES)

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Work on nothing before the second client has come."""
        who = (arguments or {})["agent_id"]
        self._arrived += 1
        if self._arrived == CALLS_OF_ONE_CLIENT:
            self.greedy_is_full.set()
        if who == "modest":
            self._modest_is_here.set()
        async with self._cores:
            await self._modest_is_here.wait()
            self.carried_out.append(who)
        return ToolAnswer(text=name, is_error=True)


def search(number: int, who: str) -> dict[str, object]:
    """Build a call."""
    return tool_call(number, "memory_search", {"agent_id": who, "query": "x"})


def test_the_call_of_one_client_waits_behind_a_few_of_another_not_behind_all() -> None:
    """Issue 3: one connection has few calls at work, so that all connections take turns."""

    async def main() -> None:
        shared, at_once = Shared(), anyio.Event()
        at_once.set()
        opening = initialize("2025-11-25")
        greedy = Line(at_once, opening, *(search(number, "greedy") for number in range(CALLS)))
        modest = Line(shared.greedy_is_full, opening, search(1, "modest"))
        assert CALLS_OF_ONE_CLIENT < CALLS / 10
        bundle = load_bundle(("core",))
        async with anyio.create_task_group() as tasks:
            for line in (greedy, modest):
                server = server_of_one_client(bundle, shared, "1")
                tasks.start_soon(Exchange(line, line).serve, server)
        assert shared.carried_out.index("modest") <= CALLS_OF_ONE_CLIENT
        assert (greedy.answers, modest.answers) == (CALLS + 1, 2)

    anyio.run(main)
