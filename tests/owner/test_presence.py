"""Whoever is at work on a memory, or about to be, keeps its owner from leaving as idle."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import anyio
import pytest

from contract_tests.processes import (
    connected,
    greet,
    is_running,
    owner_note,
    owner_pid,
    wait_until,
)
from contract_tests.wire import environment, graymatter
from graymatter_mcp.bridge.link import attend
from graymatter_mcp.owner.client import Presence, RemoteMemory, ask_owner, is_owned
from graymatter_mcp.owner.doors import LinesDoor, address_of, bind_doors, listen
from graymatter_mcp.surfaces.mcp.server import GraymatterServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from graymatter_mcp.engine.base import Memory

IDLE_S: Final = 0.5
LONG_S: Final = 3 * IDLE_S
"""An owner without clients has left by then."""

Owner = subprocess.Popen[bytes]


@pytest.fixture
def start(store: Path) -> Iterator[Callable[[], Owner]]:
    """Start an owner that leaves as soon as nobody needs it."""
    started: list[Owner] = []

    def start() -> Owner:
        arguments = ["daemon", "run", "--idle-exit", f"{IDLE_S}s"]
        owner = subprocess.Popen(
            [graymatter(), "--dir", str(store), *arguments],
            env=environment(),
            stderr=subprocess.DEVNULL,
        )
        started.append(owner)
        wait_until(lambda: is_owned(store), "the owner answers")
        return owner

    yield start
    for owner in started:
        owner.kill()
        owner.wait()


def test_an_owner_stays_for_whoever_is_attached_and_leaves_after_it(
    store: Path, start: Callable[[], Owner]
) -> None:
    """Issue 3: a library or command may think for long between two calls."""
    owner = start()
    memory = cast("Memory", RemoteMemory(store))  # its methods go by name

    async def call_think_and_call() -> None:
        await memory.list_agents()
        await anyio.sleep(LONG_S)
        await memory.list_agents()
        await memory.aclose()

    anyio.run(call_think_and_call)
    owner.wait()


def test_an_owner_stays_for_whoever_is_about_to_greet_it(
    store: Path, start: Callable[[], Owner]
) -> None:
    """Issue 3: on a busy machine a client is slow to say its first word."""
    start()
    with connected(store, "lines") as connection:
        time.sleep(LONG_S)
        token = owner_note(store)["token"]
        assert greet(connection, {"graymatter": "hello", "token": token})["graymatter"] == "hello"


def test_a_presence_goes_over_to_the_next_owner(store: Path, start: Callable[[], Owner]) -> None:
    """Issue 3: an owner may be killed, and another one come, between two calls."""
    presence = Presence(partial(attend, str(store)))
    assert not presence.renew()
    first = start()
    assert presence.renew()
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert not presence.renew()
    start()
    assert presence.renew()
    time.sleep(LONG_S)
    assert ask_owner(store, "GET", "/owner")["clients"] == 1
    assert presence.renew()
    assert ask_owner(store, "GET", "/owner")["clients"] == 1
    last = owner_pid(store)
    presence.close()
    wait_until(lambda: not is_running(last), "the owner leaves")


def test_a_client_greeted_while_the_owner_was_asked_to_leave_does_not_hold_it(
    store: Path,
) -> None:
    """Issue 3: it is let go at once, to find the next owner."""
    store.mkdir()
    door = bind_doors(store, ("lines",), loopback_tcp=False)["lines"]

    async def hello(_hello: dict[str, Any]) -> dict[str, Any]:
        lines.stop()
        return {"graymatter": "hello"}

    lines = LinesDoor("t", hello, _server, lambda: None)

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, door, lines.serve)
            async with await anyio.connect_unix(address_of(door)) as stream:
                await stream.send(json.dumps({"token": "t"}).encode() + b"\n")
                assert json.loads(await stream.receive()) == {"graymatter": "hello"}
                with anyio.fail_after(20), pytest.raises(anyio.EndOfStream):
                    await stream.receive()
            tasks.cancel_scope.cancel()

    anyio.run(main)


def _server(_toolsets: tuple[str, ...]) -> GraymatterServer:
    return GraymatterServer("t")
