"""Checkpoints: saved states of work in hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from graymatter_mcp.model.ids import Namespace

if TYPE_CHECKING:
    JsonValue = None | bool | int | float | str | list["JsonValue"] | dict[str, "JsonValue"]
else:
    # At run time no codec need look inside: what is JSON stays as it is.
    JsonValue = Any
JsonObject = dict[str, JsonValue]


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
