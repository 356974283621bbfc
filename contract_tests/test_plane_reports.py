"""The data plane: hygiene, evaluate and adoption."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import SwitchedEmbedder, hashed
from contract_tests.plane_people import Person, done
from contract_tests.plane_wire import DOORS, ERAS, REST

if TYPE_CHECKING:
    from collections.abc import Callable

    from contract_tests.plane_wire import Plane

by_door = pytest.mark.parametrize("door", DOORS)

AGREED: Final = "and that was agreed by our whole team in the meeting on the second floor"
CASES: Final = [
    "newer fact supersedes older fact",
    "context pack groups typed memories",
    "junk capture is rejected",
    "hygiene report exposes review candidates",
    "memory-type retention policies are available",
    "secrets are recognised",
    "stored facts are found again",
    "meaning is found without shared words",
    "an unanswerable query returns nothing",
    "hidden facts stay hidden",
    "scratch round trip",
]
REQUIRED: Final = [
    *("memory_context", "memory_capture", "memory_session_recap", "memory_hybrid_search"),
    *("memory_update", "memory_hygiene", "memory_evaluate", "memory_adoption"),
]
GENERIC: Final = [
    "call initialize",
    "call tools/list",
    "compare tool count/names and instructionsHash",
    "start a new MCP session if stale",
]
COMMANDS: Final = {
    "hermes": ["/reload-mcp", "/reload-skills", "/reset (or a fresh session)"],
    "claudeCode": ["restart Claude Code session", "re-run tools/list"],
    "claudeDesktop": ["restart Claude Desktop", "open a new chat"],
    "codex": ["restart Codex CLI", "re-run tools/list"],
    "opencode": ["restart OpenCode", "re-run tools/list"],
    "cursor": ["toggle the server off and on in Cursor settings", "open a new chat"],
    "generic": GENERIC,
    "anything else": GENERIC,
}


def everything(plane: Plane) -> tuple[Any, Any]:
    """Return what is stored, with its hits, and what the feed tells."""
    entries = done(plane.rest("GET", "/v1/me/export?limit=1000"))["entries"]
    return entries, done(plane.rest("GET", "/v1/me/changes?limit=500"))["changes"]


@promise("plane:hygiene", "plane:reports-alike")
def test_each_list_holds_exactly_what_was_prepared(open_plane: Callable[..., Plane]) -> None:
    """D55: all five, and nothing is written; D59: alike over every door."""
    model = SwitchedEmbedder()
    plane = open_plane(load=lambda: model)
    stale = plane.ok(
        REST, "capture", content="Our staging deployment runs on k3s at host alpha, as we agreed"
    )["id"]
    (old,) = plane.keep("crane", "The harbour crane uses port 7778 for telemetry")
    heir = plane.ok(
        REST,
        "capture",
        content="The harbour crane uses port 7779 for telemetry",
        namespace="crane",
    )
    assert heir["superseded"] == [old]
    plane.server.clock.move(days=16)
    (copy,) = plane.keep("crane", "The harbour crane uses port 7778 for telemetry today")
    (low,) = plane.keep("pets", "Cats sleep often", force=True)
    first, second = plane.keep(
        "meetings",
        f"Our project prefers short meetings {AGREED}",
        f"Our project prefers short meetings {AGREED} again",
    )
    model.is_failing = True
    (orphan,) = plane.keep(
        "queue", "The old queue of the print shop is called jobs and nothing more"
    )
    plane.server.clock.move(minutes=11)
    before = everything(plane)
    body = plane.alike("hygiene")
    assert everything(plane) == before
    assert body["lowValue"] == [
        {"id": low, "content": "Cats sleep often", "reason": "low_worthiness"}
    ]
    assert sorted(body["stale"], key=lambda one: (one["reason"], one["id"])) == [
        {"id": copy, "reason": "copy_of_superseded", "of": old},
        {"id": stale, "reason": "current_state_review"},
        {"id": heir["id"], "reason": "current_state_review"},
    ]
    clusters = {frozenset(one["ids"]) for one in body["duplicateClusters"]}
    assert clusters == {frozenset({first, second}), frozenset({heir["id"], copy})}
    assert {one["reason"] for one in body["duplicateClusters"]} == {"high_token_overlap"}
    (pair,) = body["contradictionCandidates"]
    assert set(pair["ids"]) == {heir["id"], copy}
    assert pair["reason"] == "comparable_scalar_conflict"
    assert body["orphanCandidates"] == [{"id": orphan, "reason": "warm_without_cold_vector"}]
    assert body["summary"] == {
        "scanned": 7,
        "lowValue": 1,
        "stale": 3,
        "duplicateClusters": 2,
        "contradictionCandidates": 1,
        "orphanCandidates": 1,
    }


@promise("plane:hygiene", "plane:reports-alike")
def test_lists_are_cut_and_counts_are_not(open_plane: Callable[..., Plane]) -> None:
    """D55: k from 1 to 100."""
    plane = open_plane(load=None)
    plane.keep("pets", *(f"Cat {number} naps" for number in range(5)), force=True)
    body = plane.alike("hygiene", k=2)
    assert len(body["lowValue"]) == 2
    assert body["summary"]["lowValue"] == 5
    assert len(plane.alike("hygiene", k=100)["lowValue"]) == 5
    for k in (0, 101):
        answer = plane.refused_alike("hygiene", k=k)
        assert answer.status == 400
        assert [issue["path"] for issue in answer.document["issues"]] == ["k"]


@promise("plane:pinned-pair")
@by_door
def test_a_pinned_fact_that_capture_contradicts_is_listed(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D46: both stay active."""
    plane = open_plane(load=None)
    text = "graymatter deployment uses port 7778"
    plane.core("memory_add", agent_id="ops", text=text)
    plane.core("memory_reflect", action="pin", agent_id="ops", target=text)
    (pinned,) = (one["id"] for one in plane.ok(REST, "recent", namespace="ops")["results"])
    new = plane.ok(door, "capture", content="graymatter deployment uses port 7779", namespace="ops")
    assert new.keys() == {"id", "embedded"}
    body = plane.ok(door, "hygiene")
    (pair,) = body["contradictionCandidates"]
    assert set(pair["ids"]) == {pinned, new["id"]}
    assert {one["id"] for one in plane.ok(door, "recent")["results"]} == {pinned, new["id"]}


