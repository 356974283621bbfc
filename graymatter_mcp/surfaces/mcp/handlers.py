"""One handler a tool: build a request, await one method of `Memory`, build the payload.

The two halves are apart so that the dispatcher knows on which side of the effect a fault lies.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.errors import NoCheckpointsError
from graymatter_mcp.model.ids import UNSET, FactId
from graymatter_mcp.model.requests import (
    BatchRecallRequest,
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.model.results import (
    BatchRecallResult,
    RecallExplainResult,
    RecallResult,
    Revision,
)
from graymatter_mcp.surfaces import codec
from graymatter_mcp.surfaces.mcp.calls import Call, Outcome
from graymatter_mcp.surfaces.mcp.failures import AllQueriesFailedError, absence_in
from graymatter_mcp.surfaces.mcp.state import decode_state
from graymatter_mcp.surfaces.payloads import AbsentPayload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.checkpoints import Checkpoint, JsonObject
    from graymatter_mcp.model.facts import Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Handler:
    """How one tool is carried out."""

    effect: Callable[[Memory, Call], Awaitable[Any]]
    outcome: Callable[[Call, Any], Outcome]
    writes: bool = False


async def _search(memory: Memory, call: Call) -> RecallResult | RecallExplainResult:
    plain = call.arguments.get("explain") is not True
    request = RecallRequest(
        namespace=call.namespace,
        query=call.text("query"),
        top_k=cast("int | None", call.arguments.get("top_k")),
        options=_recall_options(call),
        hints=plain,
        learn=plain,
    )
    return await (memory.recall(request) if plain else memory.recall_explain(request))


def _searched(call: Call, result: RecallResult | RecallExplainResult) -> Outcome:
    agent_id, query = call.namespace, call.text("query")
    if isinstance(result, RecallResult):
        return Outcome(
            payload=codec.search_payload(agent_id, query, result),
            fact_ids=result.fact_ids,
            degraded=result.degraded,
        )
    return Outcome(
        payload=codec.explained_payload(agent_id, query, result),
        fact_ids=tuple(receipt.provenance.fact_id for receipt in result.receipts),
        degraded=result.degraded,
    )


async def _search_batch(memory: Memory, call: Call) -> BatchRecallResult:
    request = BatchRecallRequest(
        namespace=call.namespace,
        queries=tuple(cast("list[str]", call.arguments["queries"])),
        top_k=cast("int | None", call.arguments.get("top_k")),
        options=_recall_options(call),
    )
    return await memory.recall_batch(request)


def _searched_batch(call: Call, result: BatchRecallResult) -> Outcome:
    if all(entry.facts is None for entry in result.per_query):
        raise AllQueriesFailedError(result.per_query)
    ids: dict[str, FactId] = {}
    for entry in result.per_query:
        for text, fact_id in zip(entry.facts or (), entry.fact_ids, strict=False):
            ids.setdefault(text, fact_id)
    return Outcome(
        payload=codec.batch_payload(call.namespace, result),
        fact_ids=ids,
        degraded=result.degraded,
    )


async def _add(memory: Memory, call: Call) -> Fact:
    request = RememberRequest(
        namespace=call.namespace,
        text=call.text("text"),
        options=_write_options(call),
        origin=call.origin,
        call_key=call.key,
        is_curation=call.tool == "memory_reflect",
    )
    return await memory.remember(request)


def _added(call: Call, fact: Fact) -> Outcome:
    labelled = "confidence" in call.arguments
    return Outcome(payload=codec.add_payload(call.namespace, fact, labelled=labelled))


async def _alias(memory: Memory, call: Call) -> Fact:
    equivalents = cast("list[str]", call.arguments["equivalents"])
    return await memory.add_alias(
        call.namespace, call.text("term"), equivalents, call.origin, call.key
    )


def _aliased(call: Call, _fact: Fact) -> Outcome:
    equivalents = cast("list[str]", call.arguments["equivalents"])
    return Outcome(payload=codec.alias_payload(call.namespace, call.text("term"), equivalents))


async def _save(memory: Memory, call: Call) -> Checkpoint:
    state: JsonObject | None = None
    if "state" in call.arguments:
        state = decode_state(call.text("state"))
    return await memory.save_checkpoint(
        call.namespace, state, metadata={"source": "mcp"}, call_key=call.key
    )


def _saved(call: Call, checkpoint: Checkpoint) -> Outcome:
    return Outcome(payload=codec.saved_payload(call.namespace, checkpoint))


async def _resume(memory: Memory, call: Call) -> Checkpoint | NoCheckpointsError:
    try:
        return await memory.resume_checkpoint(call.namespace)
    except Exception as exc:
        # Absence is typed: whatever wraps it, its class decides, and nothing else is absence.
        absence = absence_in(exc)
        if absence is None or call.arguments.get("on_missing") != "empty":
            raise
        return absence


def _resumed(call: Call, found: Checkpoint | NoCheckpointsError) -> Outcome:
    if isinstance(found, NoCheckpointsError):
        return Outcome(payload=AbsentPayload(found=False, agent_id=call.namespace))
    return Outcome(payload=codec.resumed_payload(found))


async def _reflect(memory: Memory, call: Call) -> object:
    return await _ACTIONS[call.text("action")](memory, call)


def _reflected(call: Call, result: object) -> Outcome:
    fact: Fact | None = None
    if isinstance(result, Revision):
        fact = result.replacement
    elif call.text("action") == "add" and "confidence" in call.arguments:
        fact = cast("Fact", result)
    return Outcome(payload=codec.reflect_payload(call.text("action"), call.namespace, fact))


async def _update(memory: Memory, call: Call) -> Revision:
    return await memory.revise(
        call.namespace,
        call.text("target"),
        call.text("text"),
        _write_options(call),
        call.origin,
        call.key,
    )


async def _forget(memory: Memory, call: Call) -> object:
    return await memory.forget(call.namespace, call.subject, call.key)


async def _link(memory: Memory, call: Call) -> object:
    return await memory.link(call.namespace, call.text("text"), call.text("target"), call.key)


async def _pin(memory: Memory, call: Call) -> object:
    is_pinned = call.text("action") == "pin"
    return await memory.set_pinned(call.namespace, call.subject, is_pinned, call.key)


def _write_options(call: Call) -> WriteOptions:
    return WriteOptions(confidence=call.text("confidence") or UNSET)


def _recall_options(call: Call) -> RecallOptions:
    weight = cast("float | None", call.arguments.get("confidence_weight"))
    return RecallOptions(
        min_confidence=call.text("min_confidence") or UNSET,
        # Adding zero turns -0.0 into 0.0: nobody asked for a sign in the answer.
        confidence_weight=UNSET if weight is None else float(weight) + 0.0,
    )


_ACTIONS: Final[Mapping[str, Callable[[Memory, Call], Awaitable[object]]]] = {
    "add": _add,
    "update": _update,
    "forget": _forget,
    "link": _link,
    "pin": _pin,
    "unpin": _pin,
}

HANDLERS: Final[Mapping[str, Handler]] = {
    "memory_search": Handler(effect=_search, outcome=_searched),
    "memory_search_batch": Handler(effect=_search_batch, outcome=_searched_batch),
    "memory_add": Handler(effect=_add, outcome=_added, writes=True),
    "memory_alias": Handler(effect=_alias, outcome=_aliased, writes=True),
    "checkpoint_save": Handler(effect=_save, outcome=_saved, writes=True),
    "checkpoint_resume": Handler(effect=_resume, outcome=_resumed),
    "memory_reflect": Handler(effect=_reflect, outcome=_reflected, writes=True),
}
