"""Error texts of the core tools: facts first, and nothing but our own phrases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.errors import (
    CapabilityUnsupportedError,
    CommittedButFailedError,
    ErrorCode,
    FactNotFoundError,
    GraymatterError,
    NoCheckpointsError,
)
from graymatter_mcp.model.facts import effective_confidence
from graymatter_mcp.surfaces.error_map import ERROR_MAP, reason_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.model.results import BatchEntry
    from graymatter_mcp.surfaces.mcp.arguments import Arguments

INTERNAL: Final = "internal error"
"""All that is said of a fault of ours; the rest is in the log."""

_PREFIXES: Final[Mapping[str, str]] = {
    "memory_search": "recall error",
    "memory_search_batch": "recall error",
    "memory_add": "remember error",
    "memory_alias": "alias error",
    "checkpoint_save": "checkpoint save error",
    "checkpoint_resume": "checkpoint resume error",
}
_ACTION_PREFIXES: Final[Mapping[str, str]] = {
    "add": "add failed",
    "update": "update failed",
    "forget": "suppress fact",
    "link": "link nodes",
    "pin": "pin failed",
    "unpin": "unpin failed",
}
_LOOK_UP: Final = "list facts: "
"""Starts the message of an engine that failed before it could look for the target."""


class AllQueriesFailedError(GraymatterError):
    """No query of a batch was answered."""

    code = ErrorCode.STORE_UNAVAILABLE

    def __init__(self, entries: Sequence[BatchEntry]) -> None:
        failures = "; ".join(f'"{entry.query}": {entry.error}' for entry in entries)
        super().__init__(f"All recall queries failed: {failures}")


def prefix_of(tool: str, arguments: Arguments) -> str:
    """Return what an error text of this call starts with."""
    if tool == "memory_reflect":
        return _ACTION_PREFIXES[cast("str", arguments["action"])]
    if tool == "memory_add" and "confidence" in arguments:
        return "remember failed"
    return _PREFIXES[tool]


def failure_text(tool: str, arguments: Arguments, error: Exception) -> str:
    """Tell why a call of a tool failed; `arguments` are the checked ones."""
    prefix = prefix_of(tool, arguments)
    absence = absence_in(error) if tool == "checkpoint_resume" else None
    if absence is not None:
        agent_id = arguments["agent_id"]
        return f'no checkpoint found for agent "{agent_id}": no checkpoints for agent "{agent_id}"'
    if not isinstance(error, GraymatterError):
        return f"{prefix}: {INTERNAL}"
    if isinstance(error, CommittedButFailedError):
        return _committed_text(prefix, error)
    if isinstance(error, FactNotFoundError) and tool == "memory_reflect":
        return f'target fact not found: "{arguments.get("target") or arguments.get("text")}"'
    reason = reason_of(error)
    return reason if _stands_alone(prefix, error, reason) else f"{prefix}: {reason}"


def broken_answer_text(tool: str, arguments: Arguments, *, writes: bool) -> str:
    """Tell that an answer could not be made after its call was carried out."""
    done = "the effect took place, but " if writes else ""
    return f"{prefix_of(tool, arguments)}: {INTERNAL}: {done}the answer could not be made"


def absence_in(error: BaseException) -> NoCheckpointsError | None:
    """Find typed absence in an error, in what caused it or in what it was raised over."""
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        if isinstance(link, NoCheckpointsError):
            return link
        seen.add(id(link))
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)
    return None


def _committed_text(prefix: str, error: CommittedButFailedError) -> str:
    verb = prefix.removesuffix(" error").removesuffix(" failed")
    label = effective_confidence(error.committed.confidence)
    identity = f"fact_id {error.committed.id} (confidence {label})"
    return f"{verb} failed after committing {identity}: {reason_of(error)}"


def _stands_alone(prefix: str, error: GraymatterError, reason: str) -> bool:
    if isinstance(error, AllQueriesFailedError) or reason.startswith(_LOOK_UP):
        return True
    # Without a graph, linking alone is unsupported: that is about the tool, not about options.
    if isinstance(error, CapabilityUnsupportedError) and prefix == "link nodes":
        return False
    return ERROR_MAP[error.code].stands_alone
