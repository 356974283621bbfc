"""A server that trusts an issuer: real processes both, and a client between them."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import JSON_HEADERS, HttpServer, ask, mcp_headers
from contract_tests.issuer import IssuerProcess
from contract_tests.manifest import promise
from contract_tests.wire import ENVELOPE, request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contract_tests.http_wire import Response

PUBLIC: Final = "http://127.0.0.1:8137"
WELL_KNOWN: Final = "/.well-known/oauth-protected-resource/mcp"
CHALLENGE: Final = (
    'Bearer realm="graymatter"{error}, scope="memory:read memory:write",'
    f' resource_metadata="{PUBLIC}{WELL_KNOWN}"'
)
STRANGERS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "wrong audience": lambda: {"claims": {"aud": "https://other.example.org/mcp"}},
    "expired": lambda: {"claims": {"exp": int(time.time()) - 1}},
    "foreign issuer": lambda: {"claims": {"iss": "https://foreign.example.org"}},
    "foreign key": lambda: {"key": "foreign"},
    "no algorithm": lambda: {"key": "none", "header": {"alg": "none"}},
    "public key as secret": lambda: {"key": "public", "header": {"alg": "HS256"}},
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerProcess]:
    """An issuer that runs."""
    process = IssuerProcess()
    yield process
    process.close()


@pytest.fixture(scope="module")
def server(issuer: IssuerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that trusts it."""
    variables = {
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_OAUTH_ISSUER": issuer.url,
        "GRAYMATTER_OAUTH_JWKS_URL": f"{issuer.url}/jwks",
        "GRAYMATTER_OAUTH_SCOPES": "memory:read",
        "GRAYMATTER_PUBLIC_URL": PUBLIC,
        "NO_PROXY": "127.0.0.1",
    }
    with HttpServer(tmp_path_factory.mktemp("oauth") / "store", **variables) as running:
        yield running


def call(server: HttpServer, token: str | None, tool: str, **arguments: Any) -> Response:
    """Call one tool under a token."""
    params = {"name": tool, "arguments": {"agent_id": "team", **arguments}, "_meta": ENVELOPE}
    message = request(1, "tools/call", params)
    bearer = {} if token is None else {"authorization": f"Bearer {token}"}
    headers = mcp_headers(message, **bearer)
    return server.ask("POST", "/mcp", json.dumps(message).encode(), headers)


@promise("oauth:scopes")
def test_the_scopes_of_a_token_say_what_it_may_do(
    server: HttpServer, issuer: IssuerProcess
) -> None:
    """ADR 0022: tokens as clients get them, beside the server's own."""
    writer, reader = issuer.issue("memory:read memory:write"), issuer.issue("memory:read")
    for token in (writer, SERVER_TOKEN):
        added = call(server, token, "memory_add", text="The port is 8137.").document["result"]
        assert not added.get("isError")
    refused = call(server, reader, "memory_add", text="planted").document["result"]
    assert refused["content"][0]["text"].endswith("token is read-only")
    found = call(server, reader, "memory_search", query="port").document["result"]
    assert found["structuredContent"]["facts"] == ["The port is 8137."]
    too_little = call(server, issuer.issue("memory:write"), "memory_search", query="port")
    assert (too_little.status, too_little.document) == (403, {"error": "insufficient scope"})
    expected = CHALLENGE.format(error=', error="insufficient_scope"')
    assert too_little.headers["www-authenticate"] == expected


@promise("oauth:strangers")
@pytest.mark.parametrize("why", STRANGERS)
@pytest.mark.parametrize(("method", "path"), [("POST", "/mcp"), ("GET", "/metrics")])
def test_a_token_that_is_not_theirs_or_not_for_us_is_refused_on_every_route(
    server: HttpServer, issuer: IssuerProcess, why: str, method: str, path: str
) -> None:
    """F14, C73."""
    token = issuer.sign(**STRANGERS[why]())
    headers = {**JSON_HEADERS, "authorization": f"Bearer {token}"}
    body = b"{}" if method == "POST" else None
    connection = server.connect()
    answer = ask(connection, method, path, body, headers)
    connection.close()
    assert (answer.status, answer.body) == (401, b'{"error":"unauthorized"}')
    expected = CHALLENGE.format(error=', error="invalid_token"')
    assert answer.headers["www-authenticate"] == expected
    assert token not in server.stderr()


@promise("oauth:metadata")
def test_a_client_without_a_token_is_told_where_to_get_one(
    server: HttpServer, issuer: IssuerProcess
) -> None:
    """F14: by the challenge, and by the document that it names."""
    missing = call(server, None, "memory_search", query="port")
    assert missing.status == 401
    assert missing.headers["www-authenticate"] == CHALLENGE.format(error="")
    document = server.ask("GET", WELL_KNOWN).document
    assert document == {
        "resource": f"{PUBLIC}/mcp",
        "authorization_servers": [issuer.url],
        "bearer_methods_supported": ["header"],
        "resource_name": "graymatter",
        "scopes_supported": ["memory:read", "memory:write"],
    }


@promise("tokens:revoked-at-once")
def test_a_running_server_obeys_at_once(server: HttpServer) -> None:
    """Contract 10.3: made, rotated and revoked by the command, with no restart."""
    from contract_tests.test_tokens import token

    def status(secret: str) -> int:
        return call(server, secret, "memory_search", query="port").status

    made = token(server.directory, "create")
    assert status(made["token"]) == 200
    rotated = token(server.directory, "rotate", made["id"])
    assert [status(made["token"]), status(rotated["token"])] == [401, 200]
    token(server.directory, "revoke", rotated["id"])
    assert status(rotated["token"]) == 401
