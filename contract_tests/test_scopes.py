"""Agent, shared, all: where a fact is found, and where it never is again."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from contract_tests.inside import StillClock, engine, keyword_config, serving
from contract_tests.manifest import promise
from graymatter_mcp import SHARED_AGENT_ID, Fact, Memory, RecallOptions

if TYPE_CHECKING:
    from pathlib import Path


@promise("scopes:recall-all")
def test_both_rankings_are_fused_and_a_text_comes_once(tmp_path: Path) -> None:
    """Contract C56, example 7: agent x, y, z and shared y, s, t give y, x, s, z, t."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        # By recency alone: the newest of each side is first.
        for text in ("z", "y", "x"):
            store.put("a", text)
        for text in ("t", "s", "y"):
            store.put_shared(text)
        assert store.recall("a", " ", 8) == ["x", "y", "z"]
        assert store.recall_shared(" ", 8) == ["y", "s", "t"]
        assert memory.recall_all("a", " ") == ["y", "x", "s", "z", "t"]
        assert store.recall_all("a", " ", 2) == ["y", "x"]


@promise("scopes:recall-all")
def test_either_side_may_be_empty(tmp_path: Path) -> None:
    """Contract C56."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        assert memory.recall_all("a", "bread") == []
        memory.remember("a", "Bread rises")
        assert memory.recall_all("a", "bread") == ["Bread rises"]
        memory.remember_shared("Salt helps")
        assert memory.recall_all("nobody", "salt") == ["Salt helps"]
        assert memory.recall_shared("salt") == ["Salt helps"]
        assert set(memory.recall_all("a", "bread salt")) == {"Bread rises", "Salt helps"}


@promise("scopes:retired-nowhere", "reflect:retired-never-return")
def test_a_retired_fact_of_full_weight_comes_back_in_no_scope(tmp_path: Path) -> None:
    """Contract C49: it is still listed, and still decays and is pruned."""
    clock = StillClock()
    with engine(keyword_config(tmp_path), clock) as opened:
        memory = opened.memory
        with serving(memory) as caller:
            for agent in ("a", SHARED_AGENT_ID):
                caller.add(agent, "Retired")
                caller.reflect("forget", agent, target="Retired")
                assert caller.facts(agent) == []
                (listed,) = opened.run(memory.list_facts, agent)
                assert (listed.weight, listed.is_superseded) == (1.0, True)
        clock.move(hours=720)
        opened.run(memory.consolidate, "a")
        (listed,) = opened.run(memory.list_facts, "a")
        assert abs(listed.weight - 0.5) < 1e-9
        clock.move(days=200)
        opened.run(memory.consolidate, "a")
        assert opened.run(memory.list_facts, "a") == []
    with Memory.open(keyword_config(tmp_path)) as library:
        assert library.recall_all("a", "retired") == []
        assert library.recall_shared("retired") == []


@promise("facts:defaults-are-absent")
def test_a_live_fact_is_told_without_the_fields_that_do_not_apply(tmp_path: Path) -> None:
    """Contract C50, 3.1: absent means live, unpinned, legacy-inferred content."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.add("a", "Plain")
        (receipt,) = caller.receipts("a")
        assert receipt["provenance"].keys() == {"fact_id", "written_at"}
        (fact,) = opened.run(opened.memory.list_facts, "a")
    bare = Fact(
        id=fact.id,
        agent_id=fact.agent_id,
        text=fact.text,
        created_at=fact.created_at,
        accessed_at=fact.accessed_at,
    )
    same = {field.name for field in fields(Fact)} - {"origin", "access_count"}
    assert {name: getattr(bare, name) for name in same} == {
        name: getattr(fact, name) for name in same
    }
    assert (bare.is_superseded, bare.pinned, bare.confidence, bare.kind) == (False, False, "", "")


@promise("facts:access-is-counted")
def test_each_returned_fact_is_counted_as_read(tmp_path: Path) -> None:
    """Contract 3.2: explain included; only what was returned."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        store.put("a", "Bread rises")
        store.put("a", "Salt helps")
        store.recall("a", "bread", 1)
        memory.recall_explain_with_options("a", "bread", RecallOptions())
    with Memory.open(keyword_config(tmp_path)) as memory:
        counted = {fact.text: fact.access_count for fact in memory.advanced().list("a")}
    assert counted == {"Bread rises": 2, "Salt helps": 1}
