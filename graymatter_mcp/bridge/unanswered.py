"""What a client reads in place of an answer that the owner did not give."""

from __future__ import annotations

from graymatter_mcp.bridge.lines import INTERNAL_ERROR, encode, error_message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from graymatter_mcp.bridge.patience import Pending

CHECK_FIRST = "check before sending it again"
OUTCOME_UNKNOWN = f"outcome unknown: the owner went away after the write was sent; {CHECK_FIRST}"
OUTCOME_LATE = f"outcome unknown: the owner did not answer the write in time; {CHECK_FIRST}"
NOT_IN_TIME = "the owner did not answer in time; run: graymatter doctor"


def is_open(pending: Pending) -> bool:
    """Whether nobody can say what a request has changed."""
    return pending.is_call and pending.was_sent and not pending.is_read


def unknown(pending: Pending) -> str:
    """Say of a write that was sent that nobody knows its outcome."""
    return OUTCOME_LATE if pending.is_late else OUTCOME_UNKNOWN


def unanswered(pending: Pending, reason: str, *, is_modern: bool) -> bytes:
    """Return the line that says why a request has no answer.

    Args:
        pending: The request.
        reason: Why no owner can be had.
        is_modern: Whether the session opened without a handshake.
    """
    text = f"store unavailable: {reason}"
    if not pending.is_call:
        return encode(error_message(pending.id, INTERNAL_ERROR, text))
    if is_open(pending):
        text = f"{unknown(pending)} ({text})"
    return tool_error(pending, text, is_modern=is_modern)


def tool_error(pending: Pending, text: str, *, is_modern: bool) -> bytes:
    """Return a call's answer as a tool error, which the model can read."""
    result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
    if is_modern:
        result["resultType"] = "complete"
    return encode({"jsonrpc": "2.0", "id": pending.id, "result": result})
