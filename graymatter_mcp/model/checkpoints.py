"""Checkpoints: saved states of work in hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.model.ids import Namespace

if TYPE_CHECKING:
    JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
else:
    # At run time no codec need look inside: what is JSON stays as it is.
    JsonValue = Any
JsonObject = dict[str, JsonValue]

MAX_DEPTH: Final = 100
"""JSON readers of clients and of the transports stop at 200 to 255 levels: what could not be given
back is refused when it is saved."""


def depth(value: object) -> int:
    """Return how many levels of lists and objects lie one in another; 0 for a plain value."""
    level, levels = [value], 0
    while level:
        levels += 1
        level = [child for node in level for child in _children(node)]
    return levels - 1


def _children(node: object) -> list[object]:
    if isinstance(node, Mapping):
        return list(cast("Mapping[str, object]", node).values())
    return list(cast("list[object]", node)) if isinstance(node, list | tuple) else []


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn of a conversation kept with a checkpoint."""

    role: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """One saved state; never overwritten, merged or expired. `created_at` is UTC."""

    id: str
    agent_id: Namespace
    created_at: datetime
    state: JsonObject | None = None
    messages: tuple[Message, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])
