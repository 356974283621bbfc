"""What a bearer may show: the server token, a token that was handed out, or an issuer's."""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING, Final, Protocol

from graymatter_mcp.surfaces.auth import (
    PLAIN_CHALLENGE,
    AuthenticationError,
    Principal,
    Scope,
    bearer_of,
)
from graymatter_mcp.surfaces.tokens import digest

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.live_tokens import LiveTokens

_LONGEST: Final = 16_384

ANYONE: Final = Principal(label="", scope=Scope.FULL, subject="anyone")
"""Whoever comes where no token is asked for."""


class Issued(Protocol):
    """Tokens that an authorization server makes."""

    def challenge(self, error: str = "") -> str:
        """Return the value of `WWW-Authenticate`."""
        ...

    async def principal(self, token: str) -> Principal:
        """Return whom the issuer vouches for, or raise as an `Authenticator` does."""
        ...


class BearerAuthenticator:
    """Knows callers by their bearer token."""

    def __init__(self, server: str, handed_out: LiveTokens, issued: Issued | None = None) -> None:
        """Prepare; the server token itself is not kept.

        Args:
            server: The server token; the empty one refuses everything.
            handed_out: Tokens of `graymatter token`.
            issued: Tokens of an issuer, if there is one.
        """
        self._server = digest(server) if server else None
        self._handed_out = handed_out
        self._issued = issued

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return the caller; see `Authenticator`."""
        token = bearer_of(authorization)
        if token is None:
            raise AuthenticationError(self._challenge(""))
        if self._server is None or len(token) > _LONGEST:
            raise AuthenticationError(self._challenge("invalid_token"))
        if hmac.compare_digest(self._server, digest(token)):
            return Principal(label="server", scope=Scope.FULL, subject="server-token")
        found = self._handed_out.find(token)
        if found is not None:
            return Principal(
                label=found.name,
                scope=found.scope,
                project=found.project,
                subject=f"token:{found.id}",
            )
        # Three parts make a signed token; nothing else is worth an issuer's time.
        if self._issued is None or token.count(".") != 2:
            raise AuthenticationError(self._challenge("invalid_token"))
        return await self._issued.principal(token)

    def _challenge(self, error: str) -> str:
        return PLAIN_CHALLENGE if self._issued is None else self._issued.challenge(error)


class OpenDoor:
    """Asks for nothing: `--no-auth`, on loopback only."""

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return the same caller for all."""
        return ANYONE
