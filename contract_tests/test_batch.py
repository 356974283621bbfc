"""Several queries in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contract_tests.inside import engine_with, serving
from contract_tests.manifest import promise
from graymatter_mcp import Config
from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.hashed import HashedEmbedder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contract_tests.caller import Caller
    from graymatter_mcp.embedding.base import Windows

_FACTS = (
    "Bread rises slowly",
    "Bread needs salt",
    "Salt mines are deep",
    "Mines need light",
    "Light rail opens in May",
)


def merged(entries: Sequence[Sequence[str]]) -> list[str]:
    """Merge as 5.9 says, in another way than the product does."""
    texts = list(dict.fromkeys(text for entry in entries for text in entry))

    def key(text: str) -> tuple[int, int, int]:
        best = min(entry.index(text) for entry in entries if text in entry)
        return best, -sum(text in entry for entry in entries), texts.index(text)

    return sorted(texts, key=key)


@promise("batch:each-as-alone", "batch:merge")
def test_each_query_ranks_as_it_would_alone_and_the_merge_keeps_its_rule(
    newest: Caller, agent: str
) -> None:
    """Contract C55, example 8."""
    newest.add(agent, *_FACTS)
    queries = ["bread salt", "mines", "light", "bread salt", "nothing known"]
    batch = newest.ok("memory_search_batch", agent_id=agent, queries=queries, top_k=3)
    assert [one["query"] for one in batch["per_query"]] == queries
    lists = [one["facts"] for one in batch["per_query"]]
    assert lists == [newest.facts(agent, query, top_k=3) for query in queries]
    assert batch["merged"] == merged(lists)
    assert batch["count"] == len(batch["merged"]) == len(set(batch["merged"]))


@promise("batch:merge")
def test_the_merge_is_ordered_as_in_the_example(newest: Caller, agent: str) -> None:
    """Contract example 8: [a, b, c], [b, d, a], [e, c] merge to a, b, e, c, d."""
    lists = [["a", "b", "c"], ["b", "d", "a"], ["e", "c"]]
    assert merged(lists) == ["a", "b", "e", "c", "d"]
    words = {"a": "one1 one1 two2", "b": "one1 two2 two2 two2", "c": "six6 one1", "d": "two2 d"}
    words["e"] = "three3"
    newest.add(agent, *words.values())
    queries = ["one1", "two2", "three3"]
    batch = newest.ok("memory_search_batch", agent_id=agent, queries=queries, top_k=2)
    answers = [one["facts"] for one in batch["per_query"]]
    assert batch["merged"] == merged(answers)


@promise("batch:options-for-all")
def test_options_apply_to_every_query(caller: Caller, agent: str) -> None:
    """Contract C55."""
    caller.add(agent, "Bread rises", confidence="verified")
    caller.add(agent, "Bread falls", "Salt falls", confidence="unverified")
    batch = caller.ok(
        "memory_search_batch",
        agent_id=agent,
        queries=["bread", "salt", "falls"],
        min_confidence="inferred",
        confidence_weight=0.3,
    )
    assert [one["facts"] for one in batch["per_query"]] == [["Bread rises"]] * 3
    assert batch["retrieval"] == {
        "min_confidence": "inferred",
        "confidence_weight": 0.3,
        "policy": "confidence-v1",
        "kg": "suppressed_min_confidence",
    }


@promise("batch:empty-is-success", "outputs:one-story")
def test_a_batch_that_finds_nothing_is_a_success(caller: Caller, agent: str) -> None:
    """Contract 3.3."""
    reply = caller.reply("memory_search_batch", {"agent_id": agent, "queries": ["x", "y"]})
    assert reply.structured == {
        "agent_id": agent,
        "count": 0,
        "merged": [],
        "per_query": [{"query": "x", "facts": []}, {"query": "y", "facts": []}],
    }
    assert reply.text == f'No memories found for agent "{agent}" matching any of the 2 queries.'


@promise("batch:text-tells-the-payload", "outputs:one-story")
def test_the_text_of_a_batch_lists_the_merge(caller: Caller, agent: str) -> None:
    """Contract 3.3, C12."""
    caller.add(agent, "Bread rises")
    reply = caller.reply("memory_search_batch", {"agent_id": agent, "queries": ["bread", "x"]})
    assert reply.text == (
        f'Answered 2 queries for agent "{agent}" — 1 distinct facts:\n\n1. Bread rises'
    )


class _Choking(HashedEmbedder):
    """Fails on texts that hold one word, as a model does that yields NaN."""

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, or fail."""
        if any("poison" in text for text in texts):
            raise EmbeddingError("not finite")
        return [np.asarray(one) for one in super().embed(texts)]


@promise("batch:failures-stay-apart")
def test_a_query_that_fails_leaves_the_others(tmp_path: Path) -> None:
    """Contract C55, 5.3: a filtered recall that cannot see every vector fails."""
    config = Config(data_dir=tmp_path, async_consolidate=False)
    with engine_with(_Choking, config) as opened, serving(opened.memory) as caller:
        caller.add("a", "Bread rises")
        assert opened.run(opened.memory.wait_until_settled, 60)
        sent = {"agent_id": "a", "min_confidence": "inferred"}
        reply = caller.reply(
            "memory_search_batch", {**sent, "queries": ["bread", "poison bread", "salt"]}
        )
        good, bad, other = reply.structured["per_query"]
        assert (good["facts"], other["facts"]) == (["Bread rises"], ["Bread rises"])
        assert bad["facts"] is None
        assert bad["error"]
        assert reply.structured["merged"] == ["Bread rises"]
        assert "1 of 3 queries failed:" in reply.text
        assert bad["error"] in reply.text
        text = caller.refused("memory_search_batch", **sent, queries=["poison", "poison too"])
        assert text.startswith('All recall queries failed: "poison": ')
        single = caller.refused("memory_search", **sent, query="poison")
        assert single.startswith("recall error: ")
        plain = caller.reply("memory_search", {"agent_id": "a", "query": "poison bread"})
        assert plain.structured["facts"] == ["Bread rises"]
        assert "graymatter/degraded" in plain.meta
