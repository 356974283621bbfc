"""The HTTP application in this process: a request in, an answer out, over a real engine."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from contract_tests.inside import engine, keyword_config
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.surfaces.http.app import HttpApp
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
from graymatter_mcp.surfaces.mcp.http import McpEndpoint
from graymatter_mcp.surfaces.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

    from contract_tests.inside import Engine
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.surfaces.auth import Authenticator

NO_RATE: Final = HttpLimits(per_minute=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request as a client could send it."""

    method: str = "POST"
    path: str = "/mcp"
    headers: Sequence[tuple[bytes, bytes]] = ()
    body: Sequence[bytes] = (b"",)
    """In the pieces in which it arrives."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        """The JSON in the body."""
        return json.loads(self.body)


def application(memory: Memory, who: Authenticator, limits: HttpLimits = NO_RATE) -> HttpApp:
    """Put the application of a server together, without a socket."""
    bundle = load_bundle(("core",))
    server = build_server(bundle, Dispatcher(bundle, memory))
    endpoint = McpEndpoint(server, frozenset(tool.name for tool in bundle.tools))
    places = Places((), (), Address("127.0.0.1", 8137))
    return HttpApp(memory, endpoint, who, places, Proxies(()), limits)


@contextmanager
def serving(
    directory: Path, who: Authenticator, limits: HttpLimits = NO_RATE
) -> Generator[tuple[Engine, HttpApp]]:
    """Open a memory and an application on it."""
    with engine(keyword_config(directory)) as opened:
        yield opened, application(opened.memory, who, limits)


async def answer(app: HttpApp, asked: Asked) -> Answered:
    """Send one request through the gate."""
    pieces = list(asked.body)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not pieces:
            return {"type": "http.disconnect"}
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": asked.method,
        "path": asked.path,
        "headers": list(asked.headers),
        "client": ("203.0.113.9", 4711),
    }
    await app.gate(scope, receive, send)
    start, body = sent
    headers = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Answered(start["status"], headers, body["body"])
