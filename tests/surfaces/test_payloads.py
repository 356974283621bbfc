"""Payload types against schema files, and generated results through the schemas."""

from __future__ import annotations

from datetime import UTC
from typing import Any, Literal, NotRequired, get_args, get_origin, is_typeddict

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graymatter_mcp.contract.check import Checker
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.model.checkpoints import Checkpoint, Message
from graymatter_mcp.model.facts import Confidence, Fact
from graymatter_mcp.model.results import (
    BatchEntry,
    BatchRecallResult,
    ConfidenceRanking,
    RecallExplainResult,
    RecallProvenance,
    RecallRanks,
    RecallReceipt,
    RecallResult,
    RetrievalMetadata,
)
from graymatter_mcp.surfaces import codec, payloads

BUNDLE = load_bundle()
CHECKER = Checker(BUNDLE)
JSON_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}


def output(tool: str) -> dict[str, Any]:
    """Return the output schema of a tool."""
    return BUNDLE[tool].output_schema


@pytest.mark.parametrize(
    ("payload", "schema"),
    [
        (payloads.SearchPayload, output("memory_search")),
        (payloads.BatchPayload, output("memory_search_batch")),
        (payloads.AddPayload, output("memory_add")),
        (payloads.AliasPayload, output("memory_alias")),
        (payloads.SavedPayload, output("checkpoint_save")),
        (payloads.ResumedPayload, output("checkpoint_resume")["oneOf"][0]),
        (payloads.AbsentPayload, output("checkpoint_resume")["oneOf"][1]),
        (payloads.ReflectPayload, output("memory_reflect")),
    ],
)
def test_a_payload_has_the_fields_of_its_schema(payload: Any, schema: dict[str, Any]) -> None:
    """House 3: fields, required sets, types and enums of each model equal its file."""
    compare(payload, schema)


def compare(kind: Any, schema: dict[str, Any]) -> None:
    """Compare one payload type with one object schema, and whatever lies below."""
    hints: dict[str, Any] = kind.__annotations__
    assert list(hints) == list(schema["properties"])
    assert kind.__required_keys__ == set(schema["required"])
    for name, hint in hints.items():
        (bare,) = get_args(hint) if get_origin(hint) is NotRequired else (hint,)
        compare_value(bare, schema["properties"][name])


def compare_value(hint: Any, schema: dict[str, Any]) -> None:
    """Compare the type of one field with its schema."""
    allowed: list[str] = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if get_origin(hint) is Literal:
        assert list(get_args(hint)) == schema["enum"]
    elif is_typeddict(hint):
        assert "object" in allowed
        compare(hint, schema)
    elif get_origin(hint) is list:
        assert "array" in allowed
        compare_value(get_args(hint)[0], schema["items"])
    elif type(None) in get_args(hint):
        assert "null" in allowed
        compare_value(get_args(hint)[0], schema)
    elif get_origin(hint) is dict:
        assert schema == {"type": "object", "additionalProperties": {}}
    else:
        # Where the contract allows null too, we leave the key out instead.
        assert set(allowed) - {"null"} == {JSON_TYPES[hint]}


TEXT: st.SearchStrategy[Any] = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
TEXTS: st.SearchStrategy[Any] = st.lists(TEXT, max_size=4).map(tuple)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
RANK = st.integers(0, 10**9)
MOMENT = st.datetimes(timezones=st.just(UTC))
LABEL = st.sampled_from([label.value for label in Confidence])
RETRIEVAL = st.none() | st.builds(
    RetrievalMetadata,
    confidence_weight=st.floats(0, 0.5),
    min_confidence=st.none() | LABEL,
    policy=st.just("confidence-v1"),
    kg=TEXT,
)
RECEIPT = st.builds(
    RecallReceipt,
    text=TEXT,
    weight=st.floats(0, 1),
    age_days=NUMBER,
    ranks=st.builds(
        RecallRanks,
        vector_rank=RANK,
        keyword_rank=RANK,
        recency_rank=RANK,
        fused_score=NUMBER,
        k=st.just(60.0),
    ),
    provenance=st.builds(
        RecallProvenance,
        fact_id=TEXT,
        written_at=MOMENT,
        superseded_by=TEXT,
        confidence=TEXT,
        pinned=st.booleans(),
        supersedes=TEXTS,
    ),
    kg_links=st.none() | TEXTS,
    ranking=st.none()
    | st.builds(
        ConfidenceRanking,
        base_score=NUMBER,
        final_score=NUMBER,
        factor=NUMBER,
        effective_confidence=LABEL,
        confidence_weight=st.floats(0, 0.5),
        policy=st.just("confidence-v1"),
    ),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBER | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
FACT: st.SearchStrategy[Fact] = st.builds(
    Fact,
    id=TEXT,
    agent_id=TEXT,
    text=TEXT,
    created_at=MOMENT,
    accessed_at=MOMENT,
    confidence=TEXT,
)
CHECKPOINT = st.builds(
    Checkpoint,
    id=TEXT,
    agent_id=TEXT,
    created_at=MOMENT,
    state=st.none() | st.dictionaries(TEXT, JSON, max_size=3),
    messages=st.lists(st.builds(Message, role=TEXT, content=TEXT), max_size=2).map(tuple),
)
quick = settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@quick
@given(TEXT, TEXT, st.builds(RecallResult, facts=TEXTS, feedback=TEXT, retrieval=RETRIEVAL))
def test_every_plain_search_fits_its_schema(agent: str, query: str, found: RecallResult) -> None:
    """C10."""
    CHECKER.check_output("memory_search", codec.search_payload(agent, query, found))


@quick
@given(
    TEXT,
    st.builds(
        RecallExplainResult, receipts=st.lists(RECEIPT, max_size=3).map(tuple), retrieval=RETRIEVAL
    ),
)
def test_every_explained_search_fits_its_schema(agent: str, found: RecallExplainResult) -> None:
    """C10."""
    payload = codec.explained_payload(agent, "q", found)
    CHECKER.check_output("memory_search", payload)
    assert payload["count"] == len(payload.get("explained", []))


@quick
@given(
    TEXT,
    st.builds(
        BatchRecallResult,
        merged=TEXTS,
        per_query=st.lists(
            st.builds(BatchEntry, query=TEXT, facts=st.none() | TEXTS, error=TEXT), max_size=3
        ).map(tuple),
        retrieval=RETRIEVAL,
    ),
)
def test_every_batch_fits_its_schema(agent: str, result: BatchRecallResult) -> None:
    """C10."""
    CHECKER.check_output("memory_search_batch", codec.batch_payload(agent, result))


@quick
@given(CHECKPOINT)
def test_every_checkpoint_fits_its_schema_and_keeps_its_state(saved: Checkpoint) -> None:
    """C10, contract 7."""
    CHECKER.check_output("checkpoint_save", codec.saved_payload("a", saved))
    payload = codec.resumed_payload(saved)
    CHECKER.check_output("checkpoint_resume", payload)
    assert repr(payload.get("state", {})) == repr(saved.state or {})


@quick
@given(FACT, st.booleans(), st.sampled_from(["add", "update"]))
def test_every_write_fits_its_schema_and_tells_an_effective_label(
    stored: Fact, labelled: bool, action: str
) -> None:
    """C10, contract 3.7."""
    added = codec.add_payload("a", stored, labelled=labelled)
    reflected = codec.reflect_payload(action, stored.agent_id, stored)
    CHECKER.check_output("memory_add", added)
    CHECKER.check_output("memory_reflect", reflected)
    assert ("fact_id" in added) is labelled
    assert reflected.get("confidence") in list(Confidence)
