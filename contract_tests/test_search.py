"""One query: what comes, how many, and what is said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from contract_tests.inside import keyword_config
from contract_tests.manifest import promise
from graymatter_mcp import Memory, RecallOptions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller


@promise("search:empty-is-success", "search:unseen-agent")
def test_nothing_found_is_a_success(caller: Caller, agent: str) -> None:
    """Contract C25, C48."""
    reply = caller.reply("memory_search", {"agent_id": agent, "query": "anything"})
    assert reply.structured == {"agent_id": agent, "query": "anything", "count": 0, "facts": []}
    assert reply.text == f'No memories found for agent "{agent}" matching "anything".'
    explained = caller.ok("memory_search", agent_id=agent, query="anything", explain=True)
    assert explained == {"agent_id": agent, "query": "anything", "count": 0, "facts": []}


@promise("search:text-tells-the-payload", "outputs:one-story")
def test_the_text_lists_the_facts_of_the_payload(caller: Caller, agent: str) -> None:
    """Contract 3.2, C12."""
    caller.add(agent, "Bread rises slowly", "Bread needs salt")
    reply = caller.reply("memory_search", {"agent_id": agent, "query": "bread"})
    assert reply.structured["facts"] == ["Bread rises slowly", "Bread needs salt"]
    assert reply.text == (
        f'Found 2 relevant memories for agent "{agent}":\n\n'
        "1. Bread rises slowly\n2. Bread needs salt"
    )


@promise("search:text-tells-the-payload", "outputs:one-story")
def test_the_text_of_an_explained_search_tells_each_receipt(caller: Caller, agent: str) -> None:
    """Contract 3.2, C12."""
    caller.add(agent, "Bread rises", confidence="verified")
    reply = caller.reply(
        "memory_search",
        {"agent_id": agent, "query": "bread", "explain": True, "confidence_weight": 0.1},
    )
    (receipt,) = reply.structured["explained"]
    assert reply.structured["facts"] == []
    assert reply.structured["count"] == 1
    assert reply.text.startswith(f'Found 1 relevant memories for agent "{agent}" (with receipts):')
    for told in (
        f"fact_id {receipt['provenance']['fact_id']}",
        f"{receipt['ranks']['fused_score']:.4f}",
        f"{receipt['ranking']['final_score']:.8f}",
        receipt["provenance"]["written_at"][:10],
        "verified",
    ):
        assert told in reply.text


@promise("search:explain-same-order")
def test_explain_gives_the_same_facts_in_the_same_order(newest: Caller, agent: str) -> None:
    """Contract C43."""
    newest.add(agent, *(f"Bread {n} with {'salt' if n % 3 else 'rye'}" for n in range(20)))
    newest.add(agent, "Salt mines", "Bread 4 with salt", confidence="unverified")
    for query in ("salt", "rye bread", "unknown words", " ", "bread 7"):
        for options in ({}, {"min_confidence": "inferred"}, {"confidence_weight": 0.4}):
            for top_k in (1, 5, 50):
                plain = newest.facts(agent, query, top_k=top_k, **options)
                receipts = newest.receipts(agent, query, top_k=top_k, **options)
                assert [one["text"] for one in receipts] == plain


@promise("search:repeated-texts")
def test_a_text_comes_once_however_often_it_was_stored(newest: Caller, agent: str) -> None:
    """Contract 5.7; F26 in part."""
    newest.add(agent, *["Twice told"] * 3, "Told once", "Twice told")
    assert sorted(newest.facts(agent, "told")) == ["Told once", "Twice told"]
    assert len(newest.facts(agent, "told", top_k=2)) == 2


@promise("search:raw-top-k")
def test_a_raw_recall_of_none_is_empty_and_an_option_aware_one_takes_eight(
    tmp_path: Path,
) -> None:
    """Contract C51."""
    with Memory.open(keyword_config(tmp_path)) as memory:
        store = memory.advanced()
        for number in range(10):
            store.put("a", f"Fact {number}")
            store.put_shared(f"Shared {number}")
        for top_k in (0, -1):
            assert store.recall("a", "fact", top_k) == []
            assert store.recall_shared("shared", top_k) == []
            assert store.recall_all("a", "fact", top_k) == []
            assert store.recall_explain("a", "fact", top_k) == []
            options = RecallOptions()
            assert len(store.recall_with_options("a", "fact", options, top_k).facts) == 8
            explained = store.recall_explain_with_options("a", "fact", options, top_k)
            assert len(explained.receipts) == 8
        assert len(store.recall("a", "fact", 3)) == 3


@pytest.fixture(scope="module")
def crowd(newest: Caller) -> str:
    """A namespace of a thousand facts, the ones that are looked for oldest."""
    agent = "crowd-of-a-thousand"
    newest.add(
        agent,
        "The pool lives in src/db/pool.py since March",
        "We pinned the release v1.2.3 of the parser",
        "The gateway listens on port 8137 inside the cluster",
        "The simulator is written in C++ with few comments",
        "Call getUserName() before rendering",
        "The host is db-7.internal:5432 for reports",
    )
    words = ("parser", "pool", "port", "release", "cluster", "comments", "host", "reports")
    newest.add_at_once(
        agent,
        [
            f"Note {n + 20000}: the {words[n % 8]} of team {n % 13} met the {words[n * 5 % 7]}"
            for n in range(1000)
        ],
    )
    return agent


@promise("search:identifiers-first")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("src/db/pool.py", "The pool lives in src/db/pool.py since March"),
        ("v1.2.3", "We pinned the release v1.2.3 of the parser"),
        ("8137", "The gateway listens on port 8137 inside the cluster"),
        ("C++", "The simulator is written in C++ with few comments"),
        ("getUserName", "Call getUserName() before rendering"),
        ("db-7.internal:5432", "The host is db-7.internal:5432 for reports"),
    ],
)
def test_an_identifier_finds_the_fact_that_holds_it_first(
    newest: Caller, crowd: str, query: str, expected: str
) -> None:
    """Contract C57: typed exactly, however old, among 1,000 others."""
    assert newest.facts(crowd, query, top_k=3)[0] == expected


@promise("search:explain-is-bounded")
def test_explain_answers_with_as_many_receipts_as_were_asked_for(
    newest: Caller, crowd: str
) -> None:
    """Contract C46: the part that a client can see."""
    receipts = newest.receipts(crowd, "team", top_k=5)
    assert [one["text"] for one in receipts] == newest.facts(crowd, "team", top_k=5)
    assert len(receipts) == 5


@promise("search:smaller-is-a-prefix")
def test_a_smaller_top_k_gives_a_prefix_of_a_larger_one(newest: Caller, crowd: str) -> None:
    """Contract 5.3."""
    whole = newest.facts(crowd, "parser of team 3", top_k=200)
    for top_k in (1, 7, 50):
        assert newest.facts(crowd, "parser of team 3", top_k=top_k) == whole[:top_k]


@promise("search:budget")
def test_an_answer_beyond_the_budget_says_what_it_left_out(
    start: Callable[..., Caller],
) -> None:
    """Contract 2.5: whole facts, from the end; the first stays whatever its size."""
    caller = start(GRAYMATTER_ANSWER_BUDGET="3000")
    caller.add("a", *(f"Fact {n} " + "x" * 700 for n in range(6)))
    ids = [one["provenance"]["fact_id"] for one in caller.receipts("a", top_k=1)]
    reply = caller.reply("memory_search", {"agent_id": "a", "query": " "})
    kept = reply.structured["count"]
    assert 1 <= kept < 6
    assert [text[:6] for text in reply.structured["facts"]] == [
        f"Fact {5 - n}" for n in range(kept)
    ]
    left = reply.meta["graymatter/left_out"]
    assert left["facts"] == len(left["fact_ids"]) == 6 - kept
    assert all(fact_id in reply.text for fact_id in left["fact_ids"])
    assert ids[0] not in left["fact_ids"]
    caller.add("b", "y" * 5000, "z" * 6000)
    assert caller.facts("b") == ["z" * 6000]


@promise("search:compounds")
def test_a_word_is_found_in_compounds_and_a_compound_by_its_parts(
    caller: Caller, agent: str
) -> None:
    """ADR 0061: before a newer fact, and without claiming to know the word."""
    boat, heating = (
        "Die Donaudampfschifffahrt beginnt nach Ostern",
        "Der Vertrag für die Wartung der Heizung endet im Mai",
    )
    caller.add(agent, boat, heating, "Nobody sweeps the yellow hall in winter")
    for query, fact in (("Schifffahrt", boat), ("Wartungsvertrag", heating)):
        found = caller.ok("memory_search", agent_id=agent, query=query)
        assert found["facts"][0] == fact
        assert found["feedback"].startswith("(weak match: 0 of 1 terms in your query exist")
        explained = caller.ok("memory_search", agent_id=agent, query=query, explain=True)
        ranks = [one["ranks"]["keyword_rank"] for one in explained["explained"]]
        assert ranks == [1, 0, 0]


@promise("search:weak-match")
def test_a_weak_match_names_the_words_of_the_store(start: Callable[..., Caller]) -> None:
    """Contract 5.10, example 9."""
    caller = start(GRAYMATTER_STEM_KEYWORDS="0")
    caller.add(
        "a",
        "The login service stores credentials in the vault",
        "Credentials are renewed each month by the security crew",
        "Vault renewals need two approvals",
        "Bread rises slowly",
        "Trains leave early",
        "Rivers bend south",
        "Pianos sound warm",
        "Kites fly high",
    )
    query = "How often do we change credentials passwords?"
    found = caller.ok("memory_search", agent_id="a", query=query)
    first, second, third = found["feedback"].split("\n")
    assert first == "(weak match: 1 of 6 terms in your query exist in this store)"
    assert second == (
        "nearby vocabulary: crew, each, login, month, renewed, security, service, stores, vault"
    )
    assert "memory_alias" in third
    reply = caller.reply("memory_search", {"agent_id": "a", "query": query})
    assert found["feedback"] in reply.text
    explained = caller.ok("memory_search", agent_id="a", query=query, explain=True)
    assert "feedback" not in explained
    strong = caller.ok("memory_search", agent_id="a", query="security crew credentials")
    assert "feedback" not in strong
