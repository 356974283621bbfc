"""What must hold of every HTTP answer of the data plane, whatever a case is about."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator

from graymatter_mcp.contract.load import read_schema
from graymatter_mcp.contract.routes import load_routes

if TYPE_CHECKING:
    from contract_tests.http_wire import Response
    from graymatter_mcp.contract.routes import RouteContract

SAFETY_HEADERS: Final = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
}
MEDIA_TYPE: Final = "application/json; charset=utf-8"
REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
INTERNAL: Final = {"plane": "internal server error", "legacy": "internal error"}
"""All that is ever said of a fault of our own."""
_LEAKS: Final = ("Traceback", 'File "', "Exception", "duckdb", "site-packages")
_BEFORE_ROUTES: Final = frozenset({400, 403, 404, 405, 408, 429, 431, 503})
"""Of requests that no route was found for, or none was asked."""


def check_answer(method: str, path: str, answer: Response) -> None:
    """Hold an answer against the schema of its route and the rules of all answers.

    Source: data plane, 2.2 and 2.6.
    """
    headers = answer.headers
    for name, value in SAFETY_HEADERS.items():
        assert headers.get(name) == value, name
    assert REQUEST_ID.fullmatch(headers["x-request-id"])
    assert headers.get("content-type") == (MEDIA_TYPE if answer.body else None)
    assert (answer.status == 204) is (not answer.body)
    route = _route(method, path)
    if answer.status >= 400 and "error" not in answer.document:
        assert route is not None
        assert answer.status in route.failures, "a refusal says why"
    elif answer.status >= 400:
        _check_words(answer, INTERNAL["legacy" if _is_legacy(route) else "plane"])
    if route is None:
        if path.startswith("/v1/"):
            assert answer.status in _BEFORE_ROUTES
            _error_schema().validate(answer.document)
        return
    assert answer.status in (*route.success, *route.errors), f"{answer.status} is not in the files"
    if answer.body:
        _validator(route.name, answer.status).validate(answer.document)


def _is_legacy(route: RouteContract | None) -> bool:
    return route is not None and route.family == "legacy"


def _check_words(answer: Response, internal: str) -> None:
    text = answer.document["error"]
    assert text
    assert not [leak for leak in _LEAKS if leak in answer.body.decode()], text
    assert (answer.status == 401) is ("www-authenticate" in answer.headers)
    assert answer.status != 405 or answer.headers["allow"]
    assert answer.status != 429 or int(answer.headers["retry-after"]) > 0
    assert answer.status != 500 or answer.document == {"error": internal}


def _route(method: str, path: str) -> RouteContract | None:
    place = path.partition("?")[0]
    for route in load_routes():
        # What is spelled out comes before a name: only `/v1/memories/{id}` and its like have one.
        if route.method == method and any(_fits(one, place) for one in route.paths):
            return route
    return None


def _fits(template: str, place: str) -> bool:
    pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(template))
    return re.fullmatch(pattern, place) is not None


@cache
def _error_schema() -> Any:
    return Draft202012Validator(read_schema("rest/error.json"))


@cache
def _validator(name: str, status: int) -> Any:
    (route,) = (one for one in load_routes() if one.name == name)
    error = read_schema("rest/error.json")
    if status in route.success:
        assert route.response is not None, "an answer without a schema has no body"
        return Draft202012Validator(route.response)
    if status in route.failures:
        return Draft202012Validator({"oneOf": [route.failures[status], error]})
    return Draft202012Validator(error)
