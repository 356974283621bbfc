"""The data plane: users, tokens, projects, quotas and what is told of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.credentials import SERVER_TOKEN
from contract_tests.http_wire import JSON_HEADERS, HttpServer
from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from contract_tests.plane_people import Person, done, refused
from contract_tests.plane_server import plane_server
from contract_tests.plane_wire import DOORS, REST, Plane
from contract_tests.wire import request
from graymatter_mcp.surfaces.http.limits import HttpLimits

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contract_tests.http_wire import Response

NEVER_WAS: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"

by_door = pytest.mark.parametrize("door", DOORS)


@pytest.fixture(scope="module")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Plane]:
    """Whoever runs the server, by the server token; every case makes users of its own."""
    with plane_server(tmp_path_factory.mktemp("accounts") / "plane", load=hashed) as server:
        server.settle()
        yield Plane(server)


def contents(plane: Plane, door: str = REST, **fields: Any) -> set[str]:
    """Return all that recent shows."""
    return {item["content"] for item in plane.ok(door, "recent", k=200, **fields)["results"]}


@promise("plane:read-only")
@by_door
def test_a_read_only_token_is_refused_every_write(admin: Plane, door: str) -> None:
    """D12."""
    ana = Person(admin)
    (kept,) = ana.plane.keep("notes", "The kiln is lit on Fridays")
    reader = ana.with_token(scope="read_only")
    writes: dict[str, dict[str, Any]] = {
        "remember": {"content": "Planted"},
        "capture": {"content": "We decided to plant something here"},
        "session-recap": {"decisions": ["We decided to plant something"]},
        "update": {"id": kept, "content": "Planted"},
        "forget": {"id": kept},
    }
    for operation, fields in writes.items():
        outcome = reader.ask(door, operation, **fields)
        assert outcome.error == "error: read-only token", operation
        assert outcome.response is None or outcome.response.status == 403
    assert contents(ana.plane) == {"The kiln is lit on Fridays"}


@promise("plane:read-only")
@by_door
def test_a_read_only_token_reads_all(admin: Plane, door: str) -> None:
    """D12: reads that count are counted."""
    ana = Person(admin)
    (kept,) = ana.plane.keep("notes", "The kiln is lit on Fridays")
    reader = ana.with_token(scope="read_only")
    found = reader.ok(door, "search", query="kiln")["results"]
    assert [item["id"] for item in found] == [kept]
    assert reader.ok(door, "context", message="kiln")["relevant"]["results"]
    assert reader.ok(door, "recent")["results"]
    reader.ok(door, "neighbors", id=kept)
    assert reader.ok(door, "stats")["totalWarm"] == 1
    assert reader.ok(door, "projects-list") == {"projects": []}


@promise("plane:read-only")
def test_a_restricted_token_mints_nothing_and_changes_no_project(admin: Plane) -> None:
    """D12; data plane, 2.1."""
    ana = Person(admin, role="admin")
    web = ana.project("web")
    for restricted in (ana.with_token(scope="read_only"), ana.with_token(project="web")):
        for method, path, body in (
            ("POST", "/v1/me/tokens", {}),
            ("DELETE", f"/v1/me/tokens/{ana.token_id}", None),
            ("POST", "/v1/me/projects", {"name": "shop"}),
            ("DELETE", f"/v1/me/projects/{web}", None),
            ("PUT", "/v1/me/active-project", {"project": "web"}),
            ("GET", "/v1/admin/users", None),
            ("POST", "/v1/admin/tokens", {"userId": ana.id}),
            ("GET", "/v1/admin/audit", None),
        ):
            refused(restricted.rest(method, path, body), 403, "restricted token")
        assert restricted.rest("POST", "/v1/auth/rotate-token").status == 201
    assert [one["id"] for one in done(ana.plane.rest("GET", "/v1/me/projects"))["projects"]] == [
        web
    ]


@promise("plane:pinned")
@by_door
def test_a_pinned_token_is_confined_to_its_project(admin: Plane, door: str) -> None:
    """D13."""
    ana = Person(admin)
    web, shop = ana.project("web"), ana.project("shop")
    ana.plane.keep("notes", "Hers is this alone")
    pinned = ana.with_token(project="web")
    for foreign in ("shop", shop, "nowhere"):
        for operation, fields in (
            ("remember", {"content": "Planted"}),
            ("recent", {}),
            ("search", {"query": "hers"}),
            ("forget", {"id": NEVER_WAS}),
        ):
            outcome = pinned.ask(door, operation, project=foreign, **fields)
            assert outcome.error == "error: token is confined to its project"
            assert outcome.response is None or outcome.response.status == 403
    for number, ref in enumerate((web, "web", None)):
        sent = {} if ref is None else {"project": ref}
        pinned.ok(door, "remember", content=f"Page {number} of the site is done", **sent)
    written = {f"Page {number} of the site is done" for number in range(3)}
    assert contents(pinned, door) == written
    assert contents(ana.plane, project=web) == written
    assert contents(ana.plane) == {"Hers is this alone"}
    assert pinned.ok(door, "stats")["totalWarm"] == 3


@promise("plane:pinned")
@by_door
def test_a_pinned_token_ends_with_the_membership(admin: Plane, door: str) -> None:
    """D13: from the next request on, for reads and writes."""
    ana, ben = Person(admin), Person(admin)
    web = ana.project("web", ben)
    pinned = ben.with_token(project=web)
    pinned.ok(door, "remember", content="The footer is grey")
    done(ana.plane.rest("DELETE", f"/v1/me/projects/{web}/members/{ben.id}"))
    for operation, fields in (
        ("recent", {}),
        ("remember", {"content": "Planted too late"}),
        ("stats", {}),
    ):
        outcome = pinned.ask(door, operation, **fields)
        assert outcome.error == "error: not a member of the token's project"
        assert outcome.response is None or outcome.response.status == 403
    assert contents(ana.plane, project=web) == {"The footer is grey"}


@promise("plane:active-project")
@by_door
def test_the_active_project_counts_where_nothing_is_sent(admin: Plane, door: str) -> None:
    """D14."""
    ana = Person(admin)
    web = ana.project("web")
    ana.plane.keep("notes", "Global before")
    shown = {"active": {"id": web, "name": "web"}}
    assert ana.plane.ok(door, "active-project-set", project="web") == shown
    assert done(ana.plane.rest("GET", "/v1/me/active-project")) == shown
    ana.plane.ok(door, "remember", content="Into the project")
    assert contents(ana.plane, door) == {"Global before", "Into the project"}
    assert contents(ana.plane, door, project=web) == {"Into the project"}
    if door == REST:
        done(ana.plane.rest("DELETE", "/v1/me/active-project"), 204)
    else:
        cleared = ana.plane.ok(door, "active-project-clear")
        assert cleared == {"active": None}
    assert done(ana.plane.rest("GET", "/v1/me/active-project")) == {"active": None}
    ana.plane.ok(door, "remember", content="Global after")
    assert contents(ana.plane, door) == {"Global before", "Global after"}


@promise("plane:active-project")
def test_an_active_project_that_is_gone_is_none(admin: Plane) -> None:
    """D14: deleted by its owner, or left by the caller."""
    ana, ben = Person(admin), Person(admin)
    for leaves in (False, True):
        web = ana.project("web", ben)
        done(ben.plane.rest("PUT", "/v1/me/active-project", {"project": web}))
        ben.plane.keep("notes", "Of the project")
        path = f"/v1/me/projects/{web}"
        if leaves:
            done(ben.plane.rest("DELETE", f"{path}/members/{ben.id}"))
            assert contents(ana.plane, project=web) == {"Of the project"}
        else:
            gone = done(ana.plane.rest("DELETE", path))
            assert gone == {"deleted": True, "entriesRemoved": 1}
        assert done(ben.plane.rest("GET", "/v1/me/active-project")) == {"active": None}
        assert contents(ben.plane) == set()


@promise("plane:project-refs")
@by_door
def test_a_reference_that_leads_nowhere_says_why(admin: Plane, door: str) -> None:
    """D15."""
    ana, eve = Person(admin), Person(admin)
    name = f"secret of {eve.name}"
    secret = eve.project(name)
    texts = {
        "nix": (404, "no such project 'nix' — call project_list to see ids"),
        NEVER_WAS: (404, f"no such project '{NEVER_WAS}' — call project_list to see ids"),
        name: (403, f"not a member of project '{name}' (id {secret})"),
        secret: (403, f"not a member of project '{secret}' (id {secret})"),
    }
    for ref, (status, text) in texts.items():
        for operation, fields in (
            ("remember", {"content": "Planted", "project": ref}),
            ("recent", {"project": ref}),
            ("search", {"query": "x", "includeProjects": [ref]}),
            ("update", {"id": NEVER_WAS, "content": "x", "project": ref}),
        ):
            outcome = ana.plane.ask(door, operation, **fields)
            assert outcome.error == f"error: {text}", operation
            assert outcome.response is None or outcome.response.status == status
    for operation in ("recent", "remember"):
        outcome = ana.plane.ask(door, operation, content="x", project="we\x07b")
        assert outcome.error == (
            "error: invalid argument 'project': project ref contains control characters"
        )


@promise("plane:shared-project")
@by_door
def test_members_share_what_is_in_a_project(admin: Plane, door: str) -> None:
    """D16: each sees, updates, links and forgets what the other wrote."""
    ana, ben, eve = Person(admin), Person(admin), Person(admin)
    web = ana.project("web", ben)
    ana.plane.ok(door, "remember", content="Of Ana alone", namespace="site")
    ben.plane.ok(door, "remember", content="Of Ben alone", namespace="site")
    first, second, third = (
        ana.plane.ok(door, "remember", content=text, namespace="site", project=web)["id"]
        for text in ("The header is blue", "The footer is grey", "The menu is green")
    )
    seen = {"The header is blue", "The footer is grey", "The menu is green"}
    assert contents(ben.plane, door, project=web) == seen
    assert contents(ben.plane, door, includeProjects=[web]) == {*seen, "Of Ben alone"}
    updated = ben.plane.ok(door, "update", id=first, content="The header is dark blue", project=web)
    assert updated["updated"] is True
    assert ben.plane.ok(door, "forget", id=second, project=web)["deleted"] is True
    assert contents(ana.plane, door, project=web) == {
        "The header is dark blue",
        "The menu is green",
    }
    done(ben.plane.rest("PUT", "/v1/me/active-project", {"project": web}))
    ben.plane.core("memory_reflect", action="link", agent_id="site", text=first, target=third)
    done(ben.plane.rest("DELETE", "/v1/me/active-project"), 204)
    near = ana.plane.ok(door, "neighbors", id=first, project=web)["results"]
    assert [(item["id"], item["score"]) for item in near] == [(third, 1.0)]
    for reads in ({}, {"namespace": "site"}):
        assert contents(eve.plane, door, **reads) == set()
    assert eve.plane.ask(door, "recent", project=web).error.startswith("error: not a member")
    found = eve.plane.ok(door, "search", query="header", abstainBelow=0, minVectorScore=0)
    assert found["results"] == []
    assert contents(ana.plane, door) == {"Of Ana alone"}
    assert contents(ben.plane, door) == {"Of Ben alone"}


@promise("plane:rotation")
def test_a_rotated_token_keeps_its_rights_and_its_end(admin: Plane) -> None:
    """D17."""
    ana = Person(admin)
    web = ana.project("web")
    old = ana.mint(label="ci", scope="read_only", project="web", expiresInDays=7)
    holder = admin.with_token(old["token"])
    new = done(holder.rest("POST", "/v1/auth/rotate-token"), 201)
    assert new.keys() == {"id", "token", "warning"}
    assert new["warning"]
    assert new["token"] != old["token"]
    refused(holder.rest("GET", "/v1/me/session"), 401, "unauthorized")
    rotated = admin.with_token(new["token"])
    assert done(rotated.rest("GET", "/v1/me/session")) == {
        "user": {"id": ana.id, "username": ana.name, "role": "user"},
        "scope": "read_only",
        "project": web,
    }
    listed = done(ana.plane.rest("GET", "/v1/me/tokens"))["tokens"]
    assert old["id"] not in [one["id"] for one in listed]
    (kept,) = (one for one in listed if one["id"] == new["id"])
    assert (kept["label"], kept["expiresAt"]) == ("ci", old["expiresAt"])
    assert new["token"] not in json.dumps(listed)


@promise("plane:admins")
def test_admin_routes_answer_admins_only(admin: Plane) -> None:
    """D17: none 401, user 403 `admin only`."""
    ana = Person(admin)
    for method, path, body in (
        ("GET", "/v1/admin/users", None),
        ("POST", "/v1/admin/users", {"username": "planted"}),
        ("DELETE", f"/v1/admin/users/{ana.id}", None),
        ("PUT", f"/v1/admin/users/{ana.id}/quota", {"maxEntries": 1}),
        ("GET", "/v1/admin/tokens", None),
        ("POST", "/v1/admin/tokens", {"userId": ana.id}),
        ("DELETE", f"/v1/admin/tokens/{ana.token_id}", None),
        ("GET", "/v1/admin/audit", None),
    ):
        refused(ana.plane.rest(method, path, body), 403, "admin only")
        refused(admin.with_token(None).rest(method, path, body), 401, "unauthorized")
    users = done(admin.rest("GET", "/v1/admin/users"))["users"]
    assert "planted" not in [one["username"] for one in users]


@promise("plane:rate")
def test_calls_of_a_token_are_counted_together(tmp_path_factory: pytest.TempPathFactory) -> None:
    """D18: over fresh connections, by `/v1` and `/mcp` alike; another token has its own count."""
    assert HttpLimits().per_minute == 600
    limits = HttpLimits(per_minute=9)
    ping = json.dumps(request(1, "ping")).encode()
    json_type = {"content-type": "application/json", "accept": "application/json"}
    with plane_server(tmp_path_factory.mktemp("rate") / "plane", load=None, limits=limits) as one:
        plane = Plane(one)
        answers = [plane.rest("POST", "/v1/recent", {}) for _ in range(3)]
        answers += [plane.raw("POST", "/mcp", ping, json_type) for _ in range(3)]
        answers += [
            plane.rest("GET", "/v1/stats"),
            plane.rest("POST", "/v1/remember", {}),
            plane.raw("GET", "/facts?agent=a"),
        ]
        assert [answer.status for answer in answers] == [200] * 7 + [400, 200]
        left = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers]
        assert left == [8, 7, 6, 5, 4, 3, 2, 1, 0]
        assert {answer.headers["x-ratelimit-limit"] for answer in answers} == {"9"}
        over = [plane.rest("GET", "/v1/stats"), plane.raw("POST", "/mcp", ping, json_type)]
        for answer in over:
            assert answer.status == 429
            seconds = answer.headers["retry-after"]
            assert answer.document == {"error": f"Rate limit exceeded, retry in {seconds} seconds"}
            assert answer.headers["x-ratelimit-remaining"] == "0"
            assert 1 <= int(answer.headers["x-ratelimit-reset"]) <= 60
        other = plane.with_token(one.mint())
        assert other.rest("GET", "/v1/stats").headers["x-ratelimit-remaining"] == "8"
        assert "x-ratelimit-limit" not in plane.raw("GET", "/live").headers


@promise("plane:quota")
@by_door
def test_a_third_write_in_a_minute_is_over_a_quota_of_two(admin: Plane, door: str) -> None:
    """D18: what was rejected in between is not charged; the next minute starts anew."""
    ana = Person(admin)
    ana.set_quota(writesPerMinute=2)
    ana.plane.ok(door, "remember", content="The first note of the day")
    filler = ana.plane.ok(door, "capture", content="ok thanks")
    assert filler["id"] is None
    ana.plane.ok(door, "remember", content="The second note of the day")
    for operation, fields in (
        ("remember", {"content": "The third note of the day"}),
        ("capture", {"content": "We decided to write a third note", "force": True}),
        ("session-recap", {"decisions": ["We decided to write a third note"]}),
    ):
        outcome = ana.plane.ask(door, operation, **fields)
        assert outcome.error == (
            "error: write quota exceeded: 2 writes/minute — retry after the window resets"
        )
        if outcome.response is not None:
            assert outcome.response.status == 429
            assert 1 <= int(outcome.response.headers["retry-after"]) <= 60
    admin.server.clock.move(seconds=60)
    ana.plane.ok(door, "remember", content="The third note of the day")


@promise("plane:quota")
@by_door
def test_a_recap_over_a_quota_is_refused_whole(admin: Plane, door: str) -> None:
    """Data plane 8: charged per stored item."""
    ana = Person(admin)
    ana.set_quota(writesPerMinute=2)
    three = ["We decided to paint the door", "We decided to mend the roof", "We decided to rest"]
    outcome = ana.plane.ask(door, "session-recap", decisions=three)
    assert outcome.error.startswith("error: write quota exceeded: 2 writes/minute")
    assert contents(ana.plane) == set()
    assert ana.plane.ok(door, "session-recap", decisions=three[:2])["saved"] == 2


@promise("plane:quota")
def test_the_server_sets_what_no_admin_did(tmp_path: Path) -> None:
    """Data plane 8: off by default, by setting for all, by an admin for one user."""
    variables = {
        "GRAYMATTER_HTTP_TOKEN": SERVER_TOKEN,
        "GRAYMATTER_MODEL": "none",
        "GRAYMATTER_WRITES_PER_MINUTE": "1000",
        "GRAYMATTER_MAX_ENTRIES": "1",
        "GRAYMATTER_MAX_CAPTURED": "40",
    }
    with HttpServer(tmp_path / "store", **variables) as server:
        bearer = {**JSON_HEADERS, "authorization": f"Bearer {SERVER_TOKEN}"}

        def send(method: str, path: str, **body: Any) -> tuple[int, Any]:
            sent = json.dumps(body).encode() if body else None
            answer = server.ask(method, path, sent, bearer)
            return answer.status, answer.document

        quota = {"maxEntries": 1, "writesPerMinute": 1000}
        assert send("GET", "/v1/me/usage") == (200, {"entries": 0, "quota": quota})
        status, told = send("POST", "/v1/capture", content="We decided to keep long texts out" * 9)
        assert (status, told["id"]) == (200, None)
        assert told["rejected"].endswith("max 40) — split into one fact per entry")
        assert send("POST", "/v1/remember", content="The only note that fits")[0] == 201
        assert send("POST", "/v1/remember", content="One note too many for it")[0] == 429
        place = "/v1/admin/users/local/quota"
        raised = {"maxEntries": 2, "writesPerMinute": 1000}
        assert send("PUT", place, maxEntries=2) == (200, {"quota": raised})
        assert send("POST", "/v1/remember", content="One note that fits now")[0] == 201


@promise("plane:quota")
@by_door
def test_stored_entries_have_a_quota(admin: Plane, door: str) -> None:
    """Data plane 8: what is forgotten makes room."""
    ana = Person(admin)
    ana.set_quota(maxEntries=1)
    kept = ana.plane.ok(door, "remember", content="The only note that fits")["id"]
    outcome = ana.plane.ask(door, "remember", content="One note too many", force=True)
    assert outcome.error == (
        "error: entry quota exceeded: 1 stored entries — forget something first"
    )
    quota = {"maxEntries": 1, "writesPerMinute": None}
    assert done(ana.plane.rest("GET", "/v1/me/usage")) == {"entries": 1, "quota": quota}
    ana.plane.ok(door, "forget", id=kept)
    ana.plane.ok(door, "remember", content="Now there is room")


def exported(plane: Plane, limit: int = 200) -> list[dict[str, Any]]:
    """Return all entries, page by page."""
    found: list[dict[str, Any]] = []
    after: str | None = ""
    while after is not None:
        sent = f"&afterId={after}" if after else ""
        page = done(plane.rest("GET", f"/v1/me/export?limit={limit}{sent}"))
        assert len(page["entries"]) <= limit
        found += page["entries"]
        after = page["nextAfterId"]
    return found


@promise("plane:moving")
def test_an_export_is_the_same_after_an_import(admin: Plane) -> None:
    """D19: labels, lifecycle and times survive, and nothing becomes verified."""
    ana, ben = Person(admin), Person(admin)
    plane = ana.plane
    plane.keep("notes", "The loom stands in the hall", "The dye is kept in jars", confidence=1.0)
    (old,) = plane.keep("notes", "The weaving API uses port 7778", sourceRefs=["mail:1"])
    told = plane.post("capture", namespace="notes", content="The weaving API uses port 7779")
    assert told.document["superseded"] == [old]
    plane.keep("dates", "The fair is in May", metadata={"place": "Delft"}, sensitivity="sensitive")
    entries = exported(plane, limit=2)
    ids = [one["id"] for one in entries]
    assert len(ids) == 5
    assert ids == sorted(set(ids))
    admin.server.clock.move(hours=1)
    first = ben.plane.rest("POST", "/v1/me/import", {"entries": entries})
    assert done(first, 201) == {"imported": 5, "deduplicated": 0, "failed": []}
    again = ben.plane.rest("POST", "/v1/me/import", {"entries": entries})
    assert done(again, 200) == {"imported": 0, "deduplicated": 5, "failed": []}
    arrived = {one["content"]: one for one in exported(ben.plane)}
    assert len(arrived) == 5
    new_ids = {one["id"]: arrived[one["content"]]["id"] for one in entries}
    for entry in entries:
        twin = arrived[entry["content"]]
        for name in ("createdAt", "confidence", "confidenceLabel", "hits", "tier", "sourceRefs"):
            assert twin[name] == entry[name], name
        assert twin["confidenceLabel"] != "verified"
        wanted = json.dumps(entry["metadata"])
        for before, after in new_ids.items():
            wanted = wanted.replace(before, after)
        assert twin["metadata"] == json.loads(wanted)
    assert new_ids.keys().isdisjoint(new_ids.values())
    failed = ben.plane.rest("POST", "/v1/me/import", {"entries": [{"content": ""}]})
    assert failed.status == 400


@promise("plane:changes")
@by_door
def test_the_feed_tells_of_each_change_in_order(admin: Plane, door: str) -> None:
    """D20: created, updated, superseded, deleted; no content in it or in the audit."""
    ana = Person(admin)
    plane = ana.plane
    (first,) = plane.keep("notes", "The zebra API uses port 7778")
    plane.ok(door, "update", id=first, content="The zebra API uses port 7779")
    told = plane.ok(door, "capture", content="The zebra API uses port 7780", namespace="notes")
    assert told["superseded"] == [first]
    plane.ok(door, "forget", id=first)
    feed = done(plane.rest("GET", "/v1/me/changes"))
    of_first = [one["change"] for one in feed["changes"] if one["entryId"] == first]
    assert of_first == ["created", "updated", "superseded", "deleted"]
    assert [one["change"] for one in feed["changes"] if one["entryId"] == told["id"]] == ["created"]
    seqs = [one["seq"] for one in feed["changes"]]
    assert seqs == sorted(set(seqs))
    assert feed["nextSeq"] == seqs[-1]
    page = done(plane.rest("GET", "/v1/me/changes?limit=2"))
    assert page == {"changes": feed["changes"][:2], "nextSeq": seqs[1]}
    rest = done(plane.rest("GET", f"/v1/me/changes?afterSeq={seqs[1]}"))
    assert rest["changes"] == feed["changes"][2:]
    end = done(plane.rest("GET", f"/v1/me/changes?afterSeq={seqs[-1] + 1000}"))
    assert end == {"changes": [], "nextSeq": seqs[-1] + 1000}
    audit = whole_audit(admin)
    hers = [one for one in audit if one["userId"] == ana.id]
    assert {"remember", "update", "capture", "forget", "changes"} <= {o["action"] for o in hers}
    for text in (json.dumps(feed), json.dumps(audit)):
        assert "zebra" not in text
        assert " uses " not in text


def whole_audit(admin: Plane) -> list[dict[str, Any]]:
    """Return every entry of the audit."""
    found: list[dict[str, Any]] = []
    after = 0
    while True:
        page = done(admin.rest("GET", f"/v1/admin/audit?afterSeq={after}&limit=500"))
        fresh = [one for one in page["events"] if one["action"] != "audit"]
        found += fresh
        if not fresh:
            return found
        after = page["nextSeq"]


@promise("plane:audit")
def test_the_audit_names_whoever_was_turned_away(admin: Plane) -> None:
    """Data plane 8: by every kind of refusal, and by no word that was sent."""
    ana = Person(admin)
    reader, pinned = ana.with_token(scope="read_only"), ana.with_token(project=ana.project("web"))
    nobody = admin.with_token("gm_zebra")
    key = {"x-request-id": "zebra-1"}
    after = whole_audit(admin)[-1]["seq"]
    nobody.rest("POST", "/v1/search", {"query": "zebra"}, key)
    nobody.raw("POST", "/mcp", b"{}", key)
    nobody.rest("POST", "/v1/me/session", {"token": "zebra"}, key)
    nobody.raw("GET", "/v1/stats", None, {**key, "host": "zebra.example"})
    reader.rest("POST", "/v1/remember", {"content": "zebra"}, key)
    reader.tool(DOORS[-1], "memory_capture", content="We decided to buy a zebra")
    pinned.rest("POST", "/v1/recent", {"project": "zebra"}, key)
    ana.plane.rest("GET", "/v1/admin/users", None, key)
    pinned.raw("GET", "/metrics", None, key)
    page = done(admin.rest("GET", f"/v1/admin/audit?limit=500&afterSeq={after}"))
    told = {(one["action"], one["outcome"], one["userId"]) for one in page["events"]}
    assert told >= {
        ("POST /v1/search", "unauthorized", None),
        ("POST /mcp", "unauthorized", None),
        ("session_open", "unauthorized", None),
        ("no_route", "forbidden", None),
        ("remember", "read_only", ana.id),
        ("capture", "read_only", ana.id),
        ("recent", "forbidden", ana.id),
        ("user_list", "forbidden", ana.id),
        ("GET /metrics", "forbidden", ana.id),
    }
    refusals = [one for one in page["events"] if one["outcome"] != "ok"]
    assert len(refusals) == 9
    assert "zebra" not in json.dumps(page).replace("zebra-1", "")
    assert [one["requestId"] for one in refusals].count("zebra-1") == 8


@promise("plane:changes")
def test_the_feed_covers_what_the_caller_reaches_and_no_more(admin: Plane) -> None:
    """D20; data plane 8: everything in the caller's scopes."""
    ana, ben = Person(admin), Person(admin)
    web = ana.project("web", ben)
    (hers,) = ana.plane.keep("notes", "Hers is this alone")
    (shared,) = ana.plane.keep("notes", "For both of them", project=web)

    def seen(plane: Plane) -> list[tuple[str, str | None]]:
        changes = done(plane.rest("GET", "/v1/me/changes"))["changes"]
        return [(one["entryId"], one["projectId"]) for one in changes]

    assert seen(ana.plane) == [(hers, None), (shared, web)]
    assert seen(ben.plane) == [(shared, web)]
    assert seen(ana.with_token(project=web)) == [(shared, web)]


