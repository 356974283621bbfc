"""The schema files of the data plane, held against the tables of the specification."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from jsonschema import Draft202012Validator

from contract_tests.manifest import promise
from graymatter_mcp.contract.load import read_schema
from graymatter_mcp.contract.routes import load_route, load_routes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.contract.load import Schema

READS: Final = """
POST /v1/context, POST /v1/search, POST /v1/hygiene, POST /v1/evaluate, POST /v1/adoption,
POST /v1/recent, POST /v1/neighbors, GET /v1/stats
"""
WRITES: Final = """
POST /v1/capture, POST /v1/session-recap, POST /v1/remember, POST /v1/forget,
PUT /v1/memories/{id}
"""
ACCOUNTS: Final = """
POST /v1/me/session, GET /v1/me/session, DELETE /v1/me/session, GET /v1/me/tokens,
POST /v1/me/tokens, DELETE /v1/me/tokens/{id}, POST /v1/auth/rotate-token, GET /v1/me/projects,
POST /v1/me/projects, DELETE /v1/me/projects/{id}, GET /v1/me/projects/{id}/members,
POST /v1/me/projects/{id}/members, DELETE /v1/me/projects/{id}/members/{userId},
GET /v1/me/active-project, PUT /v1/me/active-project, DELETE /v1/me/active-project,
GET /v1/me/export, POST /v1/me/import, GET /v1/me/changes, GET /v1/me/usage, GET /v1/admin/users,
POST /v1/admin/users, DELETE /v1/admin/users/{id}, PUT /v1/admin/users/{id}/quota,
GET /v1/admin/tokens, POST /v1/admin/tokens, DELETE /v1/admin/tokens/{id}, GET /v1/admin/audit,
POST /v1/admin/decay, GET /v1/admin/health, GET /openapi.json
"""
LEGACY: Final = """
GET /healthz, POST /remember, GET /recall, POST /consolidate, GET /facts, DELETE /forget,
DELETE /forget/{id}
"""
NAMES: Final = [route.name for route in load_routes()]
CREATED: Final = {"capture", "remember", "session-recap", "import"}


def listed(table: str) -> set[str]:
    """Return the routes of a table."""
    return {" ".join(row.split()) for row in table.split(",")}


def objects_below(node: object) -> Iterator[Schema]:
    """Yield every schema of an object that names its properties."""
    if isinstance(node, dict):
        schema = cast("Schema", node)
        if "properties" in schema:
            yield schema
        for child in schema.values():
            yield from objects_below(child)
    elif isinstance(node, list):
        for child in cast("list[Any]", node):
            yield from objects_below(child)


@promise("plane:routes")
def test_the_routes_are_those_of_the_specification() -> None:
    """Data plane, sections 3, 8 and 10."""
    found = [f"{route.method} {path}" for route in load_routes() for path in route.paths]
    tables = (READS, WRITES, ACCOUNTS, LEGACY)
    mirrored = {
        row.replace("/v1/", "/v1/me/") for table in (READS, WRITES) for row in listed(table)
    }
    assert set(found) == mirrored.union(*map(listed, tables))
    assert len(set(found)) == len(found)


@promise("plane:routes")
@pytest.mark.parametrize("name", NAMES)
def test_what_a_route_says_of_itself_fits_together(name: str) -> None:
    """Data plane, 2.1, 2.6 and section 3."""
    route = load_route(name)
    key = f"{route.method} {route.path}"
    if route.family == "plane":
        assert route.needs_write is (key in listed(WRITES))
    reads_a_key = route.needs_write and route.family != "legacy"
    assert 401 in route.errors or route.is_open
    assert (409 in route.errors) is (reads_a_key or name == "token-rotate")
    assert 400 in route.errors or not (route.takes_body or route.takes == "query" or reads_a_key)
    assert {413, 415} <= set(route.errors) or not route.takes_body or route.family == "legacy"
    assert (route.success == (201, 200)) is (name in CREATED)
    assert (route.response is None) is (route.success == (204,))
    assert all(400 <= status < 600 for status in route.errors)
    assert route.is_strict is (name in {"session-recap", "hygiene", "evaluate", "adoption"})


@promise("plane:closed")
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_closed_and_requests_are_described(name: str) -> None:
    """Data plane, notation and 2.7."""
    route = load_route(name)
    for schema in (route.request, route.response, *route.failures.values()):
        if schema is not None:
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
    for answer in (route.response, *route.failures.values(), read_schema("rest/error.json")):
        for part in objects_below(answer):
            assert part["additionalProperties"] is False
            assert set(part.get("required", ())) <= set(part["properties"])
    for part in objects_below(route.request):
        assert all(field["description"] for field in part["properties"].values())


@promise("plane:routes")
def test_a_route_that_needs_a_body_has_a_field_to_ask_for() -> None:
    """Data plane, 2.6: an empty body is an empty object where nothing is required."""
    for route in load_routes():
        if route.has_optional_body:
            assert not route.request.get("required")
