"""What each tool makes of the engine's answer: the whole payload, and the whole request."""

from __future__ import annotations

from typing import Any

import pytest

from graymatter_mcp.errors import (
    CorruptRecordError,
    GraymatterError,
    NoCheckpointsError,
    StoreClosedError,
    StoreUnavailableError,
)
from graymatter_mcp.model.checkpoints import Message
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.requests import RememberRequest
from graymatter_mcp.model.results import (
    BatchEntry,
    BatchRecallResult,
    ConfidenceRanking,
    Degraded,
    RecallExplainResult,
    RecallProvenance,
    RecallRanks,
    RecallReceipt,
    RecallResult,
    RetrievalMetadata,
    Revision,
)
from tests.surfaces.mcp.recording_memory import MOMENT, RecordingMemory, call, checkpoint, fact

SEARCH = {"agent_id": "a", "query": "q"}
RETRIEVAL = RetrievalMetadata(confidence_weight=0.2, min_confidence="inferred", kg="k")
RETRIEVAL_JSON = {
    "min_confidence": "inferred",
    "confidence_weight": 0.2,
    "policy": "confidence-v1",
    "kg": "k",
}


def payload(tool: str, arguments: dict[str, Any], **answers: object) -> object:
    """Call a tool over an engine that answers so; return the payload of the success."""
    answer = call(tool, arguments, RecordingMemory(answers))
    assert not answer.is_error, answer.text
    return answer.structured


def test_a_search_answers_with_texts_in_the_order_of_the_engine() -> None:
    """Contract 3.2: hints follow, optional keys are absent when there is nothing to say."""
    bare = RecallResult(facts=("b", "a", "hint"), fact_ids=(FactId("2"), FactId("1")))
    assert payload("memory_search", SEARCH, recall=bare) == {
        "agent_id": "a",
        "query": "q",
        "count": 3,
        "facts": ["b", "a", "hint"],
    }
    full = RecallResult(facts=(), feedback="(weak match)", retrieval=RETRIEVAL)
    assert payload("memory_search", SEARCH, recall=full) == {
        "retrieval": RETRIEVAL_JSON,
        "agent_id": "a",
        "query": "q",
        "count": 0,
        "facts": [],
        "feedback": "(weak match)",
    }


def test_an_explained_search_answers_with_receipts_instead_of_texts() -> None:
    """Contract 3.1, 3.2: times have six digits and Z; what is empty is absent."""
    ranks = RecallRanks(vector_rank=1, keyword_rank=0, recency_rank=2, fused_score=0.03)
    bare = RecallReceipt(
        text="x",
        weight=1.0,
        age_days=14.29,
        ranks=ranks,
        provenance=RecallProvenance(fact_id=FactId("1"), written_at=MOMENT),
    )
    full = RecallReceipt(
        text="y",
        weight=0.5,
        age_days=0.0,
        ranks=ranks,
        provenance=RecallProvenance(
            fact_id=FactId("2"),
            written_at=MOMENT.replace(microsecond=0),
            superseded_by="3",
            confidence="odd",
            pinned=True,
            supersedes=(FactId("0"),),
        ),
        kg_links=("e",),
        ranking=ConfidenceRanking(
            base_score=0.03,
            final_score=0.036,
            factor=1.2,
            effective_confidence="verified",
            confidence_weight=0.2,
        ),
    )
    ranks_json = {
        "vector_rank": 1,
        "keyword_rank": 0,
        "recency_rank": 2,
        "fused_score": 0.03,
        "k": 60.0,
    }
    found = RecallExplainResult(receipts=(bare, full))
    assert payload("memory_search", SEARCH | {"explain": True}, recall_explain=found) == {
        "agent_id": "a",
        "query": "q",
        "count": 2,
        "facts": [],
        "explained": [
            {
                "text": "x",
                "weight": 1.0,
                "age_days": 14.29,
                "ranks": ranks_json,
                "provenance": {"fact_id": "1", "written_at": "2026-01-02T03:04:05.678900Z"},
            },
            {
                "text": "y",
                "weight": 0.5,
                "age_days": 0.0,
                "ranks": ranks_json,
                "provenance": {
                    "fact_id": "2",
                    "written_at": "2026-01-02T03:04:05.000000Z",
                    "superseded_by": "3",
                    "confidence": "odd",
                    "pinned": True,
                    "supersedes": ["0"],
                },
                "kg_links": ["e"],
                "ranking": {
                    "base_score": 0.03,
                    "final_score": 0.036,
                    "factor": 1.2,
                    "effective_confidence": "verified",
                    "confidence_weight": 0.2,
                    "policy": "confidence-v1",
                },
            },
        ],
    }


