"""The dispatcher: what is raised, broken or unknown becomes a text that gives nothing away."""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass, replace
from typing import Any

import anyio
import pytest

from graymatter_mcp.contract.load import Bundle, load_bundle
from graymatter_mcp.engine.base import Memory
from graymatter_mcp.errors import (
    CapabilityUnsupportedError,
    CommittedButFailedError,
    CommitUnknownError,
    FactChangedError,
    FactNotFoundError,
    GraymatterError,
    InvalidArgumentError,
    ReadOnlyError,
    RetryRecallError,
    StoreUnavailableError,
)
from graymatter_mcp.model.results import BatchEntry, BatchRecallResult, RecallResult
from graymatter_mcp.surfaces.mcp.answers import ToolAnswer, ToolCalls, UnknownToolError
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher
from tests.surfaces.mcp.recording_memory import CALLER, RecordingMemory, call, checkpoint, fact

PRIVATE = "the launch code is 0000 /data/x/.graymatter gm_token"


@dataclass(frozen=True)
class Case:
    """One call, the engine's method behind it, and what its error texts start with."""

    tool: str
    method: str
    arguments: dict[str, Any]
    prefix: str


REFLECT = {"agent_id": "a", "text": "t", "target": "o"}
CASES = [
    Case("memory_search", "recall", {"agent_id": "a", "query": "q"}, "recall error"),
    Case(
        "memory_search",
        "recall_explain",
        {"agent_id": "a", "query": "q", "explain": True},
        "recall error",
    ),
    Case(
        "memory_search_batch",
        "recall_batch",
        {"agent_id": "a", "queries": ["q"]},
        "recall error",
    ),
    Case("memory_add", "remember", {"agent_id": "a", "text": "t"}, "remember error"),
    Case(
        "memory_add",
        "remember",
        {"agent_id": "a", "text": "t", "confidence": "verified"},
        "remember failed",
    ),
    Case(
        "memory_alias",
        "add_alias",
        {"agent_id": "a", "term": "x", "equivalents": ["y"]},
        "alias error",
    ),
    Case("checkpoint_save", "save_checkpoint", {"agent_id": "a"}, "checkpoint save error"),
    Case("checkpoint_resume", "resume_checkpoint", {"agent_id": "a"}, "checkpoint resume error"),
    Case("memory_reflect", "remember", REFLECT | {"action": "add"}, "add failed"),
    Case("memory_reflect", "revise", REFLECT | {"action": "update"}, "update failed"),
    Case("memory_reflect", "forget", REFLECT | {"action": "forget"}, "suppress fact"),
    Case("memory_reflect", "link", REFLECT | {"action": "link"}, "link nodes"),
    Case("memory_reflect", "set_pinned", REFLECT | {"action": "pin"}, "pin failed"),
    Case("memory_reflect", "set_pinned", REFLECT | {"action": "unpin"}, "unpin failed"),
]
EACH_CASE = pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.tool}-{case.prefix}")


def failing(case: Case, error: BaseException) -> ToolAnswer:
    """Make one call whose method of the engine raises."""
    memory = RecordingMemory({case.method: error})
    answer = call(case.tool, case.arguments, memory)
    assert [reached[0] for reached in memory.calls] == [case.method]
    return answer


@EACH_CASE
def test_a_failure_of_the_engine_is_told_with_the_prefix_of_its_tool(case: Case) -> None:
    """Contract 3.2 to 3.6, 6; F8: an error is text only."""
    answer = failing(case, StoreUnavailableError("disk full"))
    assert answer == ToolAnswer(text=f"{case.prefix}: disk full", is_error=True)


@EACH_CASE
def test_an_unforeseen_exception_tells_the_client_nothing_and_the_log_where(
    case: Case, caplog: pytest.LogCaptureFixture
) -> None:
    """Contract 2.5: no exception text, path or token leaves; logs hold no text of facts."""
    cause = KeyError(PRIVATE)
    error = RuntimeError(PRIVATE)
    error.__cause__ = cause
    answer = failing(case, error)
    assert answer == ToolAnswer(text=f"{case.prefix}: internal error", is_error=True)
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    message = record.getMessage()
    assert message.startswith(f"{case.tool} failed:\nbuiltins.RuntimeError\n")
    assert "in _answer" in message
    assert "builtins.KeyError" in message
    assert "launch code" not in caplog.text


@EACH_CASE
@pytest.mark.parametrize(
    "error",
    [
        InvalidArgumentError("alias term is required"),
        CommitUnknownError(
            "outcome unknown: the owner went away after the write was sent;"
            " check before sending it again"
        ),
    ],
    ids=lambda error: error.code,
)
def test_some_errors_are_told_word_for_word(case: Case, error: GraymatterError) -> None:
    """Contract 3.1, 10.6."""
    assert failing(case, error) == ToolAnswer(text=str(error), is_error=True)


