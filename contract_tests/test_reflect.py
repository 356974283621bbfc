"""Curation: what each action needs, what it changes, and what it never touches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract_tests.inside import engine, keyword_config, serving
from contract_tests.manifest import promise
from graymatter_mcp import Memory, WriteOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller


@promise("reflect:needs", "inputs:absent-null-empty")
@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({}, "action is required"),
        ({"action": None}, "action is required"),
        ({"action": ""}, "action is required"),
        ({"action": 7}, "action is required"),
        ({"action": "erase"}, 'unknown action "erase"'),
        ({"action": "Add"}, 'unknown action "Add"'),
        ({"action": "add"}, "text (the fact to add) is required for add"),
        ({"action": "add", "target": "x"}, "text (the fact to add) is required for add"),
        ({"action": "add", "text": ""}, "text (the fact to add) is required for add"),
        ({"action": "add", "text": None}, "text (the fact to add) is required for add"),
        ({"action": "update"}, "target (fact to supersede) is required for update"),
        ({"action": "update", "text": "x"}, "target (fact to supersede) is required for update"),
        ({"action": "update", "target": "x"}, "text (the corrected fact) is required for update"),
        ({"action": "link"}, "target (node ID) is required for link"),
        ({"action": "link", "text": "x"}, "target (node ID) is required for link"),
        ({"action": "link", "target": "x"}, "text (the source node ID) is required for link"),
        ({"action": "forget"}, "the fact to forget is required: pass it in target (or text)"),
        ({"action": "pin"}, "the fact to pin is required: pass it in target (or text)"),
        ({"action": "unpin"}, "the fact to unpin is required: pass it in target (or text)"),
        ({"action": "pin", "text": 7}, "text must be a string"),
        ({"action": "forget", "target": ["x"], "text": "x"}, "target must be a string"),
        ({"action": "update", "target": {}, "text": "x"}, "target must be a string"),
    ],
)
def test_reflect_names_what_is_missing_for_the_action(
    caller: Caller, agent: str, arguments: dict[str, object], text: str
) -> None:
    """Contract C26; F9."""
    assert caller.refused("memory_reflect", agent_id=agent, **arguments) == text


@promise("reflect:outcomes")
def test_each_action_tells_its_outcome_in_its_own_words(caller: Caller, agent: str) -> None:
    """Contract section 6, C12; `fact_id` only where the contract has one."""
    for arguments, text, keys in (
        ({"action": "add", "text": "Old"}, f'Added fact for agent "{agent}".', set[str]()),
        (
            {"action": "pin", "target": "Old"},
            f'Fact pinned for agent "{agent}"; it no longer fades.',
            set[str](),
        ),
        (
            {"action": "unpin", "text": "Old"},
            f'Fact unpinned for agent "{agent}"; it fades again.',
            set[str](),
        ),
        (
            {"action": "update", "target": "Old", "text": "New"},
            f'Updated fact for agent "{agent}". Confidence inferred; fact_id ',
            {"fact_id", "confidence"},
        ),
        (
            {"action": "add", "text": "Sure", "confidence": "verified"},
            f'Added fact for agent "{agent}". Confidence verified; fact_id ',
            {"fact_id", "confidence"},
        ),
        ({"action": "link", "text": "A", "target": "b"}, 'Linked "A" → "b".', set[str]()),
        (
            {"action": "forget", "target": "New"},
            f'Fact suppressed for agent "{agent}".',
            set[str](),
        ),
    ):
        reply = caller.reply("memory_reflect", {"agent_id": agent, **arguments})
        assert reply.structured.keys() == {"action", "agent", "ok"} | keys
        assert reply.structured["ok"] is True
        assert reply.structured["agent"] == agent
        assert reply.structured["action"] == arguments["action"]
        identity = f"{reply.structured['fact_id']}." if keys else ""
        assert reply.text == text + identity


@promise("reflect:not-found")
def test_a_target_that_is_not_there_is_named_and_nothing_is_written(
    caller: Caller, agent: str
) -> None:
    """Contract section 6: exact text only; never an id, never a part."""
    caller.add(agent, "The exact text", confidence="verified")
    fact_id = caller.receipts(agent)[0]["provenance"]["fact_id"]
    for target in ("The exact", "the exact text", "The exact text ", fact_id, "null"):
        for action in ("update", "forget", "pin", "unpin"):
            text = caller.refused(
                "memory_reflect", action=action, agent_id=agent, target=target, text="New"
            )
            assert text == f'target fact not found: "{target}"'
    assert caller.facts(agent) == ["The exact text"]


@promise("reflect:link")
def test_a_link_makes_an_edge_on_our_store(tmp_path: Path) -> None:
    """Contract C27."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.reflect("link", "a", text=" Billing ", target="LEDGER")
        status = opened.run(opened.memory.status)
        assert (status.nodes, status.edges) == (2, 1)


