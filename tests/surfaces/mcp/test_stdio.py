from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.surfaces.mcp.toy_server import SECRET
from tests.surfaces.mcp.wire_client import (
    DEADLINE_S,
    ERAS,
    ROOT,
    SCRIPT,
    Message,
    Wire,
    answer_to,
    as_line,
    call,
    initialize,
    opening,
    request,
    talk,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NULL_ANSWERS = {
    "bad JSON": (b"{", -32700),
    "two values": (b"{} {}", -32700),
    "no text at all": (b"\x00\xff\xfe", -32700),
    "batch": (b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600),
    "empty batch": (b"[]", -32600),
    "number": (b"5", -32600),
    "string": (b'"ping"', -32600),
    "null": (b"null", -32600),
    "empty object": (b"{}", -32600),
    "null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
    "boolean id": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600),
    "object id": (b'{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}', -32600),
}
REFUSALS_BY_ID = {
    "no version": (b'{"id":5,"method":"ping"}', -32600),
    "old version": (b'{"jsonrpc":"1.0","id":5,"method":"ping"}', -32600),
    "no method": (b'{"jsonrpc":"2.0","id":5}', -32600),
    "method not a string": (b'{"jsonrpc":"2.0","id":5,"method":["ping"]}', -32600),
    "params a list": (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":[1]}', -32602),
    "params a string": (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":"x"}', -32602),
    "NaN": (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":NaN}}', -32700),
    "Infinity, id last": (b'{"method":"ping","params":{"id":9,"a":-Infinity},"id":5}', -32700),
    "1e999": (b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":[1e999]}}', -32700),
    "too deep": (
        b'{"jsonrpc":"2.0","id":5,"params":{"a":' + b"[" * 90000 + b"]" * 90000 + b"}}",
        -32600,
    ),
    "too deep, id last": (
        b'{"jsonrpc":"2.0","params":{"a":' + b"[" * 90000 + b"]" * 90000 + b'},"id":5}',
        -32600,
    ),
    "too many digits": (
        b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":' + b"9" * 5000 + b"}}",
        -32600,
    ),
}


def heard(answer: Message) -> Any:
    """Return what the toy tool heard."""
    return answer["result"]["structuredContent"]["heard"]


def cancellation(name: object) -> Message:
    """Build the notification that a request is no longer wanted."""
    params = {"requestId": name}
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}


@pytest.fixture
def wire() -> Iterator[Wire]:
    """Start a server and open a handshake connection."""
    with Wire() as opened:
        opened.ask(initialize())
        yield opened


@pytest.fixture(scope="module")
def shared_wire() -> Iterator[Wire]:
    """Open one handshake connection for tests that leave it as they found it."""
    with Wire() as opened:
        opened.ask(initialize())
        yield opened


@pytest.mark.parametrize(("line", "code"), NULL_ANSWERS.values(), ids=NULL_ANSWERS)
def test_a_line_that_names_no_request_is_answered_under_null(line: bytes, code: int) -> None:
    """mcp-wire 4 and 6: ours must speak where the SDK's transport says nothing."""
    refused, ping = talk(line, request(2, "ping"))
    assert (refused["jsonrpc"], refused["id"], refused["error"]["code"]) == ("2.0", None, code)
    assert ping == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(("line", "code"), REFUSALS_BY_ID.values(), ids=REFUSALS_BY_ID)
def test_a_line_whose_id_can_be_read_is_refused_under_it(line: bytes, code: int) -> None:
    """mcp-wire 6: every line with an id gets an answer."""
    refused, ping = talk(line, request(2, "ping"))
    assert (refused["id"], refused["error"]["code"]) == (5, code)
    assert ping == {"jsonrpc": "2.0", "id": 2, "result": {}}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \t\r",
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","method":"notifications/nope","params":{}}',
        b'{"jsonrpc":"2.0","method":"notifications/nope","params":[1]}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    ],
)
def test_what_asks_for_nothing_gets_nothing(line: bytes) -> None:
    """JSON-RPC: neither a notification nor a response is answered."""
    assert [answer["id"] for answer in talk(initialize(1), line, request(2, "ping"))] == [1, 2]


