"""MCP over HTTP: one request, one JSON answer, in both eras, without sessions.

The SDK's own application is not used: it quotes the parser's words and a client's batch back at it
and makes two tasks and four streams for each handshake-era call. Its kernel is: whatever is said
about tools, revisions and envelopes comes from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from mcp.server.connection import Connection
from mcp.server.runner import modern_error_data, serve_one
from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    unsupported_protocol_version_rejection,
)
from mcp.shared.message import ServerMessageMetadata
from mcp.shared.transport_context import TransportContext
from mcp_types import DEFAULT_NEGOTIATED_VERSION, HEADER_MISMATCH
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from graymatter_mcp.bridge.lines import (
    INVALID_REQUEST,
    PARSE_ERROR,
    Notification,
    Refusal,
    Request,
    encode,
    error_message,
    read_line,
)
from graymatter_mcp.surfaces.http.messages import HttpAnswer, error_answer
from graymatter_mcp.surfaces.mcp.answers import Remote
from graymatter_mcp.surfaces.mcp.plain import plain_call
from graymatter_mcp.surfaces.mcp.session import OneWay, has_envelope

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mcp_types import ErrorData

    from graymatter_mcp.bridge.lines import JsonId
    from graymatter_mcp.surfaces.http.messages import HttpRequest
    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

VERSION_HEADER: Final = "mcp-protocol-version"
ROUTING_HEADERS: Final = (VERSION_HEADER, "mcp-method", "mcp-name")

NOT_ACCEPTABLE: Final = error_answer(406, "accept application/json: there is no other answer")
UNSUPPORTED_TYPE: Final = error_answer(415, "content type must be application/json")
ACCEPTED: Final = HttpAnswer(status=202, note="notification")
_NO_UTF8: Final = Refusal(None, PARSE_ERROR, "Parse error: the body is not UTF-8")
_NO_JSON: Final = Refusal(None, PARSE_ERROR, "Parse error: the body is not JSON")
_NO_JSON_LINE: Final = Refusal(None, PARSE_ERROR, "Parse error: the line is not JSON")
_NO_CALL: Final = Refusal(
    None, INVALID_REQUEST, "Invalid Request: the body must be one request or notification"
)
_CHANNEL: Final = TransportContext(kind="streamable-http", can_send_request=False)


class McpEndpoint:
    """Answers `POST /mcp`."""

    def __init__(self, server: GraymatterServer, tools: frozenset[str]) -> None:
        """Prepare.

        Args:
            server: Serves every request; it keeps nothing between them.
            tools: Names that may stand in the log.
        """
        self._server = server
        self._tools = tools

    async def __call__(self, request: HttpRequest) -> HttpAnswer:
        """Answer one message."""
        if not _accepts_json(request.headers.get("accept")):
            return NOT_ACCEPTABLE
        if not _is_json(request.headers.get("content-type")):
            return UNSUPPORTED_TYPE
        message = read_body(request.body)
        version = request.headers.get(VERSION_HEADER)
        is_modern = (version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS) or (
            isinstance(message, Request | Notification) and has_envelope(message.params)
        )
        if message is None:
            # An answer to us: nobody asked, and only the older era lets a client send one.
            return _refused(_NO_CALL) if is_modern else ACCEPTED
        if isinstance(message, Refusal):
            return _refused(message)
        if isinstance(message, Notification):
            return _acknowledged(version) if is_modern else ACCEPTED
        if is_modern:
            return await self._modern(message, request)
        return await self._handshake(message, request, version or DEFAULT_NEGOTIATED_VERSION)

    async def _handshake(self, message: Request, request: HttpRequest, version: str) -> HttpAnswer:
        connection = Connection.from_envelope(version, None, None)
        return await self._served(message, request, connection, is_modern=False)

    async def _modern(self, message: Request, request: HttpRequest) -> HttpAnswer:
        for name in ROUTING_HEADERS:
            if name in request.repeated:
                text = f"{name} header appears more than once"
                return _failed(message.id, HEADER_MISMATCH, text)
        body = {"method": message.method, "params": message.params}
        verdict = classify_inbound_request(body, headers=request.headers)
        if isinstance(verdict, InboundLadderRejection):
            return _failed(message.id, verdict.code, verdict.message, verdict.data)
        connection = Connection.from_envelope(
            verdict.protocol_version, verdict.client_info, verdict.client_capabilities
        )
        return await self._served(message, request, connection, is_modern=True)

    async def _served(
        self, message: Request, request: HttpRequest, connection: Connection, *, is_modern: bool
    ) -> HttpAnswer:
        remote = _remote(request)
        exchange = OneWay(
            request_id=message.id,
            transport=_CHANNEL,
            message_metadata=ServerMessageMetadata(request_context=remote),
        )
        note = self._note(message)
        plain = None
        if message.method == "tools/call":
            plain = plain_call(message.params, is_modern=is_modern)
        try:
            if plain is not None:
                result = await self._server.call_plainly(
                    plain, client=plain.client, remote=remote, is_modern=is_modern
                )
            else:
                result = await serve_one(
                    self._server,
                    exchange,
                    message.method,
                    message.params,
                    connection=connection,
                    lifespan_state=None,
                )
        except Exception as exc:  # noqa: BLE001 - the SDK's own mapping, which says nothing of it
            error = modern_error_data(exc)
            status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if is_modern else 200
            return _answer(status, _error(message.id, error), note)
        return _answer(200, {"jsonrpc": "2.0", "id": message.id, "result": result}, note)

    def _note(self, message: Request) -> str:
        if message.method != "tools/call":
            return message.method if message.method in _METHODS else "(unknown method)"
        name = (message.params or {}).get("name")
        return name if isinstance(name, str) and name in self._tools else "(unknown tool)"


_METHODS: Final = frozenset({"initialize", "ping", "server/discover", "tools/list"})


def read_body(body: bytes) -> Request | Notification | Refusal | None:
    """Read the one message of a body; None for an answer or an unreadable notification."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return _NO_UTF8
    if not text.strip("\ufeff \t\r\n"):
        return _NO_JSON
    message = read_line(body)
    # What is a line there is a body here.
    return _NO_JSON if message == _NO_JSON_LINE else message


