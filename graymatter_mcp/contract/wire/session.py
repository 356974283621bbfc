"""One conversation with a server in one protocol revision."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.contract.wire.base import STATELESS_REVISION, Message, WireError, envelope
from graymatter_mcp.contract.wire.http import HttpWire
from graymatter_mcp.contract.wire.stdio import StdioWire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.contract.wire.base import Wire


class Missing(Enum):
    """Type of the marker for a key that is not there, which is not null."""

    KEY = "missing"


MISSING: Final = Missing.KEY

_INFO: Final = "io.modelcontextprotocol/serverInfo"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of one tool call, as it came."""

    content: Sequence[Any]
    structured: Any = MISSING
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The text of the first item, empty where there is none."""
        first = self.content[0] if self.content else None
        return str(cast("Message", first).get("text", "")) if isinstance(first, dict) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A server to talk to: a command that starts one, or the URL of one."""

    command: tuple[str, ...] = ()
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    def connect(self) -> Wire:
        """Open a connection.

        Raises:
            WireError: The command cannot be started, or the URL is none.
        """
        if not self.url:
            return StdioWire(self.command)
        if not self.url.startswith(("http://", "https://")):
            raise WireError("a URL begins with http:// or https://")
        return HttpWire(self.url, self.headers)


def read_target(words: Sequence[str], headers: Mapping[str, str] | None = None) -> Target:
    """Read what a command line names: a URL, a command, or a command in one word.

    Raises:
        WireError: Nothing is named.
    """
    if len(words) == 1 and "://" in words[0]:
        return Target(url=words[0], headers=headers or {})
    if len(words) == 1:
        words = shlex.split(words[0])
    if not words:
        raise WireError("name a server: a URL, or the command that starts one")
    return Target(command=tuple(words))


class Session:
    """A client of one server in one revision."""

    def __init__(self, wire: Wire, revision: str) -> None:
        self.wire = wire
        self.revision = revision
        self._ids = count(1)
        self.opening: Message = self.ask(*self._opening())["result"]
        if not self.is_stateless:
            self.tell("notifications/initialized")

    @property
    def is_stateless(self) -> bool:
        """Whether requests stand alone, without a handshake."""
        return self.revision == STATELESS_REVISION

    def _opening(self) -> tuple[str, Message]:
        if self.is_stateless:
            return "server/discover", {}
        return "initialize", {
            "protocolVersion": self.revision,
            "capabilities": {},
            "clientInfo": {"name": "graymatter-contract", "version": "1"},
        }

    def ask(self, method: str, params: Any = MISSING) -> Message:
        """Send a request and return the whole answer, result or error.

        Raises:
            WireError: No answer came, or one with neither.
        """
        answer = self.wire.ask(self._message(method, params, next(self._ids)), self.revision)
        if ("result" in answer) == ("error" in answer):
            raise WireError("an answer has either a result or an error")
        if method in ("initialize", "server/discover") and "error" in answer:
            raise WireError(f"the server does not open a conversation in {self.revision}")
        return answer

    def tell(self, method: str) -> None:
        """Send a notification."""
        self.wire.tell(self._message(method, MISSING, None), self.revision)

    def _message(self, method: str, params: Any, request_id: int | None) -> Message:
        message: Message = {"jsonrpc": "2.0", "method": method}
        if request_id is not None:
            message["id"] = request_id
        if self.is_stateless:
            own: Message = {} if params is MISSING or params is None else params
            message["params"] = {**own, "_meta": {**envelope(), **own.get("_meta", {})}}
        elif params is not MISSING:
            message["params"] = params
        return message

    def tools(self) -> list[Message]:
        """Return the tools as on the wire.

        Raises:
            WireError: The list is refused.
        """
        answer = self.ask("tools/list")
        if "error" in answer:
            raise WireError("the server does not list its tools")
        return answer["result"]["tools"]

    def server_info(self) -> Mapping[str, Any]:
        """Return name and version of the server."""
        if self.is_stateless:
            return self.opening.get("_meta", {}).get(_INFO, {})
        return self.opening.get("serverInfo", {})

    def call(self, tool: str, arguments: Any, meta: Message | None = None) -> Message:
        """Call one tool and return the whole answer, result or error."""
        params: Message = {"name": tool, "arguments": arguments}
        return self.ask("tools/call", {**params, "_meta": meta} if meta else params)

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()


def reply_of(answer: Message) -> Reply:
    """Read the result of a tool call."""
    result = answer["result"]
    return Reply(
        content=result.get("content", []),
        structured=result.get("structuredContent", MISSING),
        is_error=result.get("isError", False),
        meta=result.get("_meta") or {},
    )
