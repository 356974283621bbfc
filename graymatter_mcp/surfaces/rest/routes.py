"""The routes of the data plane, each with what carries it out."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.surfaces.http.limits import MIB
from graymatter_mcp.surfaces.http.routes import Route
from graymatter_mcp.surfaces.rest.all_operations import BY_ROUTE
from graymatter_mcp.surfaces.rest.endpoint import RestEndpoint
from graymatter_mcp.surfaces.rest.report_operations import adoption_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.adoption import Served
    from graymatter_mcp.surfaces.rest.operations import Operation

BODY_BYTES: Final = 2 * MIB
TOO_LARGE: Final = "request body is too large"
SESSION_PATHS: Final = "/v1/me/"


def rest_routes(
    plane: DataPlane,
    operations: Mapping[str, Operation] = BY_ROUTE,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    served: Served | None = None,
) -> list[Route]:
    """Return every route that has somebody to carry it out.

    Args:
        plane: Whom they ask.
        operations: By the name of the route.
        now: Says which times lie ahead.
        served: What MCP clients are given here; None where nobody asks for it.
    """
    if served is not None:
        operations = {**operations, "adoption": adoption_of(served)}
    found: list[Route] = []
    for contract in load_routes():
        operation = operations.get(contract.name)
        if operation is None:
            continue
        endpoint = RestEndpoint(contract, operation, plane, now)
        found += [
            Route(
                path=path,
                methods=(contract.method,),
                endpoint=endpoint,
                body_bytes=BODY_BYTES,
                too_large=TOO_LARGE,
                takes_session=path.startswith(SESSION_PATHS),
            )
            for path in contract.paths
        ]
    return found