def stocked(plane: Plane) -> None:
    """Store facts, some of them hidden."""
    plane.keep("office", *(f"Printer {n} stands beside window {n * 7}" for n in range(12)))
    for port in (7778, 7779):
        plane.ok(REST, "capture", content=f"graymatter deployment uses port {port}")
    plane.keep("office", "password: hunter2hunter!2")


@promise("plane:evaluate", "plane:reports-alike")
def test_a_sound_store_passes_every_check(open_plane: Callable[..., Plane]) -> None:
    """D56: with the bundled model, so that none is skipped; nothing is written or counted."""
    plane = open_plane()
    stocked(plane)
    before = everything(plane)
    body = plane.alike("evaluate")
    assert everything(plane) == before
    assert body["suite"] == "core"
    assert body["passed"] is True
    assert body["checks"] == body["cases"]
    assert [one["name"] for one in body["cases"]] == CASES
    assert [one for one in body["cases"] if not one["passed"] or "skipped" in one] == []
    assert body["summary"] == {"total": 11, "passed": 11, "failed": 0}
    assert body["hygiene"] == plane.ok(REST, "hygiene", k=5)
    assert plane.alike("evaluate", suite="core") == body
    part = plane.alike("evaluate", suite="retrieval")
    assert part["cases"] == body["cases"][6:]
    assert part["summary"]["total"] == 5
    answer = plane.refused_alike("evaluate", suite="chess")
    assert answer.status == 400


def backwards(word: str) -> str:
    """Index a word as no query asks for it."""
    return word[::-1]


@promise("plane:evaluate")
@by_door
def test_a_broken_index_is_seen(open_plane: Callable[..., Plane], door: str) -> None:
    """D56: 7 fails when the index is broken on purpose; without a model 8 and 9 are skipped."""
    plane = open_plane(load=None, stem=backwards)
    stocked(plane)
    body = plane.ok(door, "evaluate")
    verdicts = {one["name"]: (one["passed"], one.get("skipped", False)) for one in body["cases"]}
    assert body["passed"] is False
    assert verdicts[CASES[6]] == (False, False)
    assert verdicts[CASES[7]] == verdicts[CASES[8]] == (True, True)
    failed = [name for name, (passed, _) in verdicts.items() if not passed]
    assert body["summary"] == {"total": 11, "passed": 11 - len(failed), "failed": len(failed)}


def of(body: Any, check: str) -> Any:
    """Return one diagnosis."""
    (found,) = (one for one in body["diagnostics"] if one["check"] == check)
    return found


@promise("plane:adoption", "plane:reports-alike")
def test_a_client_that_showed_nothing_is_unknown(plane: Plane) -> None:
    """D57."""
    body = plane.alike("adoption")
    surface, instructions = of(body, "tool_surface"), of(body, "instructions_hash")
    assert (surface["ok"], surface["status"], surface["observedCount"]) == (False, "unknown", None)
    assert (instructions["ok"], instructions["status"]) == (False, "unknown")
    assert instructions["observed"] is None
    protocol = of(body, "mandatory_protocol")
    assert (protocol["ok"], protocol["verifiableAtRuntime"]) == (False, False)
    assert body["server"]["name"] == "graymatter"
    assert body["server"]["adoptionSchema"] == 1
    assert body["requiredTools"] == REQUIRED
    assert body["requestedClient"] == "generic"
    assert set(body["features"].values()) == {True}


