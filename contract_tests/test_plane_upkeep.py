"""The data plane: how long facts stay warm, and what brings them back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_people import Person, done
from contract_tests.plane_wire import DOORS, REST

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.plane_wire import Plane

by_door = pytest.mark.parametrize("door", DOORS)


def decay(plane: Plane, **fields: Any) -> tuple[int, int, int]:
    """Let an admin go through all facts; return how many were demoted, promoted and erased."""
    told = done(plane.rest("POST", "/v1/admin/decay", fields))
    return told["demoted"], told["promoted"], told["expired"]


def entry(plane: Plane, fact_id: str) -> dict[str, Any]:
    """Return what the export says of a fact."""
    entries = done(plane.rest("GET", "/v1/me/export?limit=1000"))["entries"]
    (found,) = (one for one in entries if one["id"] == fact_id)
    return found


def read(plane: Plane, query: str, times: int) -> None:
    """Search so often that a fact counts one more hit each time."""
    for _ in range(times):
        assert len(plane.ok(REST, "search", query=query)["results"]) == 1


@promise("plane:decay")
@by_door
def test_a_fact_that_nobody_reads_goes_cold_after_its_base(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D58: base 7, warm at 6.9 days, cold at 7.1; stats tell it, shelf by shelf (D54)."""
    plane = open_plane(load=None)
    fact_id = plane.ok(door, "remember", content="The queue is called jobs", namespace="q")["id"]
    plane.server.clock.move(days=6.9)
    assert decay(plane) == (0, 0, 0)
    assert entry(plane, fact_id)["tier"] == "warm"
    plane.server.clock.move(days=0.2)
    plane.keep("q", "The broker listens on the second floor")
    assert decay(plane) == (1, 0, 0)
    assert entry(plane, fact_id)["tier"] == "cold"
    stats = plane.ok(door, "stats")
    assert stats["byNamespace"] == {"q": {"warm": 1, "cold": 1}}
    assert (stats["totalWarm"], stats["totalCold"], stats["totalInactive"]) == (1, 1, 0)
    at = plane.server.clock.now().strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    assert stats["lastDecayAt"] == at


@promise("plane:decay")
def test_reads_make_a_fact_last(open_plane: Callable[..., Plane]) -> None:
    """D58: hits 15 and 14 days idle stays; E7: until 28 days."""
    plane = open_plane(load=None)
    (fact_id,) = plane.keep("q", "The queue is called jobs")
    read(plane, "queue jobs", 14)
    assert entry(plane, fact_id)["hits"] == 15
    plane.server.clock.move(days=14)
    assert decay(plane) == (0, 0, 0)
    plane.server.clock.move(days=13.9)
    assert decay(plane) == (0, 0, 0)
    plane.server.clock.move(days=0.2)
    assert decay(plane) == (1, 0, 0)


@promise("plane:promotion")
@by_door
def test_a_cold_fact_comes_back_with_a_search(open_plane: Callable[..., Plane], door: str) -> None:
    """D58: hits 20 and 14 days; `tier` is warm in that answer, and from then on."""
    plane = open_plane(load=None)
    (fact_id,) = plane.keep("q", "The queue is called jobs")
    read(plane, "queue jobs", 19)
    plane.server.clock.move(days=14)
    # 3 log2(21) is 13.2 days.
    assert decay(plane, effectiveDays=3) == (1, 0, 0)
    assert entry(plane, fact_id)["tier"] == "cold"
    assert entry(plane, fact_id)["hits"] == 20
    (seen,) = plane.ok(door, "recent")["results"]
    assert seen["tier"] == "cold"
    (found,) = plane.ok(door, "search", query="queue jobs")["results"]
    assert (found["id"], found["tier"]) == (fact_id, "warm")
    plane.server.clock.move(days=7)
    assert decay(plane) == (0, 0, 0)
    assert entry(plane, fact_id)["tier"] == "warm"


@promise("plane:promotion")
def test_a_search_brings_back_no_fact_that_was_idle_for_too_long(
    open_plane: Callable[..., Plane],
) -> None:
    """E7: hits 1, idle 30 days: 11.095 days are less, and it stays cold."""
    plane = open_plane(load=None)
    (fact_id,) = plane.keep("q", "The queue is called jobs")
    plane.server.clock.move(days=30)
    assert decay(plane) == (1, 0, 0)
    (found,) = plane.ok(REST, "search", query="queue jobs")["results"]
    assert (found["id"], found["tier"]) == (fact_id, "cold")
    assert entry(plane, fact_id)["tier"] == "cold"


@promise("plane:decay")
def test_pinned_facts_and_what_lasts_longer_stay_warm(open_plane: Callable[..., Plane]) -> None:
    """D58: pinned never demotes; E7: a deployment_state lives 30 days."""
    plane = open_plane(load=None)
    (pinned,) = plane.keep("q", "The queue is called jobs")
    plane.core("memory_reflect", action="pin", agent_id="q", target="The queue is called jobs")
    text = "The staging deployment runs on k3s at host alpha"
    state = plane.ok(REST, "capture", content=text, namespace="q")["id"]
    plane.server.clock.move(days=29.9)
    assert decay(plane) == (0, 0, 0)
    plane.server.clock.move(days=0.2)
    assert decay(plane) == (1, 0, 0)
    assert entry(plane, state)["tier"] == "cold"
    plane.server.clock.move(days=1000)
    assert decay(plane) == (0, 0, 0)
    assert entry(plane, pinned)["tier"] == "warm"


@promise("plane:decay")
def test_what_has_expired_is_erased(open_plane: Callable[..., Plane]) -> None:
    """Data plane, 7.5."""
    plane = open_plane(load=None)
    end = plane.server.clock.now().replace(year=2026, month=1, day=2).isoformat()
    (gone,) = plane.keep("q", "The guest code is blue", expiresAt=end)
    plane.server.clock.move(days=2)
    assert decay(plane) == (0, 0, 1)
    assert decay(plane) == (0, 0, 0)
    (last,) = (
        one
        for one in done(plane.rest("GET", "/v1/me/changes"))["changes"]
        if one["change"] != "created"
    )
    assert (last["entryId"], last["change"]) == (gone, "expired")


@promise("plane:pinned-stats")
@by_door
def test_a_pinned_token_counts_its_project_only(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D54: two scopes with shelves of one name add up for their user; all levels count."""
    plane = open_plane(load=None)
    ana, ben = Person(plane), Person(plane)
    web = ana.project("web")
    ana.plane.keep("notes", "The kiln is lit on Fridays", "The oven is cold")
    ana.plane.keep("notes", "The footer is grey", project=web)
    ana.plane.keep("ops", "password: hunter2hunter!2", project=web)
    for port in (7001, 7002):
        text = f"the relay listens on port {port}"
        ana.plane.ok(REST, "capture", content=text, namespace="ops", project=web)
    ben.plane.keep("notes", "The fence is painted")

    def counts(seen: Plane) -> Any:
        body = seen.ok(door, "stats")
        assert body["totalWarm"] == sum(one["warm"] for one in body["byNamespace"].values())
        assert body["totalCold"] == sum(one["cold"] for one in body["byNamespace"].values()) == 0
        warm = {name: one["warm"] for name, one in body["byNamespace"].items()}
        return warm, body["totalInactive"]

    assert counts(ana.plane) == ({"notes": 3, "ops": 2}, 1)
    assert counts(ana.with_token(project=web)) == ({"notes": 1, "ops": 2}, 1)
    assert counts(ben.plane) == ({"notes": 1}, 0)
