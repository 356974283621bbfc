"""The data plane: one engine under REST, the twins, the core's tools and the old routes."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.clients import MISSING
from contract_tests.manifest import promise
from contract_tests.plane_wire import DOORS, ERAS, REST
from graymatter_mcp.contract.load import load_bundle

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane

by_door = pytest.mark.parametrize("door", DOORS)
by_era = pytest.mark.parametrize("era", ERAS)

ID: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
TEXTS: Final = (
    "The staging cluster runs in Frankfurt",
    "Ana prefers tea over coffee in the morning",
    "The decision was to keep Postgres 17 for the ledger",
)
READS: Final[list[tuple[str, dict[str, Any]]]] = [
    ("search", {"query": "staging cluster", "k": "2"}),
    ("search", {"query": "what does Ana drink", "weights": {"recency": 1}, "contentMode": "ids"}),
    ("search", {"query": "zyzzyva quokka"}),
    ("context", {"message": "which database holds the ledger", "contentMode": "snippet"}),
    ("context", {"message": "tea", "maxBytes": 1000}),
    ("recent", {"k": 2, "maxBytes": 1000}),
]
REQUIRED: Final = [
    ("memory_context", "message"),
    ("memory_hybrid_search", "query"),
    ("memory_capture", "content"),
    ("memory_remember", "content"),
    ("memory_neighbors", "id"),
    ("memory_update", "id"),
]
"""Tools, and what they cannot do without."""
MORE: Final[dict[str, dict[str, Any]]] = {"memory_update": {"content": TEXTS[0]}}


@promise("plane:twins-served")
@by_era
def test_the_twins_are_served_as_their_files_say(plane: Plane, era: str) -> None:
    """D59: names, titles, annotations, schemas; the seven of the core stand beside them."""
    served = plane.tools(era)
    bundle = load_bundle(("core", "dataplane"))
    assert list(served) == [tool.name for tool in bundle.tools]
    for tool in bundle.tools:
        found = served[tool.name]
        assert found["title"] == tool.title
        assert found["inputSchema"] == tool.input_schema
        assert found["outputSchema"] == tool.output_schema
        assert found["annotations"] == dict(tool.annotations)


@promise("plane:twins-served")
@pytest.mark.parametrize(("operation", "fields"), READS)
def test_a_read_answers_the_same_over_every_door(
    plane: Plane, operation: str, fields: dict[str, Any]
) -> None:
    """D59: the structured content equals the body of REST, for equal arguments."""
    shelf = plane.shelf()
    plane.keep(shelf, *TEXTS)
    plane.alike(operation, namespace=shelf, **{"maxBytes": 40_000, **fields})


@promise("plane:twins-served")
def test_neighbours_and_counts_are_the_same_over_every_door(plane: Plane) -> None:
    """D59."""
    shelf = plane.shelf()
    ids = plane.keep(shelf, *TEXTS)
    body = plane.alike("neighbors", id=ids[1], depth="2", includeNamespaces=[shelf])
    assert {item["id"] for item in body["results"]} == {ids[0], ids[2]}
    counts = [plane.ok(door, "stats") for door in DOORS]
    for one in counts:
        assert one.pop("uptimeMs") >= 0
    assert counts[0] == counts[1] == counts[2]


@promise("plane:twins-served")
def test_a_write_answers_the_same_over_every_door(plane: Plane) -> None:
    """D59: but for the id that each gives."""
    steps: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"content": TEXTS[0]}),
        ("remember", {"content": TEXTS[0]}),
        ("capture", {"content": "The relay listens on port 7001"}),
        ("capture", {"content": "The relay listens on port 7002"}),
        ("capture", {"content": "ok thanks"}),
        ("session-recap", {"decisions": [TEXTS[2]], "other": ["The roof needs paint again"]}),
        ("update", {"content": "The staging cluster moved to Paris"}),
        ("forget", {}),
        ("forget", {}),
    ]
    told: list[list[str]] = []
    for door in DOORS:
        shelf = plane.shelf()
        names: dict[str, str] = {}
        answers: list[str] = []
        for operation, fields in steps:
            place: dict[str, Any] = {"namespace": shelf}
            if operation in {"update", "forget"}:
                place = {"id": next(iter(names))}
            body = plane.ok(door, operation, **place, **fields)
            answers.append(_named(body, names))
        told.append(answers)
    assert told[0] == told[1] == told[2]


def _named(body: Any, names: dict[str, str]) -> str:
    """Return a body whose ids are numbers, in order of their first appearance."""
    text = json.dumps(body)
    for one in ID.findall(text):
        names.setdefault(one, f"fact {len(names)}")
    return ID.sub(lambda found: names[found[0]], text)


@promise("plane:twins-served")
@by_era
@pytest.mark.parametrize(("tool", "missing"), REQUIRED)
def test_what_is_missing_is_named_in_an_error(
    plane: Plane, era: str, tool: str, missing: str
) -> None:
    """D59; data plane, section 9: text only, without structured content."""
    reply = plane.reply(era, tool, **MORE.get(tool, {}))
    assert reply.is_error
    assert reply.structured is MISSING
    assert reply.text.startswith(f"error: invalid argument '{missing}': ")


@promise("plane:one-engine")
@by_door
def test_a_fact_of_the_core_is_found_by_the_data_plane(plane: Plane, door: str) -> None:
    """D60."""
    shelf = plane.shelf()
    plane.core("memory_add", agent_id=shelf, text=TEXTS[0])
    (item,) = plane.ok(door, "search", query="staging cluster Frankfurt", namespace=shelf)[
        "results"
    ]
    assert item["content"] == TEXTS[0]
    assert item["source"] == "memory_add"
    assert item["metadata"] == {"sensitivity": "private"}
    assert (item["tier"], item["namespace"]) == ("warm", shelf)
    assert not {"sourceType", "capturedFrom", "agentName", "confidence"} & item.keys()
    plane.server.settle()
    again = plane.ok(door, "remember", content=TEXTS[0], namespace=shelf)
    assert again == {"id": item["id"], "deduplicated": True, "embedded": True}
    plane.core("memory_reflect", action="update", agent_id=shelf, target=TEXTS[0], text=TEXTS[1])
    (item,) = plane.ok(door, "recent", namespace=shelf)["results"]
    assert (item["content"], item["source"]) == (TEXTS[1], "memory_reflect")
    plane.core("memory_reflect", action="forget", agent_id=shelf, target=TEXTS[1])
    assert plane.ok(door, "recent", namespace=shelf)["results"] == []


@promise("plane:one-engine")
@by_door
def test_a_captured_fact_is_found_by_the_core(plane: Plane, door: str) -> None:
    """D60: until it is superseded, expired, guarded or forgotten."""
    shelf = plane.shelf()
    port = "The relay listens on port {}".format

    def facts() -> list[str]:
        return plane.core("memory_search", agent_id=shelf, query="relay port")["facts"]

    plane.ok(door, "capture", content=port(7001), namespace=shelf)
    assert facts() == [port(7001)]
    new = plane.ok(door, "capture", content=port(7002), namespace=shelf)["id"]
    assert facts() == [port(7002)]
    plane.ok(door, "update", id=new, sensitivity="sensitive")
    assert facts() == []
    plane.ok(door, "update", id=new, sensitivity="private")
    assert facts() == [port(7002)]
    plane.ok(door, "update", id=new, content=port(7003))
    assert facts() == [port(7003)]
    plane.ok(door, "forget", id=new)
    assert facts() == []


@promise("plane:one-engine")
def test_an_alias_of_the_core_widens_the_query_and_is_never_returned(plane: Plane) -> None:
    """D60; data plane, 1.5."""
    shelf = plane.shelf()
    plane.core("memory_alias", agent_id=shelf, term="k8s", equivalents=["kubernetes"])
    (fact_id,) = plane.keep(shelf, "The kubernetes cluster has nine nodes")
    weights = {"keyword": 1, "vector": 0, "graph": 0, "entity": 0}
    found = plane.ok(REST, "search", query="k8s", namespace=shelf, weights=weights)["results"]
    assert [item["id"] for item in found] == [fact_id]
    listed = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert [item["id"] for item in listed] == [fact_id]
