"""The bearer check around a whole HTTP app: what it does not know as open asks for a token."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from starlette.responses import JSONResponse

from graymatter_mcp.errors import ForbiddenError
from graymatter_mcp.surfaces.auth import (
    PRINCIPAL_KEY,
    AuthenticationError,
    AuthenticationUnavailableError,
    InsufficientScopeError,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Receive, Scope, Send

    from graymatter_mcp.surfaces.auth import Authenticator

PROBES: Final = frozenset({"/live", "/ready", "/healthz"})
"""Routes that say whether the server is well, and nothing else."""

_HEADERS: Final = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
_RETRY_AFTER_S: Final = 5


class BearerMiddleware:
    """Asks every request who it comes from, before the app sees it."""

    def __init__(
        self, app: ASGIApp, authenticator: Authenticator, open_paths: Collection[str] = PROBES
    ) -> None:
        """Wrap an app.

        Args:
            app: Sees only requests that passed, with the principal in their ASGI scope.
            authenticator: Tells who calls.
            open_paths: Paths that need no token, compared whole.
        """
        self._app = app
        self._authenticator = authenticator
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer it."""
        if scope["type"] == "lifespan" or scope.get("path") in self._open:
            await self._app(scope, receive, send)
            return
        try:
            principal = await self._authenticator.authenticate(_authorization(scope))
        except AuthenticationError as error:
            answer = refusal(HTTPStatus.UNAUTHORIZED, str(error), error.challenge)
        except InsufficientScopeError as error:
            answer = refusal(HTTPStatus.FORBIDDEN, str(error), error.challenge)
        except ForbiddenError as error:
            answer = refusal(HTTPStatus.FORBIDDEN, str(error))
        except AuthenticationUnavailableError as error:
            answer = refusal(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
            answer.headers["Retry-After"] = str(_RETRY_AFTER_S)
        else:
            await self._app({**scope, PRINCIPAL_KEY: principal}, receive, send)
            return
        await answer(scope, receive, send)


def refusal(status: HTTPStatus, text: str, challenge: str | None = None) -> JSONResponse:
    """Return an answer that nobody may keep.

    Args:
        status: Of the answer.
        text: One of our own phrases.
        challenge: Value of `WWW-Authenticate`.
    """
    headers = {**_HEADERS} if challenge is None else {**_HEADERS, "WWW-Authenticate": challenge}
    return JSONResponse({"error": text}, status, headers)


def _authorization(scope: Scope) -> str | None:
    """Return the header; None where there is none, or more than one to choose from."""
    found = [value for name, value in scope["headers"] if name == b"authorization"]
    return found[0].decode("latin-1") if len(found) == 1 else None
