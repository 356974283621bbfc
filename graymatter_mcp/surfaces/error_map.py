"""Where every error code leads on each surface: one table, one row a code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import ErrorCode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.errors import GraymatterError


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRow:
    """How one code is answered."""

    stands_alone: bool = False
    """MCP: the message is the whole text; else the tool's prefix (``recall error: ``) leads."""
    http_status: int
    exit_code: int = 1
    phrase: str
    """What to say when the error itself says nothing."""


ERROR_MAP: Final[Mapping[ErrorCode, ErrorRow]] = {
    ErrorCode.INVALID_ARGUMENT: ErrorRow(
        stands_alone=True, http_status=400, phrase="an argument is invalid"
    ),
    ErrorCode.NOT_FOUND: ErrorRow(http_status=404, phrase="not found"),
    ErrorCode.NO_CHECKPOINTS: ErrorRow(http_status=404, phrase="no checkpoints"),
    ErrorCode.FACT_CHANGED: ErrorRow(http_status=409, phrase="fact changed before mutation"),
    ErrorCode.RETRY_RECALL: ErrorRow(http_status=409, phrase="retry the query"),
    ErrorCode.CORRUPT_RECORD: ErrorRow(http_status=500, phrase="a stored record is damaged"),
    ErrorCode.READ_ONLY: ErrorRow(http_status=403, phrase="store is read-only"),
    ErrorCode.UNAUTHORIZED: ErrorRow(stands_alone=True, http_status=401, phrase="unauthorized"),
    ErrorCode.FORBIDDEN: ErrorRow(stands_alone=True, http_status=403, phrase="forbidden"),
    ErrorCode.CONFLICT: ErrorRow(stands_alone=True, http_status=409, phrase="conflict"),
    ErrorCode.QUOTA: ErrorRow(stands_alone=True, http_status=429, phrase="quota exceeded"),
    ErrorCode.CAPABILITY_UNSUPPORTED: ErrorRow(
        stands_alone=True,
        http_status=501,
        phrase="confidence options unsupported: update and restart the store daemon",
    ),
    ErrorCode.COMMIT_UNKNOWN: ErrorRow(
        stands_alone=True,
        http_status=502,
        phrase="outcome unknown: the owner went away after the write was sent; "
        "check before sending it again",
    ),
    ErrorCode.COMMITTED_BUT_FAILED: ErrorRow(
        http_status=500, phrase="the fact is stored, but a later step failed"
    ),
    ErrorCode.STORE_UNAVAILABLE: ErrorRow(http_status=503, phrase="store unavailable"),
    # No route can meet it, since it stops the start of a process; a server fault if one ever does.
    ErrorCode.ROUTING: ErrorRow(stands_alone=True, http_status=500, phrase="no store to use"),
}


def reason_of(error: GraymatterError) -> str:
    """Return the text of an error as a client may read it, never empty."""
    return str(error) or ERROR_MAP[error.code].phrase
