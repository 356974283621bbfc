"""The public clients: raw lines in any revision, and the official Python client in both eras."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast

from anyio.from_thread import start_blocking_portal
from mcp.client import Client as SdkClient

from contract_tests.wire import ENVELOPE, STATELESS_REVISION, initialize, request

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mcp import StdioServerParameters
    from mcp.server.lowlevel import Server

    from contract_tests.wire import Message, Wire


class Missing(Enum):
    """Type of the marker for a key that is not there, which is not null."""

    KEY = "missing"


MISSING: Final = Missing.KEY


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The result of one tool call, as it came."""

    content: Sequence[Mapping[str, Any]]
    structured: Any = MISSING
    is_error: bool = False
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])

    @property
    def text(self) -> str:
        """The one text item."""
        (item,) = self.content
        assert item["type"] == "text"
        return item["text"]


class Client(Protocol):
    """What every test needs of a client."""

    def list_tools(self) -> list[Message]:
        """Return the tools as on the wire."""
        ...

    def instructions(self) -> str | None:
        """Return what the opening said."""
        ...

    def server_info(self) -> Mapping[str, Any]:
        """Return name and version of the server."""
        ...

    def call(self, tool: str, arguments: object) -> Reply:
        """Call one tool."""
        ...

    def close(self) -> None:
        """Leave nothing running."""
        ...


class RawClient:
    """JSON-RPC by hand in one revision."""

    def __init__(self, wire: Wire, revision: str) -> None:
        self.wire = wire
        self.revision = revision
        self._ids = count(1)
        self.opening: Message = wire.ask(self._opening())["result"]
        if not self._is_stateless:
            wire.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    @property
    def _is_stateless(self) -> bool:
        return self.revision == STATELESS_REVISION

    def _opening(self) -> Message:
        if self._is_stateless:
            return self.request("server/discover")
        return initialize(self.revision)

    def request(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Build a request of this revision under a fresh id."""
        if self._is_stateless:
            params = {**(params or {}), "_meta": ENVELOPE}
        return request(next(self._ids), method, params)

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Message:
        """Return the whole answer to one request."""
        message = self.request(method, params)
        answer = self.wire.ask(message)
        assert answer["id"] == message["id"]
        return answer

    def list_tools(self) -> list[Message]:
        """Return the tools as on the wire."""
        return self.ask("tools/list")["result"]["tools"]

    def instructions(self) -> str | None:
        """Return what the opening said."""
        return self.opening.get("instructions")

    def server_info(self) -> Mapping[str, Any]:
        """Return name and version of the server."""
        if self._is_stateless:
            return self.opening["_meta"]["io.modelcontextprotocol/serverInfo"]
        return self.opening["serverInfo"]

    def call_request(self, tool: str, arguments: object) -> Message:
        """Build one tool call."""
        return self.request("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, arguments: object) -> Reply:
        """Call one tool."""
        return reply_of(self.wire.ask(self.call_request(tool, arguments)))

    def close(self) -> None:
        """Close the connection."""
        self.wire.close()


def reply_of(answer: Message) -> Reply:
    """Read the answer to a tool call, which must be a result."""
    assert "error" not in answer, answer
    result = answer["result"]
    return Reply(
        content=result["content"],
        structured=result.get("structuredContent", MISSING),
        is_error=result.get("isError", False),
        meta=result.get("_meta", {}),
    )


class PythonClient:
    """The official client, which checks each structured value by itself; used from plain code."""

    def __init__(
        self, server: StdioServerParameters | Server[Any], mode: Literal["legacy", "auto"]
    ) -> None:
        self._context = start_blocking_portal()
        self._portal = self._context.__enter__()
        try:
            self._session = self._portal.wrap_async_context_manager(SdkClient(server, mode=mode))
            self._client = self._session.__enter__()
        except BaseException:
            self._context.__exit__(None, None, None)
            raise

    def list_tools(self) -> list[Message]:
        """Return the tools as on the wire."""
        tools = self._portal.call(self._client.list_tools).tools
        return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]

    def instructions(self) -> str | None:
        """Return what the opening said."""
        return self._client.instructions

    def server_info(self) -> Mapping[str, Any]:
        """Return name and version of the server."""
        info = self._client.server_info
        assert info is not None
        return info.model_dump(by_alias=True, exclude_none=True)

    def call(self, tool: str, arguments: object) -> Reply:
        """Call one tool; arguments that are no object are not this client's to send."""
        assert isinstance(arguments, dict)
        sent = cast("dict[str, Any]", arguments)  # JSON objects have no other keys
        result = self._portal.call(self._client.call_tool, tool, sent)
        raw = result.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return Reply(
            content=raw["content"],
            structured=MISSING if result.structured_content is None else result.structured_content,
            is_error=bool(result.is_error),
            meta=raw.get("_meta") or {},
        )

    def close(self) -> None:
        """Close the session, then its loop."""
        try:
            self._session.__exit__(None, None, None)
        finally:
            self._context.__exit__(None, None, None)
