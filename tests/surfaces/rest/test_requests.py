"""Bodies as they come off the wire, and the envelopes of those that go no further."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from graymatter_mcp.contract.routes import load_route, load_routes
from graymatter_mcp.surfaces.http.messages import RefusedError
from graymatter_mcp.surfaces.rest.requests import read_arguments

NOW = datetime(2026, 5, 2, 17, tzinfo=UTC)
NOT_JSON = {"error": "Body is not valid JSON but content-type is set to 'application/json'"}
EMPTY = {"error": "Body cannot be empty when content-type is set to 'application/json'"}
JSON_ROUTES = [
    route.name for route in load_routes() if route.takes_body and route.family != "legacy"
]


def read(name: str, body: bytes, kind: str | None = "application/json", query: str = "") -> Any:
    """Read a request, or return status and document of its refusal."""
    try:
        return read_arguments(load_route(name), body, kind, query, now=NOW)
    except RefusedError as exc:
        return exc.answer.status, json.loads(exc.answer.body)


@pytest.mark.parametrize("name", JSON_ROUTES)
@pytest.mark.parametrize(
    "body",
    [
        b"{not json",
        b"\xff\xfe",
        b'{"k": NaN}',
        b'{"k": -Infinity}',
        b" ",
        b"\xef\xbb\xbf{}",
        b"{}{}",
        b"[" * 100_000,
        b'{"k": ' + b"9" * 5_000 + b"}",
    ],
)
def test_what_is_no_json_has_its_envelope(name: str, body: bytes) -> None:
    """D5."""
    assert read(name, body) == (400, NOT_JSON)


@pytest.mark.parametrize("name", JSON_ROUTES)
@pytest.mark.parametrize("body", [b"[1,2]", b'"s"', b"5", b"null", b"true", b"[]"])
def test_what_is_no_object_is_one_issue(name: str, body: bytes) -> None:
    """D5."""
    status, document = read(name, body)
    assert (status, document["error"]) == (400, "invalid request body")
    (issue,) = document["issues"]
    assert (issue["path"], issue["code"]) == ("", "invalid_type")
    assert set(issue) == {"path", "message", "code"}


@pytest.mark.parametrize("name", JSON_ROUTES)
def test_an_empty_body_is_an_empty_object_where_nothing_is_asked_for(name: str) -> None:
    """D5; data plane, 2.6."""
    answer = read(name, b"")
    if load_route(name).has_optional_body:
        assert answer == {}
        assert read(name, b"", None) == {}
    else:
        assert answer == (400, EMPTY)


def test_the_four_of_the_plane_take_an_empty_body() -> None:
    """Data plane, 2.6."""
    optional = {
        route.name for route in load_routes() if route.family == "plane" and route.has_optional_body
    }
    assert optional == {"hygiene", "evaluate", "adoption", "recent"}


@pytest.mark.parametrize(
    ("kind", "is_json"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/json;charset=utf-8", True),
        ("text/plain", False),
        ("application/jsonp", False),
        ("application/x-www-form-urlencoded", False),
        ("", False),
        (None, False),
    ],
)
def test_a_body_says_that_it_is_json(kind: str | None, is_json: bool) -> None:
    """D5; data plane, 2.2."""
    refused = (415, {"error": "content type must be application/json"})
    assert read("search", b'{"query":"q"}', kind) == ({"query": "q"} if is_json else refused)
    # Media type comes before JSON.
    assert read("search", b"{not json", kind) == ((400, NOT_JSON) if is_json else refused)


def test_the_issues_stand_in_the_answer() -> None:
    """Data plane, 2.6."""
    status, document = read("recent", b'{"since":"yesterday","k":201}')
    assert status == 400
    assert document == {
        "error": "invalid request body",
        "issues": [
            {"path": "k", "message": "must be at most 200", "code": "too_big"},
            {
                "path": "since",
                "message": "since must be ISO-8601 (e.g. 2026-05-02T17:00:00Z)",
                "code": "invalid_format",
            },
        ],
    }


def test_arguments_of_a_query_are_read_like_fields() -> None:
    """Data plane, section 8."""
    assert read("export", b"", None, "limit=5&afterId=x&stray=1") == {"limit": 5, "afterId": "x"}
    assert read("export", b"", None) == {}
    assert read("export", b"", None, "afterId=a%20b") == {"afterId": "a b"}
    status, document = read("changes", b"", None, "limit=501&since=soon&afterSeq=-1")
    assert status == 400
    assert [one["path"] for one in document["issues"]] == ["afterSeq", "limit", "since"]
    assert read("changes", b"", None, "a=1&" * 5000)[0] == 400


def test_a_route_that_takes_nothing_reads_nothing() -> None:
    """Data plane, section 3."""
    assert read("stats", b"{not json", "text/plain", "k=1") == {}


def test_a_lone_surrogate_does_not_get_in() -> None:
    """It is JSON, and no text."""
    status, document = read("search", b'{"query":"\\ud800"}')
    assert status == 400
    assert document["issues"][0]["path"] == "query"
