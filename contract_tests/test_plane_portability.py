"""The data plane: facts leave one user and enter another with all that they were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_people import Person, done
from contract_tests.plane_wire import REST

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.plane_wire import Plane

MAPPED: Final = ("id", "projectId")
"""Of an entry, what is new where it arrives."""


def exported(plane: Plane, limit: int = 200) -> list[dict[str, Any]]:
    """Return all entries, page by page."""
    entries: list[dict[str, Any]] = []
    after = ""
    while True:
        page = done(plane.rest("GET", f"/v1/me/export?limit={limit}{after}"))
        assert len(page["entries"]) <= limit
        entries += page["entries"]
        if page["nextAfterId"] is None:
            return entries
        assert page["nextAfterId"] == entries[-1]["id"]
        after = f"&afterId={page['nextAfterId']}"


def told(entry: dict[str, Any], ids: dict[str, str]) -> dict[str, Any]:
    """Return an entry by the contents of the facts that it names."""
    metadata = dict(entry["metadata"])
    # A fact of the core has no record of the data plane before it was imported.
    metadata.setdefault("lifecycleStatus", "active")
    if metadata.get("supersededBy"):
        metadata["supersededBy"] = ids[metadata["supersededBy"]]
    if "supersedes" in metadata:
        metadata["supersedes"] = [ids[one] for one in metadata["supersedes"]]
    return {key: value for key, value in entry.items() if key not in MAPPED} | {
        "metadata": metadata
    }


def texts(entries: list[dict[str, Any]]) -> dict[str, str]:
    """Return the content of each entry by its id."""
    return {one["id"]: one["content"] for one in entries}


def filled(plane: Plane) -> None:
    """Store facts of every kind: captured, raw, replaced, deprecated, guarded, of the core."""
    clock = plane.server.clock
    for port in (7778, 7779):
        plane.ok(
            REST,
            "capture",
            content=f"graymatter deployment uses port {port}",
            sourceRefs=[f"chat-{port}", "chat"],
            capturedFrom="chat",
        )
        clock.move(hours=1)
    plane.keep("notes", "Backups are kept for a month", confidence=0.4, agentName="ana")
    plane.keep("ops", "password: hunter2hunter!2", expiresAt="2027-01-01T00:00:00.000Z")
    (old,) = plane.keep("notes", "The old wiki holds the runbooks")
    plane.ok(REST, "update", id=old, metadata={"lifecycleStatus": "deprecated", "team": "core"})
    plane.core("memory_add", agent_id="core", text="Ana owns the trains", confidence="verified")
    plane.core("memory_add", agent_id="core", text="Ben owns the buses", confidence="unverified")
    plane.core("memory_add", agent_id="core", text="Eve owns the trams")
    clock.move(days=1)
    plane.ok(REST, "search", query="backups kept")
    clock.move(days=7)
    done(plane.rest("POST", "/v1/admin/decay", {}))


@promise("plane:export")
def test_facts_survive_the_way_from_one_user_to_another(open_plane: Callable[..., Plane]) -> None:
    """D19: by pages, ids ascending; all imported, then all deduplicated; nothing verified more."""
    plane = open_plane(load=None)
    filled(plane)
    before = exported(plane, limit=3)
    assert [one["id"] for one in before] == sorted({one["id"] for one in before})
    assert len(before) == 8
    assert before == exported(plane)
    lives = [one["metadata"].get("lifecycleStatus", "active") for one in before]
    assert sorted(set(lives)) == ["active", "deprecated", "superseded"]
    assert {one["tier"] for one in before} == {"warm", "cold"}
    assert {one["hits"] for one in before} == {1, 2}
    assert [one["confidenceLabel"] for one in before].count("verified") == 1
    heir = Person(plane).plane
    assert exported(heir) == []
    answer = heir.rest("POST", "/v1/me/import", {"entries": before})
    assert answer.status == 201
    assert answer.document == {"imported": 8, "deduplicated": 0, "failed": []}
    after = exported(heir)
    assert not {one["id"] for one in after} & {one["id"] for one in before}
    assert sorted((told(one, texts(after)) for one in after), key=str) == sorted(
        (told(one, texts(before)) for one in before), key=str
    )
    again = heir.rest("POST", "/v1/me/import", {"entries": before})
    assert again.status == 200
    assert again.document == {"imported": 0, "deduplicated": 8, "failed": []}
    assert exported(heir) == after
    assert exported(plane) == before
    assert heir.rest("POST", "/v1/me/import", {"entries": after}).status == 200
    assert exported(heir) == after


@promise("plane:export")
def test_a_label_is_not_made_of_a_number(plane: Plane) -> None:
    """D19: nothing became `verified`; a number stays a number, and what had neither has neither."""
    heir = Person(plane).plane
    entries = [
        {"content": "The kiln is lit on Fridays", "confidence": 1.0},
        {"content": "The oven is cold on Mondays"},
        {"content": "The fence is painted", "confidenceLabel": "unverified"},
    ]
    assert heir.rest("POST", "/v1/me/import", {"entries": entries}).status == 201
    found = {one["content"]: one for one in exported(heir)}
    assert [
        (found[str(one["content"])]["confidence"], found[str(one["content"])]["confidenceLabel"])
        for one in entries
    ] == [(1.0, None), (None, None), (None, "unverified")]


@promise("plane:export")
def test_what_is_out_of_reach_is_not_exported(plane: Plane) -> None:
    """Data plane, section 8: what the caller owns or shares; a pinned token its project."""
    ana, ben, eve = Person(plane), Person(plane), Person(plane)
    web = ana.project("web", ben)
    ana.plane.keep("notes", "This is of Ana alone")
    ana.plane.keep("notes", "This is of the site", project=web)
    for seen, expected in (
        (ana.plane, {"This is of Ana alone", "This is of the site"}),
        (ben.plane, {"This is of the site"}),
        (eve.plane, set[str]()),
        (ana.with_token(project=web), {"This is of the site"}),
    ):
        assert {one["content"] for one in exported(seen)} == expected


@promise("plane:import")
def test_what_cannot_be_stored_is_named_and_the_rest_is_stored(plane: Plane) -> None:
    """Data plane, section 8: 400 when all failed."""
    heir = Person(plane).plane
    good = {"content": "The kiln is lit on Fridays"}
    mixed = heir.rest(
        "POST", "/v1/me/import", {"entries": [{"content": ""}, good, {"tier": "hot"}]}
    )
    assert mixed.status == 201
    assert (mixed.document["imported"], mixed.document["deduplicated"]) == (1, 0)
    assert [one["index"] for one in mixed.document["failed"]] == [0, 2]
    bad = heir.rest("POST", "/v1/me/import", {"entries": [{"content": ""}]})
    assert bad.status == 400
    assert bad.document["imported"] == 0
    assert len(exported(heir)) == 1


@promise("plane:import")
@pytest.mark.parametrize("count", [0, 201])
def test_an_import_has_bounds(plane: Plane, count: int) -> None:
    """Data plane, section 8: 1 to 200 entries."""
    entries = [{"content": f"Fact number {n} of many"} for n in range(count)]
    answer = Person(plane).plane.rest("POST", "/v1/me/import", {"entries": entries})
    assert answer.status == 400
    assert [issue["path"] for issue in answer.document["issues"]] == ["entries"]
    for limit in (0, 1001):
        assert plane.rest("GET", f"/v1/me/export?limit={limit}").status == 400