@promise("plane:strangers-ids")
@by_door
def test_an_id_of_somebody_else_is_an_unknown_id(admin: Plane, door: str) -> None:
    """D51: to a user of the same tenant and of another one; the fact survives."""
    ana, eve = Person(admin), Person(admin)
    (hers,) = ana.plane.keep("notes", "The safe opens at noon", sourceRefs=["mail:1"])
    for stranger in (eve.plane, ana.with_token(project=ana.project("web"))):
        for operation, fields in (
            ("update", {"content": "Planted"}),
            ("forget", {}),
            ("neighbors", {}),
        ):
            outcomes = [
                stranger.ask(door, operation, id=name, **fields) for name in (hers, NEVER_WAS)
            ]
            answers = [(one.error, one.body, status_of(one.response)) for one in outcomes]
            assert answers[0] == answers[1]
        assert stranger.ok(door, "recent", ids=[hers])["results"] == []
        assert stranger.ok(door, "forget", sourceRef="mail:1")["count"] == 0
    assert contents(ana.plane) == {"The safe opens at noon"}


def status_of(answer: Response | None) -> int | None:
    """Return the status of an answer of REST."""
    return None if answer is None else answer.status


@promise("plane:strangers-ids")
@by_door
def test_a_member_forgets_what_another_wrote(admin: Plane, door: str) -> None:
    """D51."""
    ana, ben = Person(admin), Person(admin)
    web = ana.project("web", ben)
    (shared,) = ana.plane.keep("notes", "For both of them", project=web)
    assert ben.plane.ok(door, "forget", id=shared, project=web)["deleted"] is True
    assert contents(ana.plane, project=web) == set()


