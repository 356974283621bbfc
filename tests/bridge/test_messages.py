from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from contract_tests.processes import Session, owner_pid, piped, tool_call
from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    StdioWire,
    as_line,
    environment,
    graymatter,
    initialize,
    request,
)

if TYPE_CHECKING:
    from pathlib import Path

OPEN = initialize("2025-11-25")


def add(request_id: object, text: str) -> dict[str, Any]:
    """Build a call that stores one fact."""
    return tool_call(request_id, "memory_add", {"agent_id": "a", "text": text})


def search(request_id: object, query: str = " ", top_k: int = 1000) -> dict[str, Any]:
    """Build a call that finds facts, by default all."""
    arguments = {"agent_id": "a", "query": query, "top_k": top_k}
    return tool_call(request_id, "memory_search", arguments)


def test_ten_piped_calls_are_all_answered_from_a_cold_start(store: Path) -> None:
    """Contract 10.2, mcp-wire 6: of ten piped calls the SDK's transport lost four."""
    answers = piped(store, OPEN, *(add(number, f"fact {number}") for number in range(10)))
    assert {answer["id"] for answer in answers} == {"opening", *range(10)}
    assert not any(answer["result"].get("isError") for answer in answers)
    with Session(store) as session:
        assert sorted(session.facts("a")) == [f"fact {number}" for number in range(10)]


def test_one_piped_initialize_is_answered(tmp_path: Path) -> None:
    """Contract 10.2: although stdin closes behind it, with and without a newline."""
    for line in (as_line(OPEN), as_line(OPEN).rstrip()):
        done = subprocess.run(
            [graymatter(), "--dir", str(tmp_path / "store"), "mcp", "serve"],
            input=line,
            capture_output=True,
            check=True,
            env=environment(),
        )
        assert json.loads(done.stdout)["id"] == "opening"


def test_a_file_as_stdin_is_served_to_its_end(store: Path, tmp_path: Path) -> None:
    """Contract 10.2: `graymatter mcp serve < file > file`."""
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(b"".join(map(as_line, (OPEN, add(1, "from a file"), request(2, "ping")))))
    with asked.open("rb") as source, answered.open("wb") as sink:
        subprocess.run(
            [graymatter(), "--dir", str(store), "mcp", "serve"],
            stdin=source,
            stdout=sink,
            stderr=subprocess.DEVNULL,
            check=True,
            env=environment(),
        )
    lines = answered.read_bytes().splitlines()
    assert {json.loads(line)["id"] for line in lines} == {"opening", 1, 2}


def test_an_answer_is_whole_though_the_input_ended_and_its_reader_is_slow(store: Path) -> None:
    """Contract 10.2: an answer far above what a pipe holds, read only after the end of input."""
    text = "long" * 250_000
    with Session(store, GRAYMATTER_ANSWER_BUDGET="0") as session:
        session.ok("memory_add", agent_id="a", text=text)
        assert session.process.stdin is not None
        session.send(search(5))
        assert session.process.stdout is not None
        # Some of it has come, so the rest is being written while the input ends.
        assert select.select([session.process.stdout], [], [], DEADLINE_S)[0]
        session.process.stdin.close()
        answer = session.receive()
        assert answer["result"]["structuredContent"]["facts"] == [text]


def test_a_line_of_twenty_megabytes_arrives(store: Path) -> None:
    """mcp-wire 6."""
    with Session(store) as session:
        huge = "é" * 10_000_000
        assert session.ask(request(1, "ping", {"x": huge}))["result"] == {}
        assert session.ask(request(2, "no/such/method", {"x": huge}))["error"]["code"] == -32601


def test_thousands_of_piped_calls_with_long_answers_do_not_lock_up(store: Path) -> None:
    """Issue 3.2: an owner that waits for room must not wait for a bridge that waits for it."""
    count = 3000
    with Session(store, GRAYMATTER_ANSWER_BUDGET="0") as session:
        session.ok("memory_add", agent_id="a", text="x" * 30_000)
        path = store.parent / "asked"
        path.write_bytes(b"".join(as_line(search(number)) for number in range(count)))
        with path.open("rb") as source:
            done = subprocess.run(
                [graymatter(), "--dir", str(store), "mcp", "serve"],
                stdin=source,
                capture_output=True,
                check=True,
                timeout=2 * DEADLINE_S,
                env=environment(),
            )
    assert len(done.stdout.splitlines()) == count


def test_lone_surrogates_and_broken_bytes_are_answered(store: Path) -> None:
    """mcp-wire 6: every line with an id gets an answer, whatever its strings hold."""
    raw = b'{"jsonrpc":"2.0","id":"\\ud83d","method":"tools/call","params":{"name":"memory_add",'
    raw += b'"arguments":{"agent_id":"a","text":"half \\ud800 and \xff"}}}'
    answers = piped(store, OPEN, raw)
    assert answers[1]["id"] == "\ud83d"
    assert answers[1]["result"]["content"]


