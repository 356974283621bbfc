"""The account routes: what they take, what they give, and what they say when they refuse."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.contract.load import read_document
from graymatter_mcp.contract.routes import load_routes
from graymatter_mcp.engine.local import LocalMemory
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.accounts import Role, TokenScope
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.surfaces.rest.accounts import ACCOUNT_HANDLERS, ACCOUNT_TWINS
from graymatter_mcp.surfaces.rest.operations import Asked
from graymatter_mcp.surfaces.rest.routes import rest_routes
from tests.engine.desk import QUIET
from tests.engine.plane.office import Office, scope_of
from tests.surfaces.rest.conftest import SERVER

if TYPE_CHECKING:
    from collections.abc import Callable

    from httpx2 import AsyncClient, Response

    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.surfaces.credentials import BearerAuthenticator

    Clients = Callable[..., AsyncClient]

pytestmark = pytest.mark.anyio
MISSING = frozenset({"decay", "admin-health", "export", "import", "session-create", "session-end"})
"""Account routes that others carry out: those of facts, and those of the cookie."""


class Desk:
    """A server of the account routes, and its clients."""

    def __init__(self, office: Office, client: AsyncClient, plane: DataPlane) -> None:
        self.office = office
        self.plane = plane
        self._client = client

    async def ask(
        self, secret: str, method: str, path: str, body: Any = None, status: int = 200
    ) -> Any:
        """Send one request, and return the body of an answer of this status."""
        answer = await self.send(secret, method, path, body)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    async def send(self, secret: str, method: str, path: str, body: Any = None) -> Response:
        """Send one request."""
        headers = {"authorization": f"Bearer {secret}", "content-type": "application/json"}
        content = None if body is None else json.dumps(body)
        return await self._client.request(method, path, headers=headers, content=content)

    def secret(self, user: Caller, **given: Any) -> str:
        """Make a token."""
        return self.office.accounts.tokens.create(user, **given).secret


@pytest.fixture
async def desk(office: Office, bearers: BearerAuthenticator, client_of: Clients) -> Any:
    """Serve the office."""
    memory = LocalMemory(office.store, None, Analyzer(None), QUIET, office.clock)
    office.accounts = memory.plane.accounts
    bearers.use(office.accounts)
    async with client_of(bearers, *rest_routes(memory.plane, ACCOUNT_HANDLERS)) as client:
        yield Desk(office, client, memory.plane)
    await memory.aclose()


def test_every_account_route_has_somebody_to_carry_it_out() -> None:
    """Data plane 8: one table, by route."""
    names = {one.name for one in load_routes() if one.family in ("account", "admin")}
    assert set(ACCOUNT_HANDLERS) == names - MISSING
    for name in ACCOUNT_TWINS:
        about: Any = read_document(f"tools/{name}/tool.json")
        assert about["route"] in ACCOUNT_HANDLERS


async def test_the_server_token_makes_the_first_users_and_tokens(desk: Desk) -> None:
    """Data plane 8: 201 each, and the token works at once."""
    made = await desk.ask(SERVER, "POST", "/v1/admin/users", {"username": "ana"}, 201)
    assert made == {
        "id": made["id"],
        "username": "ana",
        "role": "user",
        "createdAt": made["createdAt"],
    }
    taken = await desk.ask(SERVER, "POST", "/v1/admin/users", {"username": "ana"}, 409)
    assert taken == {"error": "username is taken"}
    body = {"userId": made["id"], "label": "ci", "expiresInDays": 3}
    token = await desk.ask(SERVER, "POST", "/v1/admin/tokens", body, 201)
    assert set(token) == {"id", "token", "scope", "projectId", "expiresAt", "warning"}
    who = await desk.ask(token["token"], "GET", "/v1/me/session")
    assert who == {
        "user": {"id": made["id"], "username": "ana", "role": "user"},
        "scope": "full",
        "project": None,
    }
    listed = await desk.ask(SERVER, "GET", "/v1/admin/tokens")
    seen = [(one["id"], one["userId"], one["label"]) for one in listed["tokens"]]
    assert seen == [(token["id"], made["id"], "ci")]
    assert token["token"] not in json.dumps(listed)
    users = await desk.ask(SERVER, "GET", "/v1/admin/users")
    assert [one["username"] for one in users["users"]] == ["local", "ana"]
    gone = await desk.ask(SERVER, "DELETE", f"/v1/admin/tokens/{token['id']}")
    assert gone == {"deleted": True}
    refused = await desk.ask(token["token"], "GET", "/v1/me/session", status=401)
    assert refused == {"error": "unauthorized"}


async def test_users_keep_their_own_tokens(desk: Desk) -> None:
    """D12, D17: minted, listed, rotated, revoked; a restricted one mints nothing."""
    ana = desk.office.user("ana")
    first = desk.secret(ana)
    made = await desk.ask(first, "POST", "/v1/me/tokens", {"scope": "read_only"}, 201)
    assert made["scope"] == "read_only"
    assert made["expiresAt"] is None
    reader = made["token"]
    for method, path, body in (
        ("POST", "/v1/me/tokens", {}),
        ("DELETE", f"/v1/me/tokens/{made['id']}", None),
        ("POST", "/v1/me/projects", {"name": "web"}),
        ("PUT", "/v1/me/active-project", {"project": "web"}),
        ("GET", "/v1/admin/users", None),
    ):
        refused = await desk.ask(reader, method, path, body, 403)
        assert refused == {"error": "restricted token"}
    rotated = await desk.ask(reader, "POST", "/v1/auth/rotate-token", status=201)
    assert set(rotated) == {"id", "token", "warning"}
    await desk.ask(reader, "GET", "/v1/me/session", status=401)
    kept = await desk.ask(rotated["token"], "GET", "/v1/me/session")
    assert kept["scope"] == "read_only"
    listed = await desk.ask(first, "GET", "/v1/me/tokens")
    assert [one["scope"] for one in listed["tokens"]] == ["full", "read_only"]
    assert [one["label"] for one in listed["tokens"]] == [None, None]
    assert listed["tokens"][0]["lastUsedAt"] is not None
    gone = await desk.ask(first, "DELETE", f"/v1/me/tokens/{rotated['id']}")
    assert gone == {"deleted": True}
    again = await desk.ask(first, "DELETE", f"/v1/me/tokens/{rotated['id']}", status=404)
    assert again == {"error": "token not found"}
    not_here = await desk.ask(SERVER, "POST", "/v1/auth/rotate-token", status=403)
    assert not_here == {"error": "this token is not kept here: renew it where it was made"}


async def test_admin_routes_ask_for_an_admin(desk: Desk) -> None:
    """D17: none 401, user 403 `admin only`."""
    user = desk.secret(desk.office.user("ana"))
    for method, path, body in (
        ("GET", "/v1/admin/users", None),
        ("POST", "/v1/admin/users", {"username": "x"}),
        ("DELETE", "/v1/admin/users/local", None),
        ("PUT", "/v1/admin/users/local/quota", {}),
        ("GET", "/v1/admin/tokens", None),
        ("POST", "/v1/admin/tokens", {"userId": "local"}),
        ("DELETE", "/v1/admin/tokens/x", None),
        ("GET", "/v1/admin/audit", None),
    ):
        assert await desk.ask(user, method, path, body, 403) == {"error": "admin only"}
        assert await desk.ask("nobody", method, path, body, 401) == {"error": "unauthorized"}


async def test_a_project_is_made_shared_chosen_and_deleted(desk: Desk) -> None:
    """D13, D14: as its owner and its members see it."""
    ana, ben = desk.office.user("ana"), desk.office.user("ben")
    owner, member = desk.secret(ana), desk.secret(ben)
    made = await desk.ask(owner, "POST", "/v1/me/projects", {"name": "web"}, 201)
    assert set(made) == {"id", "name", "ownerUserId", "createdAt"}
    place = f"/v1/me/projects/{made['id']}"
    added = await desk.ask(owner, "POST", f"{place}/members", {"username": "ben"}, 201)
    assert added == {"added": True, "userId": ben.user_id, "username": "ben"}
    members = await desk.ask(member, "GET", f"{place}/members")
    assert [(one["username"], one["role"]) for one in members["members"]] == [
        ("ana", "owner"),
        ("ben", "member"),
    ]
    listed = await desk.ask(member, "GET", "/v1/me/projects")
    assert listed == {"projects": [{**made, "role": "member"}]}
    active = {"active": {"id": made["id"], "name": "web"}}
    assert await desk.ask(member, "PUT", "/v1/me/active-project", {"project": "web"}) == active
    assert await desk.ask(member, "GET", "/v1/me/active-project") == active
    assert await desk.ask(member, "DELETE", "/v1/me/active-project", status=204) is None
    assert await desk.ask(member, "GET", "/v1/me/active-project") == {"active": None}
    await desk.ask(member, "PUT", "/v1/me/active-project", {"project": made["id"]})
    pinned = desk.secret(ben, project="web")
    assert (await desk.ask(pinned, "GET", "/v1/me/session"))["project"] == made["id"]
    unknown = await desk.ask(owner, "PUT", "/v1/me/active-project", {"project": "nix"}, 404)
    assert unknown == {"error": "no such project 'nix' — call project_list to see ids"}
    not_owner = await desk.ask(member, "DELETE", place, status=403)
    assert not_owner == {"error": "only the owner can delete a project"}
    left = await desk.ask(member, "DELETE", f"{place}/members/{ben.user_id}")
    assert left == {"removed": True}
    refused = await desk.ask(pinned, "GET", "/v1/me/projects", status=403)
    assert refused == {"error": "not a member of the token's project"}
    assert await desk.ask(member, "GET", "/v1/me/active-project") == {"active": None}
    gone = await desk.ask(owner, "DELETE", place)
    assert gone == {"deleted": True, "entriesRemoved": 0}
    assert await desk.ask(owner, "DELETE", place, status=404) == {"error": "unknown project"}
    await desk.ask(pinned, "GET", "/v1/me/projects", status=401)


async def test_quota_usage_and_deletion_of_a_user(desk: Desk) -> None:
    """Data plane 8: null is the server's default; what was the user's is counted."""
    ana = desk.office.user("ana")
    secret = desk.secret(ana)
    desk.office.write(scope_of(ana), "one")
    place = f"/v1/admin/users/{ana.user_id}"
    quota = {"maxEntries": 5, "writesPerMinute": None}
    set_to = await desk.ask(SERVER, "PUT", f"{place}/quota", quota)
    assert set_to == {"quota": quota}
    assert await desk.ask(secret, "GET", "/v1/me/usage") == {"entries": 1, "quota": quota}
    gone = await desk.ask(SERVER, "DELETE", place)
    assert gone == {"deleted": True, "tokensRevoked": 1, "entriesRemoved": 1}
    assert await desk.ask(SERVER, "DELETE", place, status=404) == {"error": "unknown user"}
    last = await desk.ask(SERVER, "DELETE", "/v1/admin/users/local", status=400)
    assert last == {"error": "the user local cannot be deleted"}


async def test_feed_and_audit_are_read_in_pages(desk: Desk) -> None:
    """D20: ids and outcomes, refusals too; no content anywhere."""
    ana = desk.office.user("ana")
    secret = desk.secret(ana)
    fact = desk.office.write(scope_of(ana), "hidden words")
    feed = await desk.ask(secret, "GET", "/v1/me/changes?limit=1")
    assert [(one["entryId"], one["change"]) for one in feed["changes"]] == [(fact, "created")]
    rest = await desk.ask(secret, "GET", f"/v1/me/changes?afterSeq={feed['nextSeq']}")
    assert rest == {"changes": [], "nextSeq": feed["nextSeq"]}
    later = await desk.ask(secret, "GET", "/v1/me/changes?since=2999-01-01T00:00:00Z")
    assert later["changes"] == []
    await desk.ask(secret, "DELETE", "/v1/me/tokens/hidden%20words", status=404)
    start = await desk.ask(SERVER, "GET", "/v1/admin/audit?limit=2")
    assert [one["action"] for one in start["events"]] == ["user_create", "token_create"]
    after = f"/v1/admin/audit?afterSeq={start['nextSeq']}"
    await desk.ask(secret, "POST", "/v1/me/projects", {"name": "hidden"}, 201)
    events = (await desk.ask(SERVER, "GET", after))["events"]
    made = events.pop()
    assert (made["action"], made["outcome"], made["target"]) == (
        "project_create",
        "ok",
        made["projectId"],
    )
    assert [(one["action"], one["outcome"], one["target"]) for one in events] == [
        ("changes", "ok", None),
        ("changes", "ok", None),
        ("changes", "ok", None),
        ("token_delete", "not_found", None),
        ("audit", "ok", None),
    ]
    assert {one["userId"] for one in events[:4]} == {ana.user_id}
    assert all(one["requestId"] for one in events)
    assert "hidden" not in json.dumps(events)


async def test_another_tenants_ids_are_unknown_ids(desk: Desk) -> None:
    """D51, data plane 1.1: by every route that takes one."""
    office = desk.office
    ana = office.user("ana")
    web = office.project(ana, "web")
    token = office.accounts.tokens.create(ana, scope=TokenScope.READ_ONLY)
    eve = desk.secret(office.user("eve", Role.ADMIN, "acme"))
    for method, path, body in (
        ("DELETE", "/v1/me/tokens/{token}", None),
        ("DELETE", "/v1/admin/tokens/{token}", None),
        ("DELETE", "/v1/admin/users/{user}", None),
        ("PUT", "/v1/admin/users/{user}/quota", {}),
        ("POST", "/v1/admin/tokens", {"userId": "{user}"}),
        ("DELETE", "/v1/me/projects/{project}", None),
        ("GET", "/v1/me/projects/{project}/members", None),
        ("POST", "/v1/me/projects/{project}/members", {"username": "eve"}),
        ("DELETE", "/v1/me/projects/{project}/members/{user}", None),
        ("PUT", "/v1/me/active-project", {"project": "{project}"}),
        ("POST", "/v1/me/tokens", {"project": "{project}"}),
    ):
        known = {"token": token.token.id, "user": ana.user_id, "project": web.id}
        answers: list[tuple[int, str]] = []
        for ids in (known, dict.fromkeys(known, "01ARZ3NDEKTSV4RRFFQ69G5FAV")):
            sent = {k: v.format(**ids) for k, v in body.items()} if body else body
            answer = await desk.send(eve, method, path.format(**ids), sent)
            text = answer.text
            for one in ids.values():
                text = text.replace(one, "ID")
            answers.append((answer.status_code, text))
        assert answers[0] == answers[1]
        assert answers[0][0] == 404
    assert office.accounts.projects.list(ana) == [web]
    assert office.accounts.tokens.of_id(token.token.id) is not None


async def test_twins_take_a_project_by_name(desk: Desk) -> None:
    """Data plane 9: project, username; deactivate answers `{active:null}`."""
    office = desk.office
    ana, ben = office.user("ana"), office.user("ben")
    web = office.project(ana, "web")

    async def call(name: str, **fields: Any) -> Any:
        asked = Asked(caller=ana, fields=fields, now=datetime.now(UTC))
        return (await ACCOUNT_TWINS[name](desk.plane, asked)).body

    shared = await call("project_share", project="web", username="ben")
    assert shared == {"added": True, "userId": ben.user_id, "username": "ben"}
    assert await call("project_unshare", project="web", username="ben") == {"removed": True}
    office.accounts.projects.activate(ana, web.id)
    assert await call("project_deactivate") == {"active": None}
    deleted = await call("project_delete", project="web")
    assert deleted == {"deleted": True, "entriesRemoved": 0}
    assert office.accounts.projects.list(LOCAL_CALLER) == []
