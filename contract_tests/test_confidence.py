"""Declared confidence: strict options, what they do, and what they show."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.inside import engine, keyword_config, serving
from contract_tests.manifest import promise
from contract_tests.wire import StdioWire
from graymatter_mcp import InvalidArgumentError, Memory, RecallOptions, WriteOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller

_LABEL = "{} must be verified, inferred or unverified"
_BAD_LABELS: Final[tuple[tuple[Any, str], ...]] = (
    (None, "{} must be a string"),
    (1, "{} must be a string"),
    (True, "{} must be a string"),
    ([], "{} must be a string"),
    ({}, "{} must be a string"),
    ("", _LABEL),
    (" verified", _LABEL),
    ("Verified", _LABEL),
    ("unknown", _LABEL),
    ("null", _LABEL),
)
_BAD_WEIGHTS: Final[tuple[tuple[Any, str], ...]] = (
    (None, "confidence_weight must be a number"),
    ("0.1", "confidence_weight must be a number"),
    (True, "confidence_weight must be a number"),
    ([], "confidence_weight must be a number"),
    (-0.01, "confidence_weight must be finite and between 0 and 0.5"),
    (0.51, "confidence_weight must be finite and between 0 and 0.5"),
    (10**400, "confidence_weight must be finite and between 0 and 0.5"),
)
_SEARCHES: Final[dict[str, dict[str, Any]]] = {
    "memory_search": {"query": "x"},
    "memory_search_batch": {"queries": ["x"]},
}


@promise("confidence:bad-labels", "inputs:absent-null-empty")
def test_a_bad_label_is_refused_and_nothing_is_stored(caller: Caller, agent: str) -> None:
    """Contract C33."""
    caller.add(agent, "Kept")
    for value, text in _BAD_LABELS:
        for tool, arguments in (
            ("memory_add", {"text": "New"}),
            ("memory_reflect", {"action": "add", "text": "New"}),
            ("memory_reflect", {"action": "update", "target": "Kept", "text": "New"}),
        ):
            refusal = caller.refused(tool, agent_id=agent, confidence=value, **arguments)
            assert refusal == text.format("confidence")
    assert caller.facts(agent) == ["Kept"]


@promise("confidence:bad-filters", "inputs:absent-null-empty")
def test_a_bad_filter_or_weight_is_refused_by_both_searches(caller: Caller, agent: str) -> None:
    """Contract C33: null too, because dropping a filter would widen the answer."""
    for tool, arguments in _SEARCHES.items():
        for value, text in _BAD_LABELS:
            refusal = caller.refused(tool, agent_id=agent, min_confidence=value, **arguments)
            assert refusal == text.format("min_confidence")
        for value, text in _BAD_WEIGHTS:
            refusal = caller.refused(tool, agent_id=agent, confidence_weight=value, **arguments)
            assert refusal == text


@promise("confidence:misplaced")
def test_a_confidence_option_on_the_wrong_tool_is_refused(caller: Caller, agent: str) -> None:
    """Contract C34, 3.1: present at all, whatever its value."""
    calls: dict[str, dict[str, Any]] = {
        **_SEARCHES,
        "memory_add": {"text": "x"},
        "memory_alias": {"term": "x", "equivalents": ["y"]},
        "checkpoint_save": {},
        "checkpoint_resume": {},
        "memory_reflect": {"action": "add", "text": "x"},
    }
    for tool, arguments in calls.items():
        for key in ("confidence", "min_confidence", "confidence_weight"):
            takes = tool in _SEARCHES if key != "confidence" else tool in ("memory_add",)
            if takes or (key == "confidence" and tool == "memory_reflect"):
                continue
            for value in ("verified", None):
                text = caller.refused(tool, agent_id=agent, **arguments, **{key: value})
                assert text == f"{key} is not supported by {tool}"
    assert caller.facts(agent) == []


@promise("confidence:actions")
def test_a_label_on_another_action_than_add_or_update_is_refused(
    caller: Caller, agent: str
) -> None:
    """Contract C34; a missing or unknown action is reported first."""
    caller.add(agent, "Kept")
    for action in ("pin", "unpin", "forget", "link"):
        for value in ("verified", None):
            text = caller.refused(
                "memory_reflect",
                action=action,
                agent_id=agent,
                target="Kept",
                text="Kept",
                confidence=value,
            )
            assert text == "confidence is supported only by reflect add/update"
    text = caller.refused("memory_reflect", agent_id=agent, confidence="verified")
    assert text == "action is required"
    assert caller.facts(agent) == ["Kept"]


@promise("confidence:write-payload")
def test_a_labelled_write_returns_its_id_and_label_and_an_unlabelled_one_neither(
    caller: Caller, agent: str
) -> None:
    """Contract C59."""
    assert caller.ok("memory_add", agent_id=agent, text="Plain") == {
        "agent_id": agent,
        "stored": True,
    }
    for label in ("verified", "inferred", "unverified"):
        reply = caller.reply("memory_add", {"agent_id": agent, "text": label, "confidence": label})
        payload = reply.structured
        assert payload == {
            "agent_id": agent,
            "stored": True,
            "fact_id": payload["fact_id"],
            "confidence": label,
        }
        assert reply.text == (
            f'Memory stored for agent "{agent}". Confidence {label}; fact_id {payload["fact_id"]}.'
        )
    assert "fact_id" not in caller.reflect("add", agent, text="Plain again")


@promise("confidence:filter-first")
def test_a_filter_keeps_what_is_declared_at_least_this_strongly(caller: Caller, agent: str) -> None:
    """Contract 4.4: no label counts as inferred."""
    caller.add(agent, "U", confidence="unverified")
    caller.add(agent, "I", confidence="inferred")
    caller.add(agent, "N")
    caller.add(agent, "V", confidence="verified")
    for label, expected in (
        ("unverified", ["V", "N", "I", "U"]),
        ("inferred", ["V", "N", "I"]),
        ("verified", ["V"]),
    ):
        assert caller.facts(agent, min_confidence=label) == expected
        assert [one["text"] for one in caller.receipts(agent, min_confidence=label)] == expected


@promise("confidence:factors")
def test_factors_follow_the_label_that_is_in_effect(tmp_path: Path) -> None:
    """Contract C53."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        for label in ("", "inferred", "verified", "unverified"):
            caller.add("a", f"Fact {label}", **({"confidence": label} if label else {}))
        caller.add("a", "Fact hearsay")
        (odd, *_) = opened.run(opened.memory.list_facts, "a")
        opened.run(opened.memory.update_fact, "a", replace(odd, confidence="hearsay"))
        receipts = caller.receipts("a", "fact", confidence_weight=0.2)
    shown = {one["text"]: one["ranking"] for one in receipts}
    assert {text: one["factor"] for text, one in shown.items()} == {
        "Fact ": 1.0,
        "Fact inferred": 1.0,
        "Fact verified": 1.2,
        "Fact unverified": 0.8,
        "Fact hearsay": 0.8,
    }
    assert shown["Fact hearsay"]["effective_confidence"] == "unverified"
    assert shown["Fact "]["effective_confidence"] == "inferred"
    for receipt in receipts:
        ranking = receipt["ranking"]
        assert ranking["base_score"] == receipt["ranks"]["fused_score"]
        assert math.isclose(
            ranking["final_score"], ranking["base_score"] * ranking["factor"], rel_tol=1e-15
        )
        assert (ranking["confidence_weight"], ranking["policy"]) == (0.2, "confidence-v1")


