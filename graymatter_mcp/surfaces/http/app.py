"""The HTTP application of an owner: its routes, and the gate before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.surfaces.http.gate import Gate
from graymatter_mcp.surfaces.http.health import Health
from graymatter_mcp.surfaces.http.metrics import Metrics
from graymatter_mcp.surfaces.http.routes import Route, RouteTable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.surfaces.auth import Authenticator
    from graymatter_mcp.surfaces.http.gate import Witness
    from graymatter_mcp.surfaces.http.limits import HttpLimits
    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest
    from graymatter_mcp.surfaces.http.places import Places
    from graymatter_mcp.surfaces.http.proxies import Proxies
    from graymatter_mcp.surfaces.http.sessions import CookieSessions


class HttpApp:
    """Everything behind one listener."""

    def __init__(
        self,
        memory: Memory,
        mcp: Callable[[HttpRequest], Awaitable[HttpAnswer]],
        authenticator: Authenticator,
        places: Places,
        proxies: Proxies,
        limits: HttpLimits,
        *,
        more: Sequence[Route] = (),
        sessions: CookieSessions | None = None,
        witness: Witness | None = None,
    ) -> None:
        """Prepare.

        Args:
            memory: Asked by the probes and the counters.
            mcp: Answers `POST /mcp`.
            authenticator: Says who calls.
            places: Names and origins that are answered.
            proxies: Whose word on a client's address counts.
            limits: What is taken from callers.
            more: Further routes.
            sessions: Of the web page; None where there is none.
            witness: See `Gate`.
        """
        health = Health(memory, lambda: self.gate.is_draining)
        self.metrics = Metrics(memory, lambda: self.gate.calls)
        self.table = RouteTable(
            [
                Route(path="/mcp", methods=("POST",), endpoint=mcp),
                _probe("/live", health.live),
                _probe("/ready", health.ready),
                _probe("/healthz", health.ready),
                Route(path="/metrics", methods=("GET",), endpoint=self.metrics.show),
                *more,
            ]
        )
        self.gate = Gate(
            self.table,
            authenticator,
            places,
            proxies,
            limits,
            self.metrics.observe,
            sessions,
            witness,
        )


def _probe(path: str, endpoint: Callable[[HttpRequest], Awaitable[HttpAnswer]]) -> Route:
    return Route(
        path=path, methods=("GET", "HEAD"), endpoint=endpoint, is_open=True, while_draining=True
    )
