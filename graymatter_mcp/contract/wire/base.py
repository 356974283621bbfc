"""What a connection to a server is, and what goes wrong with one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

Message = dict[str, Any]

DEADLINE_S: Final = 60.0
"""Longest wait for one answer."""

HANDSHAKE_REVISIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS_REVISION: Final = "2026-07-28"
REVISIONS: Final = (*HANDSHAKE_REVISIONS, STATELESS_REVISION)
"""Protocol revisions, oldest first; the last one needs no handshake."""


class WireError(Exception):
    """The server cannot be reached, is silent, or answers with what is no JSON-RPC message."""


class Wire(Protocol):
    """One connection."""

    is_stream: bool
    """Whether any bytes can be sent as a line of their own, as over stdio."""

    def ask(self, message: Message, revision: str) -> Message:
        """Send one request and return its answer.

        Raises:
            WireError: No answer came.
        """
        ...

    def tell(self, message: Message, revision: str) -> None:
        """Send a notification, which has no answer."""
        ...

    def ask_raw(self, line: bytes) -> Message:
        """Send bytes as one line and return the next answer; streams only."""
        ...

    def close(self) -> None:
        """Leave nothing running."""
        ...


def encode(message: Message) -> bytes:
    """Write a message as one line, without its end."""
    return json.dumps(message).encode()


def decode(line: bytes) -> Message:
    """Read one message.

    Raises:
        WireError: It is none.
    """
    try:
        message: Any = json.loads(line)
    except ValueError as exc:
        raise WireError("the server sent a line that is not JSON") from exc
    if not isinstance(message, dict) or "jsonrpc" not in message:
        raise WireError("the server sent what is no JSON-RPC message")
    return message  # pyright: ignore[reportUnknownVariableType] - parsed JSON


def envelope() -> Mapping[str, Any]:
    """Return what each request of the stateless revision carries."""
    return {
        "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "graymatter-contract", "version": "1"},
    }