@EACH_CASE
def test_a_missing_capability_stands_alone_except_for_the_graph(case: Case) -> None:
    """Contract 3.2, 6, 10.5; C27."""
    options = "confidence options unsupported: update and restart the store daemon: x-v1"
    if case.prefix != "link nodes":
        assert failing(case, CapabilityUnsupportedError(options)).text == options
    else:
        error = CapabilityUnsupportedError("knowledge graph not available")
        assert failing(case, error).text == "link nodes: knowledge graph not available"


@EACH_CASE
def test_an_error_without_words_gets_the_words_of_its_code(case: Case) -> None:
    """House 4: a text is never empty."""
    assert failing(case, StoreUnavailableError("")).text == f"{case.prefix}: store unavailable"
    assert failing(case, ReadOnlyError()).text == f"{case.prefix}: store is read-only"


def reflect(action: str, error: Exception, **arguments: str) -> str:
    """Return the error text of a reflect call."""
    method = {"update": "revise", "forget": "forget", "add": "remember"}.get(action, "set_pinned")
    answer = call(
        "memory_reflect",
        {"action": action, "agent_id": "a"} | arguments,
        RecordingMemory({method: error}),
    )
    assert answer.is_error
    return answer.text


@pytest.mark.parametrize("action", ["update", "forget", "pin", "unpin"])
def test_a_target_that_is_not_there_is_quoted(action: str) -> None:
    """Contract 6."""
    error = FactNotFoundError("whatever")
    told = reflect(action, error, text="t", target=" o")
    assert told == 'target fact not found: " o"'
    if action != "update":
        assert reflect(action, error, text="t") == 'target fact not found: "t"'


def test_an_update_tells_apart_what_moved_and_what_could_not_be_listed() -> None:
    """Contract 6."""
    arguments = {"text": "t", "target": "o"}
    told = reflect("update", FactChangedError(), **arguments)
    assert told == "update failed: fact changed before mutation"
    listing = StoreUnavailableError("list facts: disk gone")
    assert reflect("update", listing, **arguments) == "list facts: disk gone"


def test_a_failure_after_the_commit_names_what_is_stored() -> None:
    """C60."""
    add = {"agent_id": "a", "text": "t"}
    told = "remember failed after committing fact_id F7 (confidence {}): index down"
    for label in ("", "inferred"):
        error = CommittedButFailedError(fact("F7", confidence=label), "index down")
        memory = RecordingMemory({"remember": error})
        assert call("memory_add", add, memory).text == told.format("inferred")
        assert call("memory_add", add | {"confidence": "inferred"}, memory).text == told.format(
            "inferred"
        )
    error = CommittedButFailedError(fact("F7", confidence="verified"), "index down")
    assert reflect("update", error, text="t", target="o") == (
        "update failed after committing fact_id F7 (confidence verified): index down"
    )
    assert reflect("add", error, text="t") == (
        "add failed after committing fact_id F7 (confidence verified): index down"
    )


def test_a_query_that_must_be_sent_again_says_so() -> None:
    """Contract 5.3."""
    reason = "confidence recall effective query changed during retrieval; retry the query"
    told = failing(CASES[0], RetryRecallError(reason)).text
    assert told == f"recall error: {reason}"


def test_a_batch_of_which_every_query_failed_is_an_error() -> None:
    """Contract 3.3."""
    result = BatchRecallResult(
        merged=(),
        per_query=(
            BatchEntry(query="q", facts=None, error="boom"),
            BatchEntry(query="r", facts=None, error="bang"),
        ),
    )
    memory = RecordingMemory({"recall_batch": result})
    answer = call("memory_search_batch", {"agent_id": "a", "queries": ["q", "r"]}, memory)
    told = 'All recall queries failed: "q": boom; "r": bang'
    assert answer == ToolAnswer(text=told, is_error=True)


BROKEN: dict[str, tuple[object, str]] = {
    "memory_search": (RecallResult(facts=(7,)), "$.facts[0]: type"),  # pyright: ignore[reportArgumentType] - the fault at hand
    "memory_add": (replace(fact(), id=7), "$.fact_id: type"),  # pyright: ignore[reportArgumentType] - the fault at hand
    "checkpoint_save": (checkpoint(id=7), "$.checkpoint_id: type"),
    "memory_reflect": (replace(fact(), id=float("nan")), "$.fact_id: not JSON text"),  # pyright: ignore[reportArgumentType] - the fault at hand
}


