"""The data plane: forgetting a fact for good, and changing one in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import duckdb
import pytest
from ulid import ULID

from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from contract_tests.plane_server import plane_server
from contract_tests.plane_stored import hits_of, stored_metadata
from contract_tests.plane_wire import DOORS, REST, Plane
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.accounts import Role

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

by_door = pytest.mark.parametrize("door", DOORS)

NOBODYS: Final = "01ARZ3NDEKTSV4RRFFQ69G5FAV"
NOT_THERE: Final = {"deleted": False, "coldDeleteOk": True}
NO_SUCH: Final = "error: no such memory in your scope"
KEPT_TABLES: Final = frozenset({"changes", "events", "audit", "receipts"})
"""The feed, the audits, and recorded answers."""


def item_of(plane: Plane, shelf: str) -> dict[str, Any]:
    """Return the one fact of a shelf."""
    (item,) = plane.ok(REST, "recent", namespace=shelf, maxSensitivity="sensitive")["results"]
    return item


def now(plane: Plane) -> str:
    """Return the instant as callers write it, and let time go on."""
    plane.server.clock.move(seconds=1)
    at = plane.server.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")
    plane.server.clock.move(seconds=1)
    return at


def tables_holding(file: Path, fact_id: str) -> set[str]:
    """Return the tables of a store with a row that names a fact, in any spelling."""
    uuid = str(UUID(bytes=ULID.from_str(fact_id).bytes))
    spellings = [uuid, fact_id, fact_id.lower()]
    found: set[str] = set()
    with duckdb.connect(str(file), read_only=True) as opened:
        names = opened.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        for (name,) in names:
            for spelling in spellings:
                rows = opened.execute(
                    f"SELECT count(*) FROM {name} t WHERE contains(CAST(t AS VARCHAR), ?)",  # noqa: S608 - a name from the catalogue
                    [spelling],
                ).fetchall()
                if rows != [(0,)]:
                    found.add(name)
    return found


@promise("plane:forget")
@by_door
def test_a_forgotten_fact_is_gone_for_good(tmp_path: Path, door: str) -> None:
    """D50."""
    with plane_server(tmp_path / "plane", load=hashed) as server:
        server.settle()
        fact_id, other = _forgotten(Plane(server), door)
    with plane_server(tmp_path / "plane", load=hashed) as server:
        assert Plane(server).ok(door, "forget", id=fact_id) == NOT_THERE
    file = tmp_path / "plane" / "gray.duckdb"
    assert tables_holding(file, fact_id) <= KEPT_TABLES
    assert {"facts", "fact_details", "vectors"} <= tables_holding(file, other)


def _forgotten(plane: Plane, door: str) -> tuple[str, str]:
    """Forget a fact with everything that a fact can have; return it and one that stays."""
    content = "the relay listens on port 7001"
    (fact_id,) = plane.keep("net", content, sourceRefs=["chat-1"], capturedFrom="run-7")
    (other,) = plane.keep("net", "the relay is painted green", capturedFrom="run-7")
    plane.core("memory_reflect", action="link", agent_id="net", text=fact_id, target=other)
    first = now(plane)
    plane.ok(door, "update", id=fact_id, content="the relay listens on port 7005")
    plane.ok(door, "search", query="relay port", namespace="net")
    second = now(plane)
    for at in (first, second):
        assert len(plane.ok(door, "recent", asOf=at)["results"]) == 2
    assert plane.ok(door, "forget", id=fact_id) == {"deleted": True, "coldDeleteOk": True}
    assert plane.ok(door, "forget", id=fact_id) == NOT_THERE
    assert plane.ask(door, "update", id=fact_id, content=content).error == NO_SUCH
    assert plane.ok(door, "forget", sourceRef="chat-1")["count"] == 0
    assert plane.ok(door, "neighbors", id=other)["results"] == []
    for at in (first, second):
        assert [item["id"] for item in plane.ok(door, "recent", asOf=at)["results"]] == [other]
        found = plane.ok(door, "search", query="relay port 7001", asOf=at, abstainBelow=0)
        assert [item["id"] for item in found["results"]] == [other]
    assert plane.core("memory_search", agent_id="net", query="relay port 7001")["facts"] == [
        "the relay is painted green"
    ]
    return fact_id, other


@promise("plane:forget")
@by_door
def test_forgetting_the_newer_side_does_not_bring_back_the_older(plane: Plane, door: str) -> None:
    """D50; data plane, 3.11."""
    shelf = plane.shelf()
    old, new = (
        plane.ok(door, "capture", content=f"the relay listens on port {n}", namespace=shelf)["id"]
        for n in (7001, 7002)
    )
    assert plane.ok(door, "forget", id=new)["deleted"] is True
    assert plane.ok(door, "recent", namespace=shelf)["results"] == []
    assert stored_metadata(plane, shelf, old)["lifecycleStatus"] == "superseded"
    assert plane.ok(door, "forget", id=old)["deleted"] is True


@promise("plane:foreign-id")
def test_a_fact_of_another_user_is_like_one_that_never_was(
    open_plane: Callable[..., Plane],
) -> None:
    """D51."""
    plane = open_plane(load=None)
    ana, bob = (user(plane, name) for name in ("ana", "bob"))
    fields = {"content": "the safe is behind the mirror", "namespace": "home"}
    fact_id = ana.ok(REST, "remember", **fields, sourceRefs=["note-1"])["id"]
    for attempt in (
        {"id": fact_id},
        {"id": NOBODYS},
        {"id": fact_id.lower()},
        {"id": "nothing like an id"},
    ):
        assert bob.ok(REST, "forget", **attempt) == NOT_THERE
    assert bob.ok(REST, "forget", sourceRef="note-1")["count"] == 0
    for one in (fact_id, NOBODYS):
        assert bob.ask(REST, "update", id=one, content="nothing").error == NO_SUCH
        assert bob.ok(REST, "neighbors", id=one) == {"results": [], "degraded": False}
    assert bob.ok(REST, "recent", ids=[fact_id])["results"] == []
    (item,) = ana.ok(REST, "recent")["results"]
    assert (item["id"], item["content"]) == (fact_id, fields["content"])
    assert ana.ok(REST, "forget", id=fact_id)["deleted"] is True


@promise("plane:foreign-id")
def test_a_member_forgets_what_another_member_stored_in_the_project(
    open_plane: Callable[..., Plane],
) -> None:
    """D51."""
    plane = open_plane(load=None)
    ana, bob = (user(plane, name) for name in ("ana", "bob"))
    accounts = plane.server.memory.plane.accounts
    owner = next(one for one in accounts.users.list(LOCAL_CALLER) if one.username == "ana")
    caller = Caller(tenant=owner.tenant, user_id=owner.id)
    project = accounts.projects.create(caller, "garden").id
    accounts.projects.add_member(caller, project, "bob")
    fact_id = ana.ok(REST, "remember", content="the shed has no lock", project=project)["id"]
    assert bob.ok(REST, "forget", id=fact_id) == NOT_THERE
    assert bob.ok(REST, "forget", id=fact_id, project=project)["deleted"] is True
    assert ana.ok(REST, "recent", project=project)["results"] == []


@promise("plane:forget-source")
@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({}, "", "custom"),
        ({"id": NOBODYS, "sourceRef": "a"}, "", "custom"),
        ({"sourceRef": ""}, "sourceRef", "too_small"),
        ({"sourceRef": " \t "}, "sourceRef", "custom"),
        ({"sourceRef": "a\u0007b"}, "sourceRef", "custom"),
        ({"sourceRef": "a" * 513}, "sourceRef", "too_big"),
        ({"sourceRef": 7}, "sourceRef", "invalid_type"),
        ({"id": ""}, "id", "too_small"),
        ({"id": "x" * 129}, "id", "too_big"),
    ],
)
def test_a_handle_that_is_none_is_refused(
    plane: Plane, fields: dict[str, Any], path: str, code: str
) -> None:
    """D52."""
    answer = plane.refused_alike("forget", **fields)
    assert answer.status == 400
    (issue,) = answer.document["issues"]
    assert (issue["path"], issue["code"]) == (path, code)


@promise("plane:forget-source")
@by_door
def test_facts_go_by_exactly_their_handle(plane: Plane, door: str) -> None:
    """D52."""
    shelf, other = plane.shelf(), plane.shelf()
    ref = f"{shelf}/Doc"
    ids = [
        *plane.keep(shelf, "the roof needs paint", sourceRefs=[ref, f"{ref}-2"]),
        *plane.keep(other, "the cellar is wet", "a bicycle was stolen", sourceRefs=[ref]),
    ]
    near = [ref.upper(), f"{ref} ", f" {ref}", f"{ref}-2", ref[:-1], f"{ref}%", "%"]
    (kept,) = plane.keep(shelf, "the kettle is warm", sourceRefs=near)
    told = plane.ok(door, "forget", sourceRef=ref)
    assert told == {"sourceRef": ref, "ids": sorted(ids), "count": 3, "coldDeleteOk": True}
    again = plane.ok(door, "forget", sourceRef=ref)
    assert again == {"sourceRef": ref, "ids": [], "count": 0, "coldDeleteOk": True}
    assert item_of(plane, shelf)["id"] == kept
    assert plane.ok(door, "recent", namespace=other)["results"] == []
    assert plane.ok(door, "forget", sourceRef=f"{ref} ")["ids"] == [kept]


@promise("plane:update")
@by_door
def test_a_new_content_keeps_what_else_is_known(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D53."""
    plane = open_plane(load=hashed)
    metadata = {"team": "net", "session": "s"}
    fact_id, other = (
        plane.ok(
            door, "capture", content=text, namespace="net", metadata=metadata, sourceRefs=["c"]
        )["id"]
        for text in ("the relay listens on port 7001", "a bicycle was stolen")
    )
    plane.ok(door, "search", query="relay", namespace="net", k=1)
    (before,) = plane.ok(door, "recent", ids=[fact_id])["results"]
    hits = hits_of(plane, "net", fact_id)
    assert hits == 2
    plane.server.clock.move(hours=1)
    content = "  the antenna was turned towards the harbour\n"
    told = plane.ok(door, "update", id=fact_id, content=content)
    assert told == {"id": fact_id, "updated": True, "embeddingChanged": True}
    (after,) = plane.ok(door, "recent", ids=[fact_id])["results"]
    assert after["updatedAt"] > before["updatedAt"]
    assert after == {**before, "content": content, "updatedAt": after["updatedAt"]}
    assert hits_of(plane, "net", fact_id) == hits
    assert [one["id"] for one in plane.ok(door, "neighbors", id=fact_id)["results"]] == [other]
    found = plane.ok(door, "search", query="antenna harbour", namespace="net")["results"]
    assert found[0]["id"] == fact_id
    (first, *_) = plane.ok(door, "search", query="7001", namespace="net", k=1)["results"]
    assert first["signals"]["keyword"] == 0
    same = plane.ok(door, "update", id=fact_id, content=content)
    assert same == {"id": fact_id, "updated": True, "embeddingChanged": False}
    duplicate = plane.ok(door, "remember", content=content.strip(), namespace="net")
    assert (duplicate["id"], duplicate["deduplicated"]) == (fact_id, True)
    old = plane.ok(door, "remember", content="the relay listens on port 7001", namespace="net")
    assert old["id"] != fact_id


