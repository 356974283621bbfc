"""Several queries in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.contract.kit.case import as_list, expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

_TEXTS = (
    "Passwords live in the vault",
    "Deploys need two approvals",
    "The vault is renewed each month",
    "Approvals come from the security crew",
)
_QUERIES = ["vault", "approvals deploys", "security crew", "vault"]


def merged(lists: Sequence[Sequence[str]]) -> list[str]:
    """Merge ranked lists as the contract says."""
    best: dict[str, tuple[int, int, int]] = {}
    for place, (rank, text) in enumerate(
        (rank, text) for one in lists for rank, text in enumerate(one, 1)
    ):
        before = best.get(text, (rank, 0, place))
        best[text] = (min(rank, before[0]), before[1] - 1, before[2])
    return sorted(best, key=lambda text: best[text])


@topic.writes("batch:each-as-alone")
def each_as_alone(case: Case) -> None:
    """Each query of a batch ranks as it would alone, in the order sent, repeats included."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    case.settle(agent)
    answer = case.ok("memory_search_batch", agent_id=agent, queries=_QUERIES, top_k=2)
    alone = [{"query": query, "facts": case.facts(agent, query, top_k=2)} for query in _QUERIES]
    expect_equal(answer["per_query"], alone, "the queries of a batch")


@topic.writes("batch:merge")
def merge(case: Case) -> None:
    """The merge takes the best rank, then how many queries, then the first appearance."""
    agent = case.agent()
    case.add(agent, *_TEXTS)
    case.settle(agent)
    reply = case.reply("memory_search_batch", {"agent_id": agent, "queries": _QUERIES, "top_k": 3})
    answer = reply.structured
    wanted = merged([one["facts"] for one in answer["per_query"]])
    expect_equal(answer["merged"], wanted, "the merged facts of a batch")
    expect_equal(answer["count"], len(wanted), "the count of a batch")
    for place, fact in enumerate(wanted, 1):
        expect(f"{place}. {fact}" in reply.text, "the text of a batch lists other facts")


@topic.writes("batch:options-for-all")
def options_for_all(case: Case) -> None:
    """Options of a batch apply to every query."""
    agent = case.agent()
    case.add(agent, *_TEXTS[:2], confidence="unverified")
    case.add(agent, *_TEXTS[2:], confidence="verified")
    answer = case.ok(
        "memory_search_batch", agent_id=agent, queries=_QUERIES, min_confidence="verified"
    )
    found = {fact for one in answer["per_query"] for fact in as_list(one["facts"])}
    expect_equal(found, set(_TEXTS[2:]), "what a filtered batch finds")