@promise("plane:bearers")
def test_a_token_is_refused_from_the_next_request_on(admin: Plane) -> None:
    """D11: revoked by its user, by an admin, with its user, at its end."""
    ana, ben = Person(admin), Person(admin)
    made = ana.mint(expiresInDays=1)
    expiring = admin.with_token(made["token"])
    revoked = ana.mint()
    gone = admin.with_token(revoked["token"])
    assert gone.rest("GET", "/v1/stats").status == 200
    done(ana.plane.rest("DELETE", f"/v1/me/tokens/{revoked['id']}"))
    refused(gone.rest("GET", "/v1/stats"), 401, "unauthorized")
    message = json.dumps(request(1, "ping")).encode()
    headers = {"content-type": "application/json", "accept": "application/json"}
    refused(gone.raw("POST", "/mcp", message, headers), 401, "unauthorized")
    done(admin.rest("DELETE", f"/v1/admin/tokens/{ben.token_id}"))
    refused(ben.plane.rest("GET", "/v1/stats"), 401, "unauthorized")
    assert expiring.rest("GET", "/v1/stats").status == 200
    admin.server.clock.move(days=1)
    refused(expiring.rest("GET", "/v1/stats"), 401, "unauthorized")
    done(admin.rest("DELETE", f"/v1/admin/users/{ana.id}"))
    refused(ana.plane.rest("GET", "/v1/stats"), 401, "unauthorized")


