"""What a server takes from its callers: sizes, rates, patience, places; and that others go on."""

from __future__ import annotations

import json
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.http_wire import JSON_HEADERS, OPEN, HttpServer
from contract_tests.manifest import promise
from contract_tests.wire import request

if TYPE_CHECKING:
    from collections.abc import Iterator

PING: Final = json.dumps(request(1, "ping")).encode()
BODY_LIMIT: Final = 4096
HEAD_LIMIT: Final = 2048
PLACES: Final = 32
FLOOD: Final = 2000
GROWTH_LIMIT_KB: Final = 64 * 1024
"""A wide margin: connections that were kept would be hundreds of megabytes."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server with small limits."""
    directory = tmp_path_factory.mktemp("limits") / "store"
    variables = {
        "GRAYMATTER_RATE_LIMIT": "0",
        "GRAYMATTER_HTTP_MAX_BODY": str(BODY_LIMIT),
        "GRAYMATTER_HTTP_MAX_HEAD": str(HEAD_LIMIT),
        "GRAYMATTER_HTTP_MAX_CONNECTIONS": str(PLACES),
        "GRAYMATTER_HTTP_CLIENT_TIMEOUT": "1",
    }
    with HttpServer(directory, *OPEN, **variables) as running:
        yield running


@pytest.fixture(autouse=True)
def others_are_served(server: HttpServer) -> Iterator[None]:
    """After whatever was done, the next caller is answered."""
    yield
    assert server.ask("POST", "/mcp", PING, JSON_HEADERS).status == 200


def received(line: socket.socket) -> bytes:
    """Read until the server hangs up."""
    parts: list[bytes] = []
    with suppress(ConnectionError):
        while part := line.recv(65536):
            parts.append(part)
    return b"".join(parts)


def head(*lines: str, path: str = "/mcp") -> bytes:
    """Write the start of a request."""
    common = ["host: localhost", "accept: application/json", "content-type: application/json"]
    return "\r\n".join([f"POST {path} HTTP/1.1", *common, *lines, "", ""]).encode()


@promise("http:body-limit")
def test_a_body_over_the_limit_is_refused_before_it_is_read(server: HttpServer) -> None:
    """Contract 10.3; issue 4: a gigabyte is announced, and not waited for."""
    for lines in (f"content-length: {1 << 30}", "content-length: 99999999999999999999999"):
        with server.raw() as line:
            line.sendall(head(lines))
            answer = received(line)
        assert answer.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 400 "))
        assert b"connection: close" in answer
    assert server.ask("POST", "/mcp", b" " * BODY_LIMIT + PING, JSON_HEADERS).document == {
        "error": f"request body exceeds {BODY_LIMIT} bytes"
    }


@promise("http:body-limit")
def test_a_body_that_never_says_how_long_it_is_stops_at_the_limit(server: HttpServer) -> None:
    """Issue 4: chunks come until the limit, and then the answer."""
    with server.raw() as line:
        line.sendall(head("transfer-encoding: chunked"))
        with suppress(ConnectionError):
            for _ in range(1000):
                line.sendall(b"400\r\n" + b" " * 1024 + b"\r\n")
        assert received(line).startswith(b"HTTP/1.1 413 ")


@promise("http:body-limit")
def test_a_body_within_the_limit_passes_in_pieces(server: HttpServer) -> None:
    """Contract 10.3."""
    with server.raw() as line:
        line.sendall(head("transfer-encoding: chunked", "connection: close"))
        for byte in PING:
            line.sendall(b"1\r\n%c\r\n" % byte)
        line.sendall(b"0\r\n\r\n")
        assert received(line).startswith(b"HTTP/1.1 200 ")


