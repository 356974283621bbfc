from __future__ import annotations

import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

import anyio
import anyio.lowlevel
import mcp_types
import pytest
from mcp import StdioServerParameters
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from graymatter_mcp.contract.load import Bundle
from graymatter_mcp.surfaces.mcp.answers import Caller, ToolAnswer
from graymatter_mcp.surfaces.mcp.instructions import INSTRUCTIONS
from graymatter_mcp.surfaces.mcp.server import MAX_CONCURRENT_CALLS, build_server
from tests.surfaces.mcp.toy_server import SECRET, ToyCalls, contract
from tests.surfaces.mcp.wire_client import (
    ENVELOPE,
    ERAS,
    ROOT,
    SCRIPT,
    Message,
    answer_to,
    call,
    initialize,
    opening,
    request,
    talk,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

HANDSHAKE_REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def result_of(tool: str, era: str, **arguments: object) -> dict[str, Any]:
    """Call one toy tool on a fresh connection; the result without the modern era's stamps."""
    answers = talk(opening(era), call(7, tool, era=era, **arguments))
    result = answer_to(7, answers)["result"]
    result.pop("resultType", None)
    result.get("_meta", {}).pop("io.modelcontextprotocol/serverInfo", None)
    if not result.get("_meta", True):
        del result["_meta"]
    return result


def error_of(message: Message, *before: object) -> tuple[int, str]:
    """Send one request; the code and the message of its error."""
    error = answer_to(message["id"], talk(*before, message))["error"]
    return error["code"], error["message"]


@pytest.mark.parametrize("revision", HANDSHAKE_REVISIONS)
def test_a_known_revision_is_echoed_with_one_capability_and_the_instructions(
    revision: str,
) -> None:
    """Core tools 2.1, C14; mcp-wire 3."""
    (answer,) = talk(initialize(1, revision))
    assert answer["result"] == {
        "protocolVersion": revision,
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "graymatter", "version": "7.8.9"},
        "instructions": INSTRUCTIONS,
    }


@pytest.mark.parametrize("asked", ["2026-07-28", "1999-01-01", "2025-11-26", ""])
def test_any_other_revision_is_answered_with_the_newest_of_the_handshake(asked: str) -> None:
    """mcp-wire 3: never refused."""
    (answer,) = talk(initialize(1, asked))
    assert answer["result"]["protocolVersion"] == "2025-11-25"