def _remote(request: HttpRequest) -> Remote:
    rights = request.rights
    assert request.principal is not None, "it has rights"
    client = request.headers.get("user-agent", "")
    return Remote(
        subject=request.principal.subject, client=client, rights=rights, who=request.caller
    )


def _acknowledged(version: str | None) -> HttpAnswer:
    unsupported = unsupported_protocol_version_rejection(version or "")
    if unsupported is None:
        return ACCEPTED
    return _failed(None, unsupported.code, unsupported.message, unsupported.data)


def _accepts_json(accept: str | None) -> bool:
    if accept is None:
        return False
    kinds = {kind.partition(";")[0].strip().lower() for kind in accept.split(",")}
    return not kinds.isdisjoint({"application/json", "application/*", "*/*"})


def _is_json(content_type: str | None) -> bool:
    kind = (content_type or "").partition(";")[0].strip().lower()
    return kind == "application/json"


def _refused(refusal: Refusal) -> HttpAnswer:
    return _failed(refusal.id, refusal.code, refusal.message)


def _failed(
    request_id: JsonId | None, code: int, message: str, details: object = None
) -> HttpAnswer:
    status = ERROR_CODE_HTTP_STATUS.get(code, 400)
    return _answer(status, error_message(request_id, code, message, details), "(refused)")


def _error(request_id: JsonId, error: ErrorData) -> dict[str, Any]:
    return error_message(request_id, error.code, error.message, error.data)


def _answer(status: int, document: Mapping[str, Any], note: str) -> HttpAnswer:
    return HttpAnswer(status=status, body=encode(document), note=note)