def test_deep_nesting_is_answered(store: Path) -> None:
    """mcp-wire 6: a value as deep as one likes is stored or refused; nothing dies of it."""
    depths = [50, *range(100, 1100, 7), 5000, 100_000]
    call = '{"name":"checkpoint_save","arguments":{"agent_id":"a","state":{"x":%s}}}'
    line = '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":' + call + "}"
    lines = [(line % (depth, "[" * depth + "]" * depth)).encode() for depth in depths]
    answers = piped(store, OPEN, *lines, request(9, "ping"))
    assert {answer["id"] for answer in answers} == {"opening", *depths, 9}


def test_equal_ids_in_flight_are_each_answered(store: Path) -> None:
    """mcp-wire 6: 7, "7" and 7.0 are three names, and the same name twice is two requests."""
    with Session(store) as session:
        os.kill(owner_pid(store), signal.SIGSTOP)
        names = [7, "7", 7.0, 7, "7"]
        session.send(*(add(name, f"twin {place}") for place, name in enumerate(names)))
        os.kill(owner_pid(store), signal.SIGCONT)
        lines = [session.receive_line() for _ in names]
        spelled = sorted(json.dumps(json.loads(line)["id"]) for line in lines)
        assert spelled == sorted(map(json.dumps, names))
        assert len(session.facts("a")) == 5


def test_a_cancelled_call_is_not_answered_and_holds_nothing_up(store: Path) -> None:
    """Issue 3.2: neither the next call nor the end waits for it."""
    with Session(store) as session:
        owner = owner_pid(store)
        os.kill(owner, signal.SIGSTOP)
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled"}
        session.send(
            add("cancelled", "never mind"),
            {**notice, "params": {"requestId": "cancelled", "reason": "no"}},
            {**notice, "params": {"requestId": "unknown"}},
            {**notice, "params": {"requestId": ["x"]}},
            notice,
        )
        assert session.ask(request("alive", "ping"))["id"] == "alive"
        lines, status = session.end()
        assert (lines, status) == ([], 0), "the owner sleeps: only the drain could have waited"
        os.kill(owner, signal.SIGCONT)
    with Session(store) as session:
        assert session.ok("memory_add", agent_id="a", text="next")["stored"] is True


@pytest.mark.parametrize("door", [BridgeWire, StdioWire])
def test_a_line_over_the_limit_is_refused_and_the_next_is_read(
    store: Path, door: type[StdioWire]
) -> None:
    """Issue 3.2: the error names the limit and its variable; the id is found at either end."""
    with door(store, GRAYMATTER_MAX_LINE_BYTES="2000") as wire:
        wire.ask(OPEN)
        padding = {"x": "y" * 2000}
        first = wire.ask({"id": 5, "jsonrpc": "2.0", "method": "ping", "params": padding})
        last = wire.ask({"jsonrpc": "2.0", "method": "ping", "params": padding, "id": "end"})
        error = {
            "code": -32600,
            "message": "Invalid Request: a line over 2000 bytes;"
            " GRAYMATTER_MAX_LINE_BYTES sets the limit",
        }
        assert (first["id"], last["id"]) == (5, "end")
        assert first["error"] == last["error"] == error
        exact = as_line(request(6, "ping", {"x": ""})).rstrip()
        whole = request(6, "ping", {"x": "y" * (2000 - len(exact))})
        assert wire.ask(whole) == {"jsonrpc": "2.0", "id": 6, "result": {}}


@pytest.mark.parametrize("value", ["many", "", "10", "-1", "1.5"])
def test_a_bad_line_limit_is_an_error_that_names_the_variable(store: Path, value: str) -> None:
    """Contract 11.5."""
    with BridgeWire(store, GRAYMATTER_MAX_LINE_BYTES=value) as wire:
        assert wire.end() == ([], 1)
        assert wire.stderr().startswith("GRAYMATTER_MAX_LINE_BYTES: ")


def test_pipes_that_do_not_block_are_served(store: Path) -> None:
    """Issue 3.2: whoever shares the other end may have switched blocking off."""
    with Session(store, GRAYMATTER_ANSWER_BUDGET="0") as session:
        session.ok("memory_add", agent_id="a", text="x" * 500_000)
    asked, questions = os.pipe()
    answers, answered = os.pipe()
    for end in (asked, answered):
        os.set_blocking(end, False)
    with subprocess.Popen(
        [graymatter(), "--dir", str(store), "mcp", "serve"],
        stdin=asked,
        stdout=answered,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        os.close(asked)
        os.close(answered)
        with os.fdopen(questions, "wb") as sink, os.fdopen(answers, "rb") as source:
            sink.write(as_line(OPEN))
            sink.flush()
            assert json.loads(source.readline())["id"] == "opening"
            sink.write(as_line(search(1)))
            sink.flush()
            assert json.loads(source.readline())["id"] == 1
            sink.close()
            assert process.wait(DEADLINE_S) == 0
