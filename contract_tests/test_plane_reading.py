"""The data plane: how much of a fact a read returns, from which shelves, and as of when."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import hashed
from contract_tests.plane_wire import REST
from graymatter_mcp.model.access import LOCAL_CALLER

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from contract_tests.plane_wire import Plane

SECTIONS: Final = {
    *("userGlobal", "projectScoped", "userPreferences", "currentSetup", "projectConventions"),
    *("decisions", "bugRootCauses", "deploymentState", "safetyConstraints", "pitfalls"),
    *("recentDecisions", "all"),
}
TYPED: Final = {
    "user_preference": "Lena prefers short answers about the bakery",
    "decision": "We decided that the bakery opens at six",
    "setup_fact": "The bakery oven is a model D500 from Wiesheu",
    "deployment_state": "The bakery site runs on the small k3s host",
    "bug_root_cause": "Root cause of the cold bakery: a stuck valve",
    "project_convention": "A convention of the bakery: flour before water",
    "safety_constraint": "Never leave the bakery oven unattended",
}
LONG: Final = " ".join(f"word{n:03}" for n in range(40))[:300]


def contents(body: Any) -> list[str]:
    """Return what the results of a body say, in order."""
    return [item["content"] for item in body["results"]]


def spelled(moment: datetime) -> str:
    """Write a time as a request has it."""
    return moment.isoformat(timespec="microseconds")


@promise("plane:as-of")
def test_the_past_is_shown_as_it_was(open_plane: Callable[..., Plane]) -> None:
    """D30."""
    plane = open_plane(load=hashed)
    clock = plane.server.clock
    moments = [spelled(clock.now())]

    def tick() -> None:
        clock.move(seconds=10)
        moments.append(spelled(clock.now()))
        clock.move(seconds=10)

    clock.move(seconds=10)
    (lease,) = plane.keep("past", "The lease costs 900 euros")
    for amount in (950, 990):
        tick()
        plane.ok(REST, "update", id=lease, content=f"The lease costs {amount} euros")
    tick()

    def seen(moment: str | None) -> list[str]:
        listed = plane.alike("recent", namespace="past", asOf=moment)
        asked: dict[str, Any] = {"namespace": "past", "query": "lease costs", "asOf": moment}
        found = plane.alike("search", **asked)
        assert sorted(contents(found)) == sorted(contents(listed))
        assert all(item["id"] == lease for item in found["results"])
        return contents(listed)

    assert [seen(moment) for moment in [*moments, None]] == [
        [],
        ["The lease costs 900 euros"],
        ["The lease costs 950 euros"],
        ["The lease costs 990 euros"],
        ["The lease costs 990 euros"],
    ]


@promise("plane:as-of")
def test_what_was_superseded_later_was_active_then(open_plane: Callable[..., Plane]) -> None:
    """D30."""
    plane = open_plane(load=hashed)
    clock = plane.server.clock
    (old,) = plane.keep("past", "The sluice uses port 7778")
    clock.move(seconds=10)
    before = spelled(clock.now())
    clock.move(seconds=10)
    new = plane.ok(REST, "capture", namespace="past", content="The sluice uses port 7779")
    assert new["superseded"] == [old]
    (then,) = plane.alike("recent", namespace="past", asOf=before)["results"]
    assert then["id"] == old
    assert then["metadata"]["lifecycleStatus"] == "active"
    assert "supersededBy" not in then["metadata"]
    (found,) = plane.alike("search", namespace="past", query="sluice port", asOf=before)["results"]
    assert found["id"] == old
    (now,) = plane.alike("recent", namespace="past")["results"]
    assert now["id"] == new["id"]


@promise("plane:as-of")
@pytest.mark.parametrize("operation", ["search", "context", "recent", "neighbors"])
def test_the_future_cannot_be_asked_about(plane: Plane, operation: str) -> None:
    """D30."""
    needed = {"search": "query", "context": "message", "neighbors": "id"}.get(operation)
    fields = {} if needed is None else {needed: "harvest"}
    answer = plane.refused_alike(operation, **fields, asOf="2999-01-01T00:00:00Z")
    (issue,) = answer.document["issues"]
    assert (answer.status, issue["path"], issue["code"]) == (400, "asOf", "custom")


@promise("plane:token-budget")
def test_a_snippet_costs_what_is_left_of_it(open_plane: Callable[..., Plane]) -> None:
    """D32: 240 characters and a mark cost 61 tokens at most, the whole text 75."""
    plane = open_plane(load=None)
    plane.keep("costs", LONG, "word001 stands in a short one too")
    asked: dict[str, Any] = {"namespace": "costs", "query": "word001"}
    order = plane.alike("search", **asked)["results"]
    assert len(order) == 2
    assert len(plane.alike("search", **asked, maxTokens=70)["results"]) == 1
    cut = plane.alike("search", **asked, maxTokens=70, contentMode="snippet")["results"]
    assert len(cut) == 2


@promise("plane:content-modes")
@pytest.mark.parametrize("operation", ["search", "recent"])
def test_content_comes_as_it_was_asked_for(plane: Plane, operation: str) -> None:
    """D33."""
    shelf = plane.shelf()
    (kept,) = plane.keep(
        shelf,
        LONG,
        metadata={"colour": "red"},
        sourceType="doc",
        capturedFrom="case",
        agentName="ana",
        confidence=0.8,
    )
    asked: dict[str, Any] = {"namespace": shelf}
    asked |= {"query": "word001"} if operation == "search" else {}
    (whole,) = plane.alike(operation, **asked)["results"]
    assert whole["content"] == LONG
    assert "truncated" not in whole
    (cut,) = plane.alike(operation, **asked, contentMode="snippet")["results"]
    assert cut["truncated"] is True
    assert cut["content"].endswith("…")
    shown = cut["content"].removesuffix("…")
    assert LONG.startswith(f"{shown} ")
    assert 120 < len(shown) <= 240
    left_out = {"content", "metadata", "sourceType", "capturedFrom", "agentName", "confidence"}
    assert left_out < whole.keys()
    (bare,) = plane.alike(operation, **asked, contentMode="ids")["results"]
    assert bare.keys() == whole.keys() - left_out
    assert bare["id"] == kept


@promise("plane:content-modes")
def test_what_a_budget_leaves_out_is_named_and_can_be_fetched(plane: Plane) -> None:
    """D33."""
    shelf = plane.shelf()
    ids = plane.keep(shelf, *(f"Crate {n} holds {'apples ' * 30}" for n in range(6)))
    cases: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "crate apples", "k": 6, "abstainBelow": 0}),
        ("recent", {}),
        ("neighbors", {"id": ids[0], "k": 6}),
    ]
    for operation, fields in cases:
        asked = {**fields, "namespace": shelf} if operation != "neighbors" else fields
        whole = plane.alike(operation, **asked)
        cut = plane.alike(operation, **asked, maxBytes=1000)
        kept = [item["id"] for item in cut["results"]]
        assert [item["id"] for item in whole["results"]] == [*kept, *cut["omitted"]]
        assert 1 <= len(kept) < len(whole["results"])
        assert len(kept) == 1 or len(json.dumps(cut, separators=(",", ":"))) <= 1000
        fetched = plane.alike("recent", ids=cut["omitted"])["results"]
        assert {item["id"] for item in fetched} == set(cut["omitted"])


@promise("plane:context")
def test_a_context_is_sorted_by_what_its_facts_are_for(plane: Plane) -> None:
    """D34."""
    shelf = plane.shelf()
    ids = {
        kind: plane.keep(shelf, content, metadata={"memoryType": kind})[0]
        for kind, content in TYPED.items()
    }
    (pitfall,) = plane.keep(shelf, "A gotcha of the bakery scale: it must warm up")
    plane.keep(shelf, *(f"Bakery roll number {n} was sold" for n in range(12)))
    body = plane.alike("context", message="When does the bakery open?", namespace=shelf, k=20)
    assert ids["decision"] in [item["id"] for item in body["relevant"]["results"]]
    assert 0 < len(body["guidance"]) <= 600
    assert len(body["recent"]["results"]) == 10
    assert body["contextPack"].keys() == SECTIONS
    pack = {name: [one["id"] for one in items] for name, items in body["contextPack"].items()}
    assert ids["user_preference"] in pack["userPreferences"]
    assert ids["decision"] in pack["decisions"]
    assert {ids["setup_fact"], ids["deployment_state"]} <= set(pack["currentSetup"])
    assert pack["deploymentState"] == [ids["deployment_state"]]
    assert pack["bugRootCauses"] == [ids["bug_root_cause"]]
    assert pack["projectConventions"] == [ids["project_convention"]]
    assert pack["safetyConstraints"] == [ids["safety_constraint"]]
    assert pitfall in pack["pitfalls"]
    assert pack["projectScoped"] == []
    assert pack["userGlobal"] == pack["all"]
    for one in pack.values():
        assert len(one) == len(set(one))
    sight = [item["id"] for part in ("relevant", "recent") for item in body[part]["results"]]
    assert pack["all"] == list(dict.fromkeys(sight))
    usual = plane.alike("context", message="When does the bakery open?", namespace=shelf)
    assert len(usual["relevant"]["results"]) == 10


@promise("plane:context")
def test_a_context_tells_facts_of_projects_from_those_of_the_user(
    open_plane: Callable[..., Plane],
) -> None:
    """D34."""
    plane = open_plane(load=hashed)
    accounts = plane.server.memory.plane.accounts
    project = accounts.projects.create(LOCAL_CALLER, "harbour")
    (mine,) = plane.keep("quay", "The quay is mine to sweep")
    (ours,) = plane.keep("quay", "The quay is ours to paint", project="harbour")
    body = plane.alike("context", message="the quay", includeProjects=[project.id])
    pack = {name: [one["id"] for one in items] for name, items in body["contextPack"].items()}
    assert pack["userGlobal"] == [mine]
    assert pack["projectScoped"] == [ours]
    assert set(pack["all"]) == {mine, ours}
    (shown,) = body["contextPack"]["projectScoped"]
    assert shown["project"] == project.id


@promise("plane:shelves")
def test_shelves_are_those_that_were_named(open_plane: Callable[..., Plane]) -> None:
    """D35."""
    plane = open_plane(load=hashed)
    names = ("north", "South: no pattern here", "__shared__", "West")
    ids = {name: plane.keep(name, f"The buoy of {name} blinks")[0] for name in names}

    def shelves(operation: str, **fields: Any) -> set[str]:
        query = {"search": {"query": "buoy"}, "context": {"message": "buoy"}}.get(operation, {})
        body = plane.alike(operation, **query, **fields)
        found = body["relevant"] if operation == "context" else body
        for item in found["results"]:
            assert ids[item["namespace"]] == item["id"]
        return {item["namespace"] for item in found["results"]}

    for operation in ("search", "recent", "context"):
        assert shelves(operation) == set(names)
        assert shelves(operation, namespace=names[1]) == {names[1]}
        listed = {"includeNamespaces": ["north", "__shared__"]}
        assert shelves(operation, **listed) == {"north", "__shared__"}
        assert shelves(operation, **listed, namespace="West") == {"north", "__shared__"}
        assert shelves(operation, namespace="west") == set()
        assert shelves(operation, namespace=" West") == set()


@promise("plane:as-of")
def test_a_fact_is_there_at_its_own_creation_as_it_is_told(
    open_plane: Callable[..., Plane],
) -> None:
    """D30: an instant without finer digits is its whole millisecond, and is never ahead."""
    plane = open_plane(load=hashed)
    clock = plane.server.clock
    clock.move(microseconds=250_400)
    (kept,) = plane.keep("past", "The lease costs 900 euros")
    created = plane.alike("recent")["results"][0]["createdAt"]
    assert created == "2026-01-01T00:00:00.250Z"
    clock.move(microseconds=10)
    now = plane.alike("recent", asOf=created)
    clock.move(seconds=10)
    for told in (now, plane.alike("recent", asOf=created)):
        assert [item["id"] for item in told["results"]] == [kept]
    found = plane.alike("search", query="lease", asOf=created)
    assert [item["id"] for item in found["results"]] == [kept]
    for before in ("2026-01-01T00:00:00.249Z", "2026-01-01T00:00:00Z"):
        assert plane.alike("recent", asOf=before)["results"] == []
    for finer, count in (("250399", 0), ("250000", 0), ("250410", 1), ("250500001", 1)):
        told = plane.alike("recent", asOf=f"2026-01-01T00:00:00.{finer}Z")
        assert len(told["results"]) == count, finer
