"""Signing in to the page and out of it: the two routes that set the cookie."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.surfaces.auth import AuthenticationError
from graymatter_mcp.surfaces.http.messages import HttpAnswer, error_answer, json_answer
from graymatter_mcp.surfaces.http.routes import Route
from graymatter_mcp.surfaces.rest.account_bodies import user_json
from graymatter_mcp.surfaces.rest.bodies import time_json
from graymatter_mcp.surfaces.rest.endpoint import failure_answer
from graymatter_mcp.surfaces.rest.requests import read_arguments
from graymatter_mcp.surfaces.rest.routes import BODY_BYTES, TOO_LARGE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.http.messages import HttpRequest
    from graymatter_mcp.surfaces.http.sessions import CookieSessions

_ACTION: Final = "session_open"


def session_routes(plane: DataPlane, sessions: CookieSessions) -> Sequence[Route]:
    """Return both routes.

    Args:
        plane: Knows the users.
        sessions: Of the listener.
    """
    doors = _Doors(plane, sessions)
    opening, ending = load_route("session-create"), load_route("session-end")
    return (
        Route(
            path=opening.path,
            methods=(opening.method,),
            endpoint=doors.sign_in,
            is_open=True,
            is_counted=True,
            reads_body=True,
            body_bytes=BODY_BYTES,
            too_large=TOO_LARGE,
        ),
        Route(
            path=ending.path, methods=(ending.method,), endpoint=doors.sign_out, takes_session=True
        ),
    )


class _Doors:
    def __init__(self, plane: DataPlane, sessions: CookieSessions) -> None:
        self._plane = plane
        self._sessions = sessions
        self._opening = load_route("session-create")

    async def sign_in(self, request: HttpRequest) -> HttpAnswer:
        """Exchange a token for a cookie."""
        content_type = request.headers.get("content-type")
        now = datetime.now(UTC)
        fields = read_arguments(self._opening, request.body, content_type, request.query, now=now)
        try:
            caller, opened = await self._sessions.sign_in(fields["token"], request.request_id)
            user = self._plane.accounts.reach.user(caller)
        except GraymatterError as error:
            self._note(error, request.request_id)
            return replace(_refused(error), is_noted=True)
        body = {"user": user_json(user), "expiresAt": time_json(opened.session.expires_at)}
        return json_answer(201, body, *self._sessions.set_cookie(opened.cookie))

    async def sign_out(self, request: HttpRequest) -> HttpAnswer:
        """End the session of the cookie; without one there is nothing to end."""
        cookie = self._sessions.cookie_of(request.headers, request.repeated)
        if cookie is not None:
            close = self._plane.accounts.sessions.close
            try:
                await self._plane.alter(close, request.caller, cookie)
            except GraymatterError as error:
                return failure_answer(error)
        return HttpAnswer(status=204, headers=self._sessions.clear_cookie())

    def _note(self, error: GraymatterError, request_id: str) -> None:
        accounts = self._plane.accounts
        event = accounts.audit.event(None, _ACTION, outcome=error.code.value, request_id=request_id)
        accounts.refusals.note(event)


def _refused(error: GraymatterError) -> HttpAnswer:
    if isinstance(error, AuthenticationError):
        challenge = error.challenge.encode("latin-1", "replace")
        return error_answer(401, "unauthorized", (b"www-authenticate", challenge))
    return failure_answer(error)
