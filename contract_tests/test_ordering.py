"""The order of facts: fixed arithmetic, total, and blind to how the facts came in."""

from __future__ import annotations

import json
import math
from datetime import timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

from contract_tests.inside import START, ScriptedClock, engine, keyword_config, serving
from contract_tests.manifest import promise
from graymatter_mcp import Memory, RecallOptions, SignalWeights
from graymatter_mcp.model.ids import FactId

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller

DEPLOYS = (
    "Deploys run on Tuesday",
    "Rollback of deploys needs two approvals",
    "The staging cluster lives in Frankfurt",
)


def fused(ranks: dict[str, Any], weights: SignalWeights) -> float:
    """Recompute a fused score from a receipt's ranks."""
    pairs = (
        (weights.vector, ranks["vector_rank"]),
        (weights.keyword, ranks["keyword_rank"]),
        (weights.recency, ranks["recency_rank"]),
    )
    return sum(weight / (60 + rank) for weight, rank in pairs if rank)


def ranks_of(receipt: dict[str, Any]) -> tuple[int, int, int]:
    """Return the three ranks."""
    ranks = receipt["ranks"]
    return ranks["vector_rank"], ranks["keyword_rank"], ranks["recency_rank"]


@promise("order:reproducible-scores", "order:keyword-only-ranks")
def test_scores_reproduce_from_the_ranks(newest: Caller, agent: str) -> None:
    """Contract C44, C45."""
    newest.add(agent, *(f"Bread {n} {'salt ' * (n % 4)}{'rye' * (n % 3)}" for n in range(25)))
    for query in ("salt", "bread salt", "rye", " ", "unknown"):
        receipts = newest.receipts(agent, query)
        assert receipts
        for receipt in receipts:
            ranks = receipt["ranks"]
            assert ranks["k"] == 60
            assert ranks["vector_rank"] == 0
            assert ranks["recency_rank"] >= 1
            assert math.isclose(
                ranks["fused_score"], fused(ranks, SignalWeights()), rel_tol=0, abs_tol=1e-12
            )
        scores = [one["ranks"]["fused_score"] for one in receipts]
        assert scores == sorted(scores, reverse=True)


@promise("order:worked-examples")
def test_the_keyword_example_holds_as_written(start: Callable[..., Caller]) -> None:
    """Contract C44, examples 2 and 3."""
    caller = start(GRAYMATTER_STEM_KEYWORDS="0")
    caller.add("a", *DEPLOYS)
    receipts = caller.receipts("a", "deploys approvals")
    assert [(one["text"], ranks_of(one)) for one in receipts] == [
        (DEPLOYS[1], (0, 1, 2)),
        (DEPLOYS[0], (0, 2, 3)),
        (DEPLOYS[2], (0, 0, 1)),
    ]
    scores = [round(one["ranks"]["fused_score"], 10) for one in receipts]
    assert scores == [0.0244579588, 0.0240655402, 0.0081967213]
    caller.add("b", DEPLOYS[0])
    caller.add("b", DEPLOYS[1], confidence="unverified")
    caller.add("b", DEPLOYS[2])
    filtered = caller.receipts("b", "deploys approvals", min_confidence="inferred")
    assert [(one["text"], ranks_of(one)) for one in filtered] == [
        (DEPLOYS[0], (0, 1, 2)),
        (DEPLOYS[2], (0, 0, 1)),
    ]
    scores = [round(one["ranks"]["fused_score"], 10) for one in filtered]
    assert scores == [0.0244579588, 0.0081967213]


@promise("order:total")
def test_equal_scores_come_oldest_first_then_by_id(tmp_path: Path) -> None:
    """Contract 5.6: with every list switched off, all scores are equal."""
    nothing = SignalWeights(vector=0, keyword=0, recency=0)
    same = START + timedelta(seconds=5)
    ids = [FactId(f"01KDVA8000000000000000000{n}") for n in range(4)]
    clock = ScriptedClock([(same, ids[2]), (same, ids[1]), (START, ids[3]), (same, ids[0])])
    config = keyword_config(tmp_path, signal_weights=nothing)
    with engine(config, clock) as opened, serving(opened.memory) as caller:
        caller.add("a", "Third by id", "Second by id", "Oldest", "First by id")
        receipts = caller.receipts("a", "id")
    assert [one["text"] for one in receipts] == [
        "Oldest",
        "First by id",
        "Second by id",
        "Third by id",
    ]
    assert {one["ranks"]["fused_score"] for one in receipts} == {0}
    assert all(one["ranks"]["keyword_rank"] for one in receipts if one["text"] != "Oldest")


