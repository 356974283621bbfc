"""The one gate before every route; the first check that fails answers.

Host and origin, route and method, bearer, rate, room, body, and only then the route itself.
"""

from __future__ import annotations

import logging
import re
import secrets
import time
import traceback
from typing import TYPE_CHECKING, Any, Final

import anyio

from graymatter_mcp.errors import ForbiddenError
from graymatter_mcp.surfaces.auth import AuthenticationError, AuthenticationUnavailableError
from graymatter_mcp.surfaces.http.bodies import (
    BUSY,
    CLOSE,
    RETRY_SOON,
    Bodies,
    ClientGoneError,
    is_over,
)
from graymatter_mcp.surfaces.http.messages import (
    HttpAnswer,
    HttpRequest,
    RefusedError,
    error_answer,
    send_answer,
)
from graymatter_mcp.surfaces.http.pages import is_question, permission, reflected
from graymatter_mcp.surfaces.http.rates import RateWindows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from graymatter_mcp.errors import GraymatterError
    from graymatter_mcp.surfaces.auth import Authenticator, Principal
    from graymatter_mcp.surfaces.http.limits import HttpLimits
    from graymatter_mcp.surfaces.http.messages import Headers
    from graymatter_mcp.surfaces.http.places import Places
    from graymatter_mcp.surfaces.http.proxies import Proxies
    from graymatter_mcp.surfaces.http.routes import Place, Route, RouteTable
    from graymatter_mcp.surfaces.http.sessions import CookieSessions

    Receive = Callable[[], Awaitable[dict[str, Any]]]
    Send = Callable[[dict[str, Any]], Awaitable[None]]
    Observer = Callable[[str, str, int, float], None]
    """Told of each answer: route, method, status, seconds."""
    Witness = Callable[[int, Principal | None, str, str], None]
    """Told of each answer that nobody told the audit of: status, who, action, request id."""

logger = logging.getLogger(__name__)

INTERNAL: Final = error_answer(500, "internal server error")
DRAINING: Final = error_answer(503, "server is draining", RETRY_SOON, CLOSE)
RETRY_LATER: Final = (b"retry-after", b"5")
_SAFE: Final = frozenset({"GET", "HEAD"})
_OWN_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
TOO_LARGE: Final = 413
_SMALL_BODY: Final = 64 * 1024
"""A refused body of this size is read away; before a larger one the connection ends."""


