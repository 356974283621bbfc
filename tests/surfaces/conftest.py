"""The bearer check before an app that says who came."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from httpx2 import ASGITransport, AsyncClient
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from graymatter_mcp.surfaces.auth import principal_of
from graymatter_mcp.surfaces.bearer import BearerMiddleware

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from graymatter_mcp.surfaces.auth import Authenticator


async def _who(request: Request) -> JSONResponse:
    principal = principal_of(request.scope)
    return JSONResponse(
        {
            "label": principal.label,
            "scope": principal.scope,
            "project": principal.project,
            "subject": principal.subject,
        }
    )


async def _alive(_: Request) -> JSONResponse:
    return JSONResponse({"status": "ok"})


@pytest.fixture
def client_of() -> Callable[[Authenticator], AsyncClient]:
    """Return a client of an app behind the bearer check."""

    def build(authenticator: Authenticator) -> AsyncClient:
        app = Starlette(routes=[Route("/who", _who), Route("/live", _alive)])
        transport = ASGITransport(BearerMiddleware(app, authenticator))
        return AsyncClient(transport=transport, base_url="http://memory.test")

    return build


@pytest.fixture
def anyio_backend() -> str:
    """Run what is asynchronous as the server does."""
    return "asyncio"