@promise("reflect:link")
def test_without_a_graph_a_link_is_refused_and_says_why(tmp_path: Path) -> None:
    """Contract C27."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        opened.memory.set_graph(None, None)
        text = caller.refused("memory_reflect", action="link", agent_id="a", text="x", target="y")
        assert text == "link nodes: knowledge graph not available"


@promise("reflect:target-wins")
def test_forget_takes_text_or_target_and_target_wins(caller: Caller, agent: str) -> None:
    """Contract C28."""
    caller.add(agent, "One", "Two", "Three", "Four")
    caller.reflect("forget", agent, text="One")
    caller.reflect("forget", agent, target="Two")
    caller.reflect("forget", agent, text="Three", target="Four")
    assert caller.facts(agent) == ["Three"]


@promise("reflect:update-retires", "reflect:everywhere")
def test_an_update_replaces_and_the_old_fact_keeps_its_weight(tmp_path: Path) -> None:
    """Contract C35, C39."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.add("a", "The port is 80", "The port is 80", "Unrelated")
        new = caller.reflect("update", "a", target="The port is 80", text="The port is 443")
        records = {fact.id: fact for fact in opened.run(opened.memory.list_facts, "a")}
        replacement = records.pop(new["fact_id"])
        assert replacement.text == "The port is 443"
        assert not replacement.is_superseded
        old = [fact for fact in records.values() if fact.text == "The port is 80"]
        assert [fact.superseded_by for fact in old] == [new["fact_id"]] * 2
        assert all(fact.weight > 0 for fact in old)
        (receipt,) = (
            one
            for one in caller.receipts("a", "port")
            if one["provenance"]["fact_id"] == new["fact_id"]
        )
        assert sorted(receipt["provenance"]["supersedes"]) == sorted(fact.id for fact in old)


@promise("reflect:forget-keeps-the-record", "reflect:everywhere")
def test_a_forgotten_fact_stays_in_the_list(start: Callable[..., Caller], tmp_path: Path) -> None:
    """Contract C36, C39: seen through another surface after a restart."""
    caller = start()
    caller.add("a", "Forget me", confidence="verified")
    caller.reflect("pin", "a", target="Forget me")
    caller.reflect("forget", "a", target="Forget me")
    caller.client.close()
    with Memory.open(keyword_config(tmp_path / "store")) as memory:
        (fact,) = memory.advanced().list("a")
        assert (fact.text, fact.superseded_by) == ("Forget me", "agent")
        assert (fact.weight, fact.pinned, fact.confidence) == (1.0, True, "verified")


@promise("reflect:retired-never-return")
def test_a_retired_text_is_in_no_search(caller: Caller, agent: str) -> None:
    """Contract C37."""
    caller.add(agent, "The harbour opens at six", "The harbour closes at ten", "Harbour fees rose")
    caller.reflect("forget", agent, target="The harbour opens at six")
    caller.reflect("update", agent, target="The harbour closes at ten", text="It closes at nine")
    left = {"Harbour fees rose", "It closes at nine"}
    for query in ("harbour opens at six", "harbour closes at ten", " "):
        assert set(caller.facts(agent, query)) == left
        assert {one["text"] for one in caller.receipts(agent, query)} == left
        batch = caller.ok("memory_search_batch", agent_id=agent, queries=[query, "harbour"])
        assert set(batch["merged"]) == left