@promise("confidence:metadata-on-request")
def test_metadata_is_there_exactly_when_confidence_played_a_part(
    caller: Caller, agent: str
) -> None:
    """Contract 3.2: on empty results too."""
    hints, filtered = "hints_without_confidence_receipts", "suppressed_min_confidence"
    for stored in (False, True):
        if stored:
            caller.add(agent, "Something")
        for tool, arguments in _SEARCHES.items():
            assert "retrieval" not in caller.ok(tool, agent_id=agent, **arguments)
            for options, kg in (
                ({"confidence_weight": 0}, hints),
                ({"confidence_weight": 0.5}, hints),
                ({"min_confidence": "unverified"}, filtered),
                ({"min_confidence": "verified", "confidence_weight": 0.25}, filtered),
            ):
                reply = caller.reply(tool, {"agent_id": agent, **arguments, **options})
                expected = {"confidence_weight": 0, "policy": "confidence-v1", "kg": kg, **options}
                assert reply.structured["retrieval"] == expected
                assert reply.text.endswith(
                    "Retrieval policy confidence-v1:"
                    f" min_confidence={options.get('min_confidence', 'none')},"
                    f" confidence_weight={expected['confidence_weight']}; KG={kg}."
                )


@promise("confidence:configured-weight")
def test_a_configured_weight_shows_and_an_explicit_zero_overrides_it(
    start: Callable[..., Caller],
) -> None:
    """Contract C54."""
    caller = start(GRAYMATTER_CONFIDENCE_WEIGHT="0.2")
    caller.add("a", "Doubtful fact", confidence="unverified")
    caller.add("a", "Sure fact", confidence="verified")
    plain = caller.ok("memory_search", agent_id="a", query="fact")
    assert plain["retrieval"]["confidence_weight"] == 0.2
    assert plain["facts"] == ["Sure fact", "Doubtful fact"]
    batch = caller.ok("memory_search_batch", agent_id="a", queries=["fact"])
    assert batch["retrieval"]["confidence_weight"] == 0.2
    assert {one["ranking"]["confidence_weight"] for one in caller.receipts("a", "fact")} == {0.2}
    zero = caller.ok(
        "memory_search", agent_id="a", query="fact", confidence_weight=0, min_confidence="verified"
    )
    assert zero["facts"] == ["Sure fact"]
    assert zero["retrieval"]["confidence_weight"] == 0
    order = caller.facts("a", "fact", confidence_weight=0)
    assert order == ["Doubtful fact", "Sure fact"]