@promise("plane:accounts-once")
def test_a_change_of_accounts_under_one_key_takes_effect_once(admin: Plane) -> None:
    """Data plane 2.2: any writing request, also one that could not be sent twice."""
    ana, ben = Person(admin), Person(admin)
    web = ana.project("web")
    place = f"/v1/me/projects/{web}"
    member = f"{place}/members/{ben.id}"
    doomed = ana.mint()["id"]
    quota = f"/v1/admin/users/{ana.id}/quota"
    for plane, method, path, body, status in (
        (ana.plane, "POST", "/v1/me/projects", {"name": "shop"}, 201),
        (ana.plane, "POST", f"{place}/members", {"username": ben.name}, 201),
        (ana.plane, "PUT", "/v1/me/active-project", {"project": "web"}, 200),
        (ana.plane, "DELETE", "/v1/me/active-project", None, 204),
        (ana.plane, "DELETE", member, None, 200),
        (ana.plane, "DELETE", f"/v1/me/tokens/{doomed}", None, 200),
        (ana.plane, "DELETE", place, None, 200),
        (admin, "PUT", quota, {"maxEntries": 7}, 200),
        (admin, "POST", "/v1/admin/users", {"username": f"{ana.name} too"}, 201),
    ):
        key = {"idempotency-key": f"{method} {path} {ana.name}"}
        first, again = (plane.rest(method, path, body, key) for _ in range(2))
        assert (first.status, again.status) == (status, status), path
        assert again.body == first.body
        assert "idempotency-replayed" not in first.headers
        assert again.headers["idempotency-replayed"] == "true"
    listed = done(ana.plane.rest("GET", "/v1/me/projects"))["projects"]
    assert [one["name"] for one in listed] == ["shop"]
    assert done(ana.plane.rest("GET", "/v1/me/usage"))["quota"]["maxEntries"] == 7
    key = {"idempotency-key": f"POST /v1/me/projects {ana.name}"}
    other = ana.plane.rest("POST", "/v1/me/projects", {"name": "another"}, key)
    refused(other, 409, "idempotency key was used with another request")


