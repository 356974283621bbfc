"""How a server comes and goes: beside other owners, through restarts, with and without TLS."""

from __future__ import annotations

import json
import stat
import subprocess
import threading
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.http_wire import JSON_HEADERS, OPEN, HttpServer, ask, mcp_headers, trusting
from contract_tests.manifest import promise
from contract_tests.processes import Session, command, end_all, owner_pid
from contract_tests.wire import ENVELOPE, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PING: Final = json.dumps(request(1, "ping")).encode()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory that nobody serves after the test."""
    directory = tmp_path / "store"
    yield directory
    end_all(directory)


def call(server: HttpServer, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call one tool in the newest revision."""
    params = {"name": tool, "arguments": arguments, "_meta": ENVELOPE}
    message = request(1, "tools/call", params)
    body = json.dumps(message).encode()
    answer = server.ask("POST", "/mcp", body, mcp_headers(message))
    return answer.document["result"]["structuredContent"]


@promise("http:owner", "http:drain")
def test_an_owner_on_demand_hands_over_and_bridges_come_along(store: Path) -> None:
    """Contract 10.4; design 2: one owner, for stdio and for HTTP."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="Before the server came")
        spawned = owner_pid(store)
        with HttpServer(store, *OPEN) as server:
            assert owner_pid(store) == server.process.pid != spawned
            assert call(server, "memory_search", agent_id="a", query=" ")["count"] == 1
            session.ok("memory_add", agent_id="a", text="Through a bridge")
            found = call(server, "memory_search", agent_id="a", query=" ")
            assert found["facts"] == ["Through a bridge", "Before the server came"]
            refused = command(store, "mcp", "serve", "--http", "127.0.0.1:0", "--no-auth")
            assert refused.returncode == 1
            assert f"pid {server.process.pid}" in refused.stderr.decode()
            with pytest.raises(AssertionError, match="the server ended"):
                HttpServer(
                    store.with_name("other"),
                    *OPEN,
                    command=("mcp", "serve", "--http", f"127.0.0.1:{server.port}"),
                )
            assert server.stop() == 0
        assert not (store / "owner.json").exists() or owner_pid(store) != server.process.pid
        session.ok("memory_add", agent_id="a", text="After it left")


@promise("http:drain", "http:sessions")
def test_a_server_that_leaves_answers_first_and_the_next_goes_on(store: Path) -> None:
    """Issue 4, F13: calls in flight are answered; the old header is harmless to the next one."""
    headers = {**JSON_HEADERS, "mcp-session-id": "of-the-first"}
    with HttpServer(store, *OPEN, GRAYMATTER_RATE_LIMIT="0") as first:
        lines = [first.connect() for _ in range(8)]
        for line in lines:
            assert ask(line, "GET", "/live").status == 200
        message = {"name": "memory_add", "arguments": {"agent_id": "a", "text": "In flight"}}
        body = json.dumps(request(1, "tools/call", message)).encode()
        for line in lines:
            line.request("POST", "/mcp", body, headers)
        stopping = threading.Thread(target=first.stop)
        stopping.start()
        statuses = [line.getresponse().status for line in lines]
        stopping.join()
        for line in lines:
            line.close()
        assert first.process.returncode == 0
    assert set(statuses) <= {200, 503}
    with HttpServer(store, *OPEN) as second:
        assert second.ask("POST", "/mcp", PING, headers).status == 200
        found = call(second, "memory_search", agent_id="a", query=" ", explain=True)
        assert found["count"] == (1 if 200 in statuses else 0)


@promise("http:challenge", "tokens:private-files")
def test_the_first_start_makes_a_token_and_says_where(store: Path) -> None:
    """Contract 10.3: its place once, itself never; 0600."""
    words = ("server", "--addr", "127.0.0.1:0")
    with HttpServer(store, command=words) as server:
        path = store / "graymatter.http-token"
        token = path.read_text(encoding="utf-8").strip()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert server.stderr().count(str(path)) == 1
        assert token not in server.stderr()
        headers = {**JSON_HEADERS, "authorization": f"Bearer {token}"}
        assert server.ask("POST", "/mcp", PING, headers).status == 200
        assert server.ask("POST", "/mcp", PING, JSON_HEADERS).status == 401


@promise("http:tls", "http:probes")
def test_with_a_certificate_the_server_speaks_tls_only(store: Path, tmp_path: Path) -> None:
    """Issue 4: TLS by certificate and key; plain text gets nothing."""
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
            *("-keyout", str(key), "-out", str(certificate)),
        ],
        check=True,
        capture_output=True,
    )
    tls = ("--tls-cert", str(certificate), "--tls-key", str(key))
    with (
        HttpServer(store, *OPEN, *tls, GRAYMATTER_HTTP_CLIENT_TIMEOUT="2") as server,
        server.raw() as silent,
        server.raw() as plain,
    ):
        plain.sendall(b"GET /live HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert b"ok" not in plain.recv(4096)
        with trusting(certificate).wrap_socket(server.raw(), server_hostname="localhost") as line:
            assert line.version() in {"TLSv1.2", "TLSv1.3"}
            line.sendall(b"GET /ready HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
            answer = b"".join(iter(lambda: line.recv(65536), b""))
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.endswith(b'{"status":"ok"}')
        assert silent.recv(1) == b""
    for wrong in (("--tls-key", str(key)), ("--tls-cert", str(key))):
        done = command(tmp_path / "no", "mcp", "serve", "--http", "127.0.0.1:0", *OPEN, *wrong)
        assert (done.returncode, len(done.stderr.decode().splitlines())) == (1, 1)
