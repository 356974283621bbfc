"""The data plane: the shape of requests and answers, and of errors."""

from __future__ import annotations

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_answers import MEDIA_TYPE, SAFETY_HEADERS
from contract_tests.plane_inside import hashed
from contract_tests.plane_wire import DOORS, REST
from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.surfaces.rest.all_operations import BY_ROUTE

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.http_wire import Response
    from contract_tests.plane_wire import Plane

ULID: Final = r"[0-9A-HJKMNP-TV-Z]{26}"
MIB: Final = 1024 * 1024
NOT_JSON: Final = "Body is not valid JSON but content-type is set to 'application/json'"
EMPTY: Final = "Body cannot be empty when content-type is set to 'application/json'"
JSON_TYPE: Final = {"content-type": "application/json"}
JSON_PLACES: Final = [
    (route, re.sub(r"{\w+}", "x", path))
    for route in load_routes()
    if route.takes_body and route.name in BY_ROUTE
    for path in route.paths
]
"""Every place that takes a JSON body, with its route."""
SECRET_WORDS: Final = "The vault stands behind the old piano"  # noqa: S105 - looked for in the log

STRAYS: Final[dict[str, dict[str, Any]]] = {
    "session-recap": {"decision": ["We decided to buy bread"]},
    "hygiene": {"K": 3},
    "evaluate": {"suites": "core"},
    "adoption": {"observedTool": []},
}

by_door = pytest.mark.parametrize("door", DOORS)


def codes(answer: Response) -> list[tuple[str, str]]:
    """Return path and code of each issue of a refused body."""
    assert answer.status == 400
    assert answer.document["error"] == "invalid request body"
    return [(issue["path"], issue["code"]) for issue in answer.document["issues"]]


@promise("plane:remember-recent")
@by_door
def test_what_is_remembered_is_listed(plane: Plane, door: str) -> None:
    """D1."""
    shelf = plane.shelf()
    outcome = plane.ask(door, "remember", content="The lab opens at nine", namespace=shelf)
    assert outcome.response is None or outcome.response.status == 201
    written = outcome.body
    assert written == {"id": written["id"], "embedded": True}
    assert re.fullmatch(ULID, written["id"])
    (item,) = plane.alike("recent", namespace=shelf)["results"]
    assert item["id"] == written["id"]
    assert item["content"] == "The lab opens at nine"
    assert item["score"] == 1.0
    assert "signals" not in item


@promise("plane:content-bounds")
def test_a_content_has_bounds(open_plane: Callable[..., Plane]) -> None:
    """D2: lengths count code points, of which one may be four bytes."""
    plane = open_plane(load=hashed)
    shelf = plane.shelf()
    longest = "𝄞 " * 131_072
    assert codes(plane.refused_alike("remember", content="")) == [("content", "too_small")]
    assert codes(plane.refused_alike("remember")) == [("content", "invalid_type")]
    too_long = plane.refused_alike("remember", content=longest + "x")
    assert codes(too_long) == [("content", "too_big")]
    kept = plane.post("remember", content=longest, namespace=shelf)
    assert kept.status == 201
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert item["content"] == longest


@promise("plane:long-text")
@by_door
def test_a_long_text_does_not_keep_its_writer_waiting(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """Data plane, 5.7; ADR 0043."""
    plane = open_plane(load=hashed)
    shelf = plane.shelf()
    long = f"{'The tide comes in and the tide goes out. ' * 100}A heron stands on the mole."
    assert len(long) > 4096
    short = plane.ok(door, "remember", content=long[:4096], namespace=shelf)
    assert short["embedded"] is True
    written = plane.ok(door, "remember", content=long, namespace=shelf)
    assert written["embedded"] is False
    plane.server.settle()
    assert plane.ok(door, "stats")["pendingVectors"] == 0
    told = plane.ok(door, "update", id=short["id"], content=f"{long} It is grey.")
    assert told["embeddingChanged"] is False
    plane.server.settle()
    assert plane.ok(door, "stats")["pendingVectors"] == 0


@promise("plane:all-issues")
def test_all_that_is_wrong_is_said_at_once(plane: Plane) -> None:
    """D3."""
    answer = plane.refused_alike(
        "remember",
        content="Five fields of this are wrong",
        namespace="n" * 129,
        sensitivity="topsecret",
        confidence=1.5,
        metadata={"k" * 65: 1},
        force="yes",
    )
    assert codes(answer) == [
        ("confidence", "too_big"),
        ("force", "invalid_type"),
        ("metadata", "custom"),
        ("namespace", "too_big"),
        ("sensitivity", "invalid_value"),
    ]
    (metadata,) = [one for one in answer.document["issues"] if one["path"] == "metadata"]
    assert metadata["message"] == "metadata key too long (64-char max)"


@promise("plane:recent-fields")
@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"k": 201}, "k", "too_big"),
        ({"k": 0}, "k", "too_small"),
        ({"k": 1.5}, "k", "invalid_type"),
        ({"since": "yesterday"}, "since", "invalid_format"),
        ({"contentMode": "brief"}, "contentMode", "invalid_value"),
        ({"includeNamespaces": ["a"] * 17}, "includeNamespaces", "too_big"),
        ({"includeNamespaces": ["-bad"]}, "includeNamespaces.0", "invalid_format"),
    ],
)
def test_fields_of_recent_are_checked(
    plane: Plane, fields: dict[str, Any], path: str, code: str
) -> None:
    """D4."""
    answer = plane.refused_alike("recent", **fields)
    assert codes(answer) == [(path, code)]
    (issue,) = answer.document["issues"]
    if path == "since":
        assert issue["message"] == "since must be ISO-8601 (e.g. 2026-05-02T17:00:00Z)"
    if path.startswith("includeNamespaces."):
        assert issue["message"] == (
            "namespace must start alphanumeric and contain only letters, digits, dot, colon,"
            " underscore, or dash"
        )


