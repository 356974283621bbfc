"""The wire of MCP over HTTP: codes, statuses, sessions, and nothing quoted back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.http_wire import JSON_HEADERS, OPEN, HttpServer, ask, mcp_headers
from contract_tests.manifest import promise
from contract_tests.wire import ENVELOPE, STATELESS_REVISION, initialize, request

if TYPE_CHECKING:
    import http.client
    from collections.abc import Iterator, Mapping

    from contract_tests.http_wire import Response

MODERN: Final = {"mcp-protocol-version": STATELESS_REVISION}
MARK: Final = "planted-mark"
"""Sent where it will be refused; seen again, it was quoted."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that anybody may use."""
    directory = tmp_path_factory.mktemp("wire") / "store"
    with HttpServer(directory, *OPEN, GRAYMATTER_RATE_LIMIT="0") as running:
        yield running


@pytest.fixture(scope="module")
def connection(server: HttpServer) -> Iterator[http.client.HTTPConnection]:
    """One that is kept through everything that is refused here."""
    opened = server.connect()
    yield opened
    opened.close()


def post(
    connection: http.client.HTTPConnection, body: object, headers: Mapping[str, str] | None = None
) -> Response:
    """Post a message, or bytes, with the headers of the handshake era and some more."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return ask(connection, "POST", "/mcp", raw, {**JSON_HEADERS, **(headers or {})})


def enveloped(
    method: str,
    params: Mapping[str, Any] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Build a request of the 2026 era."""
    return request(1, method, {**(params or {}), "_meta": {**ENVELOPE, **(meta or {})}})


@promise("http:codes", "http:no-echo")
@pytest.mark.parametrize("era", [{}, MODERN], ids=["handshake", "modern"])
@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b" \n", -32700),
        (b"not json planted-mark", -32700),
        (b'{"planted-mark": ', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "planted-mark\xff"}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"planted-mark": NaN}}', -32700),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": 1e999}}', -32700),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "planted-mark"}]', -32600),
        (b"[]", -32600),
        (b'"planted-mark"', -32600),
        (b"7", -32600),
        (b"null", -32600),
        (b'{"id": 1, "method": "planted-mark"}', -32600),
        (b'{"jsonrpc": "2.0", "id": {"planted-mark": 1}, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": ["planted-mark"]}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": ["planted-mark"]}', -32602),
        (b"[" * 100_000, -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":' + b"9" * 5000 + b"}}", -32600),
    ],
    ids=list(map(str, range(19))),
)
def test_what_is_no_request_is_refused_without_an_echo(
    body: bytes, code: int, era: dict[str, str], connection: http.client.HTTPConnection
) -> None:
    """The wire, section 4; issue 4: 400, the code, and none of what was sent."""
    answer = post(connection, body, era)
    assert (answer.status, answer.document["error"]["code"]) == (400, code)
    assert MARK not in answer.body.decode()
    assert set(answer.document["error"]) == {"code", "message"}


@promise("http:codes")
def test_unknown_methods_and_tools_have_their_codes(
    connection: http.client.HTTPConnection,
) -> None:
    """The wire, sections 4 and 7: 404 and 400 in the 2026 era, 200 in the handshake era."""
    cases: list[tuple[str, dict[str, Any], int, int]] = [
        ("resources/list", {}, -32601, 404),
        ("memory/erase", {}, -32601, 404),
        ("subscriptions/listen", {"notifications": {}}, -32601, 404),
        ("tools/call", {"name": "memory_erase", "arguments": {}}, -32602, 400),
        ("tools/call", {"name": "memory_search", "arguments": [1]}, -32602, 400),
        ("tools/list", {"cursor": "beyond"}, -32602, 400),
    ]
    for method, params, code, status in cases:
        modern = enveloped(method, params)
        answer = post(connection, modern, mcp_headers(modern))
        assert (answer.status, answer.document["error"]["code"]) == (status, code), method
        if method != "subscriptions/listen":
            answer = post(connection, request(1, method, params))
            assert (answer.status, answer.document["error"]["code"]) == (200, code), method


@promise("http:codes")
@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"mcp-method": "ping"}, -32020),
        ({"mcp-method": None}, -32020),
        ({"mcp-name": "memory_add"}, -32020),
        ({"mcp-name": None}, -32020),
        ({"mcp-name": "=?base64?bWVtb3J5X2FkZA==?="}, -32020),
        ({"mcp-protocol-version": "2025-11-25"}, -32020),
        ({"mcp-protocol-version": None}, -32020),
        ({"mcp-protocol-version": "2031-01-01"}, -32020),
        ({}, None),
        ({"mcp-name": "=?base64?bWVtb3J5X3NlYXJjaA==?="}, None),
    ],
)
def test_headers_must_agree_with_the_body(
    change: dict[str, str | None], code: int | None, connection: http.client.HTTPConnection
) -> None:
    """The wire, section 7: whoever routed by the headers must have read the truth."""
    call = {"name": "memory_search", "arguments": {"agent_id": "a", "query": "q"}}
    message = enveloped("tools/call", call)
    headers = {**mcp_headers(message), **change}
    sent = {name: value for name, value in headers.items() if value is not None}
    answer = post(connection, message, sent)
    if code is None:
        assert answer.status == 200
        assert answer.document["result"]["structuredContent"]["count"] == 0
    else:
        assert (answer.status, answer.document["error"]["code"]) == (400, code)