@promise("plane:update")
@by_door
def test_metadata_are_replaced_and_those_of_the_server_stay(plane: Plane, door: str) -> None:
    """D53."""
    shelf = plane.shelf()
    content = "We chose the blue one for the hall"
    sent = {"team": "net", "step": 1}
    fact_id = plane.ok(door, "capture", content=content, namespace=shelf, metadata=sent)["id"]
    told = item_of(plane, shelf)["metadata"]
    plane.ok(door, "update", id=fact_id, sensitivity="internal")
    assert item_of(plane, shelf)["metadata"] == {**told, "sensitivity": "internal"}
    plane.ok(door, "update", id=fact_id, metadata={"own": None, "supersededBy": "x", "recap": 1})
    own = {key: told[key] for key in told if key not in sent}
    assert item_of(plane, shelf)["metadata"] == {**own, "own": None, "sensitivity": "internal"}
    plane.ok(door, "update", id=fact_id, metadata={"memoryType": "setup_fact"})
    found = item_of(plane, shelf)["metadata"]
    assert found["memoryType"] == "setup_fact"
    assert found["retention"]["policy"] == "supersede_aggressively"
    assert "own" not in found
    plane.ok(door, "update", id=fact_id, metadata={"memoryType": "gossip"})
    assert item_of(plane, shelf)["metadata"]["memoryType"] == "setup_fact"


