"""The text of a success: a pure function of checked arguments and payload."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.surfaces.mcp.receipts import number, receipt_lines
from graymatter_mcp.surfaces.payloads import (
    AddPayload,
    AliasPayload,
    BatchPayload,
    ReflectPayload,
    ResumedPayload,
    RetrievalPayload,
    SavedPayload,
    SearchPayload,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.surfaces.mcp.arguments import Arguments
    from graymatter_mcp.surfaces.mcp.budget import LeftOut
    from graymatter_mcp.surfaces.payloads import Payload


def render(
    tool: str,
    arguments: Arguments,
    payload: Payload,
    *,
    degraded: Degraded | None = None,
    left_out: LeftOut | None = None,
) -> str:
    """Tell a payload in words; what stands in ``_meta`` comes in the last lines.

    Args:
        tool: Name of a core tool.
        arguments: Checked ones.
        payload: As it will be sent, cut to the budget.
        degraded: Why there were no vectors, if so.
        left_out: What the budget cut, if anything.
    """
    blocks = [_RENDERERS[tool](arguments, payload)]
    if degraded is not None:
        blocks.append(f"Answered without vectors ({degraded}): by words and age only.")
    if left_out is not None:
        facts = "1 fact" if left_out.facts == 1 else f"{left_out.facts} facts"
        ids = f" fact_ids: {', '.join(left_out.fact_ids)}." if left_out.fact_ids else ""
        blocks.append(f"Left out to keep the answer short: {facts}.{ids}")
    return "\n\n".join(blocks)


def _search(arguments: Arguments, payload: Payload) -> str:
    found = cast("SearchPayload", payload)
    agent_id, count = found["agent_id"], found["count"]
    blocks: list[str] = []
    if count == 0:
        blocks.append(f'No memories found for agent "{agent_id}" matching "{found["query"]}".')
    else:
        receipts = found.get("explained", [])
        note = " (with receipts)" if receipts else ""
        blocks.append(f'Found {count} relevant memories for agent "{agent_id}"{note}:')
        blocks.append(
            "\n".join(
                line
                for place, receipt in enumerate(receipts, 1)
                for line in receipt_lines(place, receipt)
            )
            or _numbered(found["facts"])
        )
    if "feedback" in found:
        blocks.append(found["feedback"])
    return "\n\n".join(blocks + _policy(found.get("retrieval")))


def _batch(arguments: Arguments, payload: Payload) -> str:
    answers = cast("BatchPayload", payload)
    agent_id, entries = answers["agent_id"], answers["per_query"]
    failed = [entry for entry in entries if entry["facts"] is None]
    blocks: list[str] = []
    if not answers["merged"] and not failed:
        blocks.append(
            f'No memories found for agent "{agent_id}" matching any of the {len(entries)} queries.'
        )
    else:
        blocks.append(
            f'Answered {len(entries)} queries for agent "{agent_id}"'
            f" — {answers['count']} distinct facts:"
        )
    if answers["merged"]:
        blocks.append(_numbered(answers["merged"]))
    if failed:
        lines = [f"{len(failed)} of {len(entries)} queries failed:"]
        lines += [f'- "{entry["query"]}": {entry.get("error", "")}' for entry in failed]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks + _policy(answers.get("retrieval")))


def _add(arguments: Arguments, payload: Payload) -> str:
    added = cast("AddPayload", payload)
    return f'Memory stored for agent "{added["agent_id"]}".' + _identity(added)


def _alias(arguments: Arguments, payload: Payload) -> str:
    alias = cast("AliasPayload", payload)
    pair = f'"{alias["term"]}" = {", ".join(alias["equivalents"])}'
    return f'Alias stored for agent "{alias["agent_id"]}": {pair}.'


def _saved(arguments: Arguments, payload: Payload) -> str:
    saved = cast("SavedPayload", payload)
    return f'Checkpoint "{saved["checkpoint_id"]}" saved for agent "{saved["agent_id"]}".'


def _resumed(arguments: Arguments, payload: Payload) -> str:
    if "found" in payload:
        return f'No checkpoint saved for agent "{payload["agent_id"]}" yet.'
    resumed = cast("ResumedPayload", payload)
    lines = [
        f'Checkpoint "{resumed["id"]}" restored for agent "{arguments["agent_id"]}".',
        f"Created: {resumed['created_at']}",
    ]
    if "state" in resumed:
        lines += ["State:", json.dumps(resumed["state"], indent=2, ensure_ascii=False)]
    if "message_count" in resumed:
        lines.append(f"Messages: {resumed['message_count']} turns")
    return "\n".join(lines)


def _reflected(arguments: Arguments, payload: Payload) -> str:
    reflected = cast("ReflectPayload", payload)
    agent = reflected["agent"]
    told = {
        "add": f'Added fact for agent "{agent}".',
        "update": f'Updated fact for agent "{agent}".',
        "forget": f'Fact suppressed for agent "{agent}".',
        "link": f'Linked "{arguments.get("text")}" → "{arguments.get("target")}".',
        "pin": f'Fact pinned for agent "{agent}"; it no longer fades.',
        "unpin": f'Fact unpinned for agent "{agent}"; it fades again.',
    }
    return told[reflected["action"]] + _identity(reflected)


def _numbered(facts: Sequence[str]) -> str:
    return "\n".join(f"{place}. {fact}" for place, fact in enumerate(facts, 1))


def _identity(payload: AddPayload | ReflectPayload) -> str:
    if "fact_id" not in payload:
        return ""
    return f" Confidence {payload.get('confidence', '')}; fact_id {payload['fact_id']}."


def _policy(retrieval: RetrievalPayload | None) -> list[str]:
    if retrieval is None:
        return []
    return [
        f"Retrieval policy {retrieval['policy']}:"
        f" min_confidence={retrieval.get('min_confidence', 'none')},"
        f" confidence_weight={number(retrieval['confidence_weight'])}; KG={retrieval['kg']}."
    ]


_RENDERERS: Final[Mapping[str, Callable[[Arguments, Payload], str]]] = {
    "memory_search": _search,
    "memory_search_batch": _batch,
    "memory_add": _add,
    "memory_alias": _alias,
    "checkpoint_save": _saved,
    "checkpoint_resume": _resumed,
    "memory_reflect": _reflected,
}