@promise("order:blind-to-insertion")
def test_the_order_of_insertion_changes_nothing(tmp_path: Path) -> None:
    """Contract C47: the same ids and stamps in any order, equal byte for byte."""
    texts = ("Bread rises", "Bread and salt", "Salt mines", "Bread and salt again")
    facts = [
        (START + timedelta(days=n // 2), FactId(f"01KDVA8000000000000000000{n}"), text)
        for n, text in enumerate(texts)
    ]
    answers: set[str] = set()
    for place, order in enumerate(list(permutations(facts))[::5]):
        clock = ScriptedClock([(at, fact_id) for at, fact_id, _ in order])
        config = keyword_config(tmp_path / str(place))
        with engine(config, clock) as opened, serving(opened.memory) as caller:
            caller.add("a", *(text for _, _, text in order))
            told = [
                caller.ok("memory_search", agent_id="a", query=query, explain=explain)
                for query in ("bread", "salt again", " ")
                for explain in (False, True)
            ]
        answers.add(json.dumps(told))
    assert len(answers) == 1


@promise("order:repeatable")
def test_the_same_recall_on_an_unchanged_store_is_equal_byte_for_byte(tmp_path: Path) -> None:
    """Contract C47, 5.12: with a still clock."""
    clock = ScriptedClock([(START, FactId(f"01KDVA800000000000000000{n}")) for n in range(10, 40)])
    with engine(keyword_config(tmp_path), clock) as opened, serving(opened.memory) as caller:
        caller.add("a", *(f"Bread {n % 7} with salt" for n in range(30)))
        clock.move(seconds=1_234_567)
        for query in ("bread 3", "salt", " "):
            for explain in (False, True):
                arguments = {"agent_id": "a", "query": query, "explain": explain, "top_k": 50}
                first = caller.reply("memory_search", arguments)
                assert caller.reply("memory_search", arguments) == first
        assert {one["age_days"] for one in caller.receipts("a")} == {14.29}


@promise("order:mirror-or-none")
def test_a_fresh_start_answers_as_the_running_store_did(tmp_path: Path) -> None:
    """Contract C52: mirror or none, plain and explained, stemming on and off."""
    for stem in (True, False):
        config = keyword_config(tmp_path / str(stem), stem_keywords=stem)
        told: list[object] = []
        for is_first in (True, False):
            with Memory.open(config) as memory:
                store = memory.advanced()
                if is_first:
                    for n in range(40):
                        store.put("a", f"Deploying bread {n % 11} needed salts {n % 5}")
                    store.retire("a", [fact.id for fact in store.list("a")[3:9]])
                    store.put_alias("a", "roll", ["bread"])
                answer = [
                    [
                        (one.text, one.ranks, one.provenance)
                        for one in store.recall_explain("a", query, 30)
                    ]
                    for query in ("deploy", "salt 3", "roll", " ", "needed")
                ]
                plain = [
                    store.recall("a", query, 30)
                    for query in ("deploy", "salt 3", "roll", " ", "needed")
                ]
                assert plain == [[text for text, _, _ in one] for one in answer]
                told.append(answer)
        assert told[0] == told[1]


@promise("order:floor")
def test_the_floor_ends_the_list_below_a_share_of_the_best(tmp_path: Path) -> None:
    """Contract 5.7, example 6's rule: before the first fact below m x the best final score."""
    texts = [f"Bread {n}" + " salt" * (n % 3 == 0) + " rye" * (n % 5 == 0) for n in range(20)]
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        for text in texts:
            store.put("a", text)
        all_facts = store.recall_explain("a", "salt rye", 100)
    best = all_facts[0].ranks.fused_score
    for floor in (0.25, 0.5, 0.9, 1.0):
        kept: list[str] = []
        for one in all_facts:
            if one.ranks.fused_score < floor * best:
                break
            kept.append(one.text)
        config = keyword_config(tmp_path, min_relevance=floor)
        with Memory.open(config) as memory:
            assert memory.advanced().recall("a", "salt rye", 100) == kept
        assert kept
    assert len(kept) < len(all_facts)


@promise("order:confidence")
def test_equal_labels_never_change_the_order(newest: Caller, agent: str) -> None:
    """Contract 5.5."""
    texts = [f"Bread {n}" + " salt" * (n % 3 == 0) for n in range(12)]
    newest.add(agent, *texts, confidence="unverified")
    plain = newest.facts(agent, "bread salt")
    for weight in (0, 0.1, 0.5):
        assert newest.facts(agent, "bread salt", confidence_weight=weight) == plain


@promise("order:recency-only")
def test_a_list_that_is_switched_off_keeps_its_rank(tmp_path: Path) -> None:
    """Contract 5.4: explicit zeros are allowed, the rank stays in the receipt."""
    weights = SignalWeights(vector=0, keyword=0, recency=0.5)
    with Memory.open(keyword_config(tmp_path, signal_weights=weights)) as memory:
        store = memory.advanced()
        for text in DEPLOYS:
            store.put("a", text)
        receipts = memory.recall_explain_with_options("a", "deploys", RecallOptions()).receipts
    assert [one.text for one in receipts] == list(reversed(DEPLOYS))
    assert [one.ranks.keyword_rank for one in receipts] == [0, 2, 1]
    assert [one.ranks.fused_score for one in receipts] == [0.5 / 61, 0.5 / 62, 0.5 / 63]
