"""What passes between the transports and the dispatcher: the caller, and one tool's answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from graymatter_mcp.model import access
from graymatter_mcp.model.access import ALL_RIGHTS, Rights
from graymatter_mcp.model.checkpoints import JsonObject

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who calls: claims of the client, kept with what it writes."""

    client: str = ""
    """Name and version of the client program, such as ``claude-code 2.1``."""
    session: str = ""
    """Identity of the connection."""
    key: str = ""
    """Idempotency key of the call; empty where the client sent none."""
    rights: Rights = ALL_RIGHTS
    """What it may do."""
    who: access.Caller = access.LOCAL_CALLER
    """As the data plane knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """What a transport with callers of its own knows of one, beside what the client claims."""

    subject: str
    """Who it is, as the log says it."""
    client: str
    """Its program, as the transport heard of it."""
    rights: Rights
    who: access.Caller


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """One text item; on success also the structured payload, on failure never one."""

    text: str
    structured: JsonObject | None = None
    """JSON values alone, each number finite: whoever makes an answer has checked it, since the SDK
    would write another number as null, against the tool's schema."""
    is_error: bool = False
    meta: JsonObject = field(default_factory=lambda: JsonObject())
    """Extra facts about the answer; keys start with ``graymatter/``."""


class ToolCalls(Protocol):
    """Carries out tool calls; never raises for anything a client did or the store failed to do."""

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Answer a call of a known tool.

        Raises:
            UnknownToolError: No tool of this name is served.
        """
        ...


class UnknownToolError(LookupError):
    """No tool of this name is served; a protocol error on the wire."""
