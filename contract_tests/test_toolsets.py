"""Which toolsets are served is for the one who starts the server to say."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from contract_tests.manifest import promise
from contract_tests.processes import connected, end_all, greet, owner_note
from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    StdioWire,
    environment,
    graymatter,
    initialize,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory that does not exist yet; fails when a process outlives the test."""
    directory = tmp_path / "store"
    yield directory
    end_all(directory)


def listed(wire: StdioWire) -> object:
    """Return the list of tools of a fresh session."""
    wire.ask(initialize("2025-11-25"))
    return wire.ask(request(1, "tools/list"))["result"]


@promise("toolsets:chosen")
@pytest.mark.parametrize("transport", [BridgeWire, StdioWire])
def test_the_core_is_what_is_served_unless_more_is_asked_for(
    transport: type[StdioWire], store: Path
) -> None:
    """F10; design, section 7."""
    with transport(store) as wire:
        plain = listed(wire)
    for arguments in (["--toolset", "core"], ["--toolset=core"]):
        with transport(store, arguments) as wire:
            assert listed(wire) == plain


@promise("toolsets:chosen")
@pytest.mark.parametrize("start", [["mcp", "serve"], ["mcp", "serve", "--http", "127.0.0.1:0"]])
@pytest.mark.parametrize(
    ("toolsets", "words"),
    [
        ("nope", 'unknown toolset "nope"; known: core'),
        ("core,nope", 'unknown toolset "nope"; known: core'),
        ("../built", 'unknown toolset "../built"; known: core'),
        ("core,core", "toolsets must name each wanted toolset once"),
        ("", 'unknown toolset ""; known: core'),
    ],
)
def test_a_toolset_that_is_not_known_stops_the_start(
    start: list[str], toolsets: str, words: str, store: Path
) -> None:
    """Contract 2.1: before anything is made."""
    done = subprocess.run(
        [graymatter(), "--dir", str(store), *start, "--toolset", toolsets],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        env=environment(),
        timeout=DEADLINE_S,
    )
    assert done.returncode != 0
    assert done.stdout == ""
    assert words in done.stderr
    assert not store.exists()


@promise("toolsets:chosen")
def test_an_owner_refuses_toolsets_that_it_does_not_know(store: Path) -> None:
    """A connection gets what it asked for, or a reason."""
    with BridgeWire(store) as wire:
        wire.ask(initialize("2025-11-25"))
        hello = {"graymatter": "hello", "version": "0", "token": owner_note(store)["token"]}
        for extra, answer in (({}, "hello"), ({"toolsets": "core"}, "hello")):
            with connected(store, "lines") as connection:
                assert greet(connection, {**hello, **extra})["graymatter"] == answer
        with connected(store, "lines") as connection:
            refusal = greet(connection, {**hello, "toolsets": "core,nope"})
            assert refusal["graymatter"] == "refused"
            assert refusal["reason"].startswith('unknown toolset "nope"')
            assert connection.recv(1) == b""
