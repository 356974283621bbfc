"""The owner's HTTP door for this user's own processes: `Memory` by method, REST, and the owner."""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import logging
import traceback
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from graymatter_mcp.bridge.lines import MAX_LINE_BYTES
from graymatter_mcp.errors import (
    GraymatterError,
    InvalidArgumentError,
    StoreUnavailableError,
    UnauthorizedError,
)
from graymatter_mcp.owner.doors import is_same_user
from graymatter_mcp.owner.rest import RestDoor
from graymatter_mcp.owner.wire import METHODS, MISFIT, pack_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Sequence

    from starlette.requests import Request

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.surfaces.http.routes import Route as RestRoute

logger = logging.getLogger(__name__)


class HttpDoor:
    """Answers `/rpc/<method>`, `/owner`, `/owner/stop`, `/owner/hand-over`, and REST at `/v1`."""

    def __init__(
        self,
        memory: Memory,
        token: str,
        describe: Callable[[], dict[str, Any]],
        leave: Callable[[], None],
        *,
        is_foreground: bool,
        routes: Callable[[], Sequence[RestRoute]] = tuple,
    ) -> None:
        """Prepare.

        Args:
            memory: What the methods act on.
            token: What a caller must know.
            describe: Says what the owner is.
            leave: Asks the owner to drain and end.
            is_foreground: Whether a person started it: then it hands over to nobody.
            routes: Makes the routes of REST.
        """
        self._memory = memory
        self._token = token
        self._describe = describe
        self._leave = leave
        self._is_foreground = is_foreground
        self._rest = RestDoor(token, routes)
        self._calls = 0

    @property
    def calls(self) -> int:
        """Requests at work now."""
        return self._calls + self._rest.calls

    def app(self) -> Starlette:
        """Return the ASGI application."""
        return Starlette(
            routes=[
                Route("/rpc/{method}", self._guarded(self._rpc), methods=["POST"]),
                Route("/owner", self._guarded(self._owner), methods=["GET"]),
                Route("/owner/stop", self._guarded(self._stop), methods=["POST"]),
                Route("/owner/hand-over", self._guarded(self._hand_over), methods=["POST"]),
                Mount("/v1", self._rest),
            ]
        )

    def _guarded(
        self, answer: Callable[[Request], Awaitable[Any]]
    ) -> Callable[[Request], Awaitable[JSONResponse]]:
        async def endpoint(request: Request) -> JSONResponse:
            self._calls += 1
            try:
                self._authorize(request)
                return JSONResponse(await answer(request))
            except GraymatterError as error:
                return JSONResponse(pack_error(error), HTTPStatus.BAD_REQUEST)
            except Exception as exc:  # noqa: BLE001 - the last door: nothing of it gets out
                frame = traceback.extract_tb(exc.__traceback__)[-1]
                logger.error(  # noqa: TRY400 - a traceback may quote what a caller sent
                    "%s at %s:%d", type(exc).__name__, frame.name, frame.lineno
                )
                return JSONResponse(
                    pack_error(StoreUnavailableError("internal error")),
                    HTTPStatus.INTERNAL_SERVER_ERROR,
                )
            finally:
                self._calls -= 1

        return endpoint

    def _authorize(self, request: Request) -> None:
        given = request.headers.get("authorization", "").encode()
        if not hmac.compare_digest(given, f"Bearer {self._token}".encode()):
            raise UnauthorizedError("unauthorized")

    async def _rpc(self, request: Request) -> dict[str, Any]:
        name = str(request.path_params["method"])
        method = METHODS.get(name)
        if method is None:
            raise InvalidArgumentError(f"the owner knows no method {name}")
        call = getattr(self._memory, name)
        arguments = method.unpack(await _read_object(request))
        try:
            inspect.signature(call).bind(**arguments)
        except TypeError:
            raise InvalidArgumentError(MISFIT) from None
        return {"result": method.pack_result(await call(**arguments))}

    async def _owner(self, _: Request) -> dict[str, Any]:
        return self._describe()

    async def _stop(self, _: Request) -> dict[str, Any]:
        self._leave()
        return {"stopping": True}

    async def _hand_over(self, _: Request) -> dict[str, Any]:
        if self._is_foreground:
            pid = self._describe()["pid"]
            raise StoreUnavailableError(
                f"another server (pid {pid}) holds this memory; stop it first"
            )
        self._leave()
        return {"stopping": True}


async def _read_object(request: Request) -> dict[str, Any]:
    """Read the body as one JSON object, in bounded memory.

    Raises:
        InvalidArgumentError: It is none, or longer than a line of the other door may be.
    """
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_LINE_BYTES:
            raise InvalidArgumentError(f"the body must be shorter than {MAX_LINE_BYTES} bytes")
    try:
        value: Any = json.loads(body.decode(), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InvalidArgumentError("the body must be one JSON object in UTF-8")
    return value  # pyright: ignore[reportUnknownVariableType] - as decoded


def _refuse_constant(_literal: str) -> None:
    raise ValueError


class SameUserProtocol(HttpToolsProtocol):
    """HTTP for peers of our own uid; to others the line is dead."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Hang up on everybody else."""
        if is_same_user(transport.get_extra_info("socket")):
            super().connection_made(transport)
        else:
            transport.set_protocol(asyncio.Protocol())
            transport.abort()


class QuietServer(uvicorn.Server):
    """uvicorn that leaves signals to its process."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


def uvicorn_server(app: Starlette) -> QuietServer:
    """Return a server for sockets that are already bound; it logs nothing by itself."""
    return QuietServer(
        uvicorn.Config(
            app,
            http=SameUserProtocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=5,
        )
    )
