"""Who the server says it is, and what it does with what is no tool call."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pytest

from contract_tests.clients import RawClient
from contract_tests.conftest import STREAMS, TRANSPORTS, raw_doors_only
from contract_tests.manifest import promise
from contract_tests.wire import (
    ENVELOPE,
    HANDSHAKE_REVISIONS,
    initialize,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contract_tests.caller import Caller
    from contract_tests.wire import Wire


@pytest.fixture
def wire(transport: str, tmp_path: Path) -> Iterator[Wire]:
    """A connection on which nothing has been said."""
    opened = TRANSPORTS[transport](tmp_path / "store")
    yield opened
    opened.close()


@promise("server:identity")
def test_the_server_gives_its_name_and_the_version_of_the_package(caller: Caller) -> None:
    """Contract C13."""
    info = caller.client.server_info()
    assert info["name"] == "graymatter"
    assert info["version"] == version("graymatter-mcp")


@promise("server:instructions")
def test_the_instructions_are_the_same_whatever_is_stored(caller: Caller, agent: str) -> None:
    """Contract C14: no stored content, no agent id, no state."""
    caller.add(agent, "Instructions must never carry this sentence")
    before = caller.client.instructions()
    client = caller.client
    if isinstance(client, RawClient) and client.revision not in HANDSHAKE_REVISIONS:
        assert client.ask("server/discover")["result"]["instructions"] == before
    assert before is not None
    assert before.startswith("Resume with checkpoint_resume first.")
    assert agent not in before


@promise("server:instructions")
def test_a_full_store_greets_as_an_empty_one(transport: str, tmp_path: Path) -> None:
    """Contract C14."""
    texts: list[str | None] = []
    for _ in range(2):
        client = RawClient(TRANSPORTS[transport](tmp_path / "store"), "2025-11-25")
        texts.append(client.instructions())
        client.call("memory_add", {"agent_id": "a", "text": "Something is stored now"})
        client.close()
    assert texts[0] == texts[1]


@promise("server:revisions")
def test_a_known_revision_is_echoed_and_an_unknown_one_gets_the_newest(wire: Wire) -> None:
    """Contract 2.1: some clients die on any other answer."""
    for asked, answered in (
        *((revision, revision) for revision in HANDSHAKE_REVISIONS),
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ):
        assert wire.ask(initialize(asked))["result"]["protocolVersion"] == answered


@promise("server:revisions")
def test_the_stateless_revision_is_offered(newest: Caller) -> None:
    """Contract 2.1."""
    assert isinstance(newest.client, RawClient)
    assert "2026-07-28" in newest.client.opening["supportedVersions"]


@promise("server:capabilities")
@raw_doors_only
def test_tools_are_the_only_capability(caller: Caller) -> None:
    """Contract 2.1."""
    assert isinstance(caller.client, RawClient)
    assert caller.client.opening["capabilities"] == {"tools": {"listChanged": True}}


@promise("errors:protocol")
@pytest.mark.parametrize("arguments", [[], "agent_id", 7, True])
@raw_doors_only
def test_arguments_that_are_no_object_are_a_protocol_error(
    caller: Caller, arguments: object
) -> None:
    """Contract 2.5."""
    assert isinstance(caller.client, RawClient)
    params = {"name": "memory_search", "arguments": arguments}
    assert caller.client.ask("tools/call", params)["error"]["code"] == -32602


@promise("errors:protocol")
@raw_doors_only
def test_an_unknown_tool_is_a_protocol_error_and_null_arguments_are_none(caller: Caller) -> None:
    """Contract 2.5."""
    assert isinstance(caller.client, RawClient)
    unknown = caller.client.ask("tools/call", {"name": "memory_erase", "arguments": {}})
    assert unknown["error"]["code"] == -32602
    assert unknown["error"]["message"] == "Unknown tool: memory_erase"
    reply = caller.checked("memory_search", caller.client.call("memory_search", None))
    assert (reply.is_error, reply.text) == (True, "agent_id is required")


@promise("errors:protocol")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"jsonrpc": "2.0", "id": 1,', -32700),
        (b"not json", -32700),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'{"id": 1}', -32600),
        (b"7", -32600),
    ],
)
def test_a_line_that_is_no_request_is_answered(wire: Wire, line: bytes, code: int) -> None:
    """Contract 2.5; the connection goes on."""
    assert wire.ask(line)["error"]["code"] == code
    assert wire.ask(initialize("2025-11-25"))["result"]["serverInfo"]["name"] == "graymatter"


@promise("errors:protocol")
@raw_doors_only
def test_an_unknown_method_is_a_protocol_error(caller: Caller) -> None:
    """The wire, section 4."""
    assert isinstance(caller.client, RawClient)
    assert caller.client.ask("resources/list")["error"]["code"] == -32601
    assert caller.client.ask("memory/erase")["error"]["code"] == -32601


@promise("server:eras")
@pytest.mark.parametrize("transport", STREAMS, scope="session")
def test_a_connection_stays_in_the_era_of_its_first_request(wire: Wire) -> None:
    """The wire, section 3: no client is ever answered in the other era's form."""
    wire.ask(request(1, "server/discover", {"_meta": ENVELOPE}))
    assert wire.ask(initialize("2025-11-25"))["error"]["code"] == -32022


@promise("server:eras")
@pytest.mark.parametrize("transport", STREAMS, scope="session")
def test_a_probe_without_an_envelope_leaves_the_handshake_open(wire: Wire) -> None:
    """The wire, section 3."""
    assert wire.ask(request(1, "server/discover"))["error"]["code"] == -32601
    assert wire.ask(initialize("2025-06-18"))["result"]["protocolVersion"] == "2025-06-18"
    enveloped: dict[str, Any] = {"_meta": ENVELOPE}
    assert wire.ask(request(2, "tools/list", enveloped))["error"]["code"] == -32600
