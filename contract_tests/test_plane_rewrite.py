"""The data plane: writes that change what is there, and writes whose parts fail."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import SwitchedEmbedder, hashed
from contract_tests.plane_server import plane_server
from contract_tests.plane_stored import hits_of, stored_metadata
from contract_tests.plane_wire import DOORS, REST, Plane
from contract_tests.wire import DEADLINE_S
from graymatter_mcp.embedding.base import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from graymatter_mcp.embedding.base import Embedder, Windows

by_door = pytest.mark.parametrize("door", DOORS)

RECAP: Final = {
    "other": ["The printer is on floor three"],
    "safetyConstraints": ["Never delete the audit bucket"],
    "projectConventions": ["Branches are named after their issue"],
    "preferences": ["Ana wants short answers in German"],
    "rootCauses": ["The outage came from a full disk"],
    "setupFacts": ["The lab laptop runs Debian 13"],
    "decisions": ["We chose Postgres for the ledger", "We chose Rust for the agent"],
}
PLACES: Final = [
    ("decisions", "decision", "We chose Postgres for the ledger"),
    ("decisions", "decision", "We chose Rust for the agent"),
    ("current-setup", "setup_fact", "The lab laptop runs Debian 13"),
    ("root-causes", "bug_root_cause", "The outage came from a full disk"),
    ("user", "user_preference", "Ana wants short answers in German"),
    ("project-conventions", "project_convention", "Branches are named after their issue"),
    ("safety", "safety_constraint", "Never delete the audit bucket"),
    ("memory", "general", "The printer is on floor three"),
]
"""Shelf, type and content of each item of the recap, in the order of processing."""


class Angled:
    """Gives every two texts the same cosine."""

    dim = 32

    def __init__(self, cosine: float) -> None:
        self.model_key = f"angled/{cosine}"
        self._cosine = cosine
        self._seen: dict[str, int] = {}

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed: one part that all texts share, one of each text's own."""
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Windows:
        at = 1 + self._seen.setdefault(text, len(self._seen))
        vector = np.zeros((1, self.dim), np.float32)
        vector[0, 0], vector[0, at] = self._cosine**0.5, (1 - self._cosine) ** 0.5
        return vector


def shown(plane: Plane, shelf: str) -> list[dict[str, Any]]:
    """Return what a shelf holds, whatever its level, newest first."""
    return plane.ok(REST, "recent", namespace=shelf, maxSensitivity="sensitive")["results"]


@promise("plane:supersede-all")
@by_door
def test_every_fact_that_is_taken_back_goes(plane: Plane, door: str) -> None:
    """D40."""
    shelf = plane.shelf()
    olds = plane.keep(shelf, *(f"The relay listens on port 700{n}" for n in (1, 2, 3)))
    new = plane.ok(door, "capture", content="The relay listens on port 7004", namespace=shelf)
    assert new == {"id": new["id"], "superseded": olds, "embedded": True}
    (item,) = shown(plane, shelf)
    assert (item["id"], item["metadata"]["supersedes"]) == (new["id"], olds)
    assert {stored_metadata(plane, shelf, old)["supersededBy"] for old in olds} == {new["id"]}


@promise("plane:supersede-all")
@pytest.mark.parametrize("way", ["commit", "away", "unexpected"])
def test_a_store_that_fails_leaves_everything_as_it_was(
    open_plane: Callable[..., Plane], way: str
) -> None:
    """D40."""
    plane = open_plane(load=hashed)
    shelf = "relay"
    olds = plane.keep(shelf, *(f"The relay listens on port 700{n}" for n in (1, 2, 3)))
    before = shown(plane, shelf)
    plane.server.store.failing = way
    answer = plane.post("capture", content="The relay listens on port 7004", namespace=shelf)
    plane.server.store.failing = ""
    assert answer.status >= 400
    assert shown(plane, shelf) == before
    assert {hits_of(plane, shelf, old) for old in olds} == {1}
    assert plane.ok(REST, "stats")["byNamespace"] == {shelf: {"warm": 3, "cold": 0}}
    again = plane.post("capture", content="The relay listens on port 7004", namespace=shelf)
    assert again.document["superseded"] == olds
    reopened = open_plane(load=hashed)
    assert [item["id"] for item in shown(reopened, shelf)] == [again.document["id"]]


