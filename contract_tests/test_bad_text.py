"""Text at the edges: huge, odd, or no text at all; stored faithfully or refused by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.clients import RawClient, reply_of
from contract_tests.inside import keyword_config
from contract_tests.manifest import promise
from contract_tests.wire import STATELESS_REVISION, StdioWire
from graymatter_mcp import Memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller

ODD_TEXTS: Final = (
    "Line one\nline two\r\n\ttabbed",
    "Separators \u2028 and \u2029 and \u0085 and \u001f",
    "Zero width \u200b\u200d\ufeff and right to left \u202eabc",
    "Emoji 👩🏽\u200d🚀 and \U0001d518\U0001d52b",
    "cafe\u0301 is not café",
    "東京都の天気と한국어",
    '{"json": "in a fact", "quote": "\\""}',
    "  outer spaces stay  ",
    "\x7f\x01\x02",
    "\ufffe\uffff",
)


@promise("text:faithful")
def test_odd_texts_come_back_byte_for_byte(caller: Caller, agent: str) -> None:
    """Issue: bad input is refused or stored faithfully."""
    caller.add(agent, *ODD_TEXTS)
    assert caller.facts(agent) == list(reversed(ODD_TEXTS))
    assert [one["text"] for one in caller.receipts(agent)] == list(reversed(ODD_TEXTS))


@promise("text:faithful")
def test_odd_texts_are_the_same_for_the_library_after_a_restart(
    start: Callable[..., Caller], tmp_path: Path
) -> None:
    """Issue: read back through another surface, from the file."""
    caller = start()
    caller.add("agent", *ODD_TEXTS)
    caller.client.close()
    with Memory.open(keyword_config(tmp_path / "store")) as memory:
        listed = [fact.text for fact in memory.advanced().list("agent")]
    assert listed == list(reversed(ODD_TEXTS))


@promise("text:huge")
def test_a_text_of_twenty_megabytes_is_stored_whole(
    start: Callable[..., Caller], tmp_path: Path
) -> None:
    """Issue; 2.5: the first fact always stays in an answer, whatever its size."""
    text = "A remarkably long fact about the harbour. " * 500_000
    assert len(text) > 20_000_000
    caller = start()
    caller.add("agent", text, "A short one")
    found = caller.ok("memory_search", agent_id="agent", query="remarkably", top_k=1)
    assert found["facts"] == [text]
    caller.client.close()
    with Memory.open(keyword_config(tmp_path / "store")) as memory:
        assert [len(fact.text) for fact in memory.advanced().list("agent")] == [11, len(text)]


@promise("text:not-text")
def test_a_lone_surrogate_or_a_nul_is_refused_by_name(newest: Caller, agent: str) -> None:
    """Contract 3.1."""
    for bad in ("half \ud83d of a pair", "\udc00", "nul \x00 inside"):
        for tool, name, arguments in (
            ("memory_add", "text", {"agent_id": agent, "text": bad}),
            ("memory_add", "agent_id", {"agent_id": bad, "text": "x"}),
            ("memory_search", "query", {"agent_id": agent, "query": bad}),
            ("memory_search_batch", "queries", {"agent_id": agent, "queries": ["x", bad]}),
            ("memory_alias", "term", {"agent_id": agent, "term": bad, "equivalents": ["x"]}),
            ("memory_alias", "equivalents", {"agent_id": agent, "term": "x", "equivalents": [bad]}),
            ("checkpoint_save", "state", {"agent_id": agent, "state": {"x": [bad]}}),
            ("checkpoint_save", "state", {"agent_id": agent, "state": {bad: 1}}),
            ("checkpoint_save", "state", {"agent_id": agent, "state": json.dumps({"x": bad})}),
            ("memory_reflect", "text", {"action": "add", "agent_id": agent, "text": bad}),
            ("memory_reflect", "target", {"action": "pin", "agent_id": agent, "target": bad}),
        ):
            assert newest.refused(tool, **arguments) == f"{name} is not valid text"
    assert newest.facts(agent) == []


@promise("numbers:not-finite")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_number_that_is_not_finite_is_refused(newest: Caller, agent: str, number: str) -> None:
    """The wire, section 4: JSON readers let these pass."""
    client = newest.client
    assert isinstance(client, RawClient)
    for tool, name, arguments in (
        ("memory_search", "top_k", {"agent_id": agent, "query": "x", "top_k": "@"}),
        ("memory_search", "confidence_weight", {"agent_id": agent, "query": "x"}),
        ("checkpoint_save", "state", {"agent_id": agent, "state": {"x": ["@"]}}),
    ):
        sent: dict[str, Any] = dict(arguments)
        if name == "confidence_weight":
            sent[name] = "@"
        line = json.dumps(client.call_request(tool, sent)).replace('"@"', number).encode()
        # The bridge refuses the line, an owner on its own pipes would refuse the call.
        answer = client.wire.ask(line)
        assert "finite" in json.dumps(answer) or "infinite" in json.dumps(answer)
        assert "error" in answer or answer["result"]["isError"]
    assert newest.ok("checkpoint_resume", agent_id=agent, on_missing="empty")["found"] is False


@promise("text:bad-bytes")
def test_bytes_that_are_no_utf8_do_not_end_the_connection(tmp_path: Path) -> None:
    """The wire, section 6: invalid UTF-8 becomes U+FFFD; every id gets an answer."""
    with StdioWire(tmp_path / "store") as wire:
        client = RawClient(wire, STATELESS_REVISION)
        line = json.dumps(client.call_request("memory_add", {"agent_id": "a", "text": "b@d"}))
        reply = reply_of(wire.ask(line.encode().replace(b"@", b"\xff")))
        assert not reply.is_error
        found = client.call("memory_search", {"agent_id": "a", "query": " "}).structured
        assert found["facts"] == ["b\ufffdd"]


@promise("inputs:deep-nesting")
def test_arguments_nested_very_deep_are_answered(newest: Caller, agent: str) -> None:
    """Issue: nothing crashes."""
    client = newest.client
    assert isinstance(client, RawClient)
    line = json.dumps(client.call_request("memory_add", {"agent_id": agent, "text": "@"}))
    deep = ("[" * 50_000 + "]" * 50_000).encode()
    answer = client.wire.ask(line.encode().replace(b'"@"', deep))
    assert "error" in answer or answer["result"]["isError"]
    newest.add(agent, "Still alive")
    assert newest.facts(agent) == ["Still alive"]