@promise("confidence:weights-refused")
@pytest.mark.parametrize("weight", [-0.01, 0.51, math.nan, math.inf])
def test_opening_refuses_a_weight_out_of_range(tmp_path: Path, weight: float) -> None:
    """Contract C61: from the configuration."""
    with pytest.raises(InvalidArgumentError, match="confidence_weight"):
        Memory.open(keyword_config(tmp_path / "store", confidence_weight=weight))
    assert not (tmp_path / "store").exists()


@promise("confidence:weights-refused")
@pytest.mark.parametrize("weight", ["-0.01", "0.51", "nan", "inf", "much", ""])
def test_a_server_refuses_a_weight_out_of_range(tmp_path: Path, weight: str) -> None:
    """Contract C61: from the environment; the variable is named, stdout stays empty."""
    with StdioWire(tmp_path / "store", GRAYMATTER_CONFIDENCE_WEIGHT=weight) as wire:
        assert wire.end() == ([], 1)
        assert "GRAYMATTER_CONFIDENCE_WEIGHT" in wire.stderr()
    assert not (tmp_path / "store").exists()


@promise("confidence:visible-at-once")
def test_a_label_is_there_in_the_first_read_and_after_reopening(
    start: Callable[..., Caller],
) -> None:
    """Contract C62."""
    caller = start()
    for label in ("verified", "unverified"):
        caller.add("a", f"A {label} fact", confidence=label)
        assert caller.receipts("a")[0]["provenance"]["confidence"] == label
    before = [one["provenance"] for one in caller.receipts("a")]
    caller = start()
    assert [one["provenance"] for one in caller.receipts("a")] == before


@promise("confidence:none-is-an-error-in-the-library")
def test_an_explicit_none_is_an_error_in_the_library(tmp_path: Path) -> None:
    """Contract section 9: as on the wire."""
    none: Any = None
    with Memory.open(keyword_config(tmp_path)) as memory:
        with pytest.raises(InvalidArgumentError):
            memory.remember_with_options("a", "x", WriteOptions(confidence=none))
        for options in (
            RecallOptions(min_confidence=none),
            RecallOptions(confidence_weight=none),
        ):
            with pytest.raises(InvalidArgumentError):
                memory.recall_with_options("a", "x", options)
        assert memory.advanced().list("a") == []
