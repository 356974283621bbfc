"""Answers of the data plane for people: one line a fact, and nothing of it acts on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_ACTS: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Control characters, ends of lines, and what turns the direction of writing."""

NOTHING: Final = "No memories found."


def printable(text: str) -> str:
    """Return text that a terminal shows as it is: what would act on it is escaped."""
    return _ACTS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def line(*parts: object) -> str:
    """Join what is there, each part made printable."""
    return "  ".join(printable(str(part)) for part in parts if part not in (None, ""))


def written(body: Mapping[str, Any]) -> str:
    """Say what became of a capture."""
    if body["id"] is None:
        return f"Not stored: {printable(body['rejected'])}"
    if body.get("updated"):
        return f"Said better: {body['id']}"
    if body.get("deduplicated"):
        return f"Known already: {body['id']}"
    replaced = body.get("superseded")
    return f"Stored: {body['id']}" + (f", in place of {', '.join(replaced)}" if replaced else "")


def grounded(body: Mapping[str, Any]) -> str:
    """Show a context: what fits the message, then what is new."""
    relevant, recent = body["relevant"], body["recent"]["results"]
    found = ranked(relevant)
    lines = ["Relevant:", *_indented(found or [NOTHING]), "Recent:"]
    lines += _indented(dated(recent) or [NOTHING])
    return "\n".join([*lines, *notes({**relevant, **body})])


def ranked(body: Mapping[str, Any]) -> list[str]:
    """Show results with their scores."""
    return [
        line(one["id"], f"{one['score']:.3f}", one["namespace"], one.get("content"))
        for one in body["results"]
    ]


def dated(results: Iterable[Mapping[str, Any]]) -> list[str]:
    """Show results with their days."""
    return [
        line(one["id"], one["createdAt"][:10], one["namespace"], one.get("content"))
        for one in results
    ]


def notes(body: Mapping[str, Any]) -> list[str]:
    """Say how an answer is less than it could be."""
    found: list[str] = []
    if body.get("degraded"):
        found.append("Degraded: a part of the search was away.")
    omitted: Sequence[str] = body.get("omitted", ())
    if omitted:
        found.append(f"Left out: {', '.join(omitted)}")
    return found


def listed(body: Mapping[str, Any]) -> str:
    """Show the newest facts."""
    return "\n".join([*(dated(body["results"]) or [NOTHING]), *notes(body)])


def linked(body: Mapping[str, Any]) -> str:
    """Show the neighbours of a fact."""
    return "\n".join([*(ranked(body) or [NOTHING]), *notes(body)])


def reviewed(body: Mapping[str, Any]) -> str:
    """Show a report of hygiene: counts first, then each list that is not empty."""
    summary = body["summary"]
    lines = [f"{summary['scanned']} facts looked at"]
    for name in (key for key in summary if key != "scanned"):
        lines.append(f"{_spaced(name)}: {summary[name]}")
        lines += _indented(
            line(*one.get("ids", ()), one.get("id"), one["reason"], one.get("of"),
                 one.get("content"))
            for one in body[name]
        )  # fmt: skip
    return "\n".join(lines)


def audited(body: Mapping[str, Any]) -> str:
    """Show events of the audit log, oldest first."""
    events = body["events"]
    if not events:
        return "No events."
    lines = [
        line(one["seq"], one["at"], one["userId"], one["action"], one["target"], one["outcome"])
        for one in events
    ]
    return "\n".join([*lines, f"Next: --after-seq {body['nextSeq']}"])


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {one}" for one in lines]


def _spaced(name: str) -> str:
    return re.sub(r"(?=[A-Z])", " ", name).lower()
