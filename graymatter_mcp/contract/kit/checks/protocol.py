"""What is no call of a known tool, and how each protocol revision frames its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic
from graymatter_mcp.contract.wire.session import MISSING

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

INVALID_PARAMS: Final = -32602
UNKNOWN_METHOD: Final = -32601
NOT_JSON: Final = -32700
NOT_A_REQUEST: Final = -32600
_NO_OBJECTS: Final[tuple[Any, ...]] = ([], "text", 7)
_EMPTY_PARAMS: Final[tuple[Any, ...]] = (MISSING, None, {})


def _code(answer: Any) -> object:
    return answer.get("error", {}).get("code")


@topic.reads("server:revisions")
def revision_is_echoed(case: Case) -> None:
    """A known revision is echoed; the stateless one is among the supported ones."""
    session = case.session
    if session.is_stateless:
        supported = session.opening.get("supportedVersions", [])
        expect(session.revision in supported, "the revision in use is not among the supported ones")
    else:
        found = session.opening.get("protocolVersion")
        expect_equal(found, session.revision, "the revision of the answer to initialize")


@topic.reads("errors:protocol")
def unknown_tools_and_methods(case: Case) -> None:
    """What is no call of a known tool is a protocol error with its code."""
    session = case.session
    answer = session.call("no_such_tool", {})
    expect_equal(_code(answer), INVALID_PARAMS, "the code for an unknown tool")
    expect_equal(answer["error"]["message"], "Unknown tool: no_such_tool", "the message for it")
    for arguments in _NO_OBJECTS:
        found = _code(session.call("memory_search", arguments))
        expect_equal(found, INVALID_PARAMS, "the code for arguments that are no object")
    if session.wire.is_stream or not session.is_stateless:
        # Stateless HTTP names the tool in a header too, which cannot hold what is no text.
        found = _code(session.ask("tools/call", {"name": 7, "arguments": {}}))
        expect_equal(found, INVALID_PARAMS, "the code for a name that is no text")
    expect_equal(_code(session.ask("no/such-method", {})), UNKNOWN_METHOD, "an unknown method")
    reply = case.reply("memory_search", None)
    expect(reply.is_error, "null arguments count as none, and a search needs some")


@topic.reads("errors:unreadable", streams_only=True)
def unreadable_lines(case: Case) -> None:
    """Bad JSON and batches are answered, and the connection goes on."""
    wire = case.session.wire
    expect_equal(_code(wire.ask_raw(b"{no json")), NOT_JSON, "the code for bad JSON")
    expect_equal(_code(wire.ask_raw(b"[]")), NOT_A_REQUEST, "the code for a batch")
    expect(case.session.tools(), "the connection does not go on after a bad line")


@topic.reads("inputs:null-params")
def null_params(case: Case) -> None:
    """A list may be asked for with null or empty params."""
    for params in _EMPTY_PARAMS:
        answer = case.session.ask("tools/list", params)
        expect_equal(len(answer.get("result", {}).get("tools", [])), len(case.listed), "its tools")


@topic.reads("server:list-is-stable")
def stable_list(case: Case) -> None:
    """The list of tools is fixed for the life of a connection."""
    expect(case.session.tools() == list(case.listed), "a second list differs from the first")


@topic.reads("server:stateless-answers")
def stateless_answers(case: Case) -> None:
    """In the stateless revision a list says how long it holds and whom it is for."""
    if not case.session.is_stateless:
        return
    result = case.session.ask("tools/list")["result"]
    expect_equal(result.get("resultType"), "complete", "the kind of result")
    expect(isinstance(result.get("ttlMs"), int), "the list does not say how long it holds")
    expect(result.get("cacheScope") in ("public", "private"), "the list does not say for whom")


@topic.reads("server:ping")
def ping(case: Case) -> None:
    """A ping is answered in the revisions that have one."""
    if not case.session.is_stateless:
        expect("result" in case.session.ask("ping"), "a ping is not answered")
