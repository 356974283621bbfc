"""How a command asks an operation of REST: over the owner's door, or of a memory in this process.

The same routes answer in both, so a body cannot differ between them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar
from urllib.parse import quote, unquote, urlencode

from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.errors import (
    CommitUnknownError,
    ConflictError,
    ForbiddenError,
    GraymatterError,
    InvalidArgumentError,
    NotFoundError,
    QuotaError,
    ReadOnlyError,
    StoreUnavailableError,
    UnauthorizedError,
)
from graymatter_mcp.owner.client import RemoteMemory
from graymatter_mcp.surfaces.cli.door import call_memory

if TYPE_CHECKING:
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.cli.app import Invocation

Answer = TypeVar("Answer")
Send = Callable[[str, str, object, bool], Awaitable[tuple[int, Any]]]
"""Method, path with its query, JSON of the body, whether it writes: status, JSON of the answer."""

KINDS: Final[Mapping[int, type[GraymatterError]]] = {
    400: InvalidArgumentError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    413: InvalidArgumentError,
    429: QuotaError,
    504: CommitUnknownError,
}
"""What a status stands for; of any other the store is at fault."""
_READ_ONLY: Final = "store is read-only"


class Rest:
    """Asks operations by the names of their routes."""

    def __init__(self, send: Send) -> None:
        self._send = send

    async def ask(self, name: str, /, fields: Mapping[str, Any], **parameters: str) -> Any:
        """Ask one operation; return the body of its answer, None where it has none.

        Args:
            name: Of the route.
            fields: Of the body or the query.
            parameters: Of the path.

        Raises:
            GraymatterError: What the answer says is wrong.
        """
        route = load_route(name)
        path = route.path.format_map({key: quote(one, safe="") for key, one in parameters.items()})
        if route.takes == "query" and fields:
            path = f"{path}?{urlencode(fields)}"
        body = dict(fields) if route.takes_body else None
        status, answer = await self._send(route.method, path, body, route.needs_write)
        if status >= 400:
            raise refusal(status, answer)
        return answer


def call_rest(
    invocation: Invocation,
    work: Callable[[Rest], Awaitable[Answer]],
    *,
    may_create: bool = False,
    wait_s: float = 0,
) -> Answer:
    """Run one piece of work on the data plane of the memory that the call means.

    Args:
        invocation: Names the directory, and whether an owner is wanted.
        work: Awaited once.
        may_create: Whether a directory without a memory gets one.
        wait_s: How long the model is waited for.

    Raises:
        GraymatterError: The memory cannot be reached, or the work failed.
    """

    async def run(memory: Memory) -> Answer:
        send = memory.ask_rest if isinstance(memory, RemoteMemory) else _inside(memory)
        if wait_s:
            await memory.wait_until_settled(wait_s)
        return await work(Rest(send))

    return call_memory(invocation, run, may_create=may_create)


def ask(
    invocation: Invocation,
    name: str,
    fields: Mapping[str, Any],
    *,
    may_create: bool = False,
    wait_s: float = 0,
    **parameters: str,
) -> Any:
    """Ask one operation; see `Rest.ask` and `call_rest`."""

    async def work(rest: Rest) -> Any:
        return await rest.ask(name, fields, **parameters)

    return call_rest(invocation, work, may_create=may_create, wait_s=wait_s)


def refusal(status: int, answer: Any) -> GraymatterError:
    """Return the error that an answer tells of, with all its issues."""
    text = str(answer["error"])
    issues = answer.get("issues")
    if issues:
        text = "; ".join(": ".join(filter(None, (one["path"], one["message"]))) for one in issues)
    if text == _READ_ONLY:
        return ReadOnlyError(text)
    return KINDS.get(status, StoreUnavailableError)(text)


def _inside(memory: Any) -> Send:
    """Return what asks a memory of this process.

    Args:
        memory: With both faces, as `compose` makes it.
    """
    # Imported on use: a command that finds an owner needs none of it.
    from graymatter_mcp.owner.rest import THIS_USER
    from graymatter_mcp.surfaces.http.messages import HttpRequest, RefusedError
    from graymatter_mcp.surfaces.http.routes import RouteTable
    from graymatter_mcp.surfaces.rest.routes import rest_routes

    plane: DataPlane = memory.plane
    table = RouteTable(rest_routes(plane))

    async def send(method: str, path: str, body: object, _is_write: bool) -> tuple[int, Any]:
        place_path, _, query = path.partition("?")
        place = table.find(unquote(place_path))
        route = None if place is None else place.route(method)
        if place is None or route is None:
            return 404, {"error": "not found"}
        request = HttpRequest(
            method=method,
            path=place.path,
            headers={"content-type": "application/json"},
            repeated=frozenset(),
            body=b"" if body is None else json.dumps(body).encode(),
            principal=THIS_USER,
            request_id=secrets.token_hex(8),
            parameters=place.parameters,
            query=query,
        )
        try:
            answer = await route.endpoint(request)
        except RefusedError as refused:
            answer = refused.answer
        return answer.status, json.loads(answer.body) if answer.body else None

    return send
