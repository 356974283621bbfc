"""The SDK's low-level server with our hand-written contract on it, for every transport."""

from __future__ import annotations

import logging
import traceback
from contextvars import ContextVar
from dataclasses import replace
from hashlib import sha256
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.surfaces.adoption import Served
from graymatter_mcp.surfaces.mcp.answers import (
    Caller,
    Remote,
    ToolAnswer,
    ToolCalls,
    UnknownToolError,
)
from graymatter_mcp.surfaces.mcp.instructions import instructions_for
from graymatter_mcp.surfaces.mcp.plain import KEY, plain_result

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

    from graymatter_mcp.contract.load import Bundle, ToolContract
    from graymatter_mcp.surfaces.mcp.plain import PlainCall

    Answer = Callable[[str, Mapping[str, object] | None, Caller], Awaitable[ToolAnswer]]

logger = logging.getLogger(__name__)

DISTRIBUTION: Final = "graymatter-mcp"

MAX_CONCURRENT_CALLS: Final = 64
"""Tool calls of one server at work at once; the others wait their turn."""

LIST_TTL_MS: Final = 300_000
"""How long a client may keep the list of tools; short, since an upgrade changes it."""

MAX_CLIENT_CHARS: Final = 200
MAX_KEY_CHARS: Final = 128

connection_session: ContextVar[str] = ContextVar("connection_session", default="")
"""Identity of the connection being served; a transport sets it before it serves."""

_FAILED: Final = "internal error: the call failed inside the server; see the log of graymatter"


class GraymatterServer(Server[Any]):
    """Declares `tools` with `listChanged` in every era; the SDK's own derivation differs."""

    answer: Answer
    """Carries out a tool call."""

    async def call_plainly(
        self, call: PlainCall, *, client: str, remote: Remote | None, is_modern: bool
    ) -> dict[str, Any]:
        """Answer a tool call that needs no judgement of the SDK; its result, for the wire.

        Args:
            call: What is asked.
            client: Name and version of the client program, as it said.
            remote: Who calls, where the transport knows.
            is_modern: Whether the result carries what the modern era asks for.

        Raises:
            MCPError: No tool of this name is served.
        """
        caller = _caller(client, call.key, remote)
        answer = await self.answer(call.tool, call.arguments, caller)
        return plain_result(answer, self.server_info_stamp if is_modern else None)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """Return the one capability that we have."""
        return types.ServerCapabilities(tools=types.ToolsCapability(list_changed=True))


def build_server(
    bundle: Bundle,
    calls: ToolCalls,
    *,
    instructions: str | None = None,
    version: str | None = None,
    calls_at_once: int = MAX_CONCURRENT_CALLS,
) -> GraymatterServer:
    """Build the server that every MCP transport runs.

    Args:
        bundle: What is served, in wire order.
        calls: Carries out the calls.
        instructions: Sent at the opening in place of the text for these toolsets; the empty string
            leaves the field out.
        version: Shown in `serverInfo`; by default that of the installed distribution.
        calls_at_once: Calls that may be at work; the others wait, first come first served.

    Raises:
        PackageNotFoundError: No version given and the distribution is not installed.
    """
    list_hint = CacheHint(ttl_ms=LIST_TTL_MS, scope="public")
    schemas = {tool.name: tool.input_schema for tool in bundle.tools}
    surface = _Surface(bundle, calls, calls_at_once)
    server = GraymatterServer(
        "graymatter",
        version=metadata.version(DISTRIBUTION) if version is None else version,
        instructions=(instructions_for(bundle.toolsets) if instructions is None else instructions)
        or None,
        cache_hints={"tools/list": list_hint, "server/discover": list_hint},
        get_tool_input_schema=schemas.get,
        on_list_tools=surface.list_tools,
        on_call_tool=surface.call_tool,
    )
    # The SDK's tracing costs 8 % of a call and has no exporter here.
    server.middleware[:] = [_keep_exceptions_inside]
    server.answer = surface.answer
    return server


