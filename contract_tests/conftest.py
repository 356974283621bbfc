"""Transports, doors and callers: which client, in which revision, over what."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest
from mcp import StdioServerParameters

from contract_tests.caller import Caller
from contract_tests.clients import Client, PythonClient, RawClient
from contract_tests.http_wire import HttpWire
from contract_tests.plane_server import plane_server
from contract_tests.plane_wire import Plane
from contract_tests.wire import (
    HANDSHAKE_REVISIONS,
    REVISIONS,
    STATELESS_REVISION,
    BridgeWire,
    StdioWire,
    environment,
    graymatter,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    from contract_tests.wire import Wire

TRANSPORTS: Final[Mapping[str, Callable[..., Wire]]] = {
    "stdio": BridgeWire,
    "stdio-alone": StdioWire,
    "http": HttpWire,
}
"""How a wire to a fresh server on a directory is opened. A new transport is one more entry."""

STREAMS: Final = tuple(name for name in TRANSPORTS if name != "http")
"""Where a connection has a state; over HTTP each request stands alone."""

RAW_DOORS: Final = (
    *((revision, "stdio") for revision in REVISIONS),
    (HANDSHAKE_REVISIONS[-1], "http"),
    (STATELESS_REVISION, "http"),
)
DOORS: Final = (
    *RAW_DOORS,
    ("python-legacy", "stdio-alone"),
    ("python-auto", "stdio-alone"),
)
"""Raw lines in each revision, the official Python client in each era; and over what.

Not every pair: each transport carries both eras, each revision and each client is spoken.
"""


def door_id(door: tuple[str, str]) -> str:
    """Name a door: by who calls, and how where that is not over pipes."""
    who, transport = door
    return f"{who}-http" if transport == "http" else who


raw_doors_only = pytest.mark.parametrize(
    "caller", RAW_DOORS, ids=map(door_id, RAW_DOORS), indirect=True, scope="session"
)
"""For what the official client cannot send, or does not show as it came."""

_agents = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Tests never write snapshots; this option does."""
    parser.addoption(
        "--update-snapshots", action="store_true", help="Write snapshots of the running server."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register our marks."""
    config.addinivalue_line("markers", "promise(*ids): rows of the manifest that a test holds")


@pytest.fixture(scope="session", params=list(TRANSPORTS))
def transport(request: pytest.FixtureRequest) -> str:
    """What carries the messages."""
    return request.param


def open_door(door: str, transport: str, directory: Path) -> Client:
    """Start a server on a directory and connect to it.

    The official client starts its server itself, so it comes with one transport only.
    """
    if door in REVISIONS:
        return RawClient(TRANSPORTS[transport](directory), door)
    parameters = StdioServerParameters(
        command=graymatter(),
        args=["--dir", str(directory), "--quiet", "--no-daemon", "mcp", "serve"],
        env=environment(),
    )
    return PythonClient(parameters, "auto" if door == "python-auto" else "legacy")


@pytest.fixture(scope="session", params=DOORS, ids=[door_id(door) for door in DOORS])
def caller(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Caller]:
    """A checked client at every door in turn; its server lives as long as the door is in use."""
    door, transport = request.param
    client = open_door(door, transport, tmp_path_factory.mktemp("store"))
    yield Caller(client)
    client.close()


@pytest.fixture(scope="session")
def newest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """One checked client in the newest revision, for what no revision can change."""
    client = open_door(STATELESS_REVISION, "stdio", tmp_path_factory.mktemp("newest"))
    yield Caller(client)
    client.close()


@pytest.fixture
def agent() -> str:
    """A namespace that nobody has used."""
    return f"agent-{next(_agents)}"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Caller]]:
    """Start servers of one's own; keyword arguments are environment variables.

    The directory is the test's `tmp_path` / "store"; each start ends the one before it.
    """
    running: list[Client] = []

    def stop() -> None:
        while running:
            running.pop().close()

    def launch(**variables: str) -> Caller:
        stop()
        client = RawClient(StdioWire(tmp_path / "store", **variables), STATELESS_REVISION)
        running.append(client)
        return Caller(client)

    yield launch
    stop()


@pytest.fixture(scope="session")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """The data plane with the bundled model; every case takes a shelf of its own."""
    with plane_server(tmp_path_factory.mktemp("plane")) as server:
        server.settle()
        yield Plane(server)


@pytest.fixture
def open_plane(tmp_path: Path) -> Iterator[Callable[..., Plane]]:
    """Open a data plane of one's own; keyword arguments are those of `plane_server`.

    The directory is the test's `tmp_path` / "plane"; each start ends the one before it.
    """
    with ExitStack() as running:

        def launch(**options: Any) -> Plane:
            running.close()
            server = running.enter_context(plane_server(tmp_path / "plane", **options))
            server.settle()
            return Plane(server)

        yield launch
