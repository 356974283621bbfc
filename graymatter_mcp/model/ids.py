"""Identities and the marker for "not given"."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal, NewType

FactId = NewType("FactId", str)
"""A ULID in its 26-character spelling; sorts by time of creation."""

Namespace = NewType("Namespace", str)
"""The shelf a fact lives on (MCP ``agent_id``): byte-exact, never trimmed or normalised."""

SHARED_AGENT_ID: Final = Namespace("__shared__")
"""The namespace common to all agents."""

SUPERSEDED_BY_AGENT: Final = "agent"
"""``superseded_by`` of a fact that was forgotten without a replacement."""


class Unset(Enum):
    """Type of the one sentinel that tells "not given" from ``None``."""

    VALUE = "unset"

    def __repr__(self) -> str:
        """Return the name under which the sentinel is exported."""
        return "UNSET"


UNSET: Final = Unset.VALUE
UnsetType = Literal[Unset.VALUE]
