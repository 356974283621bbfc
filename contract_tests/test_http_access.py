"""Who gets in over HTTP, and how far: names, scopes, projects, and what is told of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

import pytest

from contract_tests.credentials import SERVER_TOKEN, Credentials, handed_out
from contract_tests.http_wire import JSON_HEADERS, HttpServer, ask, mcp_headers
from contract_tests.manifest import promise
from contract_tests.processes import command, tool_call
from contract_tests.wire import ENVELOPE, request

if TYPE_CHECKING:
    import http.client
    from collections.abc import Iterator
    from pathlib import Path

    from contract_tests.http_wire import Response

PING: Final = json.dumps(request(1, "ping")).encode()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data directory of the server."""
    return tmp_path_factory.mktemp("access") / "store"


@pytest.fixture(scope="module")
def credentials(store: Path) -> Credentials:
    """One of each kind."""
    return handed_out(store)


@pytest.fixture(scope="module")
def server(store: Path, credentials: Credentials) -> Iterator[HttpServer]:
    """A server that asks for tokens."""
    assert credentials.secrets
    variables = {"GRAYMATTER_HTTP_TOKEN": f" {SERVER_TOKEN}\n", "GRAYMATTER_RATE_LIMIT": "0"}
    with HttpServer(store, **variables) as running:
        yield running


@pytest.fixture(scope="module")
def connection(server: HttpServer) -> Iterator[http.client.HTTPConnection]:
    """A connection that is kept: most refusals leave it open."""
    opened = server.connect()
    yield opened
    opened.close()


def bearer(credentials: Credentials, kind: str) -> dict[str, str]:
    """Return the header of one kind of credential."""
    value = credentials.by_kind[kind]
    return {} if value is None else {"authorization": value}