def test_an_explained_search_without_hits_has_no_receipts_key() -> None:
    """Contract 3.2: nothing found, no `explained`."""
    nothing = RecallExplainResult(receipts=(), retrieval=RETRIEVAL)
    assert payload("memory_search", SEARCH | {"explain": True}, recall_explain=nothing) == {
        "retrieval": RETRIEVAL_JSON,
        "agent_id": "a",
        "query": "q",
        "count": 0,
        "facts": [],
    }


def test_a_batch_tells_nothing_found_from_failed() -> None:
    """Contract 3.3: facts are [] when nothing matched and null when the query failed."""
    result = BatchRecallResult(
        merged=("x",),
        per_query=(
            BatchEntry(query="q", facts=("x",), fact_ids=(FactId("1"),)),
            BatchEntry(query="none", facts=()),
            BatchEntry(query="bad", facts=None, error="boom"),
        ),
        retrieval=RETRIEVAL,
    )
    arguments = {"agent_id": "a", "queries": ["q", "none", "bad"]}
    assert payload("memory_search_batch", arguments, recall_batch=result) == {
        "retrieval": RETRIEVAL_JSON,
        "agent_id": "a",
        "count": 1,
        "merged": ["x"],
        "per_query": [
            {"query": "q", "facts": ["x"]},
            {"query": "none", "facts": []},
            {"query": "bad", "facts": None, "error": "boom"},
        ],
    }


@pytest.mark.parametrize("degraded", list(Degraded))
@pytest.mark.parametrize("method", ["recall", "recall_explain", "recall_batch"])
def test_an_answer_without_vectors_says_so_beside_its_payload(
    method: str, degraded: Degraded
) -> None:
    """Contract 2.5: `_meta` on a search result, and the last line of the text."""
    results = {
        "recall": RecallResult(facts=(), degraded=degraded),
        "recall_explain": RecallExplainResult(receipts=(), degraded=degraded),
        "recall_batch": BatchRecallResult(
            merged=(), per_query=(BatchEntry(query="q", facts=()),), degraded=degraded
        ),
    }
    tool, arguments = {
        "recall": ("memory_search", SEARCH),
        "recall_explain": ("memory_search", SEARCH | {"explain": True}),
        "recall_batch": ("memory_search_batch", {"agent_id": "a", "queries": ["q"]}),
    }[method]
    answer = call(tool, arguments, RecordingMemory({method: results[method]}))
    assert answer.meta == {"graymatter/degraded": degraded.value}
    assert degraded.value in answer.text.splitlines()[-1]


def test_an_addition_tells_its_identity_only_when_it_was_labelled() -> None:
    """C59."""
    memory = RecordingMemory({"remember": fact("F9", confidence="verified")})
    plain = call("memory_add", {"agent_id": "a", "text": "t"}, memory)
    assert plain.structured == {"agent_id": "a", "stored": True}
    labelled = call("memory_add", {"agent_id": "a", "text": "t", "confidence": "verified"}, memory)
    assert labelled.structured == {
        "agent_id": "a",
        "stored": True,
        "fact_id": "F9",
        "confidence": "verified",
    }


def test_an_alias_comes_back_as_sent() -> None:
    """Contract 3.4: kept items are not trimmed."""
    arguments = {"agent_id": "a", "term": " t ", "equivalents": [" e ", " ", "f"]}
    assert payload("memory_alias", arguments) == {
        "agent_id": "a",
        "term": " t ",
        "equivalents": [" e ", "f"],
        "stored": True,
    }


def test_a_saved_checkpoint_tells_its_time_in_whole_seconds() -> None:
    """Contract 3.5."""
    assert payload("checkpoint_save", {"agent_id": "a", "state": {"x": 1}}) == {
        "agent_id": "a",
        "checkpoint_id": "C1",
        "created_at": "2026-01-02T03:04:05Z",
    }


@pytest.mark.parametrize("on_missing", [None, "error", "empty"])
def test_a_checkpoint_comes_back_the_same_in_every_mode(on_missing: str | None) -> None:
    """C19."""
    arguments: dict[str, Any] = {"agent_id": "a", "on_missing": on_missing}
    state: dict[str, Any] = {"n": 1, "f": 1.0, "big": 10**30, "deep": [None, {"é": True}]}
    full = checkpoint(state=state, messages=(Message(role="user", content="hi"),) * 3)
    found = payload("checkpoint_resume", arguments, resume_checkpoint=full)
    assert repr(found) == repr(
        {"id": "C1", "created_at": "2026-01-02T03:04:05Z", "state": state, "message_count": 3}
    )


