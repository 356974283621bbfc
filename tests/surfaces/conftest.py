"""The gate of the HTTP server before a route that says who came."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest
from httpx2 import ASGITransport, AsyncClient

from graymatter_mcp.surfaces.http.gate import Gate
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.messages import json_answer
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.http.routes import Route, RouteTable

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.surfaces.auth import Authenticator
    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest


async def _who(request: HttpRequest) -> HttpAnswer:
    principal = request.principal
    assert principal is not None
    return json_answer(
        200,
        {
            "label": principal.label,
            "scope": principal.scope,
            "project": principal.project,
            "subject": principal.subject,
        },
    )


async def _alive(_: HttpRequest) -> HttpAnswer:
    return json_answer(200, {"status": "ok"})


ROUTES = (
    Route(path="/who", methods=("GET",), endpoint=_who),
    Route(path="/live", methods=("GET",), endpoint=_alive, is_open=True),
)


def _ignore(*_: object) -> None:
    """Count nothing."""


@pytest.fixture
def client_of() -> Callable[..., AsyncClient]:
    """Return a client of a server with this check of bearers, and perhaps further routes."""

    def build(authenticator: Authenticator, *more: Route) -> AsyncClient:
        gate = Gate(
            RouteTable([*ROUTES, *more]),
            authenticator,
            Places((), (), Address("127.0.0.1", 0)),
            Proxies(()),
            HttpLimits(per_minute=0),
            _ignore,
        )
        transport = ASGITransport(cast("Any", gate))  # its scopes are of a narrower type
        return AsyncClient(transport=transport, base_url="http://127.0.0.1:8137")

    return build


@pytest.fixture
def anyio_backend() -> str:
    """Run what is asynchronous as the server does."""
    return "asyncio"
