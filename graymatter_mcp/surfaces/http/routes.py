"""The table of routes: what exists, who may come, and how much they may bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """What may be done at one place, in one or several ways."""

    path: str
    """With a name in braces where any one step may stand."""
    methods: tuple[str, ...]
    endpoint: Callable[[HttpRequest], Awaitable[HttpAnswer]]
    is_open: bool = False
    """Whether it answers without a bearer and outside the rate limit: it tells nothing."""
    while_draining: bool = False
    """Whether it still answers when the server is about to leave."""
    reads_body: bool | None = None
    """Whether a body is read; None: where a bearer is asked for."""
    body_bytes: int | None = None
    """Largest body, where it is smaller than the server's own bound."""
    too_large: str = ""
    """What is said of a larger body; empty for the server's own words."""
    takes_session: bool = False
    """Whether the page's cookie is taken in place of a bearer."""
    is_counted: bool = False
    """Whether an open route is within the rate limit: it tries a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A path that was found."""

    path: str
    """As the table has it."""
    routes: tuple[Route, ...]
    parameters: Mapping[str, str]
    """What stands where the path has names."""

    @property
    def methods(self) -> tuple[str, ...]:
        """What may be done here."""
        return tuple(method for route in self.routes for method in route.methods)

    def route(self, method: str) -> Route | None:
        """Return what a method leads to."""
        return next((route for route in self.routes if method in route.methods), None)


class RouteTable:
    """Finds routes by path."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        by_path: dict[str, list[Route]] = {}
        for route in routes:
            by_path.setdefault(route.path, []).append(route)
        self._by_path = {path: tuple(found) for path, found in by_path.items()}
        self._templates = [
            (path.split("/"), found) for path, found in self._by_path.items() if "{" in path
        ]

    def find(self, path: str) -> Place | None:
        """Return the place of a path; one spelled out comes before one with names."""
        exact = self._by_path.get(path)
        if exact is not None and "{" not in path:
            return Place(path=path, routes=exact, parameters={})
        steps = path.split("/")
        for template, found in self._templates:
            parameters = _fitted(template, steps)
            if parameters is not None:
                return Place(path="/".join(template), routes=found, parameters=parameters)
        return None


def _fitted(template: Sequence[str], steps: Sequence[str]) -> dict[str, str] | None:
    """Return what stands where a template has names; None where the steps do not fit it."""
    if len(template) != len(steps):
        return None
    parameters: dict[str, str] = {}
    for wanted, step in zip(template, steps, strict=True):
        if wanted.startswith("{") and step:
            parameters[wanted[1:-1]] = step
        elif wanted != step:
            return None
    return parameters