@pytest.mark.parametrize(
    "name", [0, -1, 2**70, "", "1", "\u2028 \x00 \U0001f9e0", "half \ud83d", 1.5, "a" * 9000]
)
def test_any_name_of_a_request_is_echoed_as_it_came(name: object) -> None:
    """mcp-wire 6: every line with an id gets an answer, whatever its strings hold."""
    assert talk(request(name, "ping")) == [{"jsonrpc": "2.0", "id": name, "result": {}}]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'"\\u2028\\u0085\\u0000"', "\u2028\u0085\x00"),
        ('"\u2028\u0085\u2029"'.encode(), "\u2028\u0085\u2029"),
        (b'"a\xff\xfeb"', "a\ufffd\ufffdb"),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        (b'"\\ud800"', "\ud800"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b'"raw \x00 and \t"', "raw \x00 and \t"),
        ('"e\u0301 記憶 \U0001f9e0"'.encode(), "e\u0301 記憶 \U0001f9e0"),
    ],
)
def test_odd_strings_pass_both_ways(raw: bytes, text: str) -> None:
    """mcp-wire 6, F7: U+2028, U+0085, NUL, invalid UTF-8, lone surrogates."""
    ask = json.dumps(call(2, "echo", text="@@")).encode().replace(b'"@@"', raw)
    assert heard(answer_to(2, talk(initialize(), ask))) == text


def test_a_lone_surrogate_as_a_key_of_the_arguments_still_gets_an_answer() -> None:
    """mcp-wire 6: the tool layer says what is wrong with it."""
    params = {"name": "echo", "arguments": {"\ud800": 1}}
    odd = request(2, "tools/call", params)
    answer = answer_to(2, talk(initialize(), odd))
    assert heard(answer) is None


@pytest.mark.parametrize("era", ERAS)
def test_a_payload_nested_too_deeply_for_the_sdk_still_gets_an_answer(era: str) -> None:
    """mcp-wire 6: its way in takes more levels than its way out; a plain call needs neither."""
    nested: object = "deep"
    for _ in range(500):
        nested = [nested]
    plain = call(2, "echo", era=era, text=nested)
    odd = call(3, "echo", era=era, text=nested)
    odd["params"]["_meta"] = {**odd["params"].get("_meta", {}), "example.com/odd": 1}
    answers = talk(opening(era), plain, odd)
    assert answer_to(2, answers)["result"]["structuredContent"] == {"heard": nested}
    assert answer_to(3, answers)["error"] == {"code": -32603, "message": "Internal error"}


def test_line_ends_of_windows_and_a_byte_order_mark_are_accepted() -> None:
    """mcp-wire 6: a Windows client writes both."""
    line = b"\xef\xbb\xbf" + json.dumps(request(1, "ping")).encode() + b"\r"
    assert talk(line) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


def test_equal_names_in_flight_get_one_answer_each() -> None:
    """mcp-wire 6: 7, "7" and another 7 are three requests."""
    answers = talk(
        initialize(),
        call(7, "echo", text="a"),
        call("7", "echo", text="b"),
        call(7, "echo", text="c"),
    )
    seen = [(answer["id"], heard(answer)) for answer in answers[1:]]
    assert sorted(seen, key=lambda pair: pair[1]) == [(7, "a"), ("7", "b"), (7, "c")]


@pytest.mark.parametrize("era", ERAS)
def test_piped_calls_are_all_answered_after_the_end_of_input(era: str) -> None:
    """mcp-wire 13.5, core tools 10.2: ten calls, no newline after the last, exit 0."""
    lines = [as_line(opening(era)), *(as_line(call(n, "echo", era=era)) for n in range(10))]
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        input=b"".join(lines).rstrip(b"\n"),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        timeout=DEADLINE_S,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert {answer["id"] for answer in answers} == {"init", *range(10)}
    assert all("result" in answer for answer in answers)


def test_input_from_a_regular_file_is_served(tmp_path: Path) -> None:
    """mcp-wire 6: `graymatter mcp serve < file`; epoll knows no regular files."""
    script = tmp_path / "calls.jsonl"
    script.write_bytes(as_line(initialize(1)) + as_line(call(2, "echo", text="x")))
    with script.open("rb") as stdin, Wire(stdin=stdin) as wire:
        answers, _, code = wire.end()
    assert [answer["id"] for answer in answers] == [1, 2]
    assert code == 0


