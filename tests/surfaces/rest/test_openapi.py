"""The description of all routes: valid, complete, and nothing but the files."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from graymatter_mcp.contract.load import read_schema
from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.surfaces.rest.openapi import openapi_document

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCUMENT = openapi_document("1.2.3")

AT_THE_GATE: Final = (408, 431)
"""Before it is known which route is meant."""


def nodes(node: object) -> Iterator[dict[str, Any]]:
    """Yield every JSON object of the document."""
    if isinstance(node, dict):
        found = cast("dict[str, Any]", node)
        yield found
        for child in found.values():
            yield from nodes(child)
    elif isinstance(node, list):
        for child in cast("list[object]", node):
            yield from nodes(child)


def resolved(node: Any) -> Any:
    """Return a part of the document with its references replaced."""
    if isinstance(node, list):
        return [resolved(child) for child in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    part = cast("dict[str, Any]", node)
    if "$ref" in part:
        name = part["$ref"].removeprefix("#/components/schemas/")
        return resolved(DOCUMENT["components"]["schemas"][name])
    return {key: resolved(child) for key, child in part.items()}


def operation(method: str, path: str) -> dict[str, Any]:
    """Return one operation."""
    return DOCUMENT["paths"][path][method.lower()]


def test_it_is_valid_openapi() -> None:
    """Issue 5; data plane, section 8."""
    assert DOCUMENT["openapi"] == "3.1.0"
    assert [str(error) for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_every_route_is_in_it_once() -> None:
    """D60: what can be claimed by a case is what the files hold."""
    listed = {
        (method.upper(), path) for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert listed == {(route.method, path) for route in load_routes() for path in route.paths}
    names = [one["operationId"] for one in nodes(DOCUMENT) if "operationId" in one]
    assert len(names) == len(set(names)) == len(listed)


def test_it_says_what_the_files_say() -> None:
    """Routing, checks and this document have one source."""
    for route in load_routes():
        for path in route.paths:
            said = operation(route.method, path)
            told = {*route.success, *route.errors, *AT_THE_GATE}
            assert set(said["responses"]) == {str(code) for code in told}
            body = said.get("requestBody")
            assert (body is not None) is route.takes_body
            if body is not None:
                assert body["required"] is not route.has_optional_body
                assert resolved(body["content"]["application/json"]["schema"]) == route.request
            for status in route.success:
                answer = said["responses"][str(status)].get("content")
                sent = answer and resolved(answer["application/json"]["schema"])
                assert sent == route.response


def test_parameters_are_those_of_path_and_query() -> None:
    """Data plane, section 8."""
    by_name = {one["name"]: one for one in operation("GET", "/v1/me/export")["parameters"]}
    assert list(by_name) == ["afterId", "limit"]
    assert by_name["limit"]["schema"] == {
        "type": "integer",
        "minimum": 1,
        "maximum": 1000,
        "default": 200,
    }
    assert not by_name["limit"]["required"]
    recall = {one["name"]: one["required"] for one in operation("GET", "/recall")["parameters"]}
    assert recall == {"agent": True, "q": True, "k": False}
    for route in load_routes():
        in_path = re.findall(r"{(\w+)}", route.path)
        said = operation(route.method, route.path).get("parameters", [])
        assert [one["name"] for one in said if one["in"] == "path"] == in_path
        keys = [one["name"] for one in said if one["in"] == "header"]
        takes_key = route.needs_write and route.family != "legacy"
        assert keys == (["Idempotency-Key"] if takes_key else [])


def test_it_says_who_may_come() -> None:
    """Data plane, 2.1."""
    assert operation("POST", "/v1/search")["security"] == [{"bearer": []}]
    assert operation("POST", "/v1/me/search")["security"] == [{"bearer": []}, {"cookie": []}]
    assert operation("POST", "/v1/me/session")["security"] == []
    assert operation("GET", "/healthz")["security"] == []
    assert operation("GET", "/openapi.json")["security"] == [{"bearer": []}]


def test_errors_have_their_body() -> None:
    """Data plane, 2.6, 3.2 and section 10."""
    plain = read_schema("rest/error.json")
    schema = operation("POST", "/v1/search")["responses"]["400"]["content"]["application/json"]
    assert resolved(schema["schema"]) == plain
    gone = operation("POST", "/v1/search")["responses"]["503"]["content"]["application/json"]
    fits = Draft202012Validator(resolved(gone["schema"]))
    words = "search degraded: a backing tier was unavailable and no results could be produced"
    degraded: dict[str, Any] = {"results": [], "degraded": True, "abstained": False, "error": words}
    bodies: list[tuple[dict[str, Any], bool]] = [
        (degraded, True),
        ({"error": "store unavailable"}, True),
        ({**degraded, "abstained": True}, False),
        ({"results": []}, False),
    ]
    for body, is_good in bodies:
        assert fits.is_valid(body) is is_good  # pyright: ignore[reportUnknownMemberType] - stubs are partly unknown


def test_the_version_is_that_of_the_server() -> None:
    """Data plane, section 8."""
    assert DOCUMENT["info"]["version"] == "1.2.3"


@pytest.mark.parametrize("part", ["found_item", "write_result", "hygiene_report", "error"])
def test_shared_parts_have_names(part: str) -> None:
    """A reader finds each shape once."""
    assert part in DOCUMENT["components"]["schemas"]


def test_every_reference_leads_somewhere() -> None:
    """F11: one dangling reference makes a client drop everything."""
    known = DOCUMENT["components"]["schemas"]
    used = {one["$ref"].rpartition("/")[2] for one in nodes(DOCUMENT) if "$ref" in one}
    assert used == set(known)