@promise("plane:recent-fields")
def test_harmless_spellings_of_recent_are_taken(plane: Plane) -> None:
    """D4."""
    shelf = plane.shelf()
    ids = plane.keep(shelf, *(f"Row {n} of the ledger is written" for n in range(9)))
    names = [
        *("k", "namespace", "includeNamespaces", "since", "project", "includeProjects"),
        *("agentName", "maxSensitivity", "contentMode", "asOf", "ids", "maxBytes"),
    ]
    assert plane.alike("recent", includeNamespaces=["__shared__"]) == {"results": []}
    eight = plane.alike("recent", **{**dict.fromkeys(names), "namespace": shelf, "k": "8"})
    assert [item["id"] for item in eight["results"]] == ids[:0:-1]
    assert plane.alike("recent", namespace=shelf, k=8.0) == eight
    assert plane.alike("hygiene", k=8.0) == plane.alike("hygiene", k=8)
    assert plane.rest("POST", "/v1/recent", dict.fromkeys(names)).status == 200


@promise("plane:envelopes")
@pytest.mark.parametrize(("route", "path"), JSON_PLACES, ids=[path for _, path in JSON_PLACES])
def test_bodies_that_are_no_request_have_their_envelopes(
    plane: Plane, route: Any, path: str
) -> None:
    """D5."""

    def send(body: bytes | None, kind: dict[str, str] = JSON_TYPE) -> Response:
        return plane.raw(route.method, path, body, kind)

    for broken in (b"{not json", b"\xff", b'{"k": NaN}'):
        assert send(broken).document == {"error": NOT_JSON}
    for empty in (b"", None):
        answer = send(empty)
        if route.has_optional_body:
            assert answer.status in route.success
        else:
            assert (answer.status, answer.document) == (400, {"error": EMPTY})
    for body in (b"[1,2]", b'"s"', b"5", b"null"):
        assert codes(send(body)) == [("", "invalid_type")]
    for kind in ("text/plain", "application/jsonp", ""):
        answer = send(b"{}", {"content-type": kind} if kind else {})
        assert answer.status == 415
        assert answer.document == {"error": "content type must be application/json"}
    assert send(b"{not json", {"content-type": "Application/JSON; charset=utf-8"}).status == 400
    answer = plane.announce(route.method, path, 2 * MIB + 1)
    assert answer.status == 413
    assert answer.document == {"error": "request body is too large"}


@promise("plane:envelopes")
def test_a_body_of_two_mebibytes_is_read(plane: Plane) -> None:
    """D5; data plane, 2.2: the bound itself is within."""
    body = b'{"content":"' + b"x" * (2 * MIB - 14) + b'"}'
    assert len(body) == 2 * MIB
    assert codes(plane.raw("POST", "/v1/remember", body, JSON_TYPE)) == [("content", "too_big")]


@promise("plane:owner-sign")
@pytest.mark.parametrize("name", ["\x1fu/other/one\x1fnotes", "\x1fp/local/x\x1f", "\x1f"])
@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("remember", {"content": "This is planted in another's garden"}),
        ("capture", {"content": "This is planted in another's garden"}),
        ("session-recap", {"other": ["This is planted in another's garden"]}),
        ("update", {"id": "01KDVDNA0046BZDQQADGVMYGAT"}),
        ("search", {"query": "garden"}),
        ("context", {"message": "garden"}),
        ("recent", {}),
    ],
)
def test_no_name_leads_to_another_owner(
    plane: Plane, operation: str, fields: dict[str, Any], name: str
) -> None:
    """Data plane, 1.1: what the store writes before a name is not the caller's to write."""
    answer = plane.refused_alike(operation, namespace=name, **fields)
    assert codes(answer) == [("namespace", "invalid_format")]