def test_no_input_at_all_ends_quietly() -> None:
    """F2: stdin on the null device, as a service manager gives it."""
    with Wire(stdin=subprocess.DEVNULL) as wire:
        answers, _, code = wire.end()
    assert (answers, code) == ([], 0)


def test_output_to_a_file_holds_every_answer(tmp_path: Path) -> None:
    """mcp-wire 6: `graymatter mcp serve < in > out`."""
    script, out = tmp_path / "in", tmp_path / "out"
    script.write_bytes(as_line(initialize(1)) + as_line(call(2, "echo", text="x")))
    with script.open("rb") as stdin, out.open("wb") as stdout:
        subprocess.run(
            [sys.executable, str(SCRIPT)],
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
            timeout=DEADLINE_S,
            check=True,
        )
    assert [json.loads(line)["id"] for line in out.read_bytes().splitlines()] == [1, 2]


def test_closed_standard_descriptors_end_quietly() -> None:
    """F2: a client that starts us with stdin and stdout closed."""
    done = subprocess.run(
        ["sh", "-c", 'exec "$0" "$1" <&- >&-', sys.executable, str(SCRIPT)],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_noise_of_every_kind_stays_off_the_wire(wire: Wire) -> None:
    """F3: print before the claim, in a handler and at exit, descriptor 1, a child, a warning."""
    loud = wire.ask(call(1, "noise"))
    rest, err, code = wire.end()
    assert (heard(loud), rest, code) == ("", [], 0)
    for kind in ("print", "descriptor 1", "child", "warning"):
        assert f"noise: {kind}" in err


@pytest.mark.parametrize(
    "env",
    [{"PYTHONIOENCODING": "cp1252"}, {"PYTHONUTF8": "0"}, {"LANG": "C", "LC_ALL": "C"}],
    ids=str,
)
def test_the_wire_is_utf_8_whatever_the_locale_says(env: dict[str, str]) -> None:
    """F7."""
    with Wire(env=env) as wire:
        raw = json.dumps(call(2, "echo", text="記憶 \U0001f9e0 e\u0301"), ensure_ascii=False)
        wire.send(initialize(1), raw.encode())
        answers, _, _ = wire.end()
    assert heard(answer_to(2, answers)) == "記憶 \U0001f9e0 e\u0301"


def test_a_held_call_stops_neither_ping_nor_other_calls(shared_wire: Wire) -> None:
    """mcp-wire 13.8: answers come out of order."""
    shared_wire.send(call(1, "hold"))
    assert shared_wire.ask(request(2, "ping"))["id"] == 2
    assert heard(shared_wire.ask(call(3, "held")))["held"] == 1
    shared_wire.send(call(4, "release"))
    assert {shared_wire.receive()["id"], shared_wire.receive()["id"]} == {1, 4}


def test_ping_is_answered_while_more_calls_wait_than_may_work_at_once(shared_wire: Wire) -> None:
    """mcp-wire 2: the limit is on tool calls alone."""
    shared_wire.send(*(call(n, "hold") for n in range(200)))
    assert shared_wire.ask(request("ping", "ping"))["id"] == "ping"
    shared_wire.send(*(cancellation(n) for n in range(200)))


def test_a_client_that_writes_all_before_it_reads_gets_every_answer(shared_wire: Wire) -> None:
    """mcp-wire 6: more answers than a pipe holds wait for their reader."""
    shared_wire.send(*(request(n, "ping") for n in range(5000)))
    assert {shared_wire.receive()["id"] for _ in range(5000)} == set(range(5000))


@pytest.mark.parametrize("era", ERAS)
def test_200_calls_in_flight_are_all_answered(era: str) -> None:
    """mcp-wire 13.8."""
    answers = talk(opening(era), *(call(n, "echo", era=era, text=str(n)) for n in range(200)))
    seen = {answer["id"]: heard(answer) for answer in answers if answer["id"] != "init"}
    assert seen == {n: str(n) for n in range(200)}


def test_a_cancelled_call_is_stopped_and_never_answered(wire: Wire) -> None:
    """mcp-wire 2 and 6."""
    wire.send(call("slow", "hold"))
    assert heard(wire.ask(call(1, "held"))) == {"held": 1, "was_cancelled": False}
    wire.send(cancellation("slow"))
    assert heard(wire.ask(call(2, "held"))) == {"held": 0, "was_cancelled": True}
    rest, _, code = wire.end()
    assert (rest, code) == ([], 0)


def test_the_end_of_input_waits_for_calls_at_work() -> None:
    """Core tools 10.2: every request read is answered before exit."""
    answers = talk(initialize(), call(1, "hold"), call(2, "release"))
    assert heard(answer_to(1, answers)) == "held"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_with_0_and_leaves_no_request_unanswered(
    wire: Wire, number: signal.Signals
) -> None:
    """mcp-wire 6, core tools 10.2: a call that never ends gets an error instead."""
    wire.send(call(1, "hold"))
    assert wire.ask(request(2, "ping"))["id"] == 2
    wire.process.send_signal(number)
    answer = wire.receive()
    assert (answer["id"], answer["error"]["code"]) == (1, -32000)
    assert wire.process.wait(DEADLINE_S) == 0


def test_a_second_signal_ends_at_once(wire: Wire) -> None:
    """F2: whoever asks twice does not wait for answers."""
    wire.send(call(1, "hold"))
    assert wire.ask(request(2, "ping"))["id"] == 2
    wire.process.send_signal(signal.SIGTERM)
    wire.process.send_signal(signal.SIGINT)
    rest, _, code = wire.end()
    assert (rest, code) == ([], 0)


def test_a_reader_that_left_ends_the_process_without_a_traceback(wire: Wire) -> None:
    """mcp-wire 6: EPIPE is a way to say goodbye, even with a call at work."""
    assert wire.process.stdin is not None
    assert wire.process.stdout is not None
    assert wire.process.stderr is not None
    wire.process.stdout.close()
    wire.send(call(1, "hold"), request(2, "ping"))
    assert wire.process.wait(DEADLINE_S) == 0
    assert wire.process.stderr.read() == b""


def test_the_death_of_the_parent_ends_the_server() -> None:
    """F2: `kill -9` of the client, with a call at work; the pipe's other end closes with it."""
    alive = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, str(SCRIPT)],
        pass_fds=[alive[1]],
        env={**os.environ, "PYTHONPATH": str(ROOT), "ALIVE": str(alive[1])},
        stdout=subprocess.PIPE,
    )
    os.close(alive[1])
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    parent.kill()
    parent.wait(DEADLINE_S)
    parent.stdout.close()
    # Only the server holds the write end of `alive` now: the pipe ends when the server does.
    has_ended, _, _ = select.select([alive[0]], [], [], DEADLINE_S)
    os.close(alive[0])
    if not has_ended:
        os.kill(server, signal.SIGKILL)
    assert has_ended