def test_discovery_declares_the_same_capability_and_text_as_the_handshake() -> None:
    """Core tools 2.1 and 2.3: in every era."""
    (answer,) = talk(request(1, "server/discover", era="modern"))
    result = answer["result"]
    assert result["capabilities"] == {"tools": {"listChanged": True}}
    assert result["instructions"] == INSTRUCTIONS
    assert result["supportedVersions"] == ["2026-07-28"]
    assert (result["cacheScope"], result["resultType"]) == ("public", "complete")
    stamp = result["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert stamp == {"name": "graymatter", "version": "7.8.9"}


@pytest.mark.parametrize("era", ERAS)
def test_an_empty_text_leaves_the_instructions_out(era: str) -> None:
    """Core tools 2.3."""
    (answer,) = talk(opening(era), instructions="")
    assert "instructions" not in answer["result"]


@pytest.mark.parametrize("era", ERAS)
def test_another_text_replaces_the_instructions(era: str) -> None:
    """Core tools 2.3."""
    (answer,) = talk(opening(era), instructions="Ask first.")
    assert answer["result"]["instructions"] == "Ask first."


def test_the_version_is_read_from_the_installed_distribution(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Core tools 2.1: never a constant in code."""
    monkeypatch.setattr(metadata, "version", {"graymatter-mcp": "3.2.1"}.__getitem__)
    assert build_server(Bundle(tools=()), ToyCalls()).version == "3.2.1"


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("params", [None, {}, {"cursor": None}])
def test_the_list_serves_each_contract_verbatim_and_in_order(
    era: str, params: dict[str, Any] | None
) -> None:
    """Core tools 2.1, F9: `params` absent, empty or with a null."""
    ask = request(2, "tools/list", params, era=era)
    if params is None and era == "handshake":
        ask["params"] = None
    tools = answer_to(2, talk(opening(era), ask))["result"]["tools"]
    assert tools == [
        {
            "name": name,
            "title": contract(name).title,
            "description": contract(name).description,
            "inputSchema": contract(name).input_schema,
            "outputSchema": contract(name).output_schema,
            "annotations": contract(name).annotations,
            "_meta": {"graymatter/revision": 3},
        }
        for name in ToyCalls().tools
    ]


def test_the_modern_list_may_be_cached_by_everyone() -> None:
    """mcp-wire 3."""
    result = answer_to(2, talk(request(2, "tools/list", era="modern")))["result"]
    assert (result["cacheScope"], result["ttlMs"]) == ("public", 300_000)


@pytest.mark.parametrize("era", ERAS)
def test_a_cursor_that_was_never_given_out_is_refused(era: str) -> None:
    """MCP, pagination: an invalid cursor is -32602."""
    ask = request(2, "tools/list", {"cursor": "next"}, era=era)
    assert error_of(ask, opening(era)) == (-32602, "Unknown cursor")


@pytest.mark.parametrize("era", ERAS)
def test_a_success_is_one_text_and_the_structured_payload(era: str) -> None:
    """Core tools 2.5."""
    assert result_of("echo", era, text="\u2028\u0085\x00 \U0001f9e0") == {
        "content": [{"type": "text", "text": "heard"}],
        "structuredContent": {"heard": "\u2028\u0085\x00 \U0001f9e0"},
        "isError": False,
    }


@pytest.mark.parametrize("era", ERAS)
def test_a_tool_error_is_text_only(era: str) -> None:
    """F8: even when the tool layer hands a payload with it."""
    assert result_of("refuse", era) == {
        "content": [{"type": "text", "text": "text is required"}],
        "isError": True,
    }


@pytest.mark.parametrize("era", ERAS)
def test_the_caller_and_the_extra_facts_pass_both_ways(era: str) -> None:
    """F25 and core tools 2.5: client name and version; `_meta` only when not empty."""
    result = result_of("whoami", era)
    version = {"handshake": "1.5", "modern": "2.6"}[era]
    assert result["structuredContent"]["heard"]["client"] == f"tester {version}"
    assert len(result["structuredContent"]["heard"]["session"]) == 32
    assert result["_meta"] == {"graymatter/degraded": "x"}


@pytest.mark.parametrize("era", ERAS)
def test_a_session_is_one_per_connection(era: str) -> None:
    """F25: two connections are told apart, two calls of one are not."""
    calls = [opening(era), call(1, "whoami", era=era), call(2, "whoami", era=era)]
    first, other = talk(*calls), talk(*calls)
    sessions = [
        answer_to(name, answers)["result"]["structuredContent"]["heard"]["session"]
        for answers in (first, other)
        for name in (1, 2)
    ]
    assert sessions[0] == sessions[1]
    assert sessions[2] == sessions[3]
    assert sessions[0] != sessions[2]


@pytest.mark.parametrize("era", ERAS)
def test_a_crash_becomes_a_tool_error_without_its_text(
    era: str, caplog: pytest.LogCaptureFixture
) -> None:
    """mcp-wire 4: nothing raised reaches the SDK, and neither wire nor log quotes it."""
    result = result_of("crash", era)
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert SECRET not in str(result)
    assert SECRET not in caplog.text
    assert "RuntimeError" in caplog.text


@pytest.mark.parametrize("era", ERAS)
def test_half_a_character_in_an_answer_does_not_break_the_wire(era: str) -> None:
    """mcp-wire 6: output encoding never fails."""
    result = result_of("surrogate", era)
    assert result["content"] == [{"type": "text", "text": "half ?"}]
    assert result["structuredContent"] == {"heard": "half \ud83d"}


@pytest.mark.parametrize("era", ERAS)
def test_an_unknown_tool_is_a_protocol_error_that_names_it(era: str) -> None:
    """Core tools 2.5."""
    assert error_of(call(3, "nope", era=era), opening(era)) == (-32602, "Unknown tool: nope")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"name": 5},
        {"name": None},
        {"name": "echo", "arguments": []},
        {"name": "echo", "arguments": "{}"},
        {"name": "echo", "arguments": 0},
        {"name": "echo\ud800"},
    ],
)
def test_a_call_of_the_wrong_shape_is_invalid_params(era: str, params: dict[str, Any]) -> None:
    """mcp-wire 4."""
    assert error_of(request(3, "tools/call", params, era=era), opening(era))[0] == -32602


@pytest.mark.parametrize("era", ERAS)
def test_null_arguments_count_as_absent(era: str) -> None:
    """F9."""
    params = {"name": "echo", "arguments": None}
    answer = answer_to(3, talk(opening(era), request(3, "tools/call", params, era=era)))
    assert answer["result"]["structuredContent"] == {"heard": None}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("method", ["nope", "resources/list", "prompts/list", "tools/call\ud800"])
def test_a_method_that_is_not_served_is_not_found(era: str, method: str) -> None:
    """mcp-wire 4."""
    assert error_of(request(3, method, era=era), opening(era))[0] == -32601


def test_before_initialize_ping_is_answered_and_the_rest_refused_by_kind() -> None:
    """mcp-wire 6."""
    answers = talk(request(1, "ping"), request(2, "tools/list"), request(3, "nope"), initialize(4))
    assert answer_to(1, answers)["result"] == {}
    assert answer_to(2, answers)["error"]["code"] == -32602
    assert answer_to(3, answers)["error"]["code"] == -32601
    assert answer_to(4, answers)["result"]["protocolVersion"] == "2025-11-25"


def test_a_bare_discovery_is_not_found_and_the_handshake_still_works() -> None:
    """mcp-wire 3."""
    answers = talk(request(1, "server/discover"), initialize(2), call(3, "echo", text="x"))
    assert answer_to(1, answers)["error"]["code"] == -32601
    assert answer_to(2, answers)["result"]["protocolVersion"] == "2025-11-25"
    assert answer_to(3, answers)["result"]["structuredContent"] == {"heard": "x"}


def test_an_initialize_on_a_modern_connection_names_the_supported_revision() -> None:
    """mcp-wire 3."""
    error = answer_to(2, talk(opening("modern"), initialize(2)))["error"]
    assert error["code"] == -32022
    assert error["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


def test_an_envelope_on_a_handshake_connection_is_refused() -> None:
    """mcp-wire 3."""
    assert error_of(call(2, "echo", era="modern"), initialize(1))[0] == -32600


def test_a_modern_request_without_its_envelope_is_refused() -> None:
    """mcp-wire 3: every request carries it."""
    assert error_of(request(2, "tools/list"), opening("modern"))[0] == -32602


def test_an_envelope_of_an_unknown_revision_names_the_supported_one() -> None:
    """mcp-wire 3."""
    envelope = {**ENVELOPE, "io.modelcontextprotocol/protocolVersion": "2027-01-01"}
    ask = request(1, "tools/list", {"_meta": envelope})
    error = answer_to(1, talk(ask))["error"]
    assert (error["code"], error["data"]["supported"]) == (-32022, ["2026-07-28"])


class CountingCalls:
    """Counts calls at work; none ends before as many as allowed have begun."""

    def __init__(self) -> None:
        self.now = self.peak = 0
        self._is_full = anyio.Event()

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Wait for the others, then long enough for one too many to begin."""
        self.now += 1
        self.peak = max(self.peak, self.now)
        if self.now == MAX_CONCURRENT_CALLS:
            self._is_full.set()
        await self._is_full.wait()
        for _ in range(500):
            await anyio.lowlevel.checkpoint()
        self.now -= 1
        return ToolAnswer(text="done", structured={"heard": None})


@pytest.mark.parametrize("era", ERAS)
def test_no_more_calls_work_at_once_than_allowed_and_all_are_answered(era: str) -> None:
    """mcp-wire 2: the SDK itself sets no limit."""
    calls = CountingCalls()
    asked = [call(n, "echo", era=era) for n in range(2 * MAX_CONCURRENT_CALLS)]
    answers = talk(opening(era), *asked, calls=calls)
    assert {answer["id"] for answer in answers} == {"init", *range(2 * MAX_CONCURRENT_CALLS)}
    assert calls.peak == MAX_CONCURRENT_CALLS


@pytest.fixture
def anyio_backend() -> str:
    """Return the only backend that is shipped for."""
    return "asyncio"


@pytest.mark.anyio
@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_the_official_client_lists_and_calls_in_both_eras(mode: Any) -> None:
    """Issue 2, must show: the Python client, success and error, without a validation error."""
    parameters = StdioServerParameters(
        command=sys.executable, args=[str(SCRIPT)], env={"PYTHONPATH": str(ROOT)}
    )
    async with Client(parameters, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(ToyCalls().tools)
        good = await client.call_tool("echo", {"text": "hi"})
        assert isinstance(good, mcp_types.CallToolResult)
        assert good.structured_content == {"heard": "hi"}
        bad = await client.call_tool("refuse", {})
        assert isinstance(bad, mcp_types.CallToolResult)
        assert (bad.is_error, bad.structured_content) == (True, None)
        with pytest.raises(MCPError, match="Unknown tool: nope"):
            await client.call_tool("nope", {})