@promise("plane:routing-first")
def test_routing_comes_before_everything_else(plane: Plane) -> None:
    """D6."""
    nobody = plane.with_token(None)
    for caller in (plane, nobody):
        for method, path in (("POST", "/v1/nowhere"), ("GET", "/"), ("POST", "/v1/memories/")):
            answer = caller.raw(method, path, b"", JSON_TYPE)
            assert (answer.status, answer.document) == (404, {"error": "not found"})
        for method, path, allow in (
            ("GET", "/v1/search", "POST"),
            ("POST", "/v1/stats", "GET"),
            ("DELETE", "/v1/memories/x", "PUT"),
        ):
            answer = caller.raw(method, path, b"{not json", JSON_TYPE)
            assert answer.status == 405
            assert allow in answer.headers["allow"].split(", ")
            assert method not in answer.headers["allow"].split(", ")


@promise("plane:internal-error")
@by_door
def test_a_fault_shows_nothing_but_that_it_is_one(
    open_plane: Callable[..., Plane], caplog: pytest.LogCaptureFixture, door: str
) -> None:
    """D7."""
    plane = open_plane(load=hashed)
    plane.ok(door, "recent")
    plane.server.store.failing = "unexpected"
    with caplog.at_level(logging.DEBUG):
        if door == REST:
            headers = {"x-request-id": "case-7"}
            answer = plane.rest("POST", "/v1/remember", {"content": SECRET_WORDS}, headers)
            assert answer.status == 500
            assert answer.body == b'{"error":"internal server error"}'
            assert answer.headers["x-request-id"] == "case-7"
            errors = [one for one in caplog.records if one.levelno >= logging.ERROR]
            assert any("case-7" in one.getMessage() for one in errors)
        else:
            outcome = plane.tool(door, "memory_remember", content=SECRET_WORDS)
            assert outcome.error == "error: internal server error"
    assert "RuntimeError" in caplog.text
    assert "piano" not in caplog.text
    plane.server.store.failing = ""
    assert plane.ok(door, "recent") == {"results": []}
    assert plane.ok(door, "remember", content=SECRET_WORDS)["id"]


@promise("plane:store-away")
@by_door
@pytest.mark.parametrize("failing", ["away", "commit"])
def test_a_store_that_is_away_is_said_to_be(
    open_plane: Callable[..., Plane], door: str, failing: str
) -> None:
    """Data plane, 2.6."""
    plane = open_plane(load=hashed)
    plane.server.store.failing = failing
    for operation in ("remember", "capture"):
        outcome = plane.ask(door, operation, content="The gate is painted green")
        assert outcome.error == "error: store unavailable"
        assert outcome.response is None or outcome.response.status == 503
    plane.server.store.failing = ""
    assert plane.ok(door, "recent") == {"results": []}


@promise("plane:headers")
def test_every_answer_has_its_headers(plane: Plane) -> None:
    """D8."""
    nobody = plane.with_token(None)
    answers = [
        plane.rest("POST", "/v1/recent", {}),
        plane.rest("POST", "/v1/recent", {"k": 0}),
        nobody.rest("POST", "/v1/recent", {}),
        plane.rest("POST", "/v1/nowhere", {}),
        nobody.raw("GET", "/live"),
        nobody.raw("GET", "/ready"),
        nobody.raw("GET", "/healthz"),
        plane.raw("POST", "/mcp", b"{}", {**JSON_TYPE, "accept": "application/json"}),
        plane.raw("GET", "/mcp"),
        plane.raw("POST", "/mcp", b"{}", {"accept": "text/html"}),
    ]
    assert [answer.status for answer in answers] == [
        *(200, 400, 401, 404, 200, 200, 200, 400, 405, 406)
    ]
    for answer in answers:
        assert answer.headers.items() >= {**SAFETY_HEADERS, "content-type": MEDIA_TYPE}.items()


@promise("plane:headers")
def test_the_caller_may_name_its_request(plane: Plane, caplog: pytest.LogCaptureFixture) -> None:
    """D8; data plane, 2.2: another name than the pattern's is replaced."""
    with caplog.at_level(logging.INFO):
        for given in ("a.B-9_z", "x" * 64):
            answer = plane.rest("POST", "/v1/recent", {}, {"x-request-id": given})
            assert answer.headers["x-request-id"] == given
            assert any(given in one.getMessage() for one in caplog.records)
        for given in ("x" * 65, "two words", "käse", ""):
            sent = {"x-request-id": given.encode("latin-1").decode("latin-1")}
            answer = plane.rest("POST", "/v1/recent", {}, sent)
            minted = answer.headers["x-request-id"]
            assert minted != given
            assert any(minted in one.getMessage() for one in caplog.records)