@promise("plane:refine")
@by_door
def test_a_refinement_rewrites_the_fact_in_place(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D42."""
    plane = open_plane(load=lambda: Angled(0.95))
    old, new = "Deploys run on k3s", "Deploys run on k3s behind a load balancer"
    fields = {"namespace": "ops", "metadata": {"team": "infra", "step": 1}, "sourceRefs": ["a"]}
    first = plane.ok(door, "capture", content=old, confidence=0.4, **fields)
    (before,) = shown(plane, "ops")
    plane.server.clock.move(hours=1)
    fields = {"namespace": "ops", "metadata": {"step": 2}, "sourceRefs": ["b"]}
    told = plane.ok(door, "capture", content=new, sensitivity="internal", **fields)
    assert told == {"id": first["id"], "deduplicated": True, "updated": True, "embedded": True}
    (item,) = shown(plane, "ops")
    assert (item["id"], item["content"]) == (first["id"], new)
    assert item["createdAt"] == before["createdAt"] == "2026-01-01T00:00:00.000Z"
    assert item["updatedAt"] > before["updatedAt"]
    assert item["confidence"] == 0.4
    told = item["metadata"]
    assert (told["team"], told["step"], told["captureAction"]) == ("infra", 2, "updated")
    assert told["updatedByCaptureAt"] == item["updatedAt"]
    assert told["sensitivity"] == "private"
    assert hits_of(plane, "ops", first["id"]) == 2
    assert plane.ok(door, "search", query="load balancer")["results"][0]["id"] == first["id"]
    assert plane.ok(door, "forget", sourceRef="b")["ids"] == [first["id"]]


@promise("plane:refine")
def test_a_text_that_is_far_from_the_old_one_or_of_something_else_is_a_fact_of_its_own(
    open_plane: Callable[..., Plane],
) -> None:
    """D42; data plane, 5.6: nearness alone rewrites nothing."""
    near = [
        ("The API uses port 7778", "The staging API uses port 7778"),
        ("Deploys run on k3s", "Deploys never run on k3s behind a load balancer"),
        ("The backup host runs Debian", "The host runs Debian with a mirror"),
        ("Ana lives in Berlin with Bob", "Ana lives in Berlin"),
    ]
    plane = open_plane(load=lambda: Angled(0.99))
    for at, (old, new) in enumerate(near):
        shelf = f"near-{at}"
        plane.keep(shelf, old)
        answer = plane.post("capture", content=new, namespace=shelf)
        assert (answer.status, answer.document.keys()) == (201, {"id", "embedded"}), new
    plane = open_plane(load=lambda: Angled(0.91))
    plane.keep("far", "Deploys run on k3s")
    new = "Deploys run on k3s behind a load balancer"
    assert plane.post("capture", content=new, namespace="far").status == 201


@promise("plane:refine")
def test_a_new_text_was_verified_by_nobody(open_plane: Callable[..., Plane]) -> None:
    """D42; data plane, 1.4 and 1.5: a fact of the core, rewritten by capture."""
    plane = open_plane(load=lambda: Angled(0.95))
    plane.core("memory_add", agent_id="ops", text="Deploys run on k3s", confidence="verified")
    plane.server.settle()
    (before,) = shown(plane, "ops")
    assert before["confidence"] == 1.0
    new = "Deploys run on k3s behind a load balancer"
    told = plane.ok(REST, "capture", content=new, namespace="ops")
    assert told["updated"] is True
    (item,) = shown(plane, "ops")
    assert (item["id"], item["content"], item["confidence"]) == (before["id"], new, 0.7)
    found = plane.core(
        "memory_search", agent_id="ops", query="load balancer", min_confidence="verified"
    )
    assert found["facts"] == []


@promise("plane:refine")
def test_a_rewritten_fact_is_no_less_guarded_than_before(open_plane: Callable[..., Plane]) -> None:
    """D42; data plane, 5.6: the stricter of both levels, of a fact of the core too."""
    plane = open_plane(load=lambda: Angled(0.95))
    value = "aB3dE5fG7hJ9kL1mN3pQ5r"
    plane.core("memory_add", agent_id="ops", text=f"The agent sends bearer {value}")
    plane.server.settle()
    new = f"The agent sends bearer the {value} of the gateway"
    assert plane.ok(REST, "capture", content=new, namespace="ops")["updated"] is True
    (item,) = shown(plane, "ops")
    assert (item["content"], item["metadata"]["sensitivity"]) == (new, "sensitive")
    assert plane.ok(REST, "recent", namespace="ops")["results"] == []


@promise("plane:audit-target")
def test_the_audit_names_the_fact_that_a_write_is_about(open_plane: Callable[..., Plane]) -> None:
    """Data plane, 8: the new one where others are superseded, the one that goes where one goes."""
    plane = open_plane(load=None)
    texts = [f"The relay listens on port {port}" for port in (7001, 7002)]
    old, new = (plane.ok(REST, "capture", content=text, namespace="net")["id"] for text in texts)
    plane.ok(REST, "update", id=old, sensitivity="internal")
    plane.ok(REST, "forget", id=new)
    events = plane.server.memory.plane.accounts.audit.page("local", 0, 100).events
    assert [(one.action, one.target) for one in events] == [
        ("capture", old),
        ("capture", new),
        ("update", old),
        ("forget", new),
    ]


@promise("plane:pinned")
@by_door
def test_a_pinned_fact_is_never_rewritten_or_superseded(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D46."""
    plane = open_plane(load=lambda: Angled(0.95))
    pinned = ["The gateway listens on port 7001", "Deploys run on k3s"]
    for text in pinned:
        plane.core("memory_add", agent_id="ops", text=text)
        plane.core("memory_reflect", action="pin", agent_id="ops", target=text)
    for text in ("The gateway listens on port 7002", "Deploys run on k3s behind a load balancer"):
        answer = plane.ok(door, "capture", content=text, namespace="ops")
        assert answer.keys() == {"id", "embedded"}
    assert len(shown(plane, "ops")) == 4
    assert set(pinned) <= {item["content"] for item in shown(plane, "ops")}


@promise("plane:late-vectors")
@by_door
def test_facts_are_found_by_their_words_until_the_model_is_there(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D44: with a restart in between."""
    plane = open_plane(load=_no_model)
    texts = [f"The {name} service is owned by team {name}" for name in ("alpha", "beta", "gamma")]
    for at, text in enumerate(texts):
        operation = ("capture", "remember")[at % 2]
        written = plane.ok(door, operation, content=text, namespace="own")
        assert written["embedded"] is False
        found = plane.ok(door, "search", query=text, namespace="own")
        assert found["results"][0]["id"] == written["id"]
        assert found["degraded"] is True
    assert plane.ok(door, "stats")["pendingVectors"] == 3
    seen: list[str] = []
    plane = open_plane(load=lambda: _Listed(seen))
    assert seen == texts
    assert plane.ok(door, "stats")["pendingVectors"] == 0
    assert plane.ok(door, "search", query=texts[0])["degraded"] is False
    again = plane.ok(door, "remember", content=texts[0], namespace="own")
    assert (again["deduplicated"], again["embedded"]) == (True, True)


@promise("plane:late-vectors")
def test_facts_that_came_while_the_model_was_loaded_get_vectors_oldest_first(
    tmp_path: Path,
) -> None:
    """D44: without a restart."""
    may_load = threading.Event()
    seen: list[str] = []

    def load() -> Embedder:
        assert may_load.wait(DEADLINE_S)
        return _Listed(seen)

    texts = [f"The {name} service is owned by team {name}" for name in ("alpha", "beta", "gamma")]
    with plane_server(tmp_path / "plane", load=load) as server:
        plane = Plane(server)
        try:
            for text in texts:
                assert plane.ok(REST, "capture", content=text, namespace="own")["embedded"] is False
            assert plane.ok(REST, "stats")["pendingVectors"] == len(texts)
            found = plane.ok(REST, "search", query=texts[0], namespace="own")
            assert (found["results"][0]["content"], found["degraded"]) == (texts[0], True)
        finally:
            may_load.set()
        server.settle()
        assert seen == texts
        assert plane.ok(REST, "stats")["pendingVectors"] == 0
        assert plane.ok(REST, "search", query=texts[0])["degraded"] is False


@promise("plane:recap")
@by_door
def test_a_recap_puts_each_item_on_its_shelf(open_plane: Callable[..., Plane], door: str) -> None:
    """D45."""
    plane = open_plane(load=hashed)
    outcome = plane.ask(door, "session-recap", **RECAP)
    assert outcome.response is None or outcome.response.status == 201
    assert outcome.body["saved"] == len(PLACES)
    ids = [one["id"] for one in outcome.body["results"]]
    assert outcome.body["results"] == [{"id": one, "embedded": True} for one in ids]
    items = {item["id"]: item for item in plane.ok(door, "recent")["results"]}
    found = [
        (items[one]["namespace"], items[one]["metadata"]["memoryType"], items[one]["content"])
        for one in ids
    ]
    assert found == PLACES
    for item in items.values():
        assert item["metadata"]["recap"] is True
        assert (item["source"], item["sourceType"], item["capturedFrom"]) == (
            "memory_session_recap",
            "summary",
            "memory_session_recap",
        )
    again = plane.ask(door, "session-recap", **RECAP)
    assert again.response is None or again.response.status == 200
    assert again.body["saved"] == len(PLACES)
    assert all(one["deduplicated"] for one in again.body["results"])


@promise("plane:recap")
@pytest.mark.parametrize("way", ["away", "unexpected"])
def test_a_recap_whose_store_fails_stores_nothing(
    open_plane: Callable[..., Plane], way: str
) -> None:
    """D45."""
    plane = open_plane(load=hashed)
    plane.server.store.failing = way
    assert plane.post("session-recap", **RECAP).status >= 500
    plane.server.store.failing = ""
    assert plane.ok(REST, "recent")["results"] == []
    assert open_plane(load=hashed).ok(REST, "recent")["results"] == []


@promise("plane:recap")
@by_door
def test_items_of_a_recap_see_those_before_them(
    open_plane: Callable[..., Plane], door: str
) -> None:
    """D45; data plane, 3.4."""
    plane = open_plane(load=hashed)
    items = ["The relay listens on port 7001", "The relay listens on port 7002"]
    told = plane.ok(door, "session-recap", setupFacts=[*items, items[1]], namespace="relay")
    first, second, third = told["results"]
    assert told["saved"] == 3
    assert second == {"id": second["id"], "superseded": [first["id"]], "embedded": True}
    assert third == {"id": second["id"], "deduplicated": True, "embedded": True}
    (item,) = shown(plane, "relay")
    assert item["id"] == second["id"]
    assert plane.ok(door, "stats")["totalInactive"] == 1


@promise("plane:recap")
def test_a_recap_with_a_bad_item_stores_nothing(open_plane: Callable[..., Plane]) -> None:
    """D45."""
    plane = open_plane(load=hashed)
    answer = plane.refused_alike("session-recap", decisions=["elevenchars", RECAP["decisions"][0]])
    assert answer.status == 400
    (issue,) = answer.document["issues"]
    assert (issue["path"], issue["code"]) == ("decisions.0", "too_small")
    assert plane.ok(REST, "recent")["results"] == []
    empty = plane.post("session-recap")
    assert (empty.status, empty.document) == (200, {"saved": 0, "results": []})
    refused = plane.ok(REST, "session-recap", other=["okay, thanks, great"])
    assert refused["saved"] == 0
    assert refused["results"] == [
        {"id": None, "rejected": "conversational filler — not durable knowledge"}
    ]


def _no_model() -> Embedder:
    raise EmbeddingError("there is none")


class _Listed(SwitchedEmbedder):
    """Writes down the texts that it embeds."""

    def __init__(self, seen: list[str]) -> None:
        super().__init__()
        self._listed = seen

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        self._listed += texts
        return super().embed(texts)
