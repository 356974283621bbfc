from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.bridge.lines import (
    LineSplitter,
    Overlong,
    Refusal,
    Request,
    encode,
    read_line,
    salvage_id,
)

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)
IDS = st.text(st.characters()) | st.integers()


def split(chunks: list[bytes], limit: int) -> list[bytes | Overlong]:
    """Feed all chunks, then the end."""
    splitter = LineSplitter(limit)
    lines = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*lines, *splitter.finish()]


@given(st.lists(st.binary(max_size=20).map(lambda b: b.replace(b"b", b"\n"))), st.integers(0, 8))
def test_lines_do_not_depend_on_how_the_stream_was_cut(chunks: list[bytes], limit: int) -> None:
    """mcp-wire 6: chunks are an accident of the pipe."""
    assert split(chunks, limit) == split([b"".join(chunks)], limit)


def test_a_line_of_exactly_the_limit_is_whole_and_one_byte_more_is_not() -> None:
    """mcp-wire 6: lines up to the limit pass, and the next line is not harmed."""
    lines = split([b"12345\n123456\n\n1"], 5)
    assert lines == [b"12345", Overlong(b"123456", b"123456"), b"", b"1"]


def test_a_line_without_end_costs_no_more_than_its_limit() -> None:
    """mcp-wire 6: only both ends of an overlong line are kept, 64 KiB and 1 KiB."""
    (line,) = split([b"a" * 1000] * 5000 + [b"z"], 100_000)
    assert isinstance(line, Overlong)
    assert (len(line.head), len(line.tail), line.tail[-1:]) == (65536, 1024, b"z")


@given(st.binary())
def test_no_line_is_unreadable(line: bytes) -> None:
    """mcp-wire 6: any bytes are a message, a refusal, or ask for nothing."""
    answer = read_line(line.replace(b"\n", b""))
    assert answer is None or isinstance(answer, Refusal)


@given(IDS, st.text(), st.none() | st.dictionaries(st.text(st.characters()), JSON, max_size=3))
def test_every_request_is_read_as_it_was_written(
    name: str | int, method: str, params: dict[str, Any] | None
) -> None:
    """mcp-wire 6: whatever its strings hold, lone surrogates included."""
    line = encode({"jsonrpc": "2.0", "id": name, "method": method, "params": params})
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert read_line(line) == Request(name, method, params)


@given(IDS, JSON)
def test_the_id_of_a_message_that_cannot_be_parsed_is_found_at_its_top_level(
    name: str | int, params: object
) -> None:
    """mcp-wire 6: the client must not wait for ever."""
    text = json.dumps({"a": {"id": 99}, "params": params, "id": name, "b": math.nan})
    assert salvage_id(text) == name


@pytest.mark.parametrize(
    "text",
    ['{"a":{"id":1}', '[{"id":1}]', '{"id":true}', '{"id":NaN}', '{"id":[1]}', '{"x":"id","y":1}'],
)
def test_no_id_is_made_up(text: str) -> None:
    """mcp-wire 4: an answer under a wrong id is worse than one under null."""
    assert salvage_id(text) is None


@pytest.mark.parametrize("payload", [math.nan, math.inf, object(), {"a": {1, 2}}])
def test_a_payload_that_json_cannot_hold_is_sent_as_an_error_under_its_id(payload: object) -> None:
    """mcp-wire 6: encoding never fails."""
    line = encode({"jsonrpc": "2.0", "id": 4, "result": {"value": payload}})
    error = {"code": -32603, "message": "Internal error"}
    assert json.loads(line) == {"jsonrpc": "2.0", "id": 4, "error": error}
