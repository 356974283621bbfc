"""Every route times every kind of credential, with an issuer and without one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from contract_tests.credentials import SERVER_TOKEN, handed_out
from contract_tests.http_wire import JSON_HEADERS, HttpServer, ask
from contract_tests.issuer import IssuerProcess
from contract_tests.manifest import promise
from contract_tests.test_http_access import PING
from contract_tests.test_http_oauth import STRANGERS
from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.settings import read_settings
from graymatter_mcp.surfaces.http.app import HttpApp
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.metadata import metadata_routes
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.oauth_config import oauth_config

if TYPE_CHECKING:
    import http.client
    from collections.abc import Iterator, Mapping

    from graymatter_mcp.contract.routes import RouteContract

UNKNOWN: Final = ("none", "empty", "basic", "wrong", "expired", "revoked", "other audience")
KNOWN: Final = ("server", "full", "read_only", "pinned")
ISSUED: Final = ("issued to write", "issued to read")
TOO_LITTLE: Final = "issued too little"
FOREIGN: Final = tuple(f"signed: {why}" for why in STRANGERS)
KINDS: Final = {
    "alone": (*UNKNOWN, *KNOWN),
    "issuer": (*UNKNOWN, *FOREIGN, *KNOWN, *ISSUED, TOO_LITTLE),
}
"""What a caller may show to a server with its own tokens alone, and to one with an issuer."""

OPEN_STATUS: Final[dict[str, int]] = dict.fromkeys(KINDS["issuer"], 200)
CLOSED_STATUS: Final[dict[str, int]] = {
    **dict.fromkeys((*UNKNOWN, *FOREIGN), 401),
    **dict.fromkeys((*KNOWN, *ISSUED), 200),
    TOO_LITTLE: 403,
}
METADATA: Final = (
    "/.well-known/oauth-protected-resource/mcp",
    "/.well-known/oauth-protected-resource/team/mcp",
)
EVERYWHERE: Final[dict[tuple[str, str], dict[str, int]]] = {
    ("/live", "GET"): OPEN_STATUS,
    ("/live", "HEAD"): OPEN_STATUS,
    ("/ready", "GET"): OPEN_STATUS,
    ("/ready", "HEAD"): OPEN_STATUS,
    ("/healthz", "GET"): OPEN_STATUS,
    ("/healthz", "HEAD"): OPEN_STATUS,
    ("/mcp", "POST"): CLOSED_STATUS,
    ("/metrics", "GET"): {**CLOSED_STATUS, "pinned": 403},
}
EXPECTED: Final = {
    "alone": EVERYWHERE,
    "issuer": {
        **EVERYWHERE,
        **{(path, method): OPEN_STATUS for path in METADATA for method in ("GET", "HEAD")},
    },
}
"""Route and method: the status of each kind of credential. A new route without a row fails."""

CASES: Final = [
    (door, place, kind)
    for door, places in EXPECTED.items()
    for place in places
    for kind in KINDS[door]
]
OPEN_ROUTES: Final = frozenset({"healthz", "session-create"})
"""Of the files; the probes, the metadata and the page are not described there."""
FORBIDDEN: Final = {"pinned": "token is confined to its project", TOO_LITTLE: "insufficient scope"}
PUBLIC: Final = "http://127.0.0.1:8137/team"


def variables(issuer: str) -> dict[str, str]:
    """Return the settings of a server that trusts an issuer."""
    return {
        "GRAYMATTER_OAUTH_ISSUER": issuer,
        "GRAYMATTER_OAUTH_JWKS_URL": f"{issuer}/jwks",
        "GRAYMATTER_OAUTH_AUDIENCE": "http://127.0.0.1:8137/mcp",
        "GRAYMATTER_OAUTH_SCOPES": "memory:read",
        "GRAYMATTER_PUBLIC_URL": PUBLIC,
    }


class Door:
    """A server, and what each kind of caller shows it."""

    def __init__(self, server: HttpServer, shown: Mapping[str, str | None]) -> None:
        self._shown = shown
        self.connection: http.client.HTTPConnection = server.connect()

    def bearer(self, kind: str) -> dict[str, str]:
        """Return the header of one kind of credential."""
        value = self._shown[kind]
        return {} if value is None else {"authorization": value}


@pytest.fixture(scope="module")
def doors(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Door]]:
    """Both servers, and an issuer that runs."""
    common = {"GRAYMATTER_HTTP_TOKEN": f" {SERVER_TOKEN}\n", "GRAYMATTER_RATE_LIMIT": "0"}
    issuer = IssuerProcess()
    issued = {
        **{f"signed: {why}": issuer.sign(**asked()) for why, asked in STRANGERS.items()},
        "issued to write": issuer.issue("memory:read memory:write"),
        "issued to read": issuer.issue("memory:read"),
        TOO_LITTLE: issuer.issue("memory:write"),
    }
    signed = {kind: f"Bearer {token}" for kind, token in issued.items()}
    stores = {name: tmp_path_factory.mktemp("sweep") / name for name in KINDS}
    own = {name: handed_out(store).by_kind for name, store in stores.items()}
    trust = {**variables(issuer.url), "NO_PROXY": "127.0.0.1"}
    with (
        HttpServer(stores["alone"], **common) as alone,
        HttpServer(stores["issuer"], **common, **trust) as trusting,
    ):
        opened = {
            "alone": Door(alone, own["alone"]),
            "issuer": Door(trusting, {**own["issuer"], **signed}),
        }
        yield opened
        for door in opened.values():
            door.connection.close()
    issuer.close()


def routes() -> set[tuple[str, str]]:
    """Return every route and method that a server has."""
    nothing = cast("Any", None)  # a table of routes asks nobody
    places = Places((), (), Address("127.0.0.1", 0))
    more = metadata_routes(oauth_config(read_settings()))
    app = HttpApp(nothing, nothing, nothing, places, Proxies(()), HttpLimits(), more=more)
    return {(route.path, method) for route in app.table.routes for method in route.methods}


@promise("http:sweep")
def test_no_route_is_left_out_of_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue 4: a new route without a row fails."""
    assert set(EXPECTED["alone"]) == routes()
    for name, value in variables("https://issuer.example.org").items():
        monkeypatch.setenv(name, value)
    assert set(EXPECTED["issuer"]) == routes()