@promise("plane:idempotency")
def test_a_write_under_one_key_takes_effect_once(plane: Plane) -> None:
    """D9."""
    shelf, key = plane.shelf(), {"idempotency-key": "case nine ~!"}
    body = {"content": "Deliveries come through the north door", "namespace": shelf}
    first = plane.rest("POST", "/v1/capture", body, key)
    again = plane.rest("POST", "/v1/capture", body, key)
    assert (first.status, again.status) == (201, 201)
    assert again.body == first.body
    assert "idempotency-replayed" not in first.headers
    assert again.headers["idempotency-replayed"] == "true"
    other = plane.rest("POST", "/v1/capture", {**body, "content": "Another door opens"}, key)
    assert other.status == 409
    assert other.document == {"error": "idempotency key was used with another request"}
    assert len(plane.ok(REST, "recent", namespace=shelf)["results"]) == 1


@promise("plane:idempotency")
@pytest.mark.parametrize("operation", ["remember", "session-recap", "update", "forget"])
def test_every_write_knows_its_key(plane: Plane, operation: str) -> None:
    """D9; data plane, 2.2: any writing request."""
    shelf = plane.shelf()
    (kept,) = plane.keep(shelf, "The archive is in the cellar")
    fields: dict[str, Any] = {
        "remember": {"content": "Tickets are sold at the desk", "namespace": shelf},
        "session-recap": {"decisions": ["We decided to meet on Mondays"], "namespace": shelf},
        "update": {"content": "The archive is in the attic"},
        "forget": {"id": kept},
    }[operation]
    method = "PUT" if operation == "update" else "POST"
    path = f"/v1/memories/{kept}" if operation == "update" else f"/v1/{operation}"
    key = {"idempotency-key": f"{operation} {shelf}"}
    first, again = (plane.rest(method, path, fields, key) for _ in range(2))
    assert first.status in (200, 201)
    assert (again.status, again.body) == (first.status, first.body)
    assert again.headers["idempotency-replayed"] == "true"


@promise("plane:idempotency")
def test_twenty_at_once_under_one_key_are_one_fact(plane: Plane) -> None:
    """D9."""
    shelf = plane.shelf()
    body = {"content": "The west stairs are closed in winter", "namespace": shelf}

    def send(_: int) -> Response:
        return plane.rest("POST", "/v1/capture", body, {"idempotency-key": shelf})

    with ThreadPoolExecutor(20) as crowd:
        answers = list(crowd.map(send, range(20)))
    assert {answer.status for answer in answers} == {201}
    assert len({answer.body for answer in answers}) == 1
    assert sum("idempotency-replayed" not in answer.headers for answer in answers) == 1
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert item["id"] == answers[0].document["id"]


@promise("plane:idempotency")
@pytest.mark.parametrize("key", ["", "x" * 129, "tab\there", "käse"])
def test_a_key_that_is_none_is_refused(plane: Plane, key: str) -> None:
    """Data plane, 2.2: 1 to 128 printable ASCII characters."""
    body = {"content": "The lamp in the hall is broken", "namespace": plane.shelf()}
    answer = plane.rest("POST", "/v1/capture", body, {"idempotency-key": key})
    assert codes(answer) == [("idempotency-key", "invalid_format")]
    assert plane.rest("POST", "/v1/recent", body, {"idempotency-key": key}).status == 200


@promise("plane:unknown-keys")
@by_door
def test_unknown_keys_are_ignored_or_refused(plane: Plane, door: str) -> None:
    """D10."""
    shelf = plane.shelf()
    stray = {"content": "The kettle takes two litres", "namespace": shelf, "colour": "red"}
    assert plane.ok(door, "remember", **stray)["id"]
    (item,) = plane.ok(door, "recent", namespace=shelf, stray=1)["results"]
    assert item["metadata"] == {
        "captureAction": "inserted",
        "lifecycleStatus": "active",
        "sensitivity": "private",
    }


@promise("plane:unknown-keys")
@pytest.mark.parametrize("operation", [name for name in STRAYS if name in BY_ROUTE])
def test_a_stray_key_that_would_lose_something_is_refused(plane: Plane, operation: str) -> None:
    """D10."""
    answer = plane.refused_alike(operation, **STRAYS[operation])
    assert codes(answer) == [("", "unrecognized_keys")]
