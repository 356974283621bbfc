"""How much one server takes from its callers; every number is a setting with a safe default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

MIB: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpLimits:
    """Bounds of one listener."""

    body_bytes: int = 4 * MIB
    """Largest body; a larger one is answered 413 and not read."""
    head_bytes: int = 32 * 1024
    """Request line and headers together."""
    connections: int = 1024
    """Open connections; at the bound the one that waits longest makes way."""
    calls: int = 256
    """Requests at work at once; more are answered 503."""
    held_bytes: int = 64 * MIB
    """Bodies in memory, all together."""
    per_minute: int = 600
    """Requests of one token a minute; 0 is off."""
    client_timeout_s: float = 10.0
    """How long a client may take to send its head, and then its body."""
    call_timeout_s: float = 30.0
    """How long a call may take."""
    idle_timeout_s: float = 60.0
    """How long a connection is kept without a request."""