@promise("plane:accounts-once")
def test_a_token_is_made_once_a_key_and_not_shown_again(admin: Plane) -> None:
    """Data plane 2.2, 8; ADR 0056: what is kept of the answer holds no secret."""
    ana = Person(admin)
    for plane, path, body in (
        (ana.plane, "/v1/me/tokens", {"label": "ci"}),
        (admin, "/v1/admin/tokens", {"userId": ana.id, "label": "ci"}),
    ):
        before = len(done(ana.plane.rest("GET", "/v1/me/tokens"))["tokens"])
        key = {"idempotency-key": f"{path} {ana.name}"}
        made = done(plane.rest("POST", path, body, key), 201)
        text = (
            f"token {made['id']} was made under this idempotency key and is shown once:"
            " delete it and use another key"
        )
        refused(plane.rest("POST", path, body, key), 409, text)
        assert len(done(ana.plane.rest("GET", "/v1/me/tokens"))["tokens"]) == before + 1
        assert admin.with_token(made["token"]).rest("GET", "/v1/stats").status == 200


@promise("plane:accounts-once")
def test_a_change_that_failed_may_be_sent_again_under_its_key(admin: Plane) -> None:
    """Data plane 2.2: what took no effect is no effect to keep; nobody saw it either."""
    ana = Person(admin)
    key = {"idempotency-key": f"again {ana.name}"}
    admin.server.store.failing = "away"
    failed = ana.plane.rest("POST", "/v1/me/projects", {"name": "web"}, key)
    admin.server.store.failing = ""
    assert failed.status == 503
    assert done(ana.plane.rest("GET", "/v1/me/projects")) == {"projects": []}
    made = ana.plane.rest("POST", "/v1/me/projects", {"name": "web"}, key)
    assert made.status == 201
    assert "idempotency-replayed" not in made.headers
    listed = done(ana.plane.rest("GET", "/v1/me/projects"))["projects"]
    assert [one["id"] for one in listed] == [made.document["id"]]