@promise("plane:adoption")
@pytest.mark.parametrize("era", ERAS)
def test_the_hashes_are_those_of_what_was_sent(plane: Plane, era: str) -> None:
    """D57: of the instructions, and of the array of tools; compared without case."""
    text = plane.instructions(era)
    tools = list(plane.tools(era).values())
    names = sorted(one["name"] for one in tools)
    array = json.dumps(tools, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    body = plane.alike("adoption")
    told = body["mcp"]
    assert told["instructionsHash"] == sha256(text.encode()).hexdigest()
    assert told["instructionsPreview"] == text[:240]
    assert told["toolsHash"] == sha256(array.encode()).hexdigest()
    assert (told["tools"], told["toolCount"]) == (names, len(names))
    same = plane.alike(
        "adoption",
        observedTools=names,
        observedToolsHash=told["toolsHash"].upper(),
        observedInstructionsHash=told["instructionsHash"].upper(),
    )
    for check in ("tool_surface", "instructions_hash"):
        assert (of(same, check)["ok"], of(same, check)["status"]) == (True, "ok")


@promise("plane:adoption", "plane:reports-alike")
def test_what_a_client_lacks_is_named(plane: Plane) -> None:
    """D57."""
    names = plane.alike("adoption")["mcp"]["tools"]
    fewer = [name for name in names if name != "memory_capture"]
    body = plane.alike("adoption", observedTools=[*fewer, "memory_dream"])
    surface = of(body, "tool_surface")
    assert (surface["ok"], surface["status"]) == (False, "stale")
    assert surface["missingTools"] == surface["missingRequiredTools"] == ["memory_capture"]
    assert surface["extraTools"] == ["memory_dream"]
    assert (surface["expectedCount"], surface["observedCount"]) == (len(names), len(names))
    assert body["features"]["durableCapture"] is False
    assert body["features"]["proactiveContext"] is True
    wrong = plane.alike(
        "adoption",
        observedTools=names,
        observedToolsHash="0" * 64,
        observedInstructionsHash="f" * 64,
    )
    for check in ("tool_surface", "instructions_hash"):
        assert (of(wrong, check)["ok"], of(wrong, check)["status"]) == (False, "stale")


@promise("plane:adoption", "plane:reports-alike")
@pytest.mark.parametrize("client", COMMANDS)
def test_each_client_has_its_commands(plane: Plane, client: str) -> None:
    """D57."""
    body = plane.alike("adoption", client=client)
    assert body["refresh"]["commands"] == COMMANDS[client]
    assert body["refresh"]["requiresNewSession"] is True
    assert body["requestedClient"] == client


@promise("plane:adoption", "plane:reports-alike")
@pytest.mark.parametrize(
    "fields",
    [
        {"client": ""},
        {"client": "x" * 65},
        {"observedTools": ["x"] * 129},
        {"observedTools": ["x" * 129]},
        {"observedTools": [""]},
        {"observedToolsHash": "0" * 63},
        {"observedInstructionsHash": "g" * 64},
    ],
)
def test_what_nobody_can_have_seen_is_refused(plane: Plane, fields: dict[str, Any]) -> None:
    """D57; data plane, 7.3."""
    assert plane.refused_alike("adoption", **fields).status == 400


@promise("plane:reports-alike")
def test_projects_are_told_alike(open_plane: Callable[..., Plane]) -> None:
    """D59: list, create, activate, share, unshare, deactivate, delete."""
    plane = open_plane(load=hashed)
    ana, ben = Person(plane), Person(plane)
    told: list[Any] = []
    for door in DOORS:
        made = ana.plane.ok(door, "project-create", name="web")
        web, at = made["id"], made["createdAt"]
        steps = [
            made,
            ana.plane.alike("projects-list"),
            ana.plane.ok(door, "active-project-set", project="web"),
        ]
        if door == REST:
            place = f"/v1/me/projects/{web}/members"
            steps.append(done(ana.plane.rest("POST", place, {"username": ben.name}), 201))
            steps.append(done(ana.plane.rest("DELETE", f"{place}/{ben.id}")))
            done(ana.plane.rest("DELETE", "/v1/me/active-project"), 204)
            steps.append(done(ana.plane.rest("GET", "/v1/me/active-project")))
            steps.append(done(ana.plane.rest("DELETE", f"/v1/me/projects/{web}")))
        else:
            both = {"project": "web", "username": ben.name}
            steps.append(ana.plane.tool(door, "project_share", **both).body)
            steps.append(ana.plane.tool(door, "project_unshare", **both).body)
            steps.append(ana.plane.tool(door, "project_deactivate").body)
            steps.append(ana.plane.tool(door, "project_delete", project="web").body)
        told.append(json.loads(json.dumps(steps).replace(web, "ID").replace(at, "AT")))
    assert told[0] == told[1] == told[2]
    assert told[0][-1] == {"deleted": True, "entriesRemoved": 0}
