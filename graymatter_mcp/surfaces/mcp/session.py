"""One client's session in the SDK's kernel: the era it opened with, and what that era answers.

The SDK's own loop is not used. It passes each message through four streams and two tasks, which
takes half of a small call, and it cancels what is in flight as soon as the input ends. Its kernel
is: whatever is said about tools, revisions and envelopes comes from there.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
from mcp.server.connection import Connection
from mcp.server.runner import ServerRunner, serve_one
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.inbound import InboundLadderRejection, classify_inbound_request
from mcp.shared.transport_context import TransportContext
from mcp_types import INVALID_REQUEST, PROTOCOL_VERSION_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from graymatter_mcp.surfaces.mcp.plain import plain_call

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp.shared.dispatcher import CallOptions
    from mcp.shared.message import MessageMetadata

    from graymatter_mcp.surfaces.mcp.plain import PlainCall
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

_EARLY_KEPT: Final = 8
"""Notifications kept that come before the first request: one of them may be `initialized`."""


@dataclass(slots=True, kw_only=True)
class OneWay:
    """The SDK's `DispatchContext` of one request: the way back is the answer alone."""

    request_id: Any
    """As the client wrote it, which may be a number that the SDK's type does not know."""
    transport: TransportContext
    message_metadata: MessageMetadata = None
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(
        self,
        method: str,
        params: Mapping[str, Any] | None,
        opts: CallOptions | None = None,
    ) -> dict[str, Any]:
        """Refuse: there is no way to ask the client."""
        raise NoBackChannelError(method)

    async def notify(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> None:
        """Drop it: nobody waits for more than the answer."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Drop it, as above."""


_CHANNEL: Final = TransportContext(kind="jsonrpc", can_send_request=False)


def has_envelope(params: Mapping[str, Any] | None) -> bool:
    """Whether a message claims a revision of the modern era, well or badly."""
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta


class Session:
    """What a client said so far that later requests depend on.

    The first request decides the era: `initialize`, or anything without an envelope, opens a
    session of the handshake era; an envelope opens one of the modern era. Later claims of the
    other era are refused.
    """

    def __init__(self, server: GraymatterServer, lifespan_state: object = None) -> None:
        self._server = server
        self._lifespan_state = lifespan_state
        self._is_modern: bool | None = None
        self._early: list[tuple[str, dict[str, Any] | None]] = []
        nobody = OneWay(request_id=None, transport=_CHANNEL)
        self._handshake = ServerRunner(server, Connection.for_loop(nobody), lifespan_state)

    async def open(self, method: str, params: dict[str, Any] | None) -> None:
        """Learn the era from the first request, before it is answered; later ones tell nothing."""
        if self._is_modern is not None:
            return
        self._is_modern = method != "initialize" and has_envelope(params)
        for early in self._early:
            await self.notify(*early)
        self._early.clear()

    async def request(
        self, number: int, method: str, params: dict[str, Any] | None
    ) -> dict[str, Any]:
        """Return the result of a request, for the wire.

        Raises:
            MCPError: It is refused; the error is meant for the client.
            ValidationError: Its parameters do not fit the method.
        """
        if method == "tools/call" and (plain := self._plain(params)) is not None:
            return await self._server.call_plainly(
                plain,
                client=plain.client if self._is_modern else self._client(),
                remote=None,
                is_modern=self._is_modern is True,
            )
        context = OneWay(request_id=number, transport=_CHANNEL)
        if self._is_modern:
            return await self._modern(context, method, params)
        if method != "initialize" and has_envelope(params):
            raise MCPError(
                code=INVALID_REQUEST,
                message="Invalid Request: this connection was opened with a handshake;"
                " a request with an envelope needs a connection of its own",
            )
        return await self._handshake.on_request(context, method, params)

    async def notify(self, method: str, params: dict[str, Any] | None) -> None:
        """Take note of a notification; only the handshake era has any that matter."""
        if self._is_modern is None:
            if len(self._early) < _EARLY_KEPT:
                self._early.append((method, params))
        elif not self._is_modern:
            context = OneWay(request_id=None, transport=_CHANNEL)
            await self._handshake.on_notify(context, method, params)

    def _plain(self, params: dict[str, Any] | None) -> PlainCall | None:
        """Read a tool call that needs no judgement of the SDK, once the session is open."""
        if not (self._is_modern or self._handshake.connection.initialize_accepted):
            return None
        return plain_call(params, is_modern=self._is_modern is True)

    def _client(self) -> str:
        """Return name and version of the client, as its handshake told them."""
        client = self._handshake.connection.client_params
        return "" if client is None else f"{client.client_info.name} {client.client_info.version}"

    async def _modern(
        self, context: OneWay, method: str, params: dict[str, Any] | None
    ) -> dict[str, Any]:
        if method == "initialize":
            details: dict[str, Any] = {"supported": list(MODERN_PROTOCOL_VERSIONS)}
            asked = (params or {}).get("protocolVersion")
            if isinstance(asked, str):
                details["requested"] = asked
            raise MCPError(
                code=UNSUPPORTED_PROTOCOL_VERSION,
                message="Unsupported protocol version: this connection serves requests with an"
                " envelope; a handshake needs a connection of its own",
                data=details,
            )
        verdict = classify_inbound_request({"method": method, "params": params})
        if isinstance(verdict, InboundLadderRejection):
            raise MCPError(code=verdict.code, message=verdict.message, data=verdict.data)
        connection = Connection.from_envelope(
            verdict.protocol_version, verdict.client_info, verdict.client_capabilities
        )
        return await serve_one(
            self._server,
            context,
            method,
            params,
            connection=connection,
            lifespan_state=self._lifespan_state,
        )
