"""The answer budget: whole facts leave from the end, the first stays, and that is said."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.contract.check import Checker
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.results import (
    BatchEntry,
    BatchRecallResult,
    RecallExplainResult,
    RecallProvenance,
    RecallRanks,
    RecallReceipt,
    RecallResult,
)
from graymatter_mcp.surfaces import codec
from graymatter_mcp.surfaces.mcp.budget import DEFAULT_BUDGET, LeftOut, fit
from graymatter_mcp.surfaces.mcp.calls import Outcome
from tests.surfaces.mcp.recording_memory import MOMENT, RecordingMemory, call

CHECKER = Checker(load_bundle())
SEARCH = {"agent_id": "a", "query": "q"}


def ids(count: int) -> tuple[FactId, ...]:
    """Make identities F0, F1, ..."""
    return tuple(FactId(f"F{n}") for n in range(count))


def size(payload: object) -> int:
    """Return the bytes of a payload as a client gets it."""
    return len(json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


def outcome(*facts: str) -> Outcome:
    """Make the outcome of a plain search."""
    found = RecallResult(facts=facts, fact_ids=ids(len(facts)))
    return Outcome(payload=codec.search_payload("a", "q", found), fact_ids=found.fact_ids)


def test_the_budget_is_forty_thousand_bytes() -> None:
    """Contract 2.5."""
    assert DEFAULT_BUDGET == 40_000


def test_an_answer_of_exactly_the_budget_is_sent_whole() -> None:
    """Contract 2.5: only what exceeds it is cut. The bytes are counted by hand."""
    whole = outcome("aaaa", "é")
    wire = '{"agent_id":"a","query":"q","count":2,"facts":["aaaa","é"]}'
    assert size(whole.payload) == len(wire.encode()) == 60
    assert fit(whole, 60) == (whole, None)
    cut, left_out = fit(whole, 59)
    assert cut.payload == {"agent_id": "a", "query": "q", "count": 1, "facts": ["aaaa"]}
    assert left_out == LeftOut(facts=1, fact_ids=(FactId("F1"),))


def test_the_first_fact_stays_whatever_its_size() -> None:
    """Contract 2.5."""
    cut, left_out = fit(outcome("x" * 50_000, "b", "c"), 40_000)
    assert cast("Any", cut.payload)["facts"] == ["x" * 50_000]
    assert left_out == LeftOut(facts=2, fact_ids=(FactId("F1"), FactId("F2")))
    alone = outcome("x" * 50_000)
    assert fit(alone, 40_000) == (alone, None)


def test_facts_leave_from_the_end_even_when_a_later_one_would_fit() -> None:
    """Contract 2.5: from the end of the final order."""
    cut, left_out = fit(outcome("a", "x" * 50_000, "c"), 40_000)
    assert cast("Any", cut.payload)["facts"] == ["a"]
    assert left_out is not None
    assert left_out.facts == 2


@pytest.mark.parametrize("budget", [0, -1])
def test_without_a_budget_nothing_is_left_out(budget: int) -> None:
    """Contract 2.5: 0 = off."""
    whole = outcome(*("x" * 1000 for _ in range(100)))
    assert fit(whole, budget) == (whole, None)


def test_hints_leave_first_and_are_counted_without_an_identity() -> None:
    """Contract 5.11: hints follow the ranked facts and have no receipts."""
    found = RecallResult(facts=("a", "b", "hint"), fact_ids=ids(2))
    whole = Outcome(payload=codec.search_payload("a", "q", found), fact_ids=found.fact_ids)
    assert fit(whole, size(whole.payload) - 1)[1] == LeftOut(facts=1, fact_ids=())
    one = size(outcome("a").payload)
    assert fit(whole, one)[1] == LeftOut(facts=2, fact_ids=(FactId("F1"),))


def test_receipts_are_cut_like_texts() -> None:
    """Contract 2.5: `count` counts what was sent."""
    receipts = tuple(
        RecallReceipt(
            text="x" * 1000,
            weight=1.0,
            age_days=0.0,
            ranks=RecallRanks(vector_rank=1, keyword_rank=1, recency_rank=1, fused_score=0.0),
            provenance=RecallProvenance(fact_id=fact_id, written_at=MOMENT),
        )
        for fact_id in ids(60)
    )
    memory = RecordingMemory({"recall_explain": RecallExplainResult(receipts=receipts)})
    answer = call("memory_search", SEARCH | {"explain": True}, memory)
    sent = cast("Any", answer.structured)
    assert size(sent) <= 40_000 < size(sent) + size(sent["explained"][0])
    assert sent["count"] == len(sent["explained"]) == 33
    assert answer.meta == {
        "graymatter/left_out": {"facts": 27, "fact_ids": [f"F{n}" for n in range(33, 60)]}
    }
    last_line = answer.text.splitlines()[-1]
    assert last_line.startswith("Left out to keep the answer short: 27 facts. fact_ids: F33, ")


def test_a_fact_leaves_a_batch_as_a_whole() -> None:
    """Contract 2.5: out of the merge and out of every query that found it."""
    one, two, three = "1" * 300, "2" * 300, "3" * 300
    result = BatchRecallResult(
        merged=(one, two, three),
        per_query=(
            BatchEntry(query="q", facts=(one, three), fact_ids=(FactId("A"), FactId("C"))),
            BatchEntry(query="r", facts=(three, two), fact_ids=(FactId("D"), FactId("B"))),
            BatchEntry(query="s", facts=(three,), fact_ids=(FactId("C"),)),
            BatchEntry(query="bad", facts=None, error="boom"),
        ),
    )
    memory = RecordingMemory({"recall_batch": result})
    arguments = {"agent_id": "a", "queries": ["q", "r", "s", "bad"]}
    answer = call("memory_search_batch", arguments, memory, answer_budget=1500)
    assert answer.structured == {
        "agent_id": "a",
        "count": 2,
        "merged": [one, two],
        "per_query": [
            {"query": "q", "facts": [one]},
            {"query": "r", "facts": [two]},
            {"query": "s", "facts": []},
            {"query": "bad", "facts": None, "error": "boom"},
        ],
    }
    assert answer.meta == {"graymatter/left_out": {"facts": 1, "fact_ids": ["C"]}}


def test_the_list_of_what_is_missing_keeps_to_the_budget_too() -> None:
    """Contract 2.5: with every fact of a large store asked for, ids alone would break it."""
    memory = RecordingMemory(
        {"recall": RecallResult(facts=("x" * 100,) * 9000, fact_ids=ids(9000))}
    )
    answer = call("memory_search", SEARCH, memory, answer_budget=5000)
    left_out = cast("Any", answer.meta)["graymatter/left_out"]
    sent = cast("Any", answer.structured)
    assert left_out["facts"] == 9000 - sent["count"]
    assert size(left_out["fact_ids"]) <= 5000 < size([*left_out["fact_ids"], "F9000"])
    assert left_out["fact_ids"][0] == f"F{sent['count']}"


@given(
    st.lists(st.text(st.characters(exclude_categories=("Cs",))), unique=True), st.integers(1, 400)
)
def test_a_cut_is_the_longest_beginning_that_fits(facts: list[str], budget: int) -> None:
    """Contract 2.5, C10: as few facts as possible leave, and what is sent fits its schema."""
    whole = outcome(*facts)
    cut, left_out = fit(whole, budget)
    sent = cast("Any", cut.payload)
    CHECKER.check_output("memory_search", sent)
    assert sent["facts"] == facts[: sent["count"]]
    assert size(sent) <= budget or sent["count"] <= 1
    if left_out is None:
        assert sent["count"] == len(facts)
    else:
        assert left_out.facts == len(facts) - sent["count"] > 0
        longer = outcome(*facts[: sent["count"] + 1]).payload
        assert size(longer) > budget
