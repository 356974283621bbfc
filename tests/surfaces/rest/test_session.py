"""The web page's cookie at the gate: as good as its token, from our own pages only."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from httpx2 import ASGITransport, AsyncClient

from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.surfaces.credentials import BearerAuthenticator, OpenDoor
from graymatter_mcp.surfaces.http.gate import Gate
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.http.routes import RouteTable
from graymatter_mcp.surfaces.http.sessions import CookieSessions
from graymatter_mcp.surfaces.live_tokens import LiveTokens
from graymatter_mcp.surfaces.rest.accounts import ACCOUNT_HANDLERS
from graymatter_mcp.surfaces.rest.routes import rest_routes
from graymatter_mcp.surfaces.rest.session import session_routes
from graymatter_mcp.surfaces.tokens import TokenFile
from tests.engine.desk import QUIET
from tests.engine.plane.office import caller_of
from tests.surfaces.rest.conftest import SERVER

if TYPE_CHECKING:
    from pathlib import Path

    from httpx2 import Response

    from tests.engine.plane.office import Office

pytestmark = pytest.mark.anyio
ORIGIN = {"origin": "http://127.0.0.1:8137"}
PLACE = "/v1/me/session"


class Page:
    """A browser at our page: it keeps no cookie but the one it is told to send."""

    def __init__(self, office: Office, client: AsyncClient) -> None:
        self.office = office
        self.client = client

    async def sign_in(self, token: str, **headers: str) -> Response:
        """Show a token."""
        return await self.client.post(PLACE, json={"token": token}, headers=headers)

    async def cookie(self, token: str) -> str:
        """Show a token, and return the cookie as it is sent back."""
        answer = await self.sign_in(token)
        assert answer.status_code == 201, answer.text
        return answer.headers["set-cookie"].partition(";")[0]

    async def ask(
        self, cookie: str, method: str = "GET", path: str = PLACE, **headers: str
    ) -> Response:
        """Send a request with a cookie."""
        self.client.cookies.clear()
        sent = {"cookie": cookie, **headers}
        return await self.client.request(method, path, headers=sent)


Pages = Callable[..., Any]


def _ignore(*_: object) -> None:
    """Count nothing."""


@pytest.fixture
async def pages(office: Office, bearers: BearerAuthenticator) -> AsyncIterator[Callable[..., Any]]:
    """Serve the office to pages."""
    memory = LocalMemory(office.store, None, Analyzer(None), QUIET, office.clock)
    office.accounts = memory.plane.accounts
    bearers.use(office.accounts)

    @asynccontextmanager
    async def open_page(
        credentials: BearerAuthenticator | OpenDoor = bearers, *, is_https: bool = False
    ) -> AsyncGenerator[Page]:
        sessions = CookieSessions(credentials, memory.plane, is_https=is_https)
        routes = [
            *rest_routes(memory.plane, ACCOUNT_HANDLERS),
            *session_routes(memory.plane, sessions),
        ]
        gate: Any = Gate(
            RouteTable(routes),
            credentials,
            Places((), (), Address("127.0.0.1", 0)),
            Proxies(()),
            HttpLimits(per_minute=40),
            _ignore,
            sessions,
        )
        async with AsyncClient(
            transport=ASGITransport(gate), base_url="http://127.0.0.1:8137"
        ) as client:
            yield Page(office, client)

    yield open_page
    await memory.aclose()


@pytest.fixture
async def page(pages: Pages) -> AsyncIterator[Page]:
    """Open the page over plain HTTP."""
    async with pages() as one:
        yield one


async def test_a_good_token_is_exchanged_for_a_cookie(page: Page) -> None:
    """Data plane 8: 201, user and expiry, and a cookie that scripts cannot read."""
    ana = page.office.user("ana")
    token = page.office.accounts.tokens.create(ana).secret
    answer = await page.sign_in(token)
    assert answer.status_code == 201
    assert answer.json()["user"] == {"id": ana.user_id, "username": "ana", "role": "user"}
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name.startswith("gm_session=")
    assert attributes == ["Max-Age=604800", "Path=/", "HttpOnly", "SameSite=Strict"]
    assert token not in answer.text + answer.headers["set-cookie"]
    who = await page.ask(name)
    assert who.json()["user"]["username"] == "ana"
    assert "set-cookie" not in who.headers


async def test_a_bad_token_opens_nothing(page: Page) -> None:
    """Data plane 8: 401 as everywhere, told in the audit, and no more than the rate limit."""
    for token in ("nobody", "gm_" + "A" * 43, "two words", "é"):
        answer = await page.sign_in(token)
        assert (answer.status_code, answer.json()) == (401, {"error": "unauthorized"})
        assert answer.headers["www-authenticate"] == 'Bearer realm="graymatter"'
        assert "set-cookie" not in answer.headers
    assert page.office.actions() == [("session_open", None, "unauthorized")] * 4
    missing = await page.client.post(PLACE, json={})
    assert missing.status_code == 400
    tries = [(await page.sign_in("nobody")).status_code for _ in range(40)]
    assert tries == [401] * 35 + [429] * 5


async def test_a_cookie_dies_with_its_token(page: Page, tmp_path: Path) -> None:
    """Data plane 8: on the next request; the server token, the file's, an account's."""
    ana = page.office.user("ana")
    tokens = page.office.accounts.tokens
    revoked, rotated = tokens.create(ana), tokens.create(ana)
    in_file = TokenFile(tmp_path).create()
    secrets = [revoked.secret, rotated.secret, in_file.secret]
    cookies = [await page.cookie(one) for one in secrets]
    assert [(await page.ask(one)).status_code for one in cookies] == [200] * 3
    tokens.revoke(ana, revoked.token.id)
    tokens.rotate(caller_of(rotated.token))
    TokenFile(tmp_path).revoke(in_file.stored.id)
    assert [(await page.ask(one)).status_code for one in cookies] == [401] * 3


async def test_a_cookie_of_another_server_token_is_none(
    pages: Pages, page: Page, tmp_path: Path
) -> None:
    """Data plane 8: a server token that was changed takes its sessions along."""
    cookie = await page.cookie(SERVER)
    assert (await page.ask(cookie)).json()["user"]["username"] == "local"
    changed = BearerAuthenticator("another server token", LiveTokens(tmp_path))
    changed.use(page.office.accounts)
    async with pages(changed) as later:
        assert (await later.ask(cookie)).status_code == 401


async def test_a_cookie_changes_nothing_without_an_origin_of_ours(page: Page) -> None:
    """Data plane 2.1: 403 origin not allowed; reading needs none."""
    cookie = await page.cookie(SERVER)
    for method, path in (
        ("DELETE", PLACE),
        ("POST", "/v1/me/tokens"),
        ("DELETE", "/v1/me/active-project"),
    ):
        for headers in ({}, {"origin": "https://evil.example"}):
            answer = await page.ask(cookie, method, path, **headers)
            assert (answer.status_code, answer.json()) == (403, {"error": "origin not allowed"})
    assert (await page.ask(cookie)).status_code == 200
    made = await page.ask(cookie, "POST", "/v1/me/tokens", **ORIGIN)
    assert made.status_code == 201
    bearer = {"authorization": f"Bearer {SERVER}"}
    left = await page.ask(cookie, "DELETE", "/v1/me/active-project", **bearer)
    assert left.status_code == 204


async def test_a_cookie_is_taken_at_the_page_s_routes_only(page: Page) -> None:
    """Data plane 2.1: `/v1/me/*`; the rotation of tokens asks for a bearer."""
    cookie = await page.cookie(SERVER)
    for method, path in (("GET", "/v1/admin/users"), ("POST", "/v1/auth/rotate-token")):
        assert (await page.ask(cookie, method, path, **ORIGIN)).status_code == 401
    for bad in (f"{cookie}; gm_session=x", f"__Host-{cookie}", "gm_session=", cookie.upper()):
        assert (await page.ask(bad)).status_code == 401
    wrong = await page.ask(cookie, authorization="Bearer nobody")
    assert wrong.status_code == 401


async def test_signing_out_ends_the_session(page: Page) -> None:
    """Data plane 8: 204, and the cookie is taken away."""
    cookie, other = await page.cookie(SERVER), await page.cookie(SERVER)
    answer = await page.ask(cookie, "DELETE", **ORIGIN)
    assert answer.status_code == 204
    assert answer.headers["set-cookie"].startswith("gm_session=; Max-Age=0; ")
    assert (await page.ask(cookie)).status_code == 401
    assert (await page.ask(other)).status_code == 200
    bearer = {"authorization": f"Bearer {SERVER}"}
    assert (await page.client.delete(PLACE, headers=bearer)).status_code == 204


async def test_a_session_in_use_is_renewed_daily(page: Page) -> None:
    """Data plane 8: 7 days from the last renewal."""
    cookie = await page.cookie(SERVER)
    page.office.now.forward(days=1)
    renewed = await page.ask(cookie)
    assert renewed.headers["set-cookie"].startswith(f"{cookie}; Max-Age=604800; ")
    assert "set-cookie" not in (await page.ask(cookie)).headers
    page.office.now.now += timedelta(days=7)
    assert (await page.ask(cookie)).status_code == 401


async def test_over_tls_the_cookie_is_of_this_host_alone(pages: Pages) -> None:
    """Data plane 8: `__Host-` on HTTPS, and no other name is read there."""
    async with pages(is_https=True) as page:
        answer = await page.sign_in(SERVER)
        name, *attributes = answer.headers["set-cookie"].split("; ")
        assert name.startswith("__Host-gm_session=")
        assert attributes == ["Max-Age=604800", "Path=/", "HttpOnly", "SameSite=Strict", "Secure"]
        assert (await page.ask(name)).status_code == 200
        assert (await page.ask(name.removeprefix("__Host-"))).status_code == 401


async def test_where_nobody_is_asked_the_page_opens_too(pages: Pages) -> None:
    """`--no-auth`: whatever is shown, it is this machine's user."""
    async with pages(OpenDoor()) as page:
        cookie = await page.cookie("anything")
        who = (await page.ask(cookie)).json()
        assert who["user"]["id"] == LOCAL_CALLER.user_id
