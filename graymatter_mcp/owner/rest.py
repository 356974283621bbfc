"""REST for this user's own processes: the routes of the network, behind the owner's own token."""

from __future__ import annotations

import hmac
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.surfaces.auth import AuthenticationError, Principal
from graymatter_mcp.surfaces.auth import Scope as Rights
from graymatter_mcp.surfaces.http.gate import Gate
from graymatter_mcp.surfaces.http.limits import HttpLimits
from graymatter_mcp.surfaces.http.places import Address, Places
from graymatter_mcp.surfaces.http.proxies import Proxies
from graymatter_mcp.surfaces.http.routes import RouteTable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.types import Receive, Scope, Send

    from graymatter_mcp.surfaces.http.routes import Route

LIMITS: Final = HttpLimits(per_minute=0)
THIS_USER: Final = Principal(label="", scope=Rights.FULL, subject="this user")
"""Whose token it is: the caller of a request is `model.access.LOCAL_CALLER`."""


class RestDoor:
    """The gate of the network with another check of bearers, and no limit of the rate."""

    def __init__(self, token: str, routes: Callable[[], Sequence[Route]]) -> None:
        """Prepare.

        Args:
            token: What a caller must know.
            routes: Makes them; called with the first request, since many an owner gets none.
        """
        self._token = token
        self._routes = routes

    @property
    def calls(self) -> int:
        """Requests at work now."""
        return self._gate.calls if "_gate" in vars(self) else 0

    @cached_property
    def _gate(self) -> Gate:
        return Gate(
            RouteTable(self._routes()),
            _OwnersToken(self._token),
            # Where the door is on loopback, a page under a foreign name must not come in.
            Places((), (), Address("127.0.0.1", 0)),
            Proxies(()),
            LIMITS,
            _tell_nobody,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        # Any: a message of ASGI is a dict to one side and a mutable mapping to the other.
        gate: Any = self._gate
        await gate(scope, receive, send)


def _tell_nobody(_route: str, _method: str, _status: int, _seconds: float) -> None:
    """Count nothing: the counters are about callers of other machines."""


class _OwnersToken:
    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def authenticate(self, authorization: str | None) -> Principal:
        given = (authorization or "").encode("utf-8", "surrogatepass")
        if not hmac.compare_digest(given, self._expected):
            raise AuthenticationError
        return THIS_USER
