from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import Session, end_all, greeted, piped
from contract_tests.wire import ENVELOPE, StdioWire, as_line, initialize, request

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODERN: Final = {"_meta": ENVELOPE}
ADD: Final = {"name": "memory_add", "arguments": {"agent_id": "a", "text": "x"}}
OPEN: Final = initialize("2025-11-25")
INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PROBE: Final = request("probe", "server/discover", MODERN)


def _enveloped(**changes: Any) -> dict[str, Any]:
    meta = {**ENVELOPE, **{f"io.modelcontextprotocol/{name}": v for name, v in changes.items()}}
    return {"_meta": {name: value for name, value in meta.items() if value is not ...}}


def _opening(**changes: Any) -> dict[str, Any]:
    params = {**OPEN["params"], **changes}
    return request(
        "bad", "initialize", {name: value for name, value in params.items() if value is not ...}
    )


CONVERSATIONS: Final[dict[str, list[object]]] = {
    "initialize twice": [OPEN, initialize("2024-11-05", "again"), request(1, "tools/list")],
    "initialize twice, two eras apart": [OPEN, INITIALIZED, initialize("2026-07-28", "again")],
    "envelope after the handshake": [
        OPEN,
        INITIALIZED,
        request(1, "tools/list", MODERN),
        request(2, "server/discover", MODERN),
        request(3, "tools/call", {**ADD, **MODERN}),
        request(4, "tools/list"),
    ],
    "ping with an envelope after the handshake": [OPEN, request(1, "ping", MODERN)],
    "initialize after modern": [PROBE, OPEN, request(1, "tools/list", MODERN)],
    "bare requests after modern": [
        PROBE,
        request(1, "tools/list"),
        request(2, "ping"),
        request(3, "tools/call", ADD),
        request(4, "server/discover"),
    ],
    "modern ping": [request(1, "ping", MODERN), request(2, "tools/list", MODERN)],
    "modern call first": [request(1, "tools/call", {**ADD, **MODERN})],
    "unknown methods": [
        request(0, "no/such"),
        OPEN,
        request(1, "no/such"),
        request(2, "prompts/list"),
    ],
    "unknown modern methods": [request(1, "no/such", MODERN), request(2, "prompts/list", MODERN)],
    "before initialize": [
        request(1, "ping"),
        request(2, "tools/list"),
        request(3, "tools/call", ADD),
        request(4, "server/discover"),
        OPEN,
        request(5, "tools/list"),
    ],
    "bare probe, then initialize": [
        request(1, "server/discover"),
        OPEN,
        INITIALIZED,
        request(2, "tools/call", ADD),
    ],
    "malformed initialize, then a good one": [
        request(1, "initialize"),
        request(2, "initialize", {}),
        _opening(protocolVersion=7),
        _opening(capabilities=...),
        _opening(capabilities=[]),
        _opening(clientInfo=...),
        _opening(clientInfo={"name": "x"}),
        request(3, "tools/list"),
        OPEN,
        request(4, "tools/list"),
    ],
    "malformed envelopes": [
        request(1, "tools/list", _enveloped(protocolVersion="2027-01-01")),
        request(2, "tools/list", _enveloped(protocolVersion=7)),
        request(3, "tools/list", _enveloped(clientCapabilities=...)),
        request(4, "tools/list", _enveloped(clientCapabilities=[])),
        request(5, "tools/list", _enveloped(clientInfo=...)),
        request(6, "tools/list", _enveloped(clientInfo={"name": "x"})),
        request(7, "tools/list", _enveloped(clientInfo="x")),
    ],
    "malformed probe, then good ones": [
        request(1, "server/discover", _enveloped(clientCapabilities=...)),
        PROBE,
        request(2, "tools/list", MODERN),
    ],
    "malformed params": [
        OPEN,
        request(1, "tools/list", {"_meta": 5}),
        request(2, "tools/list", {"cursor": 5}),
        request(3, "tools/list", {"cursor": None}),
        request(4, "tools/list", {"extra": 1}),
        request(5, "ping", {"_meta": 5}),
        request(6, "ping", {"extra": 1}),
        request(7, "tools/call", {}),
        request(8, "tools/call", {"name": 5}),
        request(9, "tools/call", {"name": "memory_add", "arguments": []}),
        request(10, "tools/call", {"name": "memory_add", "arguments": None}),
        request(11, "tools/call", {"name": "no_such_tool"}),
        request(12, "tools/call", {**ADD, "_meta": 5}),
        request(13, "tools/call", {**ADD, "_meta": None}),
        {**request(14, "tools/call"), "params": [1]},
        {**request(15, "ping"), "params": "x"},
    ],
    "malformed modern params": [
        PROBE,
        request(1, "tools/list", {**MODERN, "cursor": None}),
        request(2, "tools/list", {**MODERN, "cursor": "x"}),
        request(3, "tools/list", {**MODERN, "extra": 1}),
        request(4, "server/discover", {**MODERN, "extra": 1}),
        request(5, "tools/call", MODERN),
        request(6, "tools/call", {**MODERN, "name": "no_such_tool"}),
    ],
    "lists with a progress token": [
        OPEN,
        request(1, "tools/list", {"_meta": {"progressToken": 1}}),
        request(2, "ping", {"_meta": {"progressToken": "x"}}),
    ],
    "notifications first": [
        INITIALIZED,
        {"jsonrpc": "2.0", "method": "notifications/no-such"},
        OPEN,
        request(1, "tools/list"),
    ],
    "not messages": [
        b"not json",
        b"[]",
        b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
        b"5",
        b'"text"',
        b"{}",
        b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":2}',
        b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":true,"method":"ping"}',
        b'{"jsonrpc":"2.0","id":{},"method":"ping"}',
        b'{"jsonrpc":"2.0","id":3,"method":5}',
        b'{"jsonrpc":"2.0","id":4,"result":{}}',
        b'{"jsonrpc":"2.0","id":5,"method":"ping","params":NaN}',
        b'{"jsonrpc":"2.0","id":6,"method":"ping","params":{"a":1e999}}',
        b"",
        b"   ",
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":7,"method":"ping"}\r',
        OPEN,
    ],
    "ids of every kind": [
        OPEN,
        *(
            request(name, method)
            for method in ("ping", "tools/list", "no/such")
            for name in (7, "7", 7.5, -1, 0, "", 10**40, 2**53 + 1, "\u2028", "né")
        ),
        b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}',
        b'{"jsonrpc":"2.0","id":"\\udc00","method":"no/such"}',
    ],
}