@pytest.mark.parametrize(
    ("tool", "method", "arguments", "told"),
    [
        (
            "memory_search",
            "recall",
            {"agent_id": "a", "query": "q"},
            "recall error: internal error: the answer could not be made",
        ),
        (
            "memory_add",
            "remember",
            {"agent_id": "a", "text": PRIVATE, "confidence": "verified"},
            "remember failed: internal error: "
            "the effect took place, but the answer could not be made",
        ),
        (
            "checkpoint_save",
            "save_checkpoint",
            {"agent_id": "a"},
            "checkpoint save error: internal error: "
            "the effect took place, but the answer could not be made",
        ),
        (
            "memory_reflect",
            "remember",
            {"action": "add", "agent_id": "a", "text": PRIVATE, "confidence": "verified"},
            "add failed: internal error: the effect took place, but the answer could not be made",
        ),
    ],
)
def test_an_answer_that_breaks_its_schema_is_logged_and_not_sent(
    tool: str,
    method: str,
    arguments: dict[str, Any],
    told: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """F8, wire 4: strict clients throw away a whole reply that breaks its schema."""
    result, violation = BROKEN[tool]
    answer = call(tool, arguments, RecordingMemory({method: result}))
    assert answer == ToolAnswer(text=told, is_error=True)
    (record,) = caplog.records
    assert record.getMessage() == f"an answer breaks the contract: {tool}/output: {violation}"


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, object()])
def test_what_json_cannot_hold_is_found_in_the_free_part_of_an_answer(odd: Any) -> None:
    """Wire 4: behind this door the SDK would write null in its place, and a client refuse it."""
    memory = RecordingMemory({"resume_checkpoint": checkpoint(state={"deep": [{"x": odd}]})})
    answer = call("checkpoint_resume", {"agent_id": "a"}, memory)
    told = "checkpoint resume error: internal error: the answer could not be made"
    assert answer == ToolAnswer(text=told, is_error=True)


def test_an_answer_that_cannot_be_built_does_not_hide_the_effect(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Wire 4: for a write the text says that the effect took place."""
    memory = RecordingMemory({"save_checkpoint": None})
    answer = call("checkpoint_save", {"agent_id": "a", "state": {"s": PRIVATE}}, memory)
    assert answer.text.startswith("checkpoint save error: internal error: the effect took place")
    assert "builtins.AttributeError" in caplog.text
    assert "launch code" not in caplog.text


@pytest.mark.parametrize("name", ["memory_erase", "", "memory_add ", "MEMORY_ADD"])
def test_an_unknown_tool_is_for_the_protocol_to_refuse(name: str) -> None:
    """Wire 4."""
    memory = RecordingMemory()
    with pytest.raises(UnknownToolError):
        call(name, {"agent_id": "a"}, memory)
    assert memory.calls == []


def test_a_tool_that_is_not_served_is_unknown() -> None:
    """Contract 2.1: a bundle is what a server serves."""
    core = load_bundle()
    only_add = Bundle(tools=(core["memory_add"],))
    dispatcher: ToolCalls = Dispatcher(only_add, RecordingMemory())  # pyright: ignore[reportArgumentType] - has only what the core tools call
    with pytest.raises(UnknownToolError):
        anyio.run(dispatcher.call, "memory_search", {"agent_id": "a", "query": "q"}, CALLER)


def test_the_schema_file_has_the_last_word_before_any_effect() -> None:
    """Contract 3.1 (d): what the file refuses never reaches the engine."""
    core = load_bundle()
    stricter = replace(
        core["memory_add"],
        input_schema={"type": "object", "properties": {"text": {"type": "string", "maxLength": 3}}},
    )
    memory = RecordingMemory()
    dispatcher = Dispatcher(Bundle(tools=(stricter,)), memory)  # pyright: ignore[reportArgumentType] - as above
    arguments = {"agent_id": "a", "text": "secret"}
    answer = anyio.run(dispatcher.call, "memory_add", arguments, CALLER)
    told = "arguments do not fit the schema: memory_add/input: $.text: maxLength"
    assert answer == ToolAnswer(text=told, is_error=True)
    assert memory.calls == []


def test_a_success_has_a_payload_and_no_meta_without_a_reason() -> None:
    """Contract 2.5: `_meta` only when it applies."""
    for case in CASES:
        answer = call(case.tool, case.arguments)
        assert not answer.is_error
        assert answer.structured
        assert answer.text
        assert answer.meta == {}


def test_every_method_that_the_tools_need_is_one_of_the_engine() -> None:
    """House 1: the recording engine of these tests stands for the real protocol."""
    for case in CASES:
        assert hasattr(Memory, case.method)
