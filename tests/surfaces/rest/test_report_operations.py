"""Reports, jobs and moves as their routes answer them; every body fits its schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from graymatter_mcp.contract.load import read_schema
from graymatter_mcp.errors import ForbiddenError
from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.requests import CallKey
from graymatter_mcp.surfaces.adoption import Served
from graymatter_mcp.surfaces.rest.operations import Asked, Reply
from graymatter_mcp.surfaces.rest.report_operations import REPORTS, adoption_of
from graymatter_mcp.surfaces.rest.rules import check_fields
from tests.engine.conftest import portal
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.surfaces.rest.operations import Operation

__all__ = ["portal"]


@pytest.fixture
def brain(portal: BlockingPortal, tmp_path: Path) -> Iterator[Brain]:
    """Open a data plane without a model."""
    brain = Brain(portal, tmp_path / "gray.duckdb")
    yield brain
    brain.close()


def ask(
    brain: Brain,
    route: str,
    body: dict[str, Any] | None = None,
    caller: Caller = LOCAL_CALLER,
    key: CallKey | None = None,
    operation: Operation | None = None,
) -> Reply:
    """Call an operation as its route does, and hold the answer to its schema."""
    now = brain.now.now
    fields, issues = check_fields(f"rest/{route}", body or {}, now)
    assert issues == ()
    asked = Asked(caller=caller, fields=fields, now=now, key=key)
    reply: Reply = brain.run(operation or REPORTS[route], brain.plane, asked)
    # jsonschema's own stubs are partly unknown.
    validator: Any = Draft202012Validator(read_schema(f"rest/{route}/response.json"))
    assert [error.message for error in validator.iter_errors(reply.body)] == []
    return reply


def test_a_hygiene_report_has_its_form(brain: Brain) -> None:
    """D55: summary and five lists; contents as snippets."""
    assert ask(brain, "hygiene").body["summary"] == {
        "scanned": 0,
        "lowValue": 0,
        "stale": 0,
        "duplicateClusters": 0,
        "contradictionCandidates": 0,
        "orphanCandidates": 0,
    }
    low = brain.remember("Cats sleep often", force=True)
    brain.capture("graymatter deployment uses port 7778")
    brain.capture("graymatter deployment uses port 7779")
    copy = brain.remember("the graymatter deployment uses port 7778 today")
    body: Any = ask(brain, "hygiene", {"k": "5"}).body
    assert body["lowValue"] == [
        {"id": low.id, "content": "Cats sleep often", "reason": "low_worthiness"}
    ]
    assert [one["id"] for one in body["stale"]] == [copy.id]


def test_an_evaluation_has_its_form(brain: Brain) -> None:
    """D56: checks equal to cases, total = number of cases; unknown suite -> 400."""
    body: Any = ask(brain, "evaluate").body
    assert (body["suite"], body["passed"], body["checks"]) == ("core", True, body["cases"])
    assert body["summary"] == {"total": len(body["cases"]), "passed": 11, "failed": 0}
    _, issues = check_fields("rest/evaluate", {"suite": "chess"}, brain.now.now)
    assert [(one.path, one.code) for one in issues] == [("suite", "invalid_value")]


def test_an_export_can_be_imported_as_it_is(brain: Brain) -> None:
    """D19: all imported, 201; again all deduplicated, 200."""
    brain.remember("Backups are kept for thirty days", metadata={"note": "x" * 8000})
    brain.capture("graymatter deployment uses port 7778", source_refs=("chat-1",))
    brain.capture("graymatter deployment uses port 7779")
    entries: list[Any] = []
    after = ""
    while True:
        sent = {"limit": "2"} | ({"afterId": after} if after else {})
        page: Any = ask(brain, "export", sent).body
        entries += page["entries"]
        after = page["nextAfterId"]
        if after is None:
            break
    heir = brain.user("heir")
    done = ask(brain, "import", {"entries": entries}, heir)
    assert (done.status, done.body) == (201, {"imported": 3, "deduplicated": 0, "failed": []})
    again = ask(brain, "import", {"entries": entries}, heir)
    assert (again.status, again.body) == (200, {"imported": 0, "deduplicated": 3, "failed": []})
    found: Any = ask(brain, "export", caller=heir).body
    assert [one["content"] for one in found["entries"]] == [one["content"] for one in entries]
    assert [one["createdAt"] for one in found["entries"]] == [one["createdAt"] for one in entries]


def test_bad_entries_are_named_and_do_not_stop_the_others(brain: Brain) -> None:
    """Data-plane contract 8: failed by index; 400 when all failed."""
    bad: list[Any] = [
        {"id": "x"},
        {"content": "The queue is called jobs", "hits": 0},
        {"content": "The queue is called jobs", "createdAt": "yesterday"},
        {"content": "The queue is called jobs", "expiresAt": "2020-01-01T00:00:00Z"},
        {"content": "The queue is called jobs", "metadata": {"k" * 65: 1}},
    ]
    good = {"content": "The queue is called jobs", "confidence": "0.5", "tier": None}
    reply = ask(brain, "import", {"entries": [*bad, good]})
    body: Any = reply.body
    assert (reply.status, body["imported"]) == (201, 1)
    assert [(one["index"], one["error"].partition(":")[0]) for one in body["failed"]] == [
        (0, "content"),
        (1, "hits"),
        (2, "createdAt"),
        (3, "expiresAt"),
        (4, "metadata"),
    ]
    assert ask(brain, "import", {"entries": bad}).status == 400


def test_an_import_under_a_key_is_replayed(brain: Brain) -> None:
    """Data-plane contract 2.2: first status and body again."""
    key = CallKey(key="k", digest="d")
    body = {"entries": [{"content": "The queue is called jobs"}]}
    first = ask(brain, "import", body, key=key)
    again = ask(brain, "import", body, key=key)
    assert (first.is_replayed, again.is_replayed) == (False, True)
    assert (again.status, again.body) == (first.status, first.body)


def test_decay_and_health_are_for_admins(brain: Brain) -> None:
    """Data-plane contract 8: admin only; health tells the last decay."""
    brain.remember("The queue is called jobs")
    before: Any = ask(brain, "admin-health").body
    assert (before["store"], before["model"], before["lastDecayAt"]) == ("ok", "off", None)
    assert before["commitSeq"] == 1
    brain.now.forward(days=3)
    done = ask(brain, "decay", {"effectiveDays": 2}).body
    assert done == {"demoted": 1, "promoted": 0, "expired": 0}
    after: Any = ask(brain, "admin-health").body
    assert after["lastDecayAt"] is not None
    assert after["commitSeq"] == 2
    user = brain.user("ana")
    for route in ("decay", "admin-health"):
        with pytest.raises(ForbiddenError, match="admin only"):
            ask(brain, route, caller=user)


def test_adoption_answers_over_the_same_door(brain: Brain) -> None:
    """Data-plane contract 3.7: only what is served is compared."""
    served = Served(tools=[{"name": "memory_add"}], instructions="Hold on.", version="1.0")
    body: Any = ask(brain, "adoption", operation=adoption_of(served)).body
    assert body["mcp"]["tools"] == ["memory_add"]