@pytest.mark.parametrize("state", [None, {}])
def test_an_empty_state_and_no_messages_are_absent(state: dict[str, Any] | None) -> None:
    """Contract 3.6."""
    found = checkpoint(state=state)
    assert payload("checkpoint_resume", {"agent_id": "a"}, resume_checkpoint=found) == {
        "id": "C1",
        "created_at": "2026-01-02T03:04:05Z",
    }


def wrapped(inner: Exception) -> Exception:
    """Return another error that `inner` caused."""
    outer = StoreUnavailableError("wrapper")
    outer.__cause__ = inner
    return outer


def raised_over(inner: Exception, *, from_none: bool = False) -> Exception:
    """Return another error raised while `inner` was being handled."""
    outer = StoreUnavailableError("gone") if from_none else RuntimeError("over")
    outer.__context__ = inner
    outer.__suppress_context__ = from_none
    return outer


@pytest.mark.parametrize(
    "absence",
    [
        NoCheckpointsError("a"),
        wrapped(NoCheckpointsError("a")),
        wrapped(wrapped(NoCheckpointsError("a"))),
        raised_over(NoCheckpointsError("a")),
    ],
)
def test_absence_is_known_by_its_class_however_it_is_wrapped(absence: Exception) -> None:
    """C16, C17."""
    memory = RecordingMemory({"resume_checkpoint": absence})
    for arguments in ({"agent_id": "a"}, {"agent_id": "a", "on_missing": "error"}):
        answer = call("checkpoint_resume", arguments, memory)
        assert answer.is_error
        assert answer.structured is None
        assert answer.text == 'no checkpoint found for agent "a": no checkpoints for agent "a"'
    empty = call("checkpoint_resume", {"agent_id": "a", "on_missing": "empty"}, memory)
    assert empty.structured == {"found": False, "agent_id": "a"}
    assert empty.text == 'No checkpoint saved for agent "a" yet.'


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        (StoreClosedError(), "store is not initialised or already closed"),
        (CorruptRecordError("decode checkpoint C1"), "decode checkpoint C1"),
        (StoreUnavailableError('no checkpoints for agent "a"'), 'no checkpoints for agent "a"'),
        (raised_over(NoCheckpointsError("a"), from_none=True), "gone"),
    ],
)
@pytest.mark.parametrize("on_missing", ["error", "empty"])
def test_a_failure_is_no_absence_in_either_mode(
    on_missing: str, failure: GraymatterError, reason: str
) -> None:
    """C20: a message that merely looks like absence is a failure."""
    memory = RecordingMemory({"resume_checkpoint": failure})
    answer = call("checkpoint_resume", {"agent_id": "a", "on_missing": on_missing}, memory)
    assert (answer.text, answer.is_error) == (f"checkpoint resume error: {reason}", True)


@pytest.mark.parametrize(
    ("action", "extra", "identity"),
    [
        ("add", {}, {}),
        ("add", {"confidence": "verified"}, {"fact_id": "F1", "confidence": "verified"}),
        ("update", {}, {"fact_id": "F2", "confidence": "unverified"}),
        ("update", {"confidence": "verified"}, {"fact_id": "F2", "confidence": "unverified"}),
        ("forget", {}, {}),
        ("link", {}, {}),
        ("pin", {}, {}),
        ("unpin", {}, {}),
    ],
)
def test_reflect_tells_an_identity_after_update_and_labelled_add_only(
    action: str, extra: dict[str, str], identity: dict[str, str]
) -> None:
    """Contract 3.7: the effective label, under the key `agent`."""
    memory = RecordingMemory(
        {
            "remember": fact("F1", confidence="verified"),
            "revise": Revision(replacement=fact("F2", confidence="historic"), retired=()),
        }
    )
    arguments = {"action": action, "agent_id": "a", "text": "t", "target": "o"} | extra
    answer = call("memory_reflect", arguments, memory)
    assert answer.structured == {"action": action, "agent": "a", "ok": True} | identity


def test_what_is_written_carries_tool_client_and_session() -> None:
    """F25: each fact keeps who wrote it."""
    for tool, arguments in (
        ("memory_add", {"agent_id": "a", "text": "t"}),
        ("memory_reflect", {"action": "add", "agent_id": "a", "text": "t"}),
    ):
        memory = RecordingMemory()
        call(tool, arguments, memory)
        ((_, request),) = memory.calls
        assert isinstance(request, RememberRequest)
        assert request.origin == Origin(source=tool, client="tester 1.0", session="s1")
        assert request.consolidate is True