@promise("plane:update")
@by_door
def test_every_field_can_be_changed_alone(plane: Plane, door: str) -> None:
    """D53."""
    shelf = plane.shelf()
    (fact_id,) = plane.keep(shelf, "the roof needs paint", capturedFrom="a", confidence=0.5)
    before = item_of(plane, shelf)
    end = "2099-01-01T00:00:00.000Z"
    for field, value in (
        ("sourceType", "doc"),
        ("capturedFrom", "b"),
        ("confidence", 0.25),
        ("expiresAt", end),
    ):
        told = plane.ok(door, "update", id=fact_id, **{field: value})
        assert told == {"id": fact_id, "updated": True, "embeddingChanged": False}
    after = item_of(plane, shelf)
    assert after == {
        **before,
        "sourceType": "doc",
        "capturedFrom": "b",
        "confidence": 0.25,
        "metadata": {**before["metadata"], "expiresAt": end},
        "updatedAt": after["updatedAt"],
    }


@promise("plane:update")
@pytest.mark.parametrize("fields", [{}, {"project": None}, {"content": None, "metadata": None}])
def test_an_update_of_nothing_is_refused(plane: Plane, fields: dict[str, Any]) -> None:
    """D53."""
    answer = plane.refused_alike("update", id=NOBODYS, **fields)
    assert answer.status == 400
    assert answer.document["issues"] == [
        {"path": "", "message": "nothing to update", "code": "custom"}
    ]