@promise("reflect:retired-never-return")
def test_a_retired_fact_is_not_found_as_a_target_again(caller: Caller, agent: str) -> None:
    """Contract section 6: a second forget or update finds no live fact."""
    caller.add(agent, "Once")
    caller.reflect("forget", agent, target="Once")
    for action in ("forget", "update", "pin"):
        text = caller.refused(
            "memory_reflect", action=action, agent_id=agent, target="Once", text="Again"
        )
        assert text == 'target fact not found: "Once"'
    assert caller.facts(agent) == []


@promise("reflect:unpin-clears-retired-copies")
def test_unpin_also_clears_retired_copies(tmp_path: Path) -> None:
    """Contract section 6."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.add("a", "Pinned then forgotten")
        caller.reflect("pin", "a", target="Pinned then forgotten")
        caller.reflect("forget", "a", target="Pinned then forgotten")
        caller.reflect("unpin", "a", target="Pinned then forgotten")
        (fact,) = opened.run(opened.memory.list_facts, "a")
        assert (fact.pinned, fact.superseded_by) == (False, "agent")


@promise("reflect:update-to-same-text", "reflect:everywhere")
def test_an_update_to_the_same_text_leaves_one_new_live_fact(caller: Caller, agent: str) -> None:
    """Contract C38, C39."""
    caller.add(agent, "Same", "Same", "Same")
    new = caller.reflect("update", agent, target="Same", text="Same")
    (receipt,) = caller.receipts(agent)
    assert receipt["provenance"]["fact_id"] == new["fact_id"]
    assert len(receipt["provenance"]["supersedes"]) == 3


@promise("reflect:update-never-raises")
@pytest.mark.parametrize(
    ("stored", "sent", "expected"),
    [
        (["verified"], None, "inferred"),
        ([""], None, "inferred"),
        (["inferred"], None, "inferred"),
        (["unverified"], None, "unverified"),
        (["verified", "unverified"], None, "unverified"),
        (["unverified"], "verified", "verified"),
        (["verified"], "unverified", "unverified"),
    ],
)
def test_an_update_without_a_label_never_raises_confidence(
    caller: Caller, agent: str, stored: list[str], sent: str | None, expected: str
) -> None:
    """Contract C41, example 10."""
    for label in stored:
        caller.add(agent, "Old", **({"confidence": label} if label else {}))
    caller.reflect("pin", agent, target="Old")
    options = {} if sent is None else {"confidence": sent}
    new = caller.reflect("update", agent, target="Old", text="New", **options)
    assert new["confidence"] == expected
    (receipt,) = caller.receipts(agent)
    assert receipt["provenance"]["confidence"] == expected
    assert "pinned" not in receipt["provenance"]


@promise("reflect:update-never-raises")
def test_an_unknown_historical_label_counts_as_unverified(tmp_path: Path) -> None:
    """Contract C41, example 10."""
    from dataclasses import replace

    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.add("a", "Old")
        (fact,) = opened.run(opened.memory.list_facts, "a")
        opened.run(opened.memory.update_fact, "a", replace(fact, confidence="hearsay"))
        new = caller.reflect("update", "a", target="Old", text="New")
        assert new["confidence"] == "unverified"


@promise("reflect:lineage")
def test_lineage_is_transitive_nearest_first(tmp_path: Path) -> None:
    """Contract 3.1: every fact retired in favour of this one, each once."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        options = WriteOptions()
        first = store.put_returning_fact("a", "v1")
        second = store.revise_with_options("a", "v1", "v2", options)
        store.revise_with_options("a", "v2", "v3", options)
        (receipt,) = store.recall_explain("a", "v3", 8)
        assert receipt.provenance.supersedes == (second.id, first.id)
