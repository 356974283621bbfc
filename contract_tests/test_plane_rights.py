"""Every route and every tool of the data plane, by tokens that may do less than their user."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from contract_tests.plane_people import Person, refused
from contract_tests.plane_server import plane_server
from contract_tests.plane_wire import ERAS, Plane
from graymatter_mcp.contract.load import load_bundle
from graymatter_mcp.contract.routes import load_route, load_routes

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE: Final = """
active-project-clear   restricted  restricted  -
active-project-set     restricted  restricted  {"project": "web"}
active-project-show    may         may         -
admin-health           restricted  restricted  -
admin-token-create     restricted  restricted  {"userId": "local"}
admin-token-delete     restricted  restricted  -
admin-tokens-list      restricted  restricted  -
adoption               may         may         {}
audit                  restricted  restricted  -
capture                read-only   may         {"content": "We decided to plant something here"}
changes                may         may         -
context                may         may         {"message": "anything"}
decay                  restricted  restricted  {}
evaluate               may         may         {}
export                 may         may         -
forget                 read-only   may         {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
hygiene                may         may         {}
import                 read-only   may         {"entries": [{"content": "A note from elsewhere"}]}
legacy-consolidate     read-only   may         {"agent": "a"}
legacy-facts           may         may         ?agent=a
legacy-forget          read-only   may         {"agent": "a", "id": "x"}
legacy-forget-id       read-only   may         ?agent=a
legacy-recall          may         may         ?agent=a&q=x
legacy-remember        read-only   may         {"agent": "a", "text": "planted"}
member-add             restricted  restricted  {"username": "nobody"}
member-remove          restricted  restricted  -
members-list           may         may         -
neighbors              may         may         {"id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"}
openapi                may         may         -
project-create         restricted  restricted  {"name": "shop"}
project-delete         restricted  restricted  -
projects-list          may         may         -
recent                 may         may         {}
remember               read-only   may         {"content": "Planted for good"}
search                 may         may         {"query": "anything"}
session-end            may         may         -
session-recap          read-only   may         {"decisions": ["We decided to plant it"]}
session-show           may         may         -
stats                  may         may         -
token-create           restricted  restricted  {}
token-delete           restricted  restricted  -
token-rotate           may         may         -
tokens-list            may         may         -
update                 read-only   may         {"content": "Planted for good"}
usage                  may         may         -
user-create            restricted  restricted  {"username": "planted"}
user-delete            restricted  restricted  -
user-quota             restricted  restricted  {}
users-list             restricted  restricted  -
"""
"""Data plane 2.1: route, what a read-only and a pinned token may there, and what is sent."""
ROWS: Final = {line.split()[0]: line.split(maxsplit=3)[1:] for line in TABLE.strip().splitlines()}
OPEN: Final = frozenset({"healthz", "session-create"})
SAID: Final = {"read-only": "read-only token", "restricted": "restricted token"}
NEVER_WAS: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
ARGUMENTS: Final[dict[str, dict[str, Any]]] = {
    "memory_context": {"message": "anything"},
    "memory_hybrid_search": {"query": "anything"},
    "memory_capture": {"content": "We decided to plant something here"},
    "memory_session_recap": {"decisions": ["We decided to plant it"]},
    "memory_remember": {"content": "Planted for good"},
    "memory_neighbors": {"id": NEVER_WAS},
    "memory_forget": {"id": NEVER_WAS},
    "memory_update": {"id": NEVER_WAS, "content": "Planted for good"},
    "project_create": {"name": "shop"},
    "project_delete": {"project": "web"},
    "project_activate": {"project": "web"},
    "project_share": {"project": "web", "username": "nobody"},
    "project_unshare": {"project": "web", "username": "nobody"},
}
TOOLS: Final = load_bundle(("dataplane",)).tools


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Whoever runs the server."""
    with plane_server(tmp_path_factory.mktemp("rights") / "plane", load=hashed) as server:
        server.settle()
        yield Plane(server)


@pytest.fixture(scope="module")
def owner(admin: Plane) -> Person:
    """An admin with a project."""
    person = Person(admin, role="admin")
    person.project("web")
    return person


@promise("plane:read-only")
def test_every_route_has_a_row() -> None:
    """D11, D12: a new route without one fails."""
    assert set(ROWS) | OPEN == {route.name for route in load_routes()}


@promise("plane:read-only", "plane:pinned")
@pytest.mark.parametrize("name", ROWS)
def test_a_route_lets_a_token_do_what_it_may(owner: Person, name: str) -> None:
    """D12, D13; data plane, 2.1: by every path of the route."""
    route = load_route(name)
    *expected, sent = ROWS[name]
    for path in route.paths:
        place = re.sub(r"{\w+}", NEVER_WAS, path) + (sent if sent.startswith("?") else "")
        body = sent.encode() if sent.startswith("{") else None
        kind = {} if body is None else {"content-type": "application/json"}
        tokens = ({"scope": "read_only"}, {"project": "web"})
        for may, rights in zip(expected, tokens, strict=True):
            answer = owner.with_token(**rights).raw(route.method, place, body, kind)
            if may == "may":
                assert answer.status not in {401, 403}, answer.document
            elif route.family == "legacy":
                assert answer.status == 403
            else:
                refused(answer, 403, SAID[may])


@promise("plane:read-only", "plane:pinned")
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", TOOLS, ids=[tool.name for tool in TOOLS])
def test_a_tool_lets_a_token_do_what_it_may(owner: Person, tool: Any, era: str) -> None:
    """D12, D13; data plane, 9: arguments are checked first, then the token."""
    arguments = ARGUMENTS.get(tool.name, {})
    reader = owner.with_token(scope="read_only")
    said = reader.tool(era, tool.name, **arguments).error
    is_read = tool.annotations["readOnlyHint"]
    assert said == ("" if is_read else "error: read-only token")
    if tool.input_schema.get("required"):
        assert reader.tool(era, tool.name).error.startswith("error: invalid argument '")
    pinned = owner.with_token(project="web").tool(era, tool.name, **arguments).error
    if tool.name.startswith("project_") and tool.name != "project_list":
        assert pinned == "error: restricted token"
    else:
        assert pinned in {"", "error: no such memory in your scope"}