@promise("plane:update")
@by_door
def test_a_superseded_fact_is_brought_back(plane: Plane, door: str) -> None:
    """Data plane, 1.3: the undo takes the three keys of a superseded fact away."""
    shelf = plane.shelf()
    old, new = (
        plane.ok(door, "capture", content=f"the relay listens on port {n}", namespace=shelf)["id"]
        for n in (7001, 7002)
    )
    plane.ok(door, "update", id=old, content="the relay listens on port 7003")
    assert item_of(plane, shelf)["id"] == new
    plane.ok(door, "update", id=old, metadata={"lifecycleStatus": "active"})
    items = plane.ok(door, "recent", namespace=shelf)["results"]
    assert {item["id"] for item in items} == {old, new}
    (told,) = (item["metadata"] for item in items if item["id"] == old)
    assert told["lifecycleStatus"] == "active"
    assert not {"supersededBy", "supersededReason", "supersededAt"} & told.keys()
    plane.ok(door, "update", id=old, metadata={"lifecycleStatus": "deprecated"})
    assert item_of(plane, shelf)["id"] == new
    found = plane.ok(door, "search", query="relay port 7003", namespace=shelf)["results"]
    assert [item["id"] for item in found] == [new]
    plane.ok(door, "update", id=old, metadata={"lifecycleStatus": "active"})
    assert len(plane.ok(door, "recent", namespace=shelf)["results"]) == 2


@promise("plane:move")
@by_door
def test_a_fact_moves_to_another_shelf_as_it_is(tmp_path: Path, door: str) -> None:
    """Data plane, 3.12: id, reads, time of creation and handles come along."""
    with plane_server(tmp_path / "plane", load=hashed) as server:
        server.settle()
        fact_id = _moved(Plane(server), door)
    left = tables_holding(tmp_path / "plane" / "gray.duckdb", fact_id) - KEPT_TABLES
    # What took its place says so.
    assert left <= {"fact_details"}