class Agent:
    """Calls tools in the newest revision under one bearer."""

    def __init__(
        self, connection: http.client.HTTPConnection, credentials: Credentials, kind: str
    ) -> None:
        self._connection = connection
        self._bearer = bearer(credentials, kind)

    def ask(self, method: str, **params: Any) -> Response:
        """Send one request."""
        message = request(1, method, {**params, "_meta": ENVELOPE})
        headers = mcp_headers(message, **self._bearer)
        return ask(self._connection, "POST", "/mcp", json.dumps(message).encode(), headers)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call one tool; return its result, good or bad."""
        return self.ask("tools/call", name=tool, arguments=arguments).document["result"]


@promise("http:challenge")
def test_initialize_needs_a_bearer_too(connection: http.client.HTTPConnection) -> None:
    """Contract 10.3: and before anything of the body is looked at."""
    for body in (PING, b"not json", b"[]", b""):
        assert ask(connection, "POST", "/mcp", body, JSON_HEADERS).status == 401


@promise("http:challenge")
def test_two_credentials_are_none(server: HttpServer) -> None:
    """F16: a proxy may have checked the one that we would not."""
    with server.raw() as line:
        bearers = f"authorization: Bearer {SERVER_TOKEN}\r\n" * 2
        line.sendall(f"GET /metrics HTTP/1.1\r\nhost: localhost\r\n{bearers}\r\n".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 401 ")


@promise("http:metadata")
def test_without_an_issuer_no_login_is_started(connection: http.client.HTTPConnection) -> None:
    """F14: a client that finds metadata asks its user to log in."""
    refused = ask(connection, "POST", "/mcp", PING, JSON_HEADERS)
    assert "resource_metadata" not in refused.headers["www-authenticate"]
    for place in ("oauth-protected-resource", "oauth-protected-resource/mcp"):
        assert ask(connection, "GET", f"/.well-known/{place}").status == 404


@promise("http:metadata")
def test_with_an_issuer_a_refusal_leads_to_it(tmp_path: Path) -> None:
    """F14: built from the public URL, whatever the proxy made of the request."""
    public = "https://memory.example.org/team"
    variables = {
        "GRAYMATTER_PUBLIC_URL": public,
        "GRAYMATTER_OAUTH_ISSUER": "https://issuer.example.org",
        "GRAYMATTER_OAUTH_JWKS_URL": "https://issuer.example.org/keys",
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
    }
    with HttpServer(tmp_path / "store", **variables) as server:
        headers = {**JSON_HEADERS, "host": "memory.example.org"}
        refused = server.ask("POST", "/mcp", PING, headers)
        challenge = refused.headers["www-authenticate"]
        assert (refused.status, refused.body) == (401, b'{"error":"unauthorized"}')
        url = "https://memory.example.org/.well-known/oauth-protected-resource/team/mcp"
        assert f'resource_metadata="{url}"' in challenge
        for path in ("/team/mcp", "/mcp"):
            place = f"/.well-known/oauth-protected-resource{path}"
            told = server.ask("GET", place, headers={"host": "memory.example.org"})
            assert told.document["resource"] == f"{public}/mcp"
            assert told.document["authorization_servers"] == ["https://issuer.example.org"]
        known = {**headers, "authorization": f"Bearer {SERVER_TOKEN}"}
        assert server.ask("POST", "/mcp", PING, known).status == 200


@promise("http:places")
@pytest.mark.parametrize(
    ("header", "value", "text"),
    [
        ("host", "evil.example", "host not allowed"),
        ("host", "127.0.0.1.evil.example:80", "host not allowed"),
        ("host", "localhost:8080.evil.example", "host not allowed"),
        ("origin", "https://evil.example", "origin not allowed"),
        ("origin", "null", "origin not allowed"),
        ("origin", "http://localhost.evil.example", "origin not allowed"),
    ],
)
@pytest.mark.parametrize("path", ["/mcp", "/live", "/nowhere"])
def test_a_foreign_host_or_origin_is_refused(
    path: str, header: str, value: str, text: str, connection: http.client.HTTPConnection
) -> None:
    """F16: also with a token, and on open routes."""
    headers = {header: value, "authorization": f"Bearer {SERVER_TOKEN}"}
    answer = ask(connection, "GET", path, headers=headers)
    assert (answer.status, answer.document) == (403, {"error": text})


@promise("http:places")
@pytest.mark.parametrize(
    "headers",
    [
        {"host": "LOCALHOST:1"},
        {"host": "[::1]"},
        {"origin": "http://127.0.0.1:6274"},
        {"origin": "https://localhost"},
    ],
)
def test_our_own_names_are_answered(
    headers: dict[str, str], connection: http.client.HTTPConnection
) -> None:
    """F16: with any port, in any case."""
    assert ask(connection, "GET", "/live", headers=headers).status == 200


@promise("http:read-only")
def test_a_read_only_token_changes_nothing(
    connection: http.client.HTTPConnection, credentials: Credentials
) -> None:
    """F17; contract 10.3: all tools are seen, and the four that write are refused."""
    writer, reader = (Agent(connection, credentials, kind) for kind in ("full", "read_only"))
    writer.call("memory_add", agent_id="team", text="The port is 8137.")
    tools = [tool["name"] for tool in reader.ask("tools/list").document["result"]["tools"]]
    assert len(tools) == 7
    writes: list[tuple[str, dict[str, Any]]] = [
        ("memory_add", {"text": "planted"}),
        ("memory_add", {"text": "planted", "confidence": "verified"}),
        ("memory_alias", {"term": "port", "equivalents": ["door"]}),
        ("checkpoint_save", {"state": {"planted": True}}),
        *(
            ("memory_reflect", {"action": action, "target": "The port is 8137.", "text": "planted"})
            for action in ("add", "update", "forget", "link", "pin", "unpin")
        ),
    ]
    for tool, arguments in writes:
        result = reader.call(tool, agent_id="team", **arguments)
        assert result["isError"], tool
        assert result["content"][0]["text"].endswith("token is read-only")
    found = reader.call("memory_search", agent_id="team", query=" ", top_k=1000)
    assert found["structuredContent"]["facts"] == ["The port is 8137."]
    missing = reader.call("checkpoint_resume", agent_id="team", on_missing="empty")
    assert missing["structuredContent"]["found"] is False


@promise("http:pinned")
def test_a_pinned_token_reaches_nothing_outside_its_project(
    connection: http.client.HTTPConnection, credentials: Credentials
) -> None:
    """F17: the same for what is there and for what never was."""
    writer, pinned = (Agent(connection, credentials, kind) for kind in ("full", "pinned"))
    writer.call("memory_add", agent_id="walls", text="Outside of every project.")
    for agent_id in ("walls", "nobody"):
        for tool, arguments in (
            ("memory_search", {"query": "project"}),
            ("memory_search_batch", {"queries": ["project"]}),
            ("memory_add", {"text": "x"}),
            ("checkpoint_resume", {"on_missing": "empty"}),
        ):
            result = pinned.call(tool, agent_id=agent_id, **cast("dict[str, Any]", arguments))
            assert result["isError"]
            # Nobody has made the project that this token names.
            text = result["content"][0]["text"]
            assert text.endswith("not a member of the token's project")


@promise("http:keys-apart")
def test_two_callers_with_one_key_are_two(
    connection: http.client.HTTPConnection, credentials: Credentials
) -> None:
    """Contract 10.6, data plane 2.2: a key belongs to its caller."""
    calls = [("server", "By the server"), ("full", "By a writer"), ("full", "By a writer")]
    for kind, text in calls:
        message = tool_call(1, "memory_add", {"agent_id": "keys", "text": text}, "one-key")
        headers = {**JSON_HEADERS, **bearer(credentials, kind)}
        answer = ask(connection, "POST", "/mcp", json.dumps(message).encode(), headers)
        assert not answer.document["result"].get("isError"), answer.document
    agent = Agent(connection, credentials, "server")
    found = agent.call("memory_search", agent_id="keys", query=" ")["structuredContent"]
    assert found["facts"] == ["By a writer", "By the server"]


@promise("http:log")
def test_the_log_says_who_did_what_and_no_more(
    server: HttpServer, connection: http.client.HTTPConnection, credentials: Credentials
) -> None:
    """F17, F16: no token, no fact, no namespace of a caller."""
    agent = Agent(connection, credentials, "full")
    agent.call("memory_add", agent_id="secret-shelf", text="A sentence for nobody else")
    ask(connection, "GET", "/" + credentials.secrets[0])
    ask(connection, "POST", "/mcp", PING, {"authorization": f"Bearer {credentials.secrets[4]}"})
    log = server.stderr()
    assert " token:" in log
    assert " POST /mcp memory_add 200 " in log
    assert " POST /mcp 401 " in log
    for secret in (*credentials.secrets, "A sentence for nobody else", "secret-shelf"):
        assert secret not in log


@promise("http:metrics")
def test_metrics_count_requests_and_facts(
    connection: http.client.HTTPConnection, credentials: Credentials
) -> None:
    """Contract 11.4."""
    Agent(connection, credentials, "full").call("memory_add", agent_id="counted", text="One fact")
    answer = ask(connection, "GET", "/metrics", headers=bearer(credentials, "read_only"))
    assert answer.headers["content-type"].startswith("text/plain")
    text = answer.body.decode()
    assert 'graymatter_namespace_live_facts{namespace="counted"} 1.0' in text
    assert 'graymatter_http_requests_total{method="POST",route="/mcp",status="200"}' in text
    assert 'route="none"' in text or "nowhere" not in text


@promise("http:loopback-only-open")
@pytest.mark.parametrize(
    "arguments",
    [
        ("--http", "0.0.0.0:0", "--no-auth"),
        ("--http", "192.0.2.1:0", "--no-auth"),
        ("--http", ":8080", "--no-auth"),
        ("--http", ":8080"),
        ("--http", "127.0.0.1"),
        ("--http", "127.0.0.1:65536"),
        ("--http", "127.0.0.1:x"),
        ("--http", "::1:80"),
        ("--no-auth",),
    ],
    ids=" ".join,
)
def test_an_address_that_is_not_safe_is_refused(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """C73, F16: before a directory, a token or a file exists."""
    done = command(tmp_path / "store", "mcp", "serve", *arguments, GRAYMATTER_NO_DAEMON="1")
    assert (done.returncode, done.stdout) == (1, b"")
    assert len(done.stderr.decode().splitlines()) == 1
    assert not (tmp_path / "store").exists()