class _Surface:
    """The two handlers of the server."""

    def __init__(self, bundle: Bundle, calls: ToolCalls, calls_at_once: int) -> None:
        self._list = types.ListToolsResult(tools=[_tool(tool) for tool in bundle.tools])
        self._calls = calls
        self._limiter = anyio.CapacityLimiter(calls_at_once)

    async def list_tools(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """Answer `tools/list`; there is one page."""
        if params is not None and params.cursor:
            raise MCPError(code=types.INVALID_PARAMS, message="Unknown cursor")
        return self._list

    async def call_tool(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Answer `tools/call` as the SDK hands it over."""
        client = ctx.session.client_params
        caller = _caller(
            "" if client is None else f"{client.client_info.name} {client.client_info.version}",
            (ctx.meta or {}).get(KEY),
            ctx.request if isinstance(ctx.request, Remote) else None,
        )
        return _result(await self.answer(params.name, params.arguments, caller))

    async def answer(
        self, tool: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Carry out a call; whatever goes wrong inside becomes a tool error.

        Raises:
            MCPError: No tool of this name is served.
        """
        try:
            # Not `async with`, which goes once round the loop even where there is room.
            self._limiter.acquire_nowait()
        except anyio.WouldBlock:
            await self._limiter.acquire()
        try:
            answer = await self._calls.call(tool, arguments, caller)
            return replace(answer, text=_valid(answer.text))
        except UnknownToolError:
            message = f"Unknown tool: {tool}"
            raise MCPError(code=types.INVALID_PARAMS, message=message) from None
        except Exception as failure:  # noqa: BLE001 - the last door before the wire
            _log_failure("tools/call", failure)
            return ToolAnswer(text=_FAILED, is_error=True)
        finally:
            self._limiter.release()


async def _keep_exceptions_inside(
    ctx: ServerRequestContext[Any, Any], call_next: CallNext
) -> HandlerResult:
    try:
        return await call_next(ctx)
    except (MCPError, ValidationError):
        # The SDK answers both without their inner text.
        raise
    except Exception as failure:  # noqa: BLE001 - the SDK would put str(exc) on the wire
        _log_failure(ctx.method, failure)
        raise MCPError(code=types.INTERNAL_ERROR, message="Internal error") from None


def served_by(bundle: Bundle, version: str | None = None) -> Served:
    """Return what clients of a server of a bundle are given.

    Args:
        bundle: Of the server.
        version: As for `build_server`.

    Raises:
        PackageNotFoundError: See `build_server`.
    """
    sent = [_tool(tool).model_dump(by_alias=True, exclude_none=True) for tool in bundle.tools]
    return Served(
        tools=sent,
        instructions=instructions_for(bundle.toolsets),
        version=metadata.version(DISTRIBUTION) if version is None else version,
    )


def _tool(tool: ToolContract) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=types.ToolAnnotations.model_validate(dict(tool.annotations)),
        _meta={"graymatter/revision": tool.revision},
    )


def _result(answer: ToolAnswer) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=answer.text)],
        structured_content=None if answer.is_error else answer.structured,
        is_error=answer.is_error,
        _meta=dict(answer.meta) or None,
    )


def _valid(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _caller(client: str, given: object, remote: Remote | None) -> Caller:
    """Put together who calls.

    Args:
        client: Name and version of the program, as it said.
        given: The call's idempotency key, or what stands in its place.
        remote: Who calls, where the transport knows.
    """
    client = client.strip()
    key = _stored_key(given) if isinstance(given, str) else ""
    if remote is None:
        session = connection_session.get()
        who = replace(LOCAL_CALLER, connection=session)
        return Caller(client=_claimed(client), session=session, key=key, who=who)
    return Caller(
        client=_claimed(client or remote.client),
        session=remote.subject,
        # Two callers may choose one key, and neither may be given the other's answer.
        key=_stored_key(f"{remote.subject} {key}") if key else "",
        rights=remote.rights,
        who=remote.who,
    )


def _claimed(client: str) -> str:
    return _valid(client[:MAX_CLIENT_CHARS]).replace("\0", "")


def _stored_key(key: str) -> str:
    """Return a key that every store takes: itself, or a digest where it is long or odd."""
    if len(key) <= MAX_KEY_CHARS and key.isascii() and key.isprintable():
        return key
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def _log_failure(method: str, failure: Exception) -> None:
    # Only type and place: the message may quote a fact, a path or a token.
    frames = traceback.extract_tb(failure.__traceback__)
    place = f"{frames[-1].name}:{frames[-1].lineno}" if frames else "?"
    logger.error("%s failed with %s at %s", method, type(failure).__name__, place)
