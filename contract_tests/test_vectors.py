"""The real bundled model: meaning, honesty while it loads, and nothing lost on the way."""

from __future__ import annotations

import math
import signal
import threading
from typing import TYPE_CHECKING, Any

import pytest

from contract_tests.caller import Caller
from contract_tests.clients import RawClient
from contract_tests.inside import engine_with, serving
from contract_tests.manifest import promise
from contract_tests.test_ordering import fused, ranks_of
from contract_tests.wire import STATELESS_REVISION, StdioWire
from graymatter_mcp import Config, SignalWeights
from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.hashed import HashedEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MODEL = "all-MiniLM-L6-v2"


def settled(caller: Caller, agent: str) -> list[dict[str, Any]]:
    """Ask until every fact has a vector; return the receipts."""
    for _ in range(20_000):
        reply = caller.reply(
            "memory_search", {"agent_id": agent, "query": "ready", "explain": True, "top_k": 1000}
        )
        receipts = reply.structured.get("explained", [])
        is_degraded = "graymatter/degraded" in reply.meta
        if not is_degraded and all(one["ranks"]["vector_rank"] for one in receipts):
            return receipts
    pytest.fail("vectors never came")


@pytest.fixture(scope="module")
def semantic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A server whose model has loaded."""
    wire = StdioWire(tmp_path_factory.mktemp("semantic"), GRAYMATTER_MODEL=MODEL)
    caller = Caller(RawClient(wire, STATELESS_REVISION))
    caller.add("warm-up", "A first fact")
    settled(caller, "warm-up")
    yield caller
    caller.client.close()


@promise("vectors:meaning")
def test_a_fact_is_found_by_meaning(semantic: Caller) -> None:
    """Contract 5.3: no word in common."""
    semantic.add(
        "meaning",
        "My cat sleeps on the sofa all day",
        "Invoices are paid within thirty days",
        "The train to Basel leaves at noon",
    )
    settled(semantic, "meaning")
    first = semantic.receipts("meaning", "a lazy pet")[0]
    assert first["text"] == "My cat sleeps on the sofa all day"
    assert (first["ranks"]["vector_rank"], first["ranks"]["keyword_rank"]) == (1, 0)


@promise("vectors:scores", "order:reproducible-scores")
def test_scores_with_vectors_reproduce_from_the_ranks(semantic: Caller) -> None:
    """Contract C44."""
    semantic.add("scores", *(f"Note {n} on {'bread' if n % 2 else 'trains'}" for n in range(12)))
    settled(semantic, "scores")
    receipts = semantic.receipts("scores", "railway timetable and bread")
    assert sorted(one["ranks"]["vector_rank"] for one in receipts) == list(range(1, 13))
    for receipt in receipts:
        assert math.isclose(
            receipt["ranks"]["fused_score"],
            fused(receipt["ranks"], SignalWeights()),
            rel_tol=0,
            abs_tol=1e-12,
        )


@promise("vectors:scores", "order:worked-examples")
def test_confidence_turns_the_order_as_in_the_example(semantic: Caller) -> None:
    """Contract C44, example 4: P, Q, R without a weight; R, Q, P at 0.2."""
    semantic.add("ex4", "The old harbour was built in 1830", confidence="verified")
    semantic.add("ex4", "The harbour tax rate is five percent", confidence="unverified")
    semantic.add("ex4", "The harbour tax was raised by the town council in spring")
    settled(semantic, "ex4")
    plain = semantic.receipts("ex4", "harbour tax rate")
    assert [ranks_of(one) for one in plain] == [(1, 1, 2), (2, 2, 1), (3, 3, 3)]
    assert [round(one["ranks"]["fused_score"], 10) for one in plain] == [
        0.0408514014,
        0.0404547858,
        0.0396825397,
    ]
    turned = semantic.receipts("ex4", "harbour tax rate", confidence_weight=0.2)
    assert [one["text"] for one in turned] == [plain[2]["text"], plain[1]["text"], plain[0]["text"]]
    assert [round(one["ranking"]["final_score"], 10) for one in turned] == [
        0.0476190476,
        0.0404547858,
        0.0326811211,
    ]
    assert turned[0]["ranking"]["effective_confidence"] == "verified"


@promise("vectors:filter-first")
def test_a_filter_takes_facts_out_of_the_vector_list_too(semantic: Caller) -> None:
    """Contract 5.1: from the filter on the rest does not exist."""
    semantic.add("filter", "Cats sleep all day", "Dogs bark at night", confidence="unverified")
    semantic.add("filter", "Birds sing at dawn", "Fish are silent", confidence="verified")
    settled(semantic, "filter")
    receipts = semantic.receipts("filter", "sleeping cats", min_confidence="verified")
    assert sorted(one["ranks"]["vector_rank"] for one in receipts) == [1, 2]
    assert sorted(one["ranks"]["recency_rank"] for one in receipts) == [1, 2]


@promise("vectors:degraded-is-said", "found:at-once")
def test_an_answer_without_vectors_says_so_and_finds_words_at_once(tmp_path: Path) -> None:
    """Contract 2.5; F22: an acknowledged fact is found at once, by its words."""
    may_load = threading.Event()

    def load() -> HashedEmbedder:
        may_load.wait()
        return HashedEmbedder()

    config = Config(data_dir=tmp_path / "a", async_consolidate=False)
    with engine_with(load, config) as opened, serving(opened.memory) as caller:
        expect_degraded(caller, "model_loading")
        may_load.set()
        assert opened.run(opened.memory.wait_until_settled, 60)
        reply = caller.reply("memory_search", {"agent_id": "a", "query": "harbour"})
        assert "graymatter/degraded" not in reply.meta
        assert "vectors" not in reply.text

    def fail() -> HashedEmbedder:
        raise EmbeddingError("no weights")

    config = Config(data_dir=tmp_path / "b", async_consolidate=False)
    with engine_with(fail, config) as opened, serving(opened.memory) as caller:
        assert opened.run(opened.memory.wait_until_settled, 60)
        expect_degraded(caller, "model_missing")


def expect_degraded(caller: Caller, why: str) -> None:
    """Add a fact and find it by its words, in an answer that says what it lacks."""
    caller.add("a", "The harbour opens at six")
    for tool, query in (
        ("memory_search", {"query": "harbour"}),
        ("memory_search", {"query": "harbour", "explain": True}),
        ("memory_search_batch", {"queries": ["harbour"]}),
    ):
        reply = caller.reply(tool, {"agent_id": "a", **query})
        assert reply.meta["graymatter/degraded"] == why
        assert why in reply.text.splitlines()[-1]
        assert "The harbour opens at six" in reply.text


@promise("found:at-once")
def test_an_added_fact_is_in_the_very_next_search(newest: Caller, agent: str) -> None:
    """F22."""
    for number in range(20):
        newest.add(agent, f"Event {number} happened")
        assert newest.facts(agent, f"event {number}", top_k=1) == [f"Event {number} happened"]


@promise("found:vector-survives-a-kill")
def test_a_vector_that_was_not_made_before_a_kill_is_made_after_it(tmp_path: Path) -> None:
    """F22: and every acknowledged fact is there."""
    texts = [f"Cat number {n} sleeps on the sofa" for n in range(20)]
    with StdioWire(tmp_path / "store") as wire:
        # Keyword only: acknowledged facts that certainly have no vector yet.
        caller = Caller(RawClient(wire, STATELESS_REVISION))
        caller.add("a", *texts)
        wire.process.send_signal(signal.SIGKILL)
        wire.process.wait()
    with StdioWire(tmp_path / "store", GRAYMATTER_MODEL=MODEL) as wire:
        caller = Caller(RawClient(wire, STATELESS_REVISION))
        assert caller.facts("a") == list(reversed(texts))
        receipts = settled(caller, "a")
        assert sorted(one["ranks"]["vector_rank"] for one in receipts) == list(range(1, 21))
