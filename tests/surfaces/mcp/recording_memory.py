"""An engine that remembers what it was asked and answers as it is told to.

It stands for `engine.base.Memory` at the seam where the tools meet the engine: what reaches it is
what a call would do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, cast

import anyio

from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.results import (
    BatchEntry,
    BatchRecallResult,
    RecallExplainResult,
    RecallResult,
    Revision,
)
from graymatter_mcp.surfaces.mcp.answers import Caller, ToolAnswer
from graymatter_mcp.surfaces.mcp.dispatch import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.engine.base import Memory

MOMENT = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)
CALLER = Caller(client="tester 1.0", session="s1")


def fact(fact_id: str = "F1", text: str = "t", confidence: str = "") -> Fact:
    """Make a stored fact of namespace ``a``."""
    return Fact(
        id=FactId(fact_id),
        agent_id=Namespace("a"),
        text=text,
        created_at=MOMENT,
        accessed_at=MOMENT,
        confidence=confidence,
    )


def checkpoint(**changes: object) -> Checkpoint:
    """Make an empty checkpoint of namespace ``a`` and change some of its fields."""
    fields: dict[str, object] = {"id": "C1", "agent_id": Namespace("a"), "created_at": MOMENT}
    return Checkpoint(**(fields | changes))  # pyright: ignore[reportArgumentType] - free keywords


@dataclass
class RecordingMemory:
    """Keeps every call; answers with `answers[method]` (raised when it is an exception)."""

    answers: dict[str, object] = field(default_factory=dict[str, object])
    calls: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])

    def _answer(self, default: object, method: str, *arguments: object) -> object:
        # The key of a call is the last argument; calls here have none.
        given = arguments[:-1] if arguments and arguments[-1] is None else arguments
        self.calls.append((method, *given))
        answer = self.answers.get(method, default)
        if isinstance(answer, BaseException):
            raise answer
        return answer

    async def recall(self, request: object) -> object:
        """Record; nothing is found."""
        return self._answer(RecallResult(facts=()), "recall", request)

    async def recall_explain(self, request: object) -> object:
        """Record; nothing is found."""
        return self._answer(RecallExplainResult(receipts=()), "recall_explain", request)

    async def recall_batch(self, request: object) -> object:
        """Record; nothing is found for one query."""
        nothing = BatchRecallResult(merged=(), per_query=(BatchEntry(query="q", facts=()),))
        return self._answer(nothing, "recall_batch", request)

    async def remember(self, request: object) -> object:
        """Record; a fact."""
        return self._answer(fact(), "remember", request)

    async def add_alias(self, *arguments: object) -> object:
        """Record; a fact."""
        return self._answer(fact(), "add_alias", *arguments)

    async def revise(self, *arguments: object) -> object:
        """Record; F2 replaces F1."""
        done = Revision(replacement=fact("F2", confidence="inferred"), retired=(fact(),))
        return self._answer(done, "revise", *arguments)

    async def forget(self, *arguments: object) -> object:
        """Record; one fact retired."""
        return self._answer((fact(),), "forget", *arguments)

    async def set_pinned(self, *arguments: object) -> object:
        """Record; one fact pinned."""
        return self._answer((fact(),), "set_pinned", *arguments)

    async def link(self, *arguments: object) -> object:
        """Record; two nodes."""
        return self._answer(("x", "y"), "link", *arguments)

    async def save_checkpoint(
        self,
        namespace: object,
        state: object,
        *,
        metadata: object = None,
        call_key: object = None,
    ) -> object:
        """Record; an empty checkpoint."""
        return self._answer(checkpoint(), "save_checkpoint", namespace, state, metadata, call_key)

    async def resume_checkpoint(self, namespace: object) -> object:
        """Record; an empty checkpoint."""
        return self._answer(checkpoint(), "resume_checkpoint", namespace)


class _Seam:
    """Leads to the memory of the test at hand, so that one dispatcher serves all tests."""

    memory: RecordingMemory

    def __getattr__(self, name: str) -> object:
        return getattr(self.memory, name)


_SEAM = _Seam()


@cache
def _dispatcher(answer_budget: int) -> Dispatcher:
    engine = cast("Memory", _SEAM)  # it has only what the core tools may call
    return Dispatcher(load_bundle(), engine, answer_budget)


def call(
    tool: str,
    arguments: Mapping[str, object] | None,
    memory: RecordingMemory | None = None,
    *,
    answer_budget: int = 40_000,
) -> ToolAnswer:
    """Call one tool over a memory and return the answer."""
    _SEAM.memory = memory or RecordingMemory()
    return anyio.run(_dispatcher(answer_budget).call, tool, arguments, CALLER)
