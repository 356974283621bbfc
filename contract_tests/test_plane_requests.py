"""The data plane under requests of all kinds: no fault, and every answer fits its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from contract_tests.plane_requests import requests_of
from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.surfaces.rest.all_operations import BY_ROUTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.plane_requests import Sent
    from contract_tests.plane_wire import Plane

SERVED: Final = [route for route in load_routes() if route.name in BY_ROUTE]


@promise("plane:openapi")
def test_the_routes_are_described_to_callers(plane: Plane) -> None:
    """Data plane, section 8."""
    answer = plane.raw("GET", "/openapi.json")
    assert answer.status == 200
    described = answer.document
    assert described["openapi"] == "3.1.0"
    places = {(one.method.lower(), path) for one in load_routes() for path in one.paths}
    assert places == {
        (method, path) for path in described["paths"] for method in described["paths"][path]
    }
    assert plane.with_token(None).raw("GET", "/openapi.json").status == 401


def fuzz(plane: Plane, count: int) -> None:
    """Send so many requests made from the files."""
    ids = plane.keep("fuzz", "Ana: the port is 7778", "The port was 7777", "Never on Fridays")

    @settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=(HealthCheck.too_slow, HealthCheck.data_too_large),
    )
    @given(sent=requests_of(SERVED, ids))
    def send(sent: Sent) -> None:
        kind = {} if sent.body is None else {"content-type": "application/json"}
        # Status, media type, headers and schema are checked there.
        answer = plane.raw(sent.method, sent.path, sent.body, kind)
        assert answer.status < 500, sent

    send()


@promise("plane:any-request")
def test_no_request_makes_a_fault(open_plane: Callable[..., Plane]) -> None:
    """Issue 5."""
    fuzz(open_plane(load=hashed), 300)


@promise("plane:any-request")
@pytest.mark.slow
def test_no_request_of_ten_thousand_makes_a_fault(open_plane: Callable[..., Plane]) -> None:
    """Issue 5."""
    fuzz(open_plane(load=hashed), 10_000)
