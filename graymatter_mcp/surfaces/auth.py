"""Who calls over HTTP: one question, asked of every request of MCP and REST alike."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Protocol

from graymatter_mcp.errors import ForbiddenError, StoreUnavailableError, UnauthorizedError
from graymatter_mcp.model.accounts import TokenScope as Scope
from graymatter_mcp.model.scopes import LOCAL

__all__ = [
    "PLAIN_CHALLENGE",
    "AuthenticationError",
    "AuthenticationUnavailableError",
    "Authenticator",
    "ForbiddenError",
    "InsufficientScopeError",
    "Principal",
    "Scope",
    "bearer_of",
]

PLAIN_CHALLENGE: Final = 'Bearer realm="graymatter"'
"""`WWW-Authenticate` where no issuer is configured: it starts no OAuth flow in a client."""

_BEARER: Final = re.compile(r"bearer +([!-~]+) *", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a request comes from; it never holds the token."""

    label: str
    """The name that a person gave the token; empty where there is none."""
    scope: Scope
    project: str | None = None
    """The one project that the caller is confined to."""
    subject: str
    """Who it is, for logs and counters: stable, one line, the same for all calls of a caller."""
    tenant: str = LOCAL
    user_id: str = LOCAL
    """Whose facts the caller may see, in that tenant."""
    token_id: str = ""
    """Of a token that has one."""
    reaches_core: bool = True
    """Whether the core's facts are the caller's; see `model.access.Rights`."""


class AuthenticationError(UnauthorizedError):
    """The request names nobody whom we know: 401, one text for every reason."""

    def __init__(self, challenge: str = PLAIN_CHALLENGE) -> None:
        super().__init__("unauthorized")
        self.challenge = challenge
        """Value of `WWW-Authenticate`."""


class AuthenticationUnavailableError(StoreUnavailableError):
    """Nobody can say now whether the token is good: 503, since another token would not help."""

    def __init__(self) -> None:
        super().__init__("tokens cannot be checked now; try again later")


class InsufficientScopeError(ForbiddenError):
    """The caller is known, and its token was granted too little: 403 with a challenge."""

    def __init__(self, challenge: str) -> None:
        super().__init__("insufficient scope")
        self.challenge = challenge
        """Value of `WWW-Authenticate`; names the scope that is needed."""


class Authenticator(Protocol):
    """Tells who calls."""

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return the caller.

        Args:
            authorization: The header as it came; None when there was none.

        Raises:
            AuthenticationError: Nobody we know: missing, unknown, revoked, expired, malformed.
            ForbiddenError: Known, and not allowed in at all.
            AuthenticationUnavailableError: Whoever could tell is away.
        """
        ...


def bearer_of(authorization: str | None) -> str | None:
    """Return the token of an `Authorization` header; None where it holds none.

    The scheme is taken in any case. What comes back is visible ASCII and not empty.
    """
    match = None if authorization is None else _BEARER.fullmatch(authorization)
    return None if match is None else match[1]