def _moved(plane: Plane, door: str) -> str:
    """Move a fact with everything that a fact can have, then forget it."""
    fields = {"sourceRefs": ["chat-1"], "metadata": {"team": "net"}}
    content = "the relay listens on port 7001"
    fact_id = plane.ok(door, "capture", content=content, namespace="from", **fields)["id"]
    (other,) = plane.keep("from", "a bicycle was stolen", metadata={"session": "x"})
    plane.core("memory_reflect", action="link", agent_id="from", text=fact_id, target=other)
    plane.ok(door, "search", query="relay port", namespace="from", k=1)
    (before,) = plane.ok(door, "recent", ids=[fact_id])["results"]
    told = plane.ok(door, "update", id=fact_id, namespace="to")
    assert told == {"id": fact_id, "updated": True, "embeddingChanged": False}
    after = item_of(plane, "to")
    assert after == {**before, "namespace": "to", "updatedAt": after["updatedAt"]}
    assert hits_of(plane, "to", fact_id) == 2
    assert item_of(plane, "from")["id"] == other
    for query in ("relay port", "7001"):
        (found,) = plane.ok(door, "search", query=query, namespace="to")["results"]
        assert found["id"] == fact_id
        assert plane.core("memory_search", agent_id="to", query=query)["facts"] == [content]
    assert plane.ok(door, "stats")["pendingVectors"] == 0
    taken_back = plane.ok(door, "capture", content="the relay listens on port 7002", namespace="to")
    assert taken_back["superseded"] == [fact_id]
    assert plane.ok(door, "forget", sourceRef="chat-1")["ids"] == [fact_id]
    assert plane.ok(door, "forget", id=fact_id) == NOT_THERE
    return fact_id


@promise("plane:update")
def test_new_content_without_a_model_leaves_no_old_vector(
    open_plane: Callable[..., Plane],
) -> None:
    """D53; data plane, 3.12: the old vector must not answer for the new text."""
    plane = open_plane(load=hashed)
    (fact_id,) = plane.keep("net", "the relay listens on port 7001")
    plane = open_plane(load=None)
    told = plane.ok(REST, "update", id=fact_id, content="a bicycle was stolen today")
    assert told["embeddingChanged"] is False
    plane = open_plane(load=hashed)
    assert plane.ok(REST, "stats")["pendingVectors"] == 0
    weights = {"keyword": 0, "graph": 0, "entity": 0, "vector": 1}
    (item,) = plane.ok(
        REST, "search", query="bicycle stolen", weights=weights, minVectorScore=0.3, abstainBelow=0
    )["results"]
    assert item["id"] == fact_id
    assert (
        plane.ok(
            REST, "search", query="relay port", weights=weights, minVectorScore=0.3, abstainBelow=0
        )["results"]
        == []
    )


@promise("plane:update")
@by_door
def test_a_content_that_gives_a_secret_away_is_guarded(plane: Plane, door: str) -> None:
    """D53; data plane, 3.12: an inferred level is found anew, an explicit one stays."""
    shelf = plane.shelf()
    (fact_id,) = plane.keep(shelf, "the door has a new lock")
    plane.ok(door, "update", id=fact_id, content="password: hunter2!")
    assert plane.ok(door, "recent", namespace=shelf)["results"] == []
    assert item_of(plane, shelf)["metadata"]["sensitivity"] == "sensitive"
    plane.ok(door, "update", id=fact_id, content="the door has an old lock")
    assert item_of(plane, shelf)["metadata"]["sensitivity"] == "sensitive"
    plane.ok(door, "update", id=fact_id, sensitivity="public")
    plane.ok(door, "update", id=fact_id, content="password: hunter3!")
    assert item_of(plane, shelf)["metadata"]["sensitivity"] == "public"


def user(plane: Plane, name: str) -> Plane:
    """Make a user; return a caller with a token of theirs."""
    accounts = plane.server.memory.plane.accounts
    made = accounts.users.create(LOCAL_CALLER, name, Role.USER)
    return plane.with_token(accounts.tokens.create_for(LOCAL_CALLER, made.id).secret)


@promise("plane:move")
@by_door
def test_a_link_leads_on_to_the_shelf_that_its_fact_moved_to(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """Data plane, 3.12: an update keeps the edges; ADR 0058."""
    plane = open_plane(load=None)
    one, two = (
        plane.keep("from", text, metadata={"session": text})[0]
        for text in ("the relay hums", "a bicycle was stolen")
    )
    plane.core("memory_reflect", action="link", agent_id="from", text=one, target=two)
    plane.ok(door, "update", id=one, namespace="to")
    for seed, other in ((one, two), (two, one)):
        (item,) = plane.ok(door, "neighbors", id=seed)["results"]
        assert (item["id"], item["score"]) == (other, 1.0)
    alone = plane.ok(door, "neighbors", id=one, includeNamespaces=["to"])
    assert alone["results"] == []