@promise("http:codes")
def test_a_header_sent_twice_is_a_mismatch(server: HttpServer) -> None:
    """The wire, section 7: the first reader and the last would disagree."""
    body = json.dumps(enveloped("ping")).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        "host: localhost",
        "accept: application/json",
        "content-type: application/json",
        f"mcp-protocol-version: {STATELESS_REVISION}",
        "mcp-method: ping",
        "mcp-method: tools/list",
        f"content-length: {len(body)}",
    ]
    with server.raw() as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        head, _, rest = line.recv(65536).partition(b"\r\n\r\n")
        answer = json.loads(rest or line.recv(65536))
    assert head.startswith(b"HTTP/1.1 400 ")
    assert answer["error"]["code"] == -32020


@promise("http:codes")
def test_white_space_around_a_header_is_no_part_of_it(server: HttpServer) -> None:
    """RFC 9110, 5.5; the conformance suite sends it."""
    body = json.dumps(enveloped("ping")).encode()
    lines = [
        "POST /mcp HTTP/1.1",
        "host:  localhost \t",
        "accept: application/json",
        "content-type: application/json",
        f"mcp-protocol-version: \t{STATELESS_REVISION}  ",
        "mcp-method:   ping  ",
        f"content-length: {len(body)}",
    ]
    with server.raw() as line:
        line.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        assert line.recv(65536).startswith(b"HTTP/1.1 404 ")


@promise("http:codes")
def test_an_unsupported_version_gets_the_list(connection: http.client.HTTPConnection) -> None:
    """The wire, section 7: a client of both eras can then try again."""
    version = {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    message = enveloped("tools/list", meta=version)
    headers = {**mcp_headers(message), "mcp-protocol-version": "2031-01-01"}
    answer = post(connection, message, headers)
    assert (answer.status, answer.document["error"]["code"]) == (400, -32022)
    assert answer.document["error"]["data"]["supported"] == [STATELESS_REVISION]
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    answer = post(connection, notice, {"mcp-protocol-version": "2031-01-01"})
    assert (answer.status, answer.document["error"]["code"]) == (400, -32022)


@promise("http:codes")
def test_an_envelope_without_what_it_needs_is_refused(
    connection: http.client.HTTPConnection,
) -> None:
    """The wire, section 3."""
    version = next(iter(ENVELOPE))
    envelopes: list[dict[str, Any] | None] = [
        None,
        {},
        {"_meta": {}},
        {"_meta": {version: STATELESS_REVISION}},
    ]
    for params in envelopes:
        answer = post(connection, request(1, "tools/list", params), MODERN)
        assert (answer.status, answer.document["error"]["code"]) == (400, -32602)


@promise("http:codes")
def test_notifications_and_answers_are_accepted(connection: http.client.HTTPConnection) -> None:
    """The wire, section 7: 202 without a body; an answer is no request in the 2026 era."""
    for notice in ("notifications/initialized", "notifications/cancelled", "notifications/odd"):
        for era in ({}, MODERN):
            answer = post(connection, {"jsonrpc": "2.0", "method": notice, "params": {}}, era)
            assert (answer.status, answer.body) == (202, b"")
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": 7, "result": {}}
    assert post(connection, reply).status == 202
    assert post(connection, reply, MODERN).status == 400


@promise("http:codes")
@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/mcp", {"accept": "text/event-stream"}, 405),
        ("DELETE", "/mcp", {}, 405),
        ("PUT", "/mcp", {}, 405),
        ("OPTIONS", "/mcp", {}, 405),
        ("POST", "/live", {}, 405),
        ("POST", "/mcp", {"accept": "text/event-stream"}, 406),
        ("POST", "/mcp", {"accept": ""}, 406),
        ("POST", "/mcp", {"content-type": "text/plain"}, 415),
        ("POST", "/mcp", {"content-type": "application/jsonp"}, 415),
        ("GET", "/", {}, 404),
        ("POST", "/mcp/", {}, 404),
        ("GET", "/mcp%2f", {}, 404),
        ("GET", "/.well-known/oauth-protected-resource/mcp", {}, 404),
        ("POST", "/mcp", {"accept": "*/*"}, 200),
        ("POST", "/mcp", {"content-type": "Application/JSON; charset=utf-8"}, 200),
    ],
)
def test_the_http_around_it_has_its_statuses(
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    connection: http.client.HTTPConnection,
) -> None:
    """The wire, section 7: nothing is said where no issuer is configured either (F14)."""
    body = json.dumps(request(1, "ping")).encode() if method == "POST" else None
    answer = ask(connection, method, path, body, {**JSON_HEADERS, **headers})
    assert answer.status == status
    if status == 405:
        assert answer.headers["allow"] in {"POST", "GET, HEAD"}
    if status >= 400:
        assert set(answer.document) == {"error"}


@promise("http:sessions")
def test_no_session_is_needed_and_a_stale_one_harms_nothing(
    connection: http.client.HTTPConnection,
) -> None:
    """F13: initialize, call with another server's header, call without initialize."""
    opening = post(connection, initialize("2025-11-25"))
    assert "mcp-session-id" not in opening.headers
    stale = {"mcp-session-id": "of-a-server-long-gone", "mcp-protocol-version": "2025-11-25"}
    for method in ("tools/list", "ping"):
        assert post(connection, request(1, method), stale).status == 200
    modern = enveloped("tools/list")
    assert post(connection, modern, {**mcp_headers(modern), **stale, **MODERN}).status == 200


@promise("http:codes")
def test_odd_ids_come_back_as_they_were(connection: http.client.HTTPConnection) -> None:
    """JSON-RPC: whatever may name a request, names its answer."""
    for odd in (0, -1, 1.5, "", "7", "\ud800", "x" * 1000, 2**63):
        assert post(connection, request(odd, "ping")).document == {
            "jsonrpc": "2.0",
            "id": odd,
            "result": {},
        }
