"""Vocabulary: it widens queries and is never itself a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contract_tests.inside import engine, keyword_config, serving
from contract_tests.manifest import promise

if TYPE_CHECKING:
    from pathlib import Path

    from contract_tests.caller import Caller


@promise("alias:payload", "outputs:one-story")
def test_an_alias_returns_the_pair_as_sent(caller: Caller, agent: str) -> None:
    """Contract 3.4."""
    reply = caller.reply(
        "memory_alias",
        {"agent_id": agent, "term": " deploy ", "equivalents": ["rollout", " ", " ship it "]},
    )
    assert reply.structured == {
        "agent_id": agent,
        "term": " deploy ",
        "equivalents": ["rollout", " ship it "],
        "stored": True,
    }
    assert reply.text == f'Alias stored for agent "{agent}": " deploy " = rollout,  ship it .'


@promise("alias:widens")
def test_a_search_for_the_term_finds_the_equivalent_and_back(newest: Caller, agent: str) -> None:
    """Contract 8.4: back only when both sides are one token."""
    newest.add(agent, "The rollout is on Monday", "Deploys were slow", "Nothing else matters")
    assert newest.receipts(agent, "launching")[0]["ranks"]["keyword_rank"] == 0
    newest.ok("memory_alias", agent_id=agent, term="launching", equivalents=["rollout", "go live"])
    first = newest.receipts(agent, "launching")[0]
    assert (first["text"], first["ranks"]["keyword_rank"]) == ("The rollout is on Monday", 1)
    newest.add(agent, "Launching is hard")
    found = {
        one["text"] for one in newest.receipts(agent, "rollout") if one["ranks"]["keyword_rank"]
    }
    assert found == {"The rollout is on Monday", "Launching is hard"}
    live = [one for one in newest.receipts(agent, "live") if one["ranks"]["keyword_rank"]]
    assert live == []


@promise("alias:never-a-result")
def test_an_alias_is_no_fact_to_any_search(newest: Caller, agent: str) -> None:
    """Contract 8.4: not returned, not counted."""
    newest.ok("memory_alias", agent_id=agent, term="deploy", equivalents=["rollout"])
    assert newest.facts(agent, "deploy rollout alias") == []
    newest.add(agent, "The rollout is on Monday")
    assert newest.facts(agent) == ["The rollout is on Monday"]
    batch = newest.ok("memory_search_batch", agent_id=agent, queries=["deploy", "alias"])
    assert batch["merged"] == ["The rollout is on Monday"]
    (receipt,) = newest.receipts(agent, "deploy")
    assert receipt["ranks"]["recency_rank"] == 1


@promise("alias:curated")
def test_an_alias_is_forgotten_and_revised_by_its_text(newest: Caller, agent: str) -> None:
    """Contract 8.4: a revision stays an alias, its pair read back from the new text."""

    def ranked(query: str) -> bool:
        return bool(newest.receipts(agent, query)[0]["ranks"]["keyword_rank"])

    newest.add(agent, "The rollout is on Monday")
    newest.ok("memory_alias", agent_id=agent, term="deploy", equivalents=["rollout"])
    assert ranked("deploy")
    newest.reflect(
        "update", agent, target="alias: deploy = rollout", text="alias: shipping = rollout, launch"
    )
    assert (ranked("deploy"), ranked("shipping")) == (False, True)
    assert newest.facts(agent) == ["The rollout is on Monday"]
    newest.reflect("forget", agent, target="alias: shipping = rollout, launch")
    assert not ranked("shipping")


@promise("alias:pairs-are-kept")
def test_signs_inside_a_term_do_no_harm(newest: Caller, agent: str) -> None:
    """Contract 8.4: since the pair is kept."""
    newest.add(agent, "We store user_id in the session")
    newest.ok("memory_alias", agent_id=agent, term="uid=, key", equivalents=["user_id"])
    receipt = newest.receipts(agent, "uid")[0]
    assert receipt["ranks"]["keyword_rank"] == 1


@promise("alias:listed")
def test_an_alias_is_listed_as_one(tmp_path: Path) -> None:
    """Contract 8.4."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        caller.ok("memory_alias", agent_id="a", term="deploy", equivalents=["rollout"])
        (fact,) = opened.run(opened.memory.list_facts, "a")
        assert (fact.text, fact.kind, fact.alias_source) == (
            "alias: deploy = rollout",
            "alias",
            "",
        )
