"""The data plane: the newest facts, what stands beside a fact, and what there is of all."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_stored import hits_of
from contract_tests.plane_wire import DOORS, ERAS, REST

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from contract_tests.plane_wire import Plane

by_door = pytest.mark.parametrize("door", DOORS)

COLOURS: Final = ["red", "green", "blue", "black", "white", "brown", "grey", "pink", "gold", "lime"]


def stamp(at: datetime) -> str:
    """Return a time as callers write it."""
    return at.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def ids_in(body: dict[str, list[dict[str, str]]]) -> list[str]:
    """Return the ids of the results, in order."""
    return [item["id"] for item in body["results"]]


def link(plane: Plane, shelf: str, a: str, b: str) -> None:
    """Let an agent link two facts, or what they name."""
    plane.core("memory_reflect", action="link", agent_id=shelf, text=a, target=b)


@promise("plane:recent")
def test_recent_lists_the_newest_first_from_an_instant_on(open_plane: Callable[..., Plane]) -> None:
    """D47: the instant itself counts; twenty unless another number is asked for."""
    plane = open_plane(load=None)
    ids: list[str] = []
    for at in range(25):
        ids += plane.keep("notes", f"note number {at} of the day")
        plane.server.clock.move(minutes=1)
    ids.reverse()
    assert ids_in(plane.alike("recent", namespace="notes")) == ids[:20]
    assert ids_in(plane.alike("recent", namespace="notes", k=200)) == ids
    third = plane.alike("recent", namespace="notes", k=3)["results"][2]
    since = third["createdAt"]
    assert ids_in(plane.alike("recent", namespace="notes", since=since)) == ids[:3]
    with_offset = since.replace("Z", "+00:00")
    assert ids_in(plane.alike("recent", since=with_offset)) == ids[:3]
    assert {hits_of(plane, "notes", one) for one in ids} == {1}


@promise("plane:recent")
def test_facts_of_one_moment_come_by_their_ids(open_plane: Callable[..., Plane]) -> None:
    """D47; data plane, 3.9: by creation, then by id, both descending."""
    plane = open_plane(load=None)
    ids = plane.keep("notes", *(f"the {colour} key is in the drawer" for colour in COLOURS))
    assert ids_in(plane.alike("recent")) == sorted(ids, reverse=True)


@promise("plane:recent")
@pytest.mark.parametrize("era", ERAS)
def test_today_leaves_out_what_is_older_than_a_day(
    open_plane: Callable[..., Plane], era: str
) -> None:
    """D47."""
    plane = open_plane(load=None)
    plane.keep("notes", "this was written two days ago")
    plane.server.clock.move(hours=24)
    (yesterday,) = plane.keep("notes", "this was written a day ago")
    plane.server.clock.move(hours=24)
    (today,) = plane.keep("notes", "this is written now")
    found = plane.tool(era, "memory_today", namespace="notes").body
    assert ids_in(found) == [today, yesterday]
    plane.server.clock.move(seconds=1)
    assert ids_in(plane.tool(era, "memory_today").body) == [today]


@promise("plane:expiry")
@by_door
def test_a_fact_is_gone_from_the_instant_of_its_end(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """Data plane, 1.2 and 5.3: the same text said again is then a fact of its own."""
    plane = open_plane(load=None)
    end = plane.server.clock.now() + timedelta(hours=1)
    content = "the meeting room is booked by the board"
    fields = {"content": content, "namespace": "rooms"}
    first = plane.ok(door, "capture", **fields, expiresAt=stamp(end))["id"]
    plane.server.clock.move(minutes=59, seconds=59, milliseconds=999)
    before = stamp(plane.server.clock.now())
    assert ids_in(plane.ok(door, "recent", namespace="rooms")) == [first]
    plane.server.clock.move(milliseconds=1)
    assert ids_in(plane.ok(door, "recent", namespace="rooms")) == []
    assert ids_in(plane.ok(door, "search", query="meeting room", namespace="rooms")) == []
    gone = plane.ask(door, "update", id=first, content="the meeting room is free")
    assert gone.error == "error: no such memory in your scope"
    assert ids_in(plane.ok(door, "recent", namespace="rooms", asOf=before)) == [first]
    second = plane.ok(door, "capture", **fields)
    assert second == {"id": second["id"], "embedded": False}
    assert second["id"] != first
    late = plane.ask(door, "capture", content="too late", expiresAt=stamp(end), namespace="rooms")
    assert late.error.startswith("error: invalid argument 'expiresAt': ")


@promise("plane:linked")
def test_facts_that_an_agent_linked_are_neighbours(open_plane: Callable[..., Plane]) -> None:
    """D48: both ways, never the fact itself."""
    plane = open_plane(load=None)
    a, b, c = (
        plane.keep("wiki", f"the {colour} door leads out", metadata={"session": colour})[0]
        for colour in COLOURS[:3]
    )
    link(plane, "wiki", a, b)
    link(plane, "wiki", b, c)
    for seed, depth, expected in ((a, 1, [b]), (b, 1, [c, a]), (c, 2, [b, a]), (a, 3, [b, c])):
        body = plane.alike("neighbors", id=seed, depth=depth)
        assert ids_in(body) == expected
        assert {(item["score"], str(item["signals"])) for item in body["results"]} == {
            (1.0, "{'graph': 1.0}")
        }
        assert body["degraded"] is False
    assert {hits_of(plane, "wiki", one) for one in (a, b, c)} == {1}


@promise("plane:linked")
def test_what_is_wrong_with_a_seed_or_a_depth_is_said(open_plane: Callable[..., Plane]) -> None:
    """D48."""
    plane = open_plane(load=None)
    answer = plane.refused_alike("neighbors", id="01ARZ3NDEKTSV4RRFFQ69G5FAV", depth=4)
    assert answer.status == 400
    (issue,) = answer.document["issues"]
    assert (issue["path"], issue["code"]) == ("depth", "invalid_value")
    for seed in ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "no id at all", "\u00e9" * 128):
        body = plane.alike("neighbors", id=seed)
        assert body == {"results": [], "degraded": False}


@promise("plane:linked")
def test_twenty_neighbours_are_named_unless_another_number_is_asked_for(
    open_plane: Callable[..., Plane],
) -> None:
    """D48."""
    plane = open_plane(load=None)
    ids = [
        plane.keep("wiki", f"leaf number {at} of the tree", metadata={"session": f"s{at}"})[0]
        for at in range(26)
    ]
    for leaf in ids[1:]:
        link(plane, "wiki", ids[0], leaf)
    assert len(ids_in(plane.alike("neighbors", id=ids[0]))) == 20
    assert sorted(ids_in(plane.alike("neighbors", id=ids[0], k=50))) == ids[1:]


@promise("plane:session")
def test_facts_of_one_session_stand_beside_each_other(open_plane: Callable[..., Plane]) -> None:
    """D49: without vectors, so that nothing else joins them."""
    plane = open_plane(load=None)
    texts = ["the kettle is warm", "a bicycle was stolen", "the roof needs paint"]
    one = [plane.keep("diary", text, metadata={"session": "one"})[0] for text in texts]
    two = plane.keep("diary", f"{texts[0]} again", "a fence was painted", capturedFrom="two")
    elsewhere = plane.keep("other", *texts, metadata={"session": "one"})
    for seed, depth, expected in (
        (one[1], 1, {one[0], one[2]}),
        (one[0], 1, {one[1]}),
        (one[0], 2, {one[1], one[2]}),
        (two[0], 3, {two[1]}),
        (elsewhere[1], 3, {elsewhere[0], elsewhere[2]}),
    ):
        assert set(ids_in(plane.alike("neighbors", id=seed, depth=depth))) == expected


@promise("plane:session")
def test_no_hidden_fact_is_a_bridge(open_plane: Callable[..., Plane]) -> None:
    """D49: a superseded fact in the middle, then one that is too guarded, then one of the past."""
    plane = open_plane(load=None)
    fields = {"capturedFrom": "run-7", "namespace": "diary"}
    a, b, c = (
        plane.ok(REST, "capture", content=text, **fields)["id"]
        for text in ("the kettle is warm", "the relay listens on port 7001", "the roof needs paint")
    )
    assert set(ids_in(plane.alike("neighbors", id=b))) == {a, c}
    plane.server.clock.move(seconds=1)
    before = stamp(plane.server.clock.now())
    plane.server.clock.move(seconds=1)
    new = plane.ok(REST, "capture", content="the relay listens on port 7002", **fields)
    assert new["superseded"] == [b]
    assert ids_in(plane.alike("neighbors", id=a, depth=3)) == []
    assert ids_in(plane.alike("neighbors", id=c, depth=3)) == [new["id"]]
    assert ids_in(plane.alike("neighbors", id=b, depth=3)) == []
    assert set(ids_in(plane.alike("neighbors", id=a, depth=3, asOf=before))) == {b, c}
    plane.ok(REST, "update", id=c, sensitivity="sensitive")
    assert ids_in(plane.alike("neighbors", id=new["id"])) == []
    seen = plane.alike("neighbors", id=new["id"], maxSensitivity="sensitive")
    assert ids_in(seen) == [c]


@promise("plane:session")
def test_facts_without_a_session_belong_together_for_half_an_hour(
    open_plane: Callable[..., Plane],
) -> None:
    """Data plane, 6: both over no connection, of one agent, at most 30 minutes apart."""
    plane = open_plane(load=None)
    (a,) = plane.keep("diary", "the kettle is warm")
    plane.server.clock.move(minutes=30)
    (b,) = plane.keep("diary", "a bicycle was stolen")
    plane.server.clock.move(minutes=30, seconds=1)
    (c,) = plane.keep("diary", "the roof needs paint")
    (d,) = plane.keep("diary", "the cellar is wet", agentName="scribe")
    assert ids_in(plane.alike("neighbors", id=a, depth=3)) == [b]
    assert ids_in(plane.alike("neighbors", id=c, depth=3)) == []
    assert ids_in(plane.alike("neighbors", id=d, depth=3)) == []


@promise("plane:stats")
@by_door
def test_stats_count_shelf_by_shelf(open_plane: Callable[..., Plane], door: str) -> None:
    """D54."""
    plane = open_plane(load=None)
    plane.keep("one", "the kettle is warm", "the roof needs paint")
    plane.keep("two", "a bicycle was stolen", sensitivity="sensitive")
    plane.ok(REST, "capture", content="the relay listens on port 7001", namespace="two")
    plane.ok(REST, "capture", content="the relay listens on port 7002", namespace="two")
    (old,) = plane.keep("three", "the cellar is wet")
    plane.ok(REST, "update", id=old, metadata={"lifecycleStatus": "deprecated"})
    plane.core("memory_add", agent_id="one", text="the attic is dry")
    end = plane.server.clock.now() + timedelta(hours=1)
    plane.keep("one", "the window is open", expiresAt=stamp(end))
    (rewritten, forgotten) = plane.keep("two", "the boat is blue", "the boat is for sale")
    plane.ok(REST, "update", id=rewritten, content="the boat is green")
    plane.ok(REST, "forget", id=forgotten)
    plane.server.clock.move(hours=1)
    body = plane.ok(door, "stats")
    assert body.pop("uptimeMs") >= 0
    assert body == {
        "byNamespace": {"one": {"warm": 3, "cold": 0}, "two": {"warm": 3, "cold": 0}},
        "totalWarm": 6,
        "totalCold": 0,
        "totalInactive": 2,
        "pendingVectors": 0,
        "lastDecayAt": None,
    }