@promise("http:sweep", "http:challenge", "oauth:strangers")
@pytest.mark.parametrize(("door", "place", "kind"), CASES)
def test_every_route_answers_each_credential_as_specified(
    door: str, place: tuple[str, str], kind: str, doors: dict[str, Door]
) -> None:
    """C73, F14, F16; contract 10.3."""
    path, method = place
    body = PING if method == "POST" else None
    headers = {**JSON_HEADERS, **doors[door].bearer(kind)}
    answer = ask(doors[door].connection, method, path, body, headers)
    assert answer.status == EXPECTED[door][place][kind]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    if answer.status == 401:
        assert answer.body == b'{"error":"unauthorized"}'
    if answer.status == 403:
        assert answer.document == {"error": FORBIDDEN[kind]}
    challenge = answer.headers.get("www-authenticate", "")
    if answer.status == 401 or (kind == TOO_LITTLE and answer.status == 403):
        assert challenge.startswith('Bearer realm="graymatter"')
        assert ("resource_metadata=" in challenge) == (door == "issuer")
        assert door == "issuer" or challenge == 'Bearer realm="graymatter"'
    else:
        assert challenge == ""


@promise("http:sweep", "plane:bearers")
@pytest.mark.parametrize("door", list(KINDS))
@pytest.mark.parametrize("route", load_routes(), ids=[route.name for route in load_routes()])
def test_no_stranger_gets_into_the_data_plane(
    door: str, route: RouteContract, doors: dict[str, Door]
) -> None:
    """D11: every route of the files by every path, but those that are open."""
    strangers = [kind for kind in KINDS[door] if CLOSED_STATUS[kind] == 401]
    assert route.is_open is (route.name in OPEN_ROUTES)
    for path in () if route.is_open else route.paths:
        place = re.sub(r"{\w+}", "01ARZ3NDEKTSV4RRFFQ69G5FAV", path)
        for kind in strangers:
            answer = ask(
                doors[door].connection, route.method, place, None, doors[door].bearer(kind)
            )
            assert (answer.status, answer.body) == (401, b'{"error":"unauthorized"}'), (path, kind)
            challenge = answer.headers["www-authenticate"]
            assert challenge.startswith('Bearer realm="graymatter"')
            assert ("resource_metadata=" in challenge) == (door == "issuer")