@promise("http:head-limit")
@pytest.mark.parametrize("size", [HEAD_LIMIT + 1, 1 << 20])
@pytest.mark.parametrize("is_complete", [True, False])
def test_a_head_over_the_limit_is_refused(size: int, is_complete: bool, server: HttpServer) -> None:
    """Issue 4: one long header, or one that never ends."""
    raw = head("x-long: " + "x" * size)
    with server.raw() as line:
        with suppress(ConnectionError):
            line.sendall(raw if is_complete else raw[:-4])
        answer = received(line)
    assert answer.startswith(b"HTTP/1.1 431 ") or (size > HEAD_LIMIT + 1 and not answer)


@promise("http:head-limit")
def test_what_is_no_http_is_refused_in_our_own_words(server: HttpServer) -> None:
    """Issue 4: no parser speaks."""
    for raw in (b"\x16\x03\x01\x02\x00\x01\n\n", b"GET\r\n\r\n", b"POST /\xff HTTP/9.9\r\n\r\n"):
        with server.raw() as line:
            line.sendall(raw)
            answer = received(line)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.endswith(b'{"error":"this is no HTTP request that can be read"}')


@promise("http:slow-clients")
def test_a_head_that_trickles_is_cut_off(server: HttpServer) -> None:
    """Issue 4: slowloris; each byte comes in time, the whole does not."""
    with server.raw() as line:
        line.settimeout(0.2)
        answer = b""
        with suppress(ConnectionError):
            for byte in head("x-slow: " + "y" * 500):
                line.sendall(b"%c" % byte)
                with suppress(TimeoutError):
                    answer = line.recv(65536)
                    break
    assert answer.startswith(b"HTTP/1.1 408 ")


@promise("http:slow-clients")
def test_a_body_that_does_not_come_is_not_waited_for(server: HttpServer) -> None:
    """Issue 4."""
    with server.raw() as line:
        line.sendall(head("content-length: 100") + b"{")
        assert received(line).startswith(b"HTTP/1.1 408 ")


@promise("http:slow-clients")
def test_a_client_that_says_nothing_is_cut_off(server: HttpServer) -> None:
    """Issue 4: half-open."""
    with server.raw() as line:
        assert received(line) == b""


@promise("http:flood")
def test_a_flood_of_silent_connections_keeps_nobody_out(server: HttpServer) -> None:
    """Issue 4: many times the places there are, and others are served meanwhile."""
    before = resident_kb(server.process.pid)
    with ExitStack() as flood:
        for number in range(FLOOD):
            line = flood.enter_context(socket.socket())
            line.settimeout(10)
            with suppress(OSError):
                line.connect((server.host, server.port))
            if number % 200 == 199:
                assert server.ask("POST", "/mcp", PING, JSON_HEADERS).status == 200
    assert resident_kb(server.process.pid) - before < GROWTH_LIMIT_KB


def resident_kb(pid: int) -> int:
    """Return the resident memory of a process."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.split("VmRSS:")[1].split()[0])


@promise("http:rate-limit")
def test_the_rate_of_a_caller_is_bounded_and_told(tmp_path: Path) -> None:
    """Data plane 2.2: over fresh connections; probes do not count; failures count by address."""
    variables = {"GRAYMATTER_RATE_LIMIT": "3", "GRAYMATTER_HTTP_TOKEN": "t"}
    with HttpServer(tmp_path / "store", **variables) as server:
        for path in ("/live", "/ready", "/healthz") * 2:
            assert "x-ratelimit-limit" not in server.ask("GET", path).headers
        for headers in ({**JSON_HEADERS, "authorization": "Bearer t"}, JSON_HEADERS):
            answers = [server.ask("POST", "/mcp", PING, headers) for _ in range(5)]
            told = [one.headers["x-ratelimit-remaining"] for one in answers]
            assert told == ["2", "1", "0", "0", "0"]
            assert {one.headers["x-ratelimit-limit"] for one in answers} == {"3"}
            assert [one.status == 429 for one in answers] == [False] * 3 + [True] * 2
            wait = answers[-1].headers["retry-after"]
            assert answers[-1].headers["x-ratelimit-reset"] == wait
            assert answers[-1].document == {
                "error": f"Rate limit exceeded, retry in {wait} seconds"
            }
