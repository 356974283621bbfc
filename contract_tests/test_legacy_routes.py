"""The routes of the core from before `/v1`, black box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from graymatter_mcp.surfaces.auth import Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.http_wire import Response
    from contract_tests.plane_wire import Plane

NOT_THERE: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
FACT: Final = "Deploys need two approvals"


def get(plane: Plane, path: str, **query: str) -> Response:
    """Ask with a query."""
    return plane.rest("GET", f"{path}?{urlencode(query)}")


def remember(plane: Plane, agent: str, *texts: str) -> None:
    """Store facts, oldest first."""
    for text in texts:
        stored = plane.rest("POST", "/remember", {"agent": agent, "text": text})
        assert (stored.status, stored.document) == (200, {"status": "ok"})


def listed(plane: Plane, agent: str, **query: str) -> list[dict[str, Any]]:
    """Return the facts of an agent."""
    answer = get(plane, "/facts", agent=agent, **query)
    assert answer.status == 200
    return answer.document["facts"]


def forget(plane: Plane, **fields: Any) -> Any:
    """Ask to erase; it must be understood."""
    answer = plane.rest("DELETE", "/forget", fields)
    assert answer.status == 200, answer.document
    return answer.document


@promise("legacy:one-memory")
def test_one_memory_behind_all_routes(plane: Plane) -> None:
    """D60."""
    shelf = plane.shelf()
    remember(plane, shelf, FACT)
    found = plane.ok("rest", "search", query="deploy approvals", namespace=shelf)
    assert [item["content"] for item in found["results"]] == [FACT]
    content = "The staging API listens on port 7778"
    plane.ok("rest", "capture", content=content, namespace=shelf)
    plane.core("memory_add", agent_id=shelf, text="Invoices are sent on Fridays")
    for query, text in (("staging port", content), ("invoices", "Invoices are sent on Fridays")):
        assert get(plane, "/recall", agent=shelf, q=query, k="1").document == {"results": [text]}


@promise("legacy:answers")
def test_k_and_limit_are_positive_or_the_usual(plane: Plane) -> None:
    """Core 11.4: unreadable or <= 0 is the default, and there is no maximum."""
    shelf = plane.shelf()
    remember(plane, shelf, *(f"deploy number {n}" for n in range(9)))
    usual = ("0", "-1", "many", "1.5", "", " 3")
    for k, count in (("2", 2), ("9", 9), ("1" + "0" * 17, 9), *((bad, 8) for bad in usual)):
        answer = get(plane, "/recall", agent=shelf, q="deploy", k=k)
        assert len(answer.document["results"]) == count, k
    for limit, count in (("2", 2), *((bad, 9) for bad in usual)):
        assert len(listed(plane, shelf, limit=limit)) == count, limit
    assert len(get(plane, "/recall", agent=shelf, q="deploy").document["results"]) == 8
    assert plane.rest("POST", "/consolidate", {"agent": shelf}).document == {"status": "ok"}
    assert get(plane, "/recall", agent=plane.shelf(), q="x").document == {"results": []}
    assert plane.rest("GET", "/healthz").document == {"status": "ok"}


@promise("legacy:facts")
def test_the_list_shows_what_the_core_may_show(plane: Plane) -> None:
    """Data plane 1.5: no secret that the data plane took, nothing retired, no alias."""
    shelf = plane.shelf()
    remember(plane, shelf, "first", "second")
    plane.keep(shelf, "The door code of the lab is kept apart", sensitivity="sensitive")
    plane.core("memory_alias", agent_id=shelf, term="first", equivalents=["premier"])
    plane.core("memory_reflect", agent_id=shelf, action="update", target="first", text="third")
    facts = listed(plane, shelf)
    assert [fact["text"] for fact in facts] == ["third", "second"]
    assert all(fact.keys() == {"id", "text", "weight", "created_at"} for fact in facts)
    assert facts[0]["weight"] == 1.0
    assert facts[0]["created_at"].endswith("Z")
    assert listed(plane, plane.shelf()) == []


@promise("legacy:forget")
def test_a_delete_by_id_is_for_good(plane: Plane) -> None:
    """Data plane 10: the cascade of 3.11."""
    shelf, other = plane.shelf(), plane.shelf()
    remember(plane, shelf, FACT, "Invoices are sent on Fridays")
    newest, oldest = (fact["id"] for fact in listed(plane, shelf))
    missing = {"status": "not_found"}
    assert forget(plane, agent=other, id=oldest) == missing
    assert forget(plane, agent=shelf, id=NOT_THERE) == forget(plane, agent=shelf, id="x") == missing
    assert forget(plane, agent=shelf, id=oldest) == {"status": "ok", "deleted_id": oldest}
    assert forget(plane, agent=shelf, id=oldest) == missing
    assert [fact["id"] for fact in listed(plane, shelf)] == [newest]
    gone = plane.rest("DELETE", f"/forget/{newest}?agent={shelf}")
    assert (gone.status, gone.document) == (200, {"status": "ok", "deleted_id": newest})
    again = plane.rest("DELETE", f"/forget/{newest}?agent={shelf}")
    assert (again.status, again.document) == (404, missing)
    assert plane.ok("rest", "recent", namespace=shelf)["results"] == []
    assert plane.ok("rest", "recent", ids=[newest, oldest])["results"] == []


@promise("legacy:forget")
def test_a_delete_by_query_shows_first_what_it_would_erase(plane: Plane) -> None:
    """Core 11.4."""
    shelf = plane.shelf()
    remember(plane, shelf, FACT, "Invoices are sent on Fridays")
    for unconfirmed in ({}, {"confirm": False}, {"confirm": None}):
        shown = forget(plane, agent=shelf, query="deploy approvals", **unconfirmed)
        assert shown.keys() == {"status", "candidate", "hint"}
        assert (shown["status"], shown["candidate"]["text"]) == ("confirm_required", FACT)
        assert "confirm" in shown["hint"]
    done = forget(plane, agent=shelf, query="deploy approvals", confirm=True)
    assert done == {"status": "ok", "deleted_id": shown["candidate"]["id"]}
    assert [fact["text"] for fact in listed(plane, shelf)] == ["Invoices are sent on Fridays"]
    assert forget(plane, agent=plane.shelf(), query="x", confirm=True) == {"status": "not_found"}


@promise("legacy:forget")
def test_a_fact_that_only_its_age_ranked_is_no_match(
    open_plane: Callable[..., Plane],
) -> None:
    """Core 11.4: not_found; what has nothing to do with the query is never erased."""
    plane = open_plane(load=None)
    remember(plane, "a", FACT)
    assert forget(plane, agent="a", query="invoices", confirm=True) == {"status": "not_found"}
    assert [fact["text"] for fact in listed(plane, "a")] == [FACT]


REFUSED: Final[list[tuple[str, str, Any, str]]] = [
    ("POST", "/remember", {"agent": "a"}, "agent and text are required"),
    ("POST", "/remember", {"text": "t"}, "agent and text are required"),
    ("POST", "/remember", {"agent": " ", "text": "t"}, "agent and text are required"),
    ("POST", "/remember", {"agent": "a", "text": None}, "agent and text are required"),
    ("POST", "/remember", {"agent": 5, "text": "t"}, "invalid JSON: agent must be a string"),
    ("POST", "/remember", [], "invalid JSON: the body is no object"),
    ("POST", "/remember", {"agent": "a\0", "text": "t"}, "agent is not valid text"),
    ("POST", "/remember", {"agent": "\x1fp/local/x\x1fa", "text": "t"},
     "agent_id must not begin with U+001F"),
    ("GET", "/recall?agent=a", None, "agent and q query params are required"),
    ("GET", "/recall?q=a", None, "agent and q query params are required"),
    ("GET", "/recall?q=&agent=a", None, "agent and q query params are required"),
    ("POST", "/consolidate", {}, "agent is required"),
    ("GET", "/facts", None, "agent query param is required"),
    ("DELETE", "/forget", {"id": NOT_THERE}, "agent is required"),
    ("DELETE", "/forget", {"agent": "a"}, "id or query is required"),
    ("DELETE", "/forget", {"agent": "a", "query": "q", "confirm": "yes"},
     "invalid JSON: confirm must be a boolean"),
    ("DELETE", f"/forget/{NOT_THERE}", None, "agent query param and a fact id are required"),
    ("DELETE", "/forget/%20?agent=a", None, "agent query param and a fact id are required"),
]  # fmt: skip


@promise("legacy:refusals")
@pytest.mark.parametrize(("method", "path", "body", "text"), REFUSED)
def test_a_refusal_has_its_text(plane: Plane, method: str, path: str, body: Any, text: str) -> None:
    """Core 11.4; data plane 10."""
    answer = plane.rest(method, path, body)
    assert (answer.status, answer.document) == (400, {"error": text})


@promise("legacy:refusals")
@pytest.mark.parametrize("body", [b"", b"{not json", b"\xff", b'{"agent":NaN}', b"[" * 9999])
def test_a_body_that_cannot_be_read_is_not_quoted(plane: Plane, body: bytes) -> None:
    """Core 11.4: 400 `invalid JSON: <reason>`; no media type is asked for."""
    for method, path in (("POST", "/remember"), ("POST", "/consolidate"), ("DELETE", "/forget")):
        answer = plane.raw(method, path, body, {"content-type": "text/plain"})
        assert answer.status == 400
        assert answer.document["error"].startswith("invalid JSON: the body ")


@promise("legacy:body-limit")
def test_a_body_of_a_mebibyte_is_the_largest(plane: Plane) -> None:
    """Core 11.4."""
    shelf = plane.shelf()
    frame = len(f'{{"agent": "{shelf}", "text": ""}}')
    remember(plane, shelf, "x" * (1024 * 1024 - frame))
    over = {"content-length": str(1024 * 1024 + 1)}
    answer = plane.raw("POST", "/remember", None, over)
    text = "request body exceeds 1048576 bytes"
    assert (answer.status, answer.document) == (413, {"error": text})


@promise("legacy:access")
def test_who_may_call(plane: Plane) -> None:
    """Data plane 10: bearer as in `/v1`."""
    shelf = plane.shelf()
    remember(plane, shelf, FACT)
    (fact,) = listed(plane, shelf)
    reader = plane.with_token(plane.server.mint(scope=Scope.READ_ONLY))
    pinned = plane.with_token(plane.server.mint(project="web"))
    asked: list[tuple[str, str, Any, bool]] = [
        ("POST", "/remember", {"agent": shelf, "text": "t"}, False),
        ("GET", f"/recall?agent={shelf}&q=deploys", None, True),
        ("POST", "/consolidate", {"agent": shelf}, False),
        ("GET", f"/facts?agent={shelf}", None, True),
        ("DELETE", "/forget", {"agent": shelf, "id": fact["id"]}, False),
        ("DELETE", f"/forget/{fact['id']}?agent={shelf}", None, False),
    ]
    for method, path, body, is_read in asked:
        assert plane.with_token(None).rest(method, path, body).status == 401
        assert reader.rest(method, path, body).status == (200 if is_read else 403), path
        assert pinned.rest(method, path, body).status == 403
    assert listed(plane, shelf) == [fact]
    unconfirmed = reader.rest("DELETE", "/forget", {"agent": shelf, "query": "deploys"})
    assert unconfirmed.document["status"] == "confirm_required"


@promise("legacy:access")
def test_whose_shelves_are_meant(open_plane: Callable[..., Plane]) -> None:
    """Data plane 2.3, rules 1, 2 and 4."""
    plane = open_plane(load=None)
    remember(plane, "a", "Everybody is told on Mondays")
    (own,) = listed(plane, "a")
    web = plane.rest("POST", "/v1/me/projects", {"name": "web"}).document["id"]
    plane.rest("PUT", "/v1/me/active-project", {"project": web})
    remember(plane, "a", "The web team is told on Fridays")
    both = listed(plane, "a")
    assert [fact["text"][:3] for fact in both] == ["The", "Eve"]
    assert listed(plane, "a", limit="1") == both[:1]
    assert len(get(plane, "/recall", agent="a", q="told").document["results"]) == 2
    assert forget(plane, agent="a", id=own["id"]) == {"status": "not_found"}
    pinned = plane.with_token(plane.server.mint(project=web))
    plane.rest("DELETE", "/v1/me/active-project")
    assert listed(plane, "a") == [own]
    assert listed(pinned, "a") == both[:1]
    assert pinned.rest("POST", "/consolidate", {"agent": "a"}).status == 200
    assert forget(pinned, agent="a", query="told", confirm=True)["deleted_id"] == both[0]["id"]
    assert listed(plane, "a") == [own]


@promise("legacy:internal")
def test_what_fails_inside_stays_inside(open_plane: Callable[..., Plane]) -> None:
    """Core 11.4."""
    plane = open_plane(load=hashed)
    plane.server.store.failing = "unexpected"
    answer = plane.rest("POST", "/remember", {"agent": "a", "text": FACT})
    assert (answer.status, answer.document) == (500, {"error": "internal error"})
    plane.server.store.failing = "away"
    away = plane.rest("POST", "/remember", {"agent": "a", "text": FACT})
    assert (away.status, away.document) == (503, {"error": "store unavailable"})
