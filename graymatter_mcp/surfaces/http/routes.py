"""The table of routes: what exists, who may come, and how much they may bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One place."""

    path: str
    methods: tuple[str, ...]
    endpoint: Callable[[HttpRequest], Awaitable[HttpAnswer]]
    is_open: bool = False
    """Whether it answers without a bearer and outside the rate limit: it tells nothing."""
    while_draining: bool = False
    """Whether it still answers when the server is about to leave."""


class RouteTable:
    """Finds routes by path."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._by_path = {route.path: route for route in routes}

    def find(self, path: str) -> Route | None:
        """Return the route of a path."""
        return self._by_path.get(path)
