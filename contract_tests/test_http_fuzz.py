"""Twenty thousand requests of every shape: no 500, and nothing of the inside in an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract_tests.http_inside import Asked, answer, serving
from contract_tests.manifest import promise
from contract_tests.wire import ENVELOPE
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.surfaces.credentials import OpenDoor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contract_tests.http_inside import Answered
    from contract_tests.inside import Engine
    from graymatter_mcp.surfaces.http.app import HttpApp

pytestmark = pytest.mark.slow

EXAMPLES: Final = 1000
REQUESTS_AN_EXAMPLE: Final = 20

LEAKS: Final = (b"Traceback", b'File "', b".py", b"site-packages", b"duckdb", b"pydantic", b"0x7f")
STATUSES: Final = {200, 202, 400, 403, 404, 405, 406, 413, 415}

TOOLS: Final = [tool.name for tool in load_bundle(("core",)).tools]
JSON_TYPES: Final = {"application/json", "application/json; charset=utf-8"}
WORDS: Final = ["a", "port 8137", "", " ", "null", "verified", "add", "forget", "\x00", "\ud800"]

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(WORDS)
    | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
NAMES: Final = sorted(
    {
        name
        for tool in load_bundle(("core",)).tools
        for name in tool.input_schema["properties"]  # pyright: ignore[reportArgumentType]
    }
    | {"namespace", "_meta"}
)
arguments = st.dictionaries(st.sampled_from(NAMES), st.sampled_from(WORDS) | values, max_size=5)
metas = st.just(dict(ENVELOPE)) | st.dictionaries(
    st.sampled_from([*ENVELOPE, "graymatter/idempotency_key", "progressToken"]), values, max_size=4
)
params = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from([*TOOLS, "nobody"]) | values,
        "arguments": arguments | values,
        "_meta": metas | values,
        "cursor": values,
        "protocolVersion": st.sampled_from(["2025-11-25", "2026-07-28"]) | values,
        "capabilities": values,
        "clientInfo": values,
    },
)
methods = st.sampled_from(
    [
        "tools/call",
        "tools/call",
        "tools/list",
        "initialize",
        "ping",
        "server/discover",
        "subscriptions/listen",
        "notifications/cancelled",
        "resources/read",
        "x",
    ]
)
messages = st.fixed_dictionaries(
    {"jsonrpc": st.just("2.0") | values, "method": methods | values},
    optional={"id": st.integers() | values, "params": params | values, "result": values},
)
calls: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "jsonrpc": st.just("2.0"),
        "id": st.integers(),
        "method": st.just("tools/call"),
        "params": st.fixed_dictionaries(
            {
                "name": st.sampled_from(TOOLS),
                "arguments": arguments,
                "_meta": st.just(dict(ENVELOPE)),
            }
        ),
    }
)


def as_body(value: object) -> bytes:
    """Write a value as the body of a request."""
    return json.dumps(value).encode()


def as_batch(message: object) -> bytes:
    """Write a message as a batch of one."""
    return as_body([message])


bodies = (
    st.builds(as_body, calls)
    | st.builds(as_body, messages | values)
    | st.binary(max_size=60)
    | st.builds(as_batch, messages)
)
header_values = st.sampled_from(
    b"application/json */* text/html 2025-11-25 2026-07-28 2031-01-01 tools/call tools/list"
    b" memory_add =?base64?YQ==?= =?base64?!!?= localhost evil.example http://localhost null 0 -1"
    b" 99999999999999999999 chunked".split()
) | st.binary(max_size=12)
header_names = st.sampled_from(
    b"accept content-type mcp-protocol-version mcp-method mcp-name host origin content-length"
    b" transfer-encoding mcp-session-id x-request-id x-forwarded-for authorization"
    b" mcp-param-a".split()
)
Headers = list[tuple[bytes, bytes]]
ORDINARY: Final[Headers] = [
    (b"host", b"localhost"),
    (b"accept", b"application/json"),
    (b"content-type", b"application/json"),
]


def joined(base: Headers, more: Headers) -> Headers:
    """Put further headers after the ordinary ones."""
    return [*base, *more]


headers: st.SearchStrategy[Headers] = st.builds(
    joined,
    st.sampled_from([*[ORDINARY] * 9, list[tuple[bytes, bytes]]()]),
    st.just(list[tuple[bytes, bytes]]())
    | st.lists(st.tuples(header_names, header_values), max_size=2),
)


@st.composite
def requests(draw: st.DrawFn) -> Asked:
    """Make one request, mostly one that gets far."""
    body = draw(bodies)
    chosen = draw(headers)
    if draw(st.booleans()):
        chosen = [*chosen, *_routing(body)]
    cut = draw(st.integers(0, len(body)))
    return Asked(
        method=draw(st.sampled_from([*["POST"] * 12, "GET", "DELETE", "X"])),
        path=draw(st.sampled_from([*["/mcp"] * 12, "/live", "/ready", "/metrics", "/%00"])),
        headers=chosen,
        body=draw(st.sampled_from([(body,), (body[:cut], body[cut:])])),
    )


def _routing(body: bytes) -> Headers:
    """Return the headers that the 2026 era wants for a body, if it has any."""
    try:
        message: Any = json.loads(body)
        method, name = str(message["method"]), str(message["params"].get("name", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return []
    found = {"mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": name}
    return [(key.encode(), value.encode("utf-8", "replace")) for key, value in found.items()]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, HttpApp]]:
    """One application for all requests."""
    with serving(tmp_path_factory.mktemp("fuzz") / "store", OpenDoor()) as both:
        yield both


sent: list[int] = []
"""How many requests each example made."""


@promise("http:fuzz")
@given(st.lists(requests(), min_size=REQUESTS_AN_EXAMPLE, max_size=REQUESTS_AN_EXAMPLE))
@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
def test_no_request_breaks_the_server_or_sees_its_inside(
    served: tuple[Engine, HttpApp], batch: list[Asked]
) -> None:
    """Issue 4: at least 20,000 generated requests, no 500 and no leak."""
    engine, app = served
    for asked in batch:
        judge(engine.run(answer, app, asked))
    sent.append(len(batch))


@promise("http:fuzz")
def test_as_many_were_sent_as_the_issue_asks_for() -> None:
    """Issue 4: counted, since a generator may stop early."""
    if not sent:
        pytest.skip("the requests were not sent in this run")
    assert sum(sent) >= EXAMPLES * REQUESTS_AN_EXAMPLE


def judge(given_answer: Answered) -> None:
    """Hold what must be true of every answer."""
    assert given_answer.status in STATUSES, given_answer
    assert not [leak for leak in LEAKS if leak in given_answer.body], given_answer
    assert given_answer.headers["x-content-type-options"] == "nosniff"
    if given_answer.headers.get("content-type") in JSON_TYPES:
        document = given_answer.document
        assert isinstance(document, dict)
        if given_answer.status != 200:
            assert "error" in document
    elif given_answer.status == 200:
        assert given_answer.headers["content-type"].startswith("text/plain")
