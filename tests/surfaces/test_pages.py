"""Pages of other sites: only those of a listed origin may read what they are answered."""

from __future__ import annotations

from typing import Any, cast

import pytest
from httpx2 import ASGITransport, AsyncClient

from graymatter_mcp.surfaces.credentials import OpenDoor
from graymatter_mcp.surfaces.http.gate import Gate
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest, json_answer
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.http.routes import Route, RouteTable

LISTED = "https://app.example.org"
ASKING = {"access-control-request-method": "POST", "access-control-request-headers": "x"}

pytestmark = pytest.mark.anyio


async def _done(_: HttpRequest) -> HttpAnswer:
    return json_answer(200, {"done": True})


@pytest.fixture
def client() -> AsyncClient:
    """Return a client of a server that lists one origin."""
    route = Route(path="/v1/search", methods=("POST",), endpoint=_done)
    gate = Gate(
        RouteTable([route]),
        OpenDoor(),
        Places((), (LISTED,), Address("127.0.0.1", 0)),
        Proxies(()),
        HttpLimits(per_minute=0),
        lambda _place, _method, _status, _seconds: None,
    )
    transport = ASGITransport(cast("Any", gate))  # its scopes are of a narrower type
    return AsyncClient(transport=transport, base_url="http://127.0.0.1:8137")


async def test_a_page_of_a_listed_origin_may_read_its_answers(client: AsyncClient) -> None:
    """Data plane 2.2: a listed origin is reflected with `Vary: Origin`."""
    answer = await client.post("/v1/search", headers={"origin": LISTED})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == LISTED
    assert answer.headers["vary"] == "Origin"
    missing = await client.post("/v1/nowhere", headers={"origin": LISTED})
    assert (missing.status_code, missing.headers["access-control-allow-origin"]) == (404, LISTED)


async def test_a_browser_hears_what_a_listed_page_may_do(client: AsyncClient) -> None:
    """Data plane 2.2: the question comes before any bearer, and tells nothing else."""
    answer = await client.options("/v1/search", headers={"origin": LISTED, **ASKING})
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["access-control-allow-methods"] == "POST"
    assert "authorization" in answer.headers["access-control-allow-headers"]
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://evil.example", None])
async def test_no_other_page_may_read_anything(client: AsyncClient, origin: str | None) -> None:
    """Data plane 2.2: an unlisted origin gets no allow header, and no answer to the question."""
    headers = {} if origin is None else {"origin": origin}
    for answer in (
        await client.post("/v1/search", headers=headers),
        await client.options("/v1/search", headers={**headers, **ASKING}),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert answer.status_code in (403, 405)