def alone(directory: Path, *messages: object) -> list[dict[str, Any]]:
    """Ask the SDK's server over our stdio, without a bridge."""
    with StdioWire(directory) as wire:
        wire.send(*messages)
        lines, status = wire.end()
    assert status == 0
    return [json.loads(line) for line in lines]


def direct(directory: Path, *messages: object) -> list[dict[str, Any]]:
    """Ask the SDK's server at the owner's door, without a bridge."""
    with greeted(directory) as connection:
        connection.sendall(b"".join(map(as_line, messages)))
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as lines:
            return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory with an owner that all conversations share."""
    directory = tmp_path_factory.mktemp("eras") / "store"
    with Session(directory):
        yield directory
    end_all(directory)


def sorted_answers(answers: list[dict[str, Any]]) -> list[str]:
    """Forget the order, which requests in flight do not have."""
    return sorted(json.dumps(answer, sort_keys=True) for answer in answers)


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_bridge_says_what_the_server_says(served: Path, name: str) -> None:
    """mcp-wire 3, 4, 6: no client can tell a bridge from the SDK's server."""
    conversation = CONVERSATIONS[name]
    expected = direct(served, *conversation)
    assert expected
    assert sorted_answers(piped(served, *conversation)) == sorted_answers(expected)


@pytest.mark.parametrize("name", ["before initialize", "not messages"])
def test_a_process_that_is_its_own_owner_says_the_same(
    served: Path, tmp_path: Path, name: str
) -> None:
    """Contract 10.2: --no-daemon is a way to run, not another server."""
    conversation = CONVERSATIONS[name]
    expected = direct(served, *conversation)
    assert sorted_answers(alone(tmp_path / "alone", *conversation)) == sorted_answers(expected)
