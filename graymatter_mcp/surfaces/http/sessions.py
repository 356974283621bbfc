"""The web page's cookie: how it is sent, read and held against the token that it stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from graymatter_mcp.engine.plane.sessions import LIFETIME, is_of
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.access import Caller
from graymatter_mcp.surfaces.auth import PLAIN_CHALLENGE, AuthenticationError, Authenticator

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.accounts import OpenedSession
    from graymatter_mcp.surfaces.auth import Principal
    from graymatter_mcp.surfaces.credentials import Credential
    from graymatter_mcp.surfaces.http.messages import Headers

NAME: Final = "gm_session"
_SECURE_NAME: Final = "__Host-gm_session"
"""Browsers take it over TLS only, and from no other host."""
_LONGEST: Final = 128
_ATTRIBUTES: Final = "Path=/; HttpOnly; SameSite=Strict"


class Credentials(Authenticator, Protocol):
    """Tells who calls, and whether a token that was shown before still holds."""

    def credential(self, subject: str) -> Credential | None:
        """Return what is kept of the token of a subject, if it is good now."""
        ...


class CookieSessions:
    """The sessions of one listener."""

    def __init__(self, credentials: Credentials, plane: DataPlane, *, is_https: bool) -> None:
        """Prepare.

        Args:
            credentials: Knows the tokens.
            plane: Keeps the sessions.
            is_https: Whether browsers reach us over TLS.
        """
        self._credentials = credentials
        self._plane = plane
        self._name = _SECURE_NAME if is_https else NAME
        self._attributes = f"{_ATTRIBUTES}; Secure" if is_https else _ATTRIBUTES

    async def sign_in(self, token: str, request_id: str) -> tuple[Caller, OpenedSession]:
        """Open a session for who shows a token.

        Raises:
            AuthenticationError: It is not good, or none that can be asked about later.
            ForbiddenError: See `Authenticator`.
            AuthenticationUnavailableError: See `Authenticator`.
        """
        principal = await self._credentials.authenticate(f"Bearer {token}")
        credential = self._credentials.credential(principal.subject)
        if credential is None:
            raise AuthenticationError(PLAIN_CHALLENGE)
        caller = Caller(
            tenant=principal.tenant,
            user_id=principal.user_id,
            token_id=principal.token_id,
            request_id=request_id,
        )
        sessions = self._plane.accounts.sessions
        opened = await self._plane.alter(
            sessions.open, caller, principal.subject, credential.sha256
        )
        return caller, opened

    def cookie_of(self, headers: Mapping[str, str], repeated: frozenset[str]) -> str | None:
        """Return the value of our cookie, if there is exactly one."""
        if "cookie" in repeated:
            return None
        pairs = (one.strip().partition("=") for one in headers.get("cookie", "").split(";"))
        # Of two either could be one that somebody else has set.
        values = [value for name, _, value in pairs if name == self._name]
        return values[0] if len(values) == 1 and len(values[0]) <= _LONGEST else None

    def principal(self, cookie: str) -> Principal | None:
        """Return who comes with a cookie, as their token says now; looks into memory only."""
        session = self._plane.accounts.sessions.find(cookie)
        credential = None if session is None else self._credentials.credential(session.subject)
        if session is None or credential is None:
            return None
        return credential.principal if is_of(session, cookie, credential.sha256) else None

    async def renewed(self, cookie: str) -> Headers:
        """Let a session in use last longer, once a day; what cannot be kept stays as it is."""
        sessions = self._plane.accounts.sessions
        if not sessions.is_due(cookie):
            return ()
        try:
            renewed = await self._plane.alter(sessions.renew, cookie)
        except GraymatterError:
            return ()
        return () if renewed is None else self.set_cookie(cookie)

    def set_cookie(self, cookie: str) -> Headers:
        """Return the header that gives a browser its cookie."""
        return self._header(cookie, int(LIFETIME.total_seconds()))

    def clear_cookie(self) -> Headers:
        """Return the header that takes it away."""
        return self._header("", 0)

    def _header(self, value: str, seconds: int) -> Headers:
        text = f"{self._name}={value}; Max-Age={seconds}; {self._attributes}"
        return ((b"set-cookie", text.encode("ascii")),)
