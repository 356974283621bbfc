"""Searching: what comes, and what is said beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.contract.kit.case import as_list, expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

_TEXTS = (
    "Deploys run on Tuesday",
    "Rollback of deploys needs two approvals",
    "The staging cluster lives in Frankfurt",
)


@topic.writes("found:at-once")
def found_at_once(case: Case) -> None:
    """An acknowledged fact is found at once."""
    agent = case.agent()
    for number, text in enumerate(_TEXTS, 1):
        case.add(agent, text)
        expect(text in case.facts(agent, text), f"fact {number} is not found after its answer")


@topic.writes("search:payload")
def payload(case: Case) -> None:
    """A search answers with the scope and query that were sent, and a count of its facts."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    for query in ("deploys approvals", " ", "Frankfurt "):
        answer = case.ok("memory_search", agent_id=agent, query=query)
        expect_equal((answer["agent_id"], answer["query"]), (agent, query), "scope and query")
        expect_equal(answer["count"], len(answer["facts"]), "the count of a search")
        expect("explained" not in answer, "a plain search explains")


@topic.writes("search:text-tells-the-payload")
def text_tells_the_payload(case: Case) -> None:
    """The text of a search lists the facts of its payload."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    reply = case.reply("memory_search", {"agent_id": agent, "query": "deploys"})
    facts = reply.structured["facts"]
    lines = reply.text.splitlines()
    heading = f'Found {len(facts)} relevant memories for agent "{agent}":'
    expect_equal(lines[0], heading, "the first line of a search")
    listed = [f"{place}. {fact}" for place, fact in enumerate(facts, 1)]
    expect_equal(lines[2 : 2 + len(facts)], listed, "the lines of a search")


@topic.writes("search:explain-same-order")
def explain_same_order(case: Case) -> None:
    """Explain gives the same facts in the same order as plain recall."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    case.settle(agent)
    for query in ("deploys approvals", "cluster", " "):
        answer = case.ok("memory_search", agent_id=agent, query=query, explain=True)
        explained = [one["text"] for one in as_list(answer.get("explained"))]
        expect_equal(explained, case.facts(agent, query), "the order of an explained search")
        expect_equal(answer["facts"], [], "the facts of an explained search")
        expect_equal(answer["count"], len(explained), "the count of an explained search")


@topic.writes("search:top-k-spellings")
def top_k_spellings(case: Case) -> None:
    """`top_k` is read as a number, or left out; the default is 8."""
    agent = case.agent()
    case.add(agent, *(f"Note number {number}" for number in range(10)))
    case.settle(agent)
    every = case.facts(agent, "note")
    for top_k, wanted in ((3, 3), ("3", 3), (3.9, 3), (None, 8), (0, 8), (-1, 8), ("many", 8)):
        answer = case.ok("memory_search", agent_id=agent, query="note", top_k=top_k)
        expect_equal(answer["facts"], every[:wanted], f"a search with top_k {top_k!r}")


@topic.writes("search:blank-query")
def blank_query(case: Case) -> None:
    """A query without words gives the newest facts first."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    case.settle(agent)
    expect_equal(case.facts(agent, " "), list(_TEXTS[::-1]), "a search without words")


@topic.writes("search:repeated-texts")
def repeated_texts(case: Case) -> None:
    """A text comes once, however often it was stored."""
    agent = case.agent()
    case.add(agent, "Twice told", "Twice told", "Once told")
    expect_equal(sorted(case.facts(agent, "told")), ["Once told", "Twice told"], "repeated texts")


@topic.writes("search:weak-match")
def weak_match(case: Case) -> None:
    """A weak match names words of the store and what to do about it."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    answer = case.ok("memory_search", agent_id=agent, query="zebra crossing in Frankfurt")
    lines = answer.get("feedback", "").splitlines()
    expect_equal(len(lines), 3, "the lines of the note about a weak match")
    wanted = "(weak match: 1 of 3 terms in your query exist in this store)"
    expect_equal(lines[0], wanted, "the first line of the note about a weak match")
    expect(lines[1].startswith("nearby vocabulary: "), "the note names no nearby words")
    expect("memory_alias" in lines[2], "the note does not name memory_alias")
    sure = case.ok("memory_search", agent_id=agent, query="staging cluster Frankfurt")
    expect("feedback" not in sure, "a match that is not weak comes with a note")


@topic.writes("search:identifiers-first")
def identifiers_first(case: Case) -> None:
    """An identifier typed exactly finds its fact first, however old it is."""
    agent = case.agent()
    case.add(agent, "The pool is in src/db/pool.py on port 8080", "Ships with v1.2.3")
    case.add(agent, *(f"Port of call number {number}" for number in range(12)))
    for query, place in (("8080", 0), ("src/db/pool.py", 0), ("v1.2.3", 1)):
        wanted = ("The pool is in src/db/pool.py on port 8080", "Ships with v1.2.3")[place]
        found = case.facts(agent, query)
        expect_equal(found[:1], [wanted], f"the first fact for {query}")


@topic.writes("alias:payload")
def alias_payload(case: Case) -> None:
    """An alias returns the pair as sent, without blank equivalents."""
    agent = case.agent()
    answer = case.ok("memory_alias", agent_id=agent, term="ship", equivalents=["deploys", " "])
    wanted = {"agent_id": agent, "term": "ship", "equivalents": ["deploys"], "stored": True}
    expect_equal(answer, wanted, "the payload of an alias")


@topic.writes("alias:widens")
def alias_widens(case: Case) -> None:
    """An alias widens queries and is never itself a result."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    case.settle(agent)
    before = [one["ranks"]["keyword_rank"] for one in case.receipts(agent, "ship")]
    expect_equal(set(before), {0}, "the keyword ranks before the alias")
    case.ok("memory_alias", agent_id=agent, term="ship", equivalents=["rollback"])
    ranks = {one["text"]: one["ranks"]["keyword_rank"] for one in case.receipts(agent, "ship")}
    expect_equal(ranks.get(_TEXTS[1]), 1, "the keyword rank after the alias")
    expect_equal(sorted(case.facts(agent)), sorted(_TEXTS), "the facts after the alias")