_PARENT = """
import json, os, subprocess, sys
fd = int(os.environ["ALIVE"])
child = subprocess.Popen([sys.executable, sys.argv[1]], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, pass_fds=[fd])
os.close(fd)
say = lambda m: (child.stdin.write(json.dumps({"jsonrpc": "2.0", **m}).encode() + b"\\n"),
                 child.stdin.flush())
say({"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
     "capabilities": {}, "clientInfo": {"name": "p", "version": "1"}}})
child.stdout.readline()
say({"id": 2, "method": "tools/call", "params": {"name": "hold"}})
say({"id": 3, "method": "ping"})
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_a_start_that_fails_raises_and_says_nothing_on_stdout() -> None:
    """Core tools 10.2: 1 when it cannot start; what `main` raised reaches the command."""
    with Wire("--fail") as wire:
        answers, err, code = wire.end()
    assert (answers, code) == ([], 1)
    assert f"FileNotFoundError: {SECRET}" in err


def test_a_line_of_20_mb_passes_and_one_over_64_mib_is_refused_by_its_id(shared_wire: Wire) -> None:
    """mcp-wire 6."""
    big = shared_wire.ask(call(1, "echo", text="x" * 20_000_000))
    assert heard(big) == "20000000 characters"
    refused = shared_wire.ask(call(2, "echo", text="x" * 70_000_000))
    assert (refused["id"], refused["error"]["code"]) == (2, -32600)
    last = {"jsonrpc": "2.0", "method": "ping", "params": {"a": "x" * 70_000_000}, "id": "end"}
    refused = shared_wire.ask(last)
    assert (refused["id"], refused["error"]["code"]) == ("end", -32600)
    assert shared_wire.ask(request(4, "ping"))["id"] == 4
