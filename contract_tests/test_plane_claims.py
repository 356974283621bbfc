"""The data plane: no route without a case, and cases of those that belong to no other topic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.manifest import PROMISES, promise
from contract_tests.plane_claims import CLAIMS
from contract_tests.plane_inside import SwitchedEmbedder
from contract_tests.plane_people import Person, done, refused
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.contract.routes import load_routes

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.plane_wire import Plane
    from graymatter_mcp.contract.routes import RouteContract

HERE: Final = Path(__file__).parent


@promise("plane:claims")
def test_every_route_that_is_described_is_claimed_by_a_case(plane: Plane) -> None:
    """D60."""
    paths = plane.raw("GET", "/openapi.json").document["paths"]
    served = {(method.upper(), path) for path in paths for method in paths[path]}
    claimed = {
        (route.method, path)
        for route in load_routes()
        if route.name in CLAIMS
        for path in route.paths
    }
    assert served == claimed
    assert set(CLAIMS.values()) <= PROMISES.keys()


@promise("plane:claims")
@pytest.mark.parametrize("route", load_routes(), ids=lambda route: route.name)
def test_a_case_that_claims_a_route_asks_for_it(route: RouteContract) -> None:
    """D60: where the row is tested the route stands, by its name, its path or its twin."""
    twins = [one.name for one in load_bundle(("dataplane",)).tools if one.route == route.name]
    # What stands before the name of a thing is the same for every thing.
    places = [path.partition("{")[0] for path in route.paths]
    row = f'"{CLAIMS[route.name]}"'
    files = [
        text
        for path in sorted(HERE.glob("test_*.py"))
        if row in (text := path.read_text(encoding="utf-8")) and "@promise(" in text
    ]
    assert any(f'"{name}"' in text for text in files for name in (route.name, *twins)) or any(
        place in text for text in files for place in places
    )


@promise("plane:health")
def test_health_tells_an_admin_what_is_owed(open_plane: Callable[..., Plane]) -> None:
    """Data plane, section 8: 200 also while the model fails."""
    model = SwitchedEmbedder()
    plane = open_plane(load=lambda: model)
    before = done(plane.rest("GET", "/v1/admin/health"))
    assert (before["pendingVectors"], before["oldestPendingAt"]) == (0, None)
    model.is_failing = True
    plane.keep("notes", "The kiln is lit on Fridays")
    told = done(plane.rest("GET", "/v1/admin/health"))
    (item,) = plane.ok("rest", "recent")["results"]
    assert (told["pendingVectors"], told["oldestPendingAt"]) == (1, item["createdAt"])
    assert told["commitSeq"] > before["commitSeq"]
    assert told["lastDecayAt"] is None
    refused(Person(plane).plane.rest("GET", "/v1/admin/health"), 403, "admin only")


@promise("plane:members")
def test_members_are_listed_to_members(plane: Plane) -> None:
    """Data plane, section 8; what is shared twice or with nobody is refused."""
    ana, ben, eve = Person(plane), Person(plane), Person(plane)
    place = f"/v1/me/projects/{ana.project('web', ben)}/members"
    for one in (ana, ben):
        members = done(one.plane.rest("GET", place))["members"]
        assert {(who["userId"], who["username"]) for who in members} == {
            (ana.id, ana.name),
            (ben.id, ben.name),
        }
    assert eve.plane.rest("GET", place).status in (403, 404)
    again = ana.plane.rest("POST", place, {"username": ben.name})
    refused(again, 409, "user is already a member")
    refused(ana.plane.rest("POST", place, {"username": "nobody"}), 404, "unknown user")
    for_owner = ben.plane.rest("POST", place, {"username": eve.name})
    refused(for_owner, 403, "only the owner can share a project")


@promise("plane:cookie")
def test_a_token_opens_a_session_of_the_page(plane: Plane) -> None:
    """Data plane, section 8; 2.1: without an Origin of ours a cookie changes nothing."""
    ana = Person(plane)
    token = ana.mint()
    page = plane.with_token(None)
    opened = page.rest("POST", "/v1/me/session", {"token": token["token"]})
    user = {"id": ana.id, "username": ana.name, "role": "user"}
    assert done(opened, 201)["user"] == user
    name, *attributes = opened.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict"} <= set(attributes)
    cookie = {"cookie": name}
    assert done(page.rest("GET", "/v1/me/session", headers=cookie))["user"] == user
    body = {"content": "The kiln is lit on Fridays"}
    written = page.rest("POST", "/v1/me/remember", body, headers=cookie)
    refused(written, 403, "origin not allowed")
    ours = {**cookie, "origin": f"http://127.0.0.1:{plane.server.port}"}
    assert page.rest("POST", "/v1/me/remember", body, headers=ours).status == 201
    assert page.rest("DELETE", "/v1/me/session", headers=ours).status == 204
    refused(page.rest("GET", "/v1/me/session", headers=cookie), 401, "unauthorized")
    refused(page.rest("POST", "/v1/me/session", {"token": "gm_x"}), 401, "unauthorized")
    assert SERVER_TOKEN not in opened.headers["set-cookie"]
