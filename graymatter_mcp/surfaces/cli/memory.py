"""`graymatter remember` and `graymatter recall`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import SHARED_AGENT_ID, UNSET, Namespace
from graymatter_mcp.model.requests import (
    BatchRecallRequest,
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.surfaces import codec
from graymatter_mcp.surfaces.cli.door import call_memory
from graymatter_mcp.surfaces.mcp.receipts import receipt_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.surfaces.cli.app import Invocation

MODEL_WAIT_S = 5.0
"""A command that runs once waits this long for vectors; a degraded answer says so."""


@click.command()
@click.argument("agent")
@click.argument("text", required=False)
@click.option("--shared", is_flag=True, help="Store it for all agents; AGENT may be left out.")
@click.option("--confidence", help="verified, inferred or unverified.")
@click.pass_obj
def remember(
    invocation: Invocation, agent: str, text: str | None, shared: bool, confidence: str | None
) -> None:
    """Store one durable fact."""
    if text is None and shared:
        text = agent
    if not text:
        raise InvalidArgumentError("text is required")
    namespace = SHARED_AGENT_ID if shared else Namespace(agent)
    request = RememberRequest(
        namespace=namespace,
        text=text,
        options=WriteOptions(confidence=UNSET if confidence is None else confidence),
        origin=Origin(source="cli remember"),
        consolidate=not shared,
    )

    async def work(memory: Memory) -> Fact:
        return await memory.remember(request)

    fact = call_memory(invocation, work)
    answer: dict[str, Any] = {"scope": "shared"} if shared else {"agent_id": agent}
    answer["status"] = "stored"
    if confidence is not None and not shared:
        answer |= {"fact_id": fact.id, "confidence": fact.confidence}
    invocation.show(answer, f'Memory stored for agent "{namespace}".')


@click.command()
@click.argument("agent")
@click.argument("query", required=False)
@click.option("--top-k", default=0, help="Facts at most; 0 is the default.")
@click.option("--shared", is_flag=True, help="Search the shared facts.")
@click.option("--all", "everything", is_flag=True, help="Search own and shared facts.")
@click.option("--explain", is_flag=True, help="Tell why each fact came.")
@click.option("--query", "queries", multiple=True, help="A question; repeat for a batch.")
@click.option("--min-confidence", help="Keep only facts at least this sure.")
@click.option("--confidence-weight", type=float, help="0 to 0.5.")
@click.pass_obj
def recall(
    invocation: Invocation,
    *,
    agent: str,
    query: str | None,
    top_k: int,
    shared: bool,
    everything: bool,
    explain: bool,
    queries: tuple[str, ...],
    min_confidence: str | None,
    confidence_weight: float | None,
) -> None:
    """Search stored facts."""
    asked = [one for one in [query, *queries] if one]
    _check_flags(asked, shared=shared, everything=everything, explain=explain)
    search = _Search(
        agent=agent,
        scope="all" if everything else "shared" if shared else "agent",
        top_k=top_k,
        options=RecallOptions(
            min_confidence=UNSET if min_confidence is None else min_confidence,
            confidence_weight=UNSET if confidence_weight is None else confidence_weight,
        ),
    )

    async def work(memory: Memory) -> tuple[dict[str, Any], str]:
        await memory.wait_until_settled(MODEL_WAIT_S)
        if len(asked) > 1:
            return await search.batch(memory, asked)
        if explain:
            return await search.explain(memory, asked[0])
        return await search.plain(memory, asked[0])

    invocation.show(*call_memory(invocation, work, may_create=False))


def _check_flags(asked: Sequence[str], *, shared: bool, everything: bool, explain: bool) -> None:
    if shared and everything:
        raise InvalidArgumentError("--shared and --all are mutually exclusive")
    if not asked:
        raise InvalidArgumentError("a query is required (or pass --query one or more times)")
    if explain and (shared or everything or len(asked) > 1):
        raise InvalidArgumentError("--explain supports a single agent-scoped query only")
    if everything and len(asked) > 1:
        raise InvalidArgumentError("--all supports a single query only")


class _Search:
    """One recall as the command line asks it; each method returns the document and the text."""

    def __init__(self, *, agent: str, scope: str, top_k: int, options: RecallOptions) -> None:
        self._agent = agent
        self._scope = scope
        self._namespace = SHARED_AGENT_ID if scope == "shared" else Namespace(agent)
        self._top_k = top_k
        self._options = options

    def _request(self, query: str) -> RecallRequest:
        return RecallRequest(
            namespace=self._namespace,
            query=query,
            top_k=self._top_k,
            options=self._options,
            learn=True,
        )

    def _document(self, query: str, facts: Sequence[Any]) -> dict[str, Any]:
        return {
            "agent_id": self._agent,
            "scope": self._scope,
            "query": query,
            "facts": list(facts),
            "count": len(facts),
        }

    async def plain(self, memory: Memory, query: str) -> tuple[dict[str, Any], str]:
        """Answer one query."""
        ask = memory.recall_all if self._scope == "all" else memory.recall
        result = await ask(self._request(query))
        feedback = result.feedback if self._scope == "agent" else ""
        document = self._document(query, result.facts) | {"feedback": feedback}
        if result.retrieval is not None:
            document["retrieval"] = codec.retrieval_payload(result.retrieval)
        lines = [*result.facts] or ["No memories found."]
        return document, "\n".join([*lines, *([feedback] if feedback else [])])

    async def explain(self, memory: Memory, query: str) -> tuple[dict[str, Any], str]:
        """Answer one query with receipts."""
        result = await memory.recall_explain(self._request(query))
        receipts = [codec.receipt_payload(receipt) for receipt in result.receipts]
        document = self._document(query, receipts)
        if result.retrieval is not None:
            document["retrieval"] = codec.retrieval_payload(result.retrieval)
        lines = [
            line for place, one in enumerate(receipts, 1) for line in receipt_lines(place, one)
        ]
        return document, "\n".join(lines or ["No memories found."])

    async def batch(self, memory: Memory, queries: Sequence[str]) -> tuple[dict[str, Any], str]:
        """Answer several queries."""
        result = await memory.recall_batch(
            BatchRecallRequest(
                namespace=self._namespace,
                queries=tuple(queries),
                top_k=self._top_k,
                options=self._options,
            )
        )
        payload = codec.batch_payload(self._agent, result)
        document: dict[str, Any] = {
            "agent_id": self._agent,
            "queries": len(queries),
            "count": payload["count"],
            "merged": payload["merged"],
            "per_query": payload["per_query"],
            "scope": self._scope,
        }
        if "retrieval" in payload:
            document["retrieval"] = payload["retrieval"]
        blocks = [
            "\n".join([f"{entry.query}:", *(f"  {fact}" for fact in entry.facts or [entry.error])])
            for entry in result.per_query
        ]
        return document, "\n".join(blocks)
