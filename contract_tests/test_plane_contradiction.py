"""The data plane: a captured fact takes the place of those that it takes back, and of no others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_stored import stored_metadata
from contract_tests.plane_wire import DOORS, REST

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane

MUST: Final = [
    ("graymatter deployment uses port 7778", "graymatter deployment uses port 7779"),
    ("speculative tokens: 15", "speculative tokens: 6"),
    ("The staging API runs image api:1.4.2", "The staging API runs image api:1.5.0"),
    ("Release freeze starts 2026-03-01", "Release freeze starts 2026-03-08"),
    ("The embedding model is model-a-v1", "The embedding model is model-b-v2"),
    ("Dark mode is enabled", "Dark mode is disabled"),
    ("We use Redis for the queue", "We no longer use Redis for the queue"),
    ("Backups run at 02:00", "Backups now run at 04:30"),
    (
        "The deployment uses port 7778",
        "The deployment moved from port 7778 to port 7779",
    ),
    ("Ana lives in Berlin", "Ana lives in Munich"),
    # Words that a frame shares though one text writes them as part of another word.
    ("The pool has 16GB of memory", "The pool has 32GB of memory"),
    ("The pool has 16 GB of memory", "The pool has 32 GB of memory"),
    ("We cannot reach the vault from CI", "We can reach the vault from CI"),
    ("We can reach the vault from CI", "We can't reach the vault from CI"),
    ("The vault won't open for CI", "The vault will open for CI"),
]
MUST_NOT: Final = [
    ("Staging API uses port 7778", "Production API uses port 7779"),
    ("My wife's birthday is 1984-05-03", "My daughter's birthday is 2012-05-03"),
    ("Invoice 1041 is due 2026-02-01", "Invoice 1042 is due 2026-02-03"),
    ("Server 1 has 16 GB of memory", "Server 2 has 32 GB of memory"),
    ("Step 2 takes 5 minutes", "Step 3 takes 9 minutes"),
    ("Ana ran 5 km on Saturday", "Ana ran 8 km on Saturday"),
    ("Never deploy on Friday", "Never deploy on Monday"),
    ("API has 2 replicas and 4 workers", "API has 3 replicas and 8 workers"),
    ("API uses port 7778. Logs live in /var/log/api", "API uses port 7779"),
    ("In 2024 the team has 15 people", "In 2025 the team has 18 people"),
    # Too short to be captured without force, as they stand in the table.
    ("Bob likes tea", "Bob likes coffee"),
]


@promise("plane:supersede")
@pytest.mark.parametrize(("old", "new"), MUST)
def test_a_fact_that_is_taken_back_is_superseded(plane: Plane, old: str, new: str) -> None:
    """D38; the left column of 5.4."""
    shelf = plane.shelf()
    before = plane.ok(REST, "capture", content=old, namespace=shelf)["id"]
    answer = plane.post("capture", content=new, namespace=shelf)
    assert answer.status == 201
    after = answer.document["id"]
    assert answer.document == {"id": after, "superseded": [before], "embedded": True}
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert (item["id"], item["content"]) == (after, new)
    assert item["metadata"]["captureAction"] == "superseded"
    assert item["metadata"]["supersedes"] == [before]
    assert item["metadata"]["lifecycleStatus"] == "active"


@promise("plane:supersede")
def test_a_superseded_fact_is_out_of_every_read(plane: Plane) -> None:
    """D38: over every door, and its own record says why."""
    shelf = plane.shelf()
    old = plane.keep(shelf, "graymatter deployment uses port 7778", metadata={"team": "infra"})[0]
    plane.server.clock.move(seconds=1)
    new = plane.ok(REST, "capture", content="graymatter deployment uses port 7779", namespace=shelf)
    query = "graymatter deployment port 7778"
    for name, fields in (("search", {"query": query}), ("recent", {})):
        found = plane.alike(name, namespace=shelf, maxSensitivity="sensitive", **fields)["results"]
        assert [item["id"] for item in found] == [new["id"]]
    context = plane.alike("context", message=query, namespace=shelf)
    found = context["relevant"]["results"] + context["recent"]["results"]
    assert {item["id"] for item in found + context["contextPack"]["all"]} == {new["id"]}
    near = plane.alike("neighbors", id=new["id"], includeNamespaces=[shelf])
    assert near == {"results": [], "degraded": False}
    assert plane.alike("neighbors", id=old)["results"] == []
    told = stored_metadata(plane, shelf, old)
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert told == {
        "team": "infra",
        "captureAction": "inserted",
        "sensitivity": "private",
        "lifecycleStatus": "superseded",
        "supersededBy": new["id"],
        "supersededReason": "contradiction",
        "supersededAt": item["createdAt"],
    }


@promise("plane:supersede")
@pytest.mark.parametrize("door", DOORS)
def test_every_door_supersedes(plane: Plane, door: str) -> None:
    """D38 and D59."""
    shelf = plane.shelf()
    old = plane.ok(door, "capture", content="The shift starts at 09:00", namespace=shelf)["id"]
    new = plane.ok(door, "capture", content="The shift starts at 10:00", namespace=shelf)
    assert new["superseded"] == [old]


@promise("plane:keep-both")
@pytest.mark.parametrize(("first", "second"), MUST_NOT)
def test_facts_that_may_both_hold_stay(plane: Plane, first: str, second: str) -> None:
    """D39; the right column of 5.4, in its order."""
    shelf = plane.shelf()
    ids = [
        plane.ok(REST, "capture", content=text, namespace=shelf, force=True)
        for text in (first, second)
    ]
    assert [sorted(one) for one in ids] == [["embedded", "id"]] * 2
    found = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert {item["content"] for item in found} == {first, second}
