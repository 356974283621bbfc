"""Nothing but JSON-RPC on stdout, in UTF-8, whatever surrounds the process."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.clients import RawClient, reply_of
from contract_tests.manifest import promise
from contract_tests.wire import (
    STATELESS_REVISION,
    StdioWire,
    environment,
    graymatter,
    initialize,
    request,
)

if TYPE_CHECKING:
    from pathlib import Path

WORLD: Final = "Emoji 👩🏽‍🚀, 中文 and cafe\u0301"


def parsed(lines: list[bytes]) -> list[dict[str, object]]:
    """Parse every line; each must be one JSON-RPC message."""
    messages = [json.loads(line) for line in lines]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    return messages


@promise("stdout:only-messages")
def test_start_model_warnings_and_errors_leave_stdout_to_messages(tmp_path: Path) -> None:
    """F3; contract 10.2: the real model, a misspelt variable, a refusal, a broken line."""
    wire = StdioWire(
        tmp_path / "store",
        GRAYMATTER_MODEL="all-MiniLM-L6-v2",
        GRAYMATTER_FOO="1",
        PYTHONUNBUFFERED="1",
        PYTHONWARNINGS="always",
        PYTHONVERBOSE="",
    )
    with wire:
        wire.send(
            initialize("2025-11-25"),
            request(1, "tools/call", {"name": "memory_add", "arguments": {"agent_id": "a"}}),
            b"not json",
            request(
                2,
                "tools/call",
                {"name": "memory_add", "arguments": {"agent_id": "a", "text": WORLD}},
            ),
        )
        answers = [wire.receive_line() for _ in range(4)]
        search = {"name": "memory_search", "arguments": {"agent_id": "a", "query": "rocket"}}
        for number in range(10_000):
            answers.append(json.dumps(wire.ask(request(number + 3, "tools/call", search))).encode())
            if b"graymatter/degraded" not in answers[-1]:
                break
        else:
            pytest.fail("the model never came")
        rest, status = wire.end()
        assert status == 0
        assert parsed(answers + rest)
        assert "GRAYMATTER_FOO" in wire.stderr()


@promise("stdout:only-messages")
def test_a_refused_start_leaves_stdout_empty(tmp_path: Path) -> None:
    """F3; contract 10.1."""
    with StdioWire(tmp_path / "none", ["--no-create"]) as wire:
        assert wire.end() == ([], 1)
        assert wire.stderr()
    assert not (tmp_path / "none").exists()


@promise("stdout:drained")
def test_every_request_that_was_read_is_answered_before_the_end(tmp_path: Path) -> None:
    """Contract 10.2: of ten piped calls none is lost, and a piped opening is answered."""
    with StdioWire(tmp_path / "store") as wire:
        calls = [
            request(
                number,
                "tools/call",
                {"name": "memory_add", "arguments": {"agent_id": "a", "text": f"Fact {number}"}},
            )
            for number in range(10)
        ]
        wire.send(initialize("2025-11-25", 99), *calls)
        lines, status = wire.end()
    assert status == 0
    assert {message["id"] for message in parsed(lines)} == {*range(10), 99}


@promise("stdout:drained")
def test_two_hundred_calls_in_flight_are_answered(tmp_path: Path) -> None:
    """The wire, section 13."""
    with StdioWire(tmp_path / "store") as wire:
        client = RawClient(wire, STATELESS_REVISION)
        calls = [
            client.call_request(
                *(
                    ("memory_add", {"agent_id": "a", "text": f"Fact {n}"})
                    if n % 2
                    else ("memory_search", {"agent_id": "a", "query": "fact"})
                )
            )
            for n in range(200)
        ]
        wire.send(*calls)
        answers = [wire.receive() for _ in calls]
        assert {answer["id"] for answer in answers} == {call["id"] for call in calls}
        assert not any(reply_of(answer).is_error for answer in answers)


@promise("locale:utf8")
@pytest.mark.parametrize(
    "variables",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONUTF8": "0"},
        {"LANG": "C", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        {"LANG": "C", "LC_ALL": "POSIX"},
    ],
)
def test_any_text_survives_any_locale(tmp_path: Path, variables: dict[str, str]) -> None:
    """F7: as content, as agent_id, as a path, and on the command line."""
    directory = tmp_path / "Ablage 記憶 é"
    with StdioWire(directory, **variables) as wire:
        client = RawClient(wire, STATELESS_REVISION)
        assert not client.call("memory_add", {"agent_id": WORLD, "text": WORLD}).is_error
        raw = json.dumps(
            client.call_request("memory_add", {"agent_id": WORLD, "text": f"{WORLD} raw"}),
            ensure_ascii=False,
        )
        assert not reply_of(wire.ask(raw.encode())).is_error
        found = client.call("memory_search", {"agent_id": WORLD, "query": "中文"}).structured
    assert found["facts"] == [WORLD, f"{WORLD} raw"]
    assert directory.is_dir()
    told = subprocess.run(
        [graymatter(), "--dir", str(directory), "--no-daemon", "--json", "recall", WORLD, "中文"],
        capture_output=True,
        check=True,
        env=environment(**variables),
    )
    assert json.loads(told.stdout.decode())["facts"] == found["facts"]