class Gate:
    """The ASGI application of one listener."""

    def __init__(
        self,
        table: RouteTable,
        authenticator: Authenticator,
        places: Places,
        proxies: Proxies,
        limits: HttpLimits,
        observe: Observer,
        sessions: CookieSessions | None = None,
        witness: Witness | None = None,
    ) -> None:
        """Prepare.

        Args:
            table: Every route there is.
            authenticator: Says who calls.
            places: Names and origins that are answered.
            proxies: Peers whose word on the client's address counts.
            limits: What is taken from callers.
            observe: Told of each answer.
            sessions: Of the web page; None where there is none.
            witness: Tells the audit of refusals; None where there is none.
        """
        self._table = table
        self._authenticator = authenticator
        self._places = places
        self._proxies = proxies
        self._limits = limits
        self._observe = observe
        self._sessions = sessions
        self._witness = witness
        self._rates = RateWindows(limits.per_minute)
        self._bodies = Bodies(limits)
        self.calls = 0
        """Requests at work now."""
        self.is_draining = False

    async def __call__(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request; nothing raised gets out."""
        if scope["type"] != "http":
            return
        passage = _Passage(self, scope)
        self.calls += 1
        started_at = time.perf_counter()
        try:
            answer = await passage.answer(receive)
        except ClientGoneError:
            return
        except Exception as exc:  # noqa: BLE001 - the last door: nothing of it gets out
            frame = traceback.extract_tb(exc.__traceback__)[-1]
            logger.error(  # noqa: TRY400 - a traceback may quote what a caller sent
                "request %s failed with %s at %s:%d",
                passage.request_id,
                type(exc).__name__,
                frame.name,
                frame.lineno,
            )
            answer = INTERNAL
        finally:
            self.calls -= 1
        seconds = time.perf_counter() - started_at
        self._observe(passage.place, passage.method, answer.status, seconds)
        passage.log(answer, seconds)
        if self._witness is not None and not answer.is_noted:
            action = passage.place and f"{passage.method} {passage.place}"
            self._witness(answer.status, passage.principal, action, passage.request_id)
        await send_answer(send, answer, passage.extra)

    # What follows is for the passage of one request.

    def find_place(self, path: str) -> Place:
        """Find the place.

        Raises:
            RefusedError: There is none.
        """
        place = self._table.find(path)
        if place is None:
            raise RefusedError(error_answer(404, "not found"))
        return place

    def find_route(self, place: Place, method: str) -> Route:
        """Find what is to be done there.

        Raises:
            RefusedError: Not this, or not any more.
        """
        route = place.route(method)
        if route is None:
            allow = ", ".join(place.methods)
            raise RefusedError(
                error_answer(405, f"use {allow} here", (b"allow", allow.encode("ascii")))
            )
        if self.is_draining and not route.while_draining:
            raise RefusedError(DRAINING)
        return route

    def check_place(self, headers: Mapping[str, str], repeated: frozenset[str]) -> None:
        """Check `Host` and `Origin`.

        Raises:
            RefusedError: They name somebody else, or more than one.
        """
        if "host" in repeated or not self._places.knows_host(headers.get("host")):
            raise RefusedError(error_answer(403, "host not allowed"))
        if "origin" in repeated or not self._places.knows_origin(headers.get("origin")):
            raise RefusedError(error_answer(403, "origin not allowed"))

    def lists_origin(self, headers: Mapping[str, str]) -> bool:
        """Whether the request comes from a page that may read the answer."""
        return self._places.lists_origin(headers.get("origin"))

    async def identify(self, passage: _Passage, route: Route) -> Principal:
        """Ask who calls, and count the request.

        Raises:
            RefusedError: Nobody whom we know, or too often.
        """
        visitor = await self._visitor(passage) if route.takes_session else None
        if visitor is not None:
            self.count(passage, f"caller {visitor.subject}")
            return visitor
        # Of two credentials either could be the one that somebody else has checked.
        authorization = passage.headers.get("authorization")
        if "authorization" in passage.repeated:
            authorization = None
        try:
            principal = await self._authenticator.authenticate(authorization)
        except (AuthenticationError, ForbiddenError, AuthenticationUnavailableError) as exc:
            self.count(passage, f"address {passage.address}")
            raise RefusedError(_turned_away(exc)) from None
        self.count(passage, f"caller {principal.subject}")
        return principal

    async def _visitor(self, passage: _Passage) -> Principal | None:
        """Return who comes with the page's cookie and no bearer.

        Raises:
            RefusedError: It would change something, and no page of ours says that it asked.
        """
        if self._sessions is None or "authorization" in passage.headers:
            return None
        cookie = self._sessions.cookie_of(passage.headers, passage.repeated)
        if cookie is None:
            return None
        if passage.method not in _SAFE and "origin" not in passage.headers:
            raise RefusedError(error_answer(403, "origin not allowed"))
        visitor = self._sessions.principal(cookie)
        if visitor is not None:
            passage.extra = (*passage.extra, *await self._sessions.renewed(cookie))
        return visitor

    def count(self, passage: _Passage, key: str) -> None:
        """Count one request of a caller.

        Raises:
            RefusedError: It is one too many.
        """
        window = self._rates.take(key)
        if window is None:
            return
        passage.extra = (*passage.extra, *window.headers)
        if window.is_over:
            text = f"Rate limit exceeded, retry in {window.reset_s} seconds"
            raise RefusedError(error_answer(429, text, (b"retry-after", b"%d" % window.reset_s)))

    def check_room(self) -> None:
        """Refuse what comes when all hands are full.

        Raises:
            RefusedError: They are.
        """
        if self.calls > self._limits.calls:
            raise RefusedError(BUSY)

    async def carry_out(self, route: Route, request: HttpRequest) -> HttpAnswer:
        """Let the route answer, for a while."""
        with anyio.move_on_after(self._limits.call_timeout_s):
            return await route.endpoint(request)
        seconds = self._limits.call_timeout_s
        text = f"no answer within {seconds:g} s; look before sending it again"
        return error_answer(504, text)

    async def read_body(self, route: Route, passage: _Passage, receive: Receive) -> bytes:
        """Read the body."""
        declared = passage.headers.get("content-length")
        limit = self._limits.body_bytes
        if route.body_bytes is not None:
            limit = min(limit, route.body_bytes)
        try:
            return await self._bodies.read(receive, declared, limit)
        except RefusedError as refused:
            if refused.answer.status == TOO_LARGE and route.too_large:
                raise RefusedError(error_answer(TOO_LARGE, route.too_large, CLOSE)) from None
            raise

    def release_body(self, size: int) -> None:
        """Forget a body."""
        self._bodies.release(size)

    def client_address(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> str:
        """Return the address that the request is counted for when nobody is named."""
        peer = scope.get("client")
        return self._proxies.client_of(peer[0] if peer else "", headers.get("x-forwarded-for"))


class _Passage:
    """One request on its way through the gate."""

    def __init__(self, gate: Gate, scope: Mapping[str, Any]) -> None:
        self._gate = gate
        self.method: str = scope["method"]
        self._path: str = scope["path"]
        self._query = bytes(scope.get("query_string", b"")).decode("latin-1")
        self.place = ""
        """Path of the route; empty until one is found, so that paths of strangers stay out."""
        self.headers, self.repeated = _fold(scope["headers"])
        self.address = gate.client_address(scope, self.headers)
        self.request_id = _request_id(self.headers.get("x-request-id"))
        self.extra: Headers = ((b"x-request-id", self.request_id.encode("ascii")),)
        self.principal: Principal | None = None
        """Who asks, once that is known."""
        self._is_open = False

    async def answer(self, receive: Receive) -> HttpAnswer:
        """Take the request as far as it gets."""
        try:
            return await self._pass(receive)
        except RefusedError as refused:
            answer = refused.answer
        if self._leaves_much_unread():
            self.extra = (*self.extra, CLOSE)
        return answer

    async def _pass(self, receive: Receive) -> HttpAnswer:
        gate = self._gate
        gate.check_place(self.headers, self.repeated)
        is_listed = gate.lists_origin(self.headers)
        if is_listed:
            self.extra = (*self.extra, *reflected(self.headers["origin"]))
        place = gate.find_place(self._path)
        self.place = place.path
        if is_listed and is_question(self.method, self.headers):
            return permission(place)
        route = gate.find_route(place, self.method)
        self._is_open = route.is_open
        if not route.is_open:
            self.principal = await gate.identify(self, route)
            gate.check_room()
        elif route.is_counted:
            gate.count(self, f"address {self.address}")
            gate.check_room()
        reads_body = not route.is_open if route.reads_body is None else route.reads_body
        body = await gate.read_body(route, self, receive) if reads_body else b""
        try:
            request = HttpRequest(
                method=self.method,
                path=self._path,
                headers=self.headers,
                repeated=self.repeated,
                body=body,
                principal=self.principal,
                request_id=self.request_id,
                parameters=place.parameters,
                query=self._query,
            )
            return await gate.carry_out(route, request)
        finally:
            gate.release_body(len(body))

    def _leaves_much_unread(self) -> bool:
        declared = self.headers.get("content-length")
        return "transfer-encoding" in self.headers or is_over(declared, _SMALL_BODY)

    def log(self, answer: HttpAnswer, seconds: float) -> None:
        """Say who did what, and how it ended: never what was sent."""
        level = logging.DEBUG if self._is_open else logging.INFO
        who = f"address {self.address}" if self.principal is None else self.principal.subject
        logger.log(
            level,
            "%s %s %s %s%s %d %.1f ms",
            self.request_id,
            who,
            self.method,
            self.place or "(no route)",
            f" {answer.note}" if answer.note else "",
            answer.status,
            seconds * 1000,
        )


def _fold(raw: list[tuple[bytes, bytes]]) -> tuple[dict[str, str], frozenset[str]]:
    headers: dict[str, str] = {}
    repeated: set[str] = set()
    for name, value in raw:
        key = name.decode("latin-1")
        if key in headers:
            repeated.add(key)
        # White space around a value is no part of it, and the parser leaves what follows one.
        headers[key] = value.decode("latin-1").strip(" \t")
    return headers, frozenset(repeated)


def _request_id(given: str | None) -> str:
    if given is not None and _OWN_ID.fullmatch(given):
        return given
    return secrets.token_hex(8)


def _turned_away(error: GraymatterError) -> HttpAnswer:
    """Answer a caller that the authenticator did not let in."""
    if isinstance(error, AuthenticationUnavailableError):
        return error_answer(503, str(error), RETRY_LATER)
    status = 401 if isinstance(error, AuthenticationError) else 403
    challenge: str | None = getattr(error, "challenge", None)
    if challenge is None:
        return error_answer(status, str(error))
    header = (b"www-authenticate", challenge.encode("latin-1", "replace"))
    return error_answer(status, str(error), header)
