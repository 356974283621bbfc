from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import command, piped, processes_of, tool_call
from contract_tests.wire import (
    ENVELOPE,
    HANDSHAKE_REVISIONS,
    REVISIONS,
    STATELESS_REVISION,
    BridgeWire,
    initialize,
    request,
)
from graymatter_mcp.bridge.main import built_answers

if TYPE_CHECKING:
    from pathlib import Path

BUILT: Final[dict[str, Any]] = built_answers()
NEWEST: Final = HANDSHAKE_REVISIONS[-1]
ADD: Final[dict[str, Any]] = {"name": "memory_add", "arguments": {"agent_id": "a", "text": "x"}}


def blocked(path: Path) -> Path:
    """Return a data directory that nobody can make, because it is a file."""
    path.write_text("no folder")
    return path


def message_of(answer: dict[str, Any]) -> str:
    """Return what a failed call tells."""
    result = answer["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    return result["content"][0]["text"]


@pytest.mark.parametrize("asked", [*REVISIONS, "1999-01-01", "", "latest"])
def test_every_opening_is_answered_without_an_owner(tmp_path: Path, asked: str) -> None:
    """Contract 10.2, mcp-wire 3: a known version is echoed, any other gets the newest."""
    answers = piped(
        blocked(tmp_path / "store"),
        initialize(asked),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        request(1, "tools/list"),
        {**request(2, "tools/list"), "params": None},
        request(3, "tools/list", {}),
        request(4, "ping"),
    )
    spoken = asked if asked in HANDSHAKE_REVISIONS else NEWEST
    listed = BUILT["handshake"]["tools/list"]
    assert [answer["result"] for answer in answers] == [
        BUILT["initialize"][spoken],
        listed,
        listed,
        listed,
        {},
    ]
    assert answers[0]["result"]["protocolVersion"] == spoken


def test_the_stateless_revision_is_answered_without_an_owner(tmp_path: Path) -> None:
    """Contract 10.2."""
    enveloped = {"_meta": ENVELOPE}
    answers = piped(
        blocked(tmp_path / "store"),
        request(1, "server/discover", enveloped),
        request("list", "tools/list", enveloped),
    )
    assert [(answer["id"], answer["result"]) for answer in answers] == [
        (1, BUILT["modern"]["server/discover"]),
        ("list", BUILT["modern"]["tools/list"]),
    ]


@pytest.mark.parametrize("revision", [NEWEST, STATELESS_REVISION])
def test_calls_say_why_there_is_no_owner_and_the_list_still_answers(
    tmp_path: Path, revision: str
) -> None:
    """Contract 10.2: a tool error of the era, for the first call and for the next."""
    is_modern = revision == STATELESS_REVISION
    more = {"_meta": ENVELOPE} if is_modern else {}
    with BridgeWire(blocked(tmp_path / "store")) as wire:
        if not is_modern:
            wire.ask(initialize(revision))
        for number in range(2):
            failed = wire.ask(request(number, "tools/call", {**ADD, **more}))
            assert message_of(failed) == "store unavailable: the data directory cannot be created"
            assert failed["result"].get("resultType") == ("complete" if is_modern else None)
        assert len(wire.ask(request(9, "tools/list", more))["result"]["tools"]) == 7


def test_a_client_that_probes_first_is_opened_without_an_owner(tmp_path: Path) -> None:
    """mcp-wire 3: after ping, a bare probe and a bad initialize, initialize still works."""
    with BridgeWire(blocked(tmp_path / "store")) as wire:
        assert wire.ask(request(1, "ping"))["result"] == {}
        assert "error" in wire.ask(request(2, "server/discover"))
        assert "error" in wire.ask(request(3, "initialize", {}))
        assert wire.ask(initialize(NEWEST))["result"] == BUILT["initialize"][NEWEST]
        assert len(wire.ask(request(4, "tools/list"))["result"]["tools"]) == 7


def test_what_no_bridge_can_answer_is_a_protocol_error_without_an_owner(tmp_path: Path) -> None:
    """Contract 10.2: nothing hangs; a list with a cursor is the owner's to answer."""
    answers = piped(
        blocked(tmp_path / "store"),
        initialize(NEWEST),
        request(1, "tools/list", {"cursor": "next"}),
        request(2, "no/such/method"),
    )
    for answer in answers[1:]:
        assert answer["error"]["code"] == -32603
        assert answer["error"]["message"].startswith("store unavailable: ")


def test_a_list_with_a_cursor_goes_to_the_owner(store: Path) -> None:
    """Contract 2.1: there is one page, so no cursor is known."""
    answers = piped(store, initialize(NEWEST), request(1, "tools/list", {"cursor": "next"}))
    assert answers[1]["error"] == {"code": -32602, "message": "Unknown cursor"}


def _link(directory: Path) -> None:
    directory.mkdir()
    (directory / "elsewhere").write_bytes(b"")
    (directory / "gray.duckdb").symlink_to(directory / "elsewhere")


def _folder(directory: Path) -> None:
    (directory / "gray.duckdb").mkdir(parents=True)


def _rubbish(directory: Path) -> None:
    directory.mkdir()
    (directory / "gray.duckdb").write_bytes(b"this was never a database " * 1000)


def _newer_schema(directory: Path) -> None:
    assert command(directory, "--no-daemon", "remember", "a", "x").returncode == 0
    import duckdb  # the one place where a store of the future can come from

    with duckdb.connect(str(directory / "gray.duckdb")) as connection:
        connection.execute("UPDATE meta SET value = '999' WHERE key = 'schema_version'")


@pytest.mark.parametrize(
    ("spoil", "phrase"),
    [
        (_link, "gray.duckdb must be a regular file, not a link, folder or device"),
        (_folder, "gray.duckdb must be a regular file, not a link, folder or device"),
        (_rubbish, ""),
        (_newer_schema, "the store has schema 999, this version knows "),
    ],
)
def test_the_reason_of_a_failed_start_reaches_the_client(
    store: Path, spoil: Any, phrase: str
) -> None:
    """Contract 10.2, house 3: a phrase of ours; no path, no traceback, no driver's text."""
    spoil(store)
    answers = piped(store, initialize(NEWEST), tool_call(1, "memory_add", ADD["arguments"]))
    text = message_of(answers[1])
    assert text.startswith("store unavailable: ")
    assert phrase in text
    for leak in (str(store), "Traceback", "Error", "duckdb.", os.sep):
        assert leak not in text.replace("gray.duckdb", "")
    assert processes_of(store) == set()
