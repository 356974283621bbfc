"""The data plane: what search finds, in which order, and when it finds nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_inside import SwitchedEmbedder, hashed, minilm
from contract_tests.plane_wire import DOORS, ERAS, REST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contract_tests.plane_wire import Plane
    from graymatter_mcp.embedding.base import Embedder

WEIGHTS: Final = {"keyword": 0.5, "vector": 0.5, "graph": 0.3, "entity": 0.1}
"""Of a request that sends none; source: data plane, 4.5."""
CAFETERIA: Final = (
    "The barista pulls an espresso every morning",
    "The train to Graz leaves from platform nine",
    "Tomatoes grow along the southern wall",
    "The choir rehearses on Thursdays",
    "A spare key hangs behind the clock",
    "The lease ends with the summer",
    "Our insurance covers hail and storms",
    "The dog is afraid of thunder",
)
SENSITIVE: Final[dict[str, Any]] = {"sensitivity": "sensitive"}
EVERYTHING: Final = {"abstainBelow": 0, "minVectorScore": 0}
SEARCH_FAILED: Final = (
    "search degraded: a backing tier was unavailable and no results could be produced"
)
CONTEXT_FAILED: Final = (
    "context degraded: a backing tier was unavailable and no relevant memories could be produced"
)


def contents(body: Any) -> list[str]:
    """Return what the results of a body say, in order."""
    return [item["content"] for item in body["results"]]


def fused(item: dict[str, Any], weights: dict[str, float]) -> float:
    """Work a score out from the signals of an item, before its prior."""
    return sum(weights[name] * item["signals"][name] for name in weights) / sum(weights.values())


@promise("plane:fusion")
def test_a_score_follows_from_its_signals(open_plane: Callable[..., Plane]) -> None:
    """D21: healthy, then without the vector leg, whose weight leaves the denominator."""
    model = SwitchedEmbedder(minilm())
    plane = open_plane(load=lambda: model)
    plane.keep(
        "fusion",
        "The depot in Linz sends parcels on Tuesdays",
        "Parcels for Linz wait in the yellow hall",
        "Nobody sweeps the yellow hall in winter",
        "Ana: the depot has a new gate",
    )
    asked: dict[str, Any] = {"namespace": "fusion", "query": "When does the Linz depot send?"}
    asked |= EVERYTHING
    healthy = plane.alike("search", **asked)
    assert healthy["degraded"] is False
    assert len(healthy["results"]) == 4
    assert any(item["signals"]["graph"] > 0 for item in healthy["results"])
    for item in healthy["results"]:
        assert item["score"] == pytest.approx(fused(item, WEIGHTS), abs=1e-6)
    model.is_failing = True
    asked["query"] += " please"
    degraded = plane.alike("search", **asked)
    assert degraded["degraded"] is True
    assert degraded["results"]
    without = {name: weight for name, weight in WEIGHTS.items() if name != "vector"}
    for item in degraded["results"]:
        assert item["signals"]["vector"] == 0
        assert item["score"] == pytest.approx(fused(item, without), abs=1e-6)


@promise("plane:worked-examples")
@pytest.mark.parametrize(
    ("kind", "confidence", "age_days", "factor"),
    [
        ("general", 0.5, 0, 0.85),
        ("deployment_state", 1.0, 0, 1.15),
        ("setup_fact", 0.8, 30, 0.991871),
        ("setup_fact", 0.4, 15, 0.894603),
    ],
)
def test_the_prior_moves_a_score(
    open_plane: Callable[..., Plane], kind: str, confidence: float, age_days: int, factor: float
) -> None:
    """D22, E2."""
    plane = open_plane(load=hashed)
    (kept,) = plane.keep(
        "prior",
        "The press runs at night",
        confidence=confidence,
        metadata={"memoryType": kind},
    )
    plane.server.clock.move(days=age_days)
    (item,) = plane.alike("search", namespace="prior", query="press")["results"]
    assert item["id"] == kept
    assert item["score"] == pytest.approx(fused(item, WEIGHTS) * factor, abs=1e-6)


@promise("plane:worked-examples", "plane:token-budget")
def test_the_budget_stops_at_the_first_that_does_not_fit(open_plane: Callable[..., Plane]) -> None:
    """D22, E4, and D32: contents of 100, 41, 300 and 9 characters cost 25, 11, 75 and 3."""
    plane = open_plane(load=None)
    lengths = (100, 41, 300, 9)
    texts = [f"{'quay ' * (4 - n)}{'x' * size}"[:size] for n, size in enumerate(lengths)]
    plane.keep("budget", *texts, force=True)
    asked: dict[str, Any] = {"namespace": "budget", "query": "quay", "weights": {"graph": 0}}
    order = contents(plane.ok(REST, "search", **asked))
    costs = [-(-len(one) // 4) for one in order]
    assert sorted(costs) == [3, 11, 25, 75]
    for budget in (1, *range(10, 120, 7)):
        found = contents(plane.alike("search", **asked, maxTokens=budget))
        fits = [n for n in range(1, 5) if sum(costs[:n]) <= budget]
        assert found == order[: max([1, *fits])]


@promise("plane:meaning")
def test_meaning_is_found_without_a_shared_word(plane: Plane) -> None:
    """D23."""
    shelf = plane.shelf()
    espresso, *_ = plane.keep(shelf, *CAFETERIA)
    found = plane.alike("search", namespace=shelf, query="coffee machine", k=4)
    (item,) = [one for one in found["results"] if one["id"] == espresso]
    assert item["signals"]["keyword"] == 0
    assert item["signals"]["vector"] > 0


@promise("plane:compounds")
def test_a_compound_and_its_parts_find_each_other(plane: Plane) -> None:
    """ADR 0061: with the real model and its floor; a word of nothing still gets nothing."""
    shelf = plane.shelf()
    boat, heating = (
        "Die Donaudampfschifffahrt beginnt nach Ostern",
        "Der Vertrag für die Wartung der Heizung endet im Mai",
    )
    plane.keep(shelf, boat, heating, *CAFETERIA)
    for query, fact in (("Schifffahrt", boat), ("Wartungsvertrag", heating)):
        found = plane.alike("search", namespace=shelf, query=query)
        assert contents(found)[0] == fact
    nothing = plane.alike("search", namespace=shelf, query="Zyxquorlvertrag")
    assert (nothing["results"], nothing["abstained"]) == ([], True)


@promise("plane:weights")
def test_a_leg_can_be_configured_out(plane: Plane) -> None:
    """D24."""
    shelf = plane.shelf()
    *_, ticket = plane.keep(shelf, *CAFETERIA, "Ticket ABC123 waits for the plumber")
    weights = {"keyword": 1, "vector": 0, "graph": 0}
    found = plane.alike("search", namespace=shelf, query="ABC123", weights=weights)
    assert found["degraded"] is False
    first = found["results"][0]
    assert first["id"] == ticket
    assert (first["signals"]["keyword"], first["signals"]["vector"]) == (1.0, 0.0)
    for wrong in ({"keyword": -1}, {"keyword": 101}, {"vector": "much"}):
        answer = plane.refused_alike("search", query="ABC123", weights=wrong)
        (issue,) = answer.document["issues"]
        assert issue["path"] == f"weights.{next(iter(wrong))}"
    none = dict.fromkeys(("keyword", "vector", "graph", "entity", "recency"), 0)
    (issue,) = plane.refused_alike("search", query="ABC123", weights=none).document["issues"]
    assert (issue["path"], issue["code"]) == ("weights", "custom")


@promise("plane:identifiers")
@pytest.mark.parametrize(
    ("typed", "parts"),
    [
        ("/etc/app/conf.d", ("/etc/app", "conf.d is a folder", "/etc/conf.d", "app conf d etc")),
        ("v1.4.2", ("v1.4", "1.4.3 came out", "v2.4.1", "version 1 step 4 part 2")),
        ("7778", ("777 8", "port 77780", "17778", "7 7 7 8")),
        ("snake_case_name", ("snake case name", "snake_case", "case_name snake", "name_case")),
    ],
)
@pytest.mark.parametrize("position", [0, 2, 4])
def test_identifiers_are_found_as_typed(
    plane: Plane, typed: str, parts: Sequence[str], position: int
) -> None:
    """D25: wherever the fact stands among those that hold parts of it."""
    shelf = plane.shelf()
    texts = [f"The note of the caretaker names {part} twice" for part in parts]
    texts.insert(position, f"The note of the caretaker names {typed} twice")
    ids = plane.keep(shelf, *texts)
    for query in (typed, f"what is {typed}?"):
        assert (
            plane.alike("search", namespace=shelf, query=query)["results"][0]["id"]
            == (ids[position])
        )


@promise("plane:filters-first")
@pytest.mark.parametrize("operation", ["search", "recent", "context"])
def test_a_filter_never_shrinks_a_page(plane: Plane, operation: str) -> None:
    """D26: thirty facts before and behind each page that no filter may let through."""
    shelf = plane.shelf()
    hidden = ("The harbour crane lifts {} containers", "Crane log {} of the harbour")
    early, late = ([text.format(n) for n in range(15)] for text in hidden)
    wanted = [f"Crane shift {name} at the harbour" for name in ("one", "two", "three")]
    plane.keep(shelf, *early, agentName="x")
    mine = plane.keep(shelf, *wanted, agentName="y")
    plane.keep(shelf, *late, agentName="x")
    plane.keep(shelf, *(f"{text} in secret" for text in early), agentName="y", **SENSITIVE)
    name = {"search": "query", "context": "message"}.get(operation)
    asked: dict[str, Any] = {} if name is None else {name: "harbour crane", **EVERYTHING}
    found = plane.alike(operation, namespace=shelf, agentName="y", k=3, **asked)
    pages = [found["relevant"], found["recent"]] if operation == "context" else [found]
    for page in pages:
        assert {item["id"] for item in page["results"]} == set(mine)


@promise("plane:filters-first")
def test_superseded_facts_take_no_place(plane: Plane) -> None:
    """D26."""
    shelf = plane.shelf()
    kept = plane.keep(shelf, "The relay room is dry", "The relay hums", "Relay oil is blue")
    last = ""
    for port in range(7000, 7031):
        content = f"The relay uses port {port}"
        written = plane.ok(REST, "capture", namespace=shelf, content=content)
        assert written.get("superseded", [""]) == [last]
        last = written["id"]
    found = plane.alike("search", namespace=shelf, query="relay port", k=4, **EVERYTHING)
    assert {item["id"] for item in found["results"]} == {*kept, last}
    listed = plane.alike("recent", namespace=shelf, k=4)
    assert [item["id"] for item in listed["results"]] == [last, *kept[::-1]]
    assert plane.ok(REST, "stats")["totalInactive"] >= 30


def broken() -> Embedder:
    """Fail as a model whose files are damaged."""
    raise OSError("no such weights")


@promise("plane:degraded")
@pytest.mark.parametrize("way", ["fails on the query", "could not be loaded"])
def test_without_a_model_words_answer(open_plane: Callable[..., Plane], way: str) -> None:
    """D27."""
    model = SwitchedEmbedder()
    model.is_failing = True
    plane = open_plane(load=broken if way == "could not be loaded" else lambda: model)
    empty = plane.alike("search", query="ferry")
    assert empty == {"results": [], "degraded": True, "abstained": False}
    grounded = plane.alike("context", message="ferry")
    assert grounded["relevant"] == empty
    kept = plane.keep("pier", "The ferry leaves at noon", "Gulls sleep on the mast")
    found = plane.alike("search", query="ferry")
    assert found["degraded"] is True
    assert kept[0] in [item["id"] for item in found["results"]]

    failed = plane.post("search", query="zzyzx")
    assert failed.status == 503
    nothing: dict[str, Any] = {"results": [], "degraded": True, "abstained": False}
    assert failed.document == {**nothing, "error": SEARCH_FAILED}
    in_vain = plane.post("context", message="zzyzx")
    assert in_vain.status == 503
    assert in_vain.document.keys() == {"relevant", "recent", "error"}
    assert in_vain.document["relevant"] == nothing
    assert in_vain.document["error"] == CONTEXT_FAILED
    assert contents(in_vain.document["recent"]) == [
        "Gulls sleep on the mast",
        "The ferry leaves at noon",
    ]
    for era in ERAS:
        assert plane.ok(era, "search", query="zzyzx") == nothing
        assert plane.ok(era, "context", message="zzyzx")["relevant"] == nothing


@promise("plane:abstention")
def test_a_question_without_an_answer_gets_nothing(plane: Plane) -> None:
    """D28."""
    shelf = plane.shelf()
    plane.keep(shelf, *CAFETERIA)
    query = "flumadiddle brobdigook"
    nothing: dict[str, Any] = {"results": [], "degraded": False, "abstained": True}
    assert plane.alike("search", namespace=shelf, query=query) == nothing
    assert plane.alike("context", namespace=shelf, message=query)["relevant"] == nothing
    found = plane.alike("search", namespace=shelf, query=query, **EVERYTHING)
    assert found["results"]
    assert found["abstained"] is False
    assert plane.alike("search", namespace=plane.shelf(), query=query) == {
        "results": [],
        "degraded": False,
        "abstained": False,
    }


@promise("plane:diversity")
def test_other_values_and_names_are_no_copies(plane: Plane) -> None:
    """D31."""
    shelf = plane.shelf()
    staging, production, *_ = plane.keep(
        shelf,
        "Staging API uses port 7778",
        "Production API uses port 7779",
        "The API has no mascot",
        "Ports of the Baltic freeze",
        "Harbours have a port master",
        "An API review takes a week",
        "Port wine is sweet",
    )
    found = plane.alike("search", namespace=shelf, query="API port", k=2)
    assert {item["id"] for item in found["results"]} == {staging, production}


@promise("plane:diversity")
def test_a_near_copy_with_other_values_stays(plane: Plane) -> None:
    """D31: alike in four words of five, and about two things; one that says the same gives way."""
    shelf = plane.shelf()
    words = (
        "cluster of the Danube office in Linz answers health checks of all monitors, dashboards,"
        " balancers, probes and alarms without delay on port"
    )
    staging, production, again, _ = plane.keep(
        shelf,
        f"The staging {words} 7778",
        f"The production {words} 7779",
        f"The production {words} 7779 today",
        "Monitors of the Danube office are cleaned on Fridays",
    )
    query = "health checks of the Danube office in Linz"
    found = plane.alike("search", namespace=shelf, query=query, k=2)
    ids = {item["id"] for item in found["results"]}
    assert staging in ids
    assert len(ids & {production, again}) == 1


@promise("plane:diversity")
def test_a_copy_on_another_shelf_gives_way(plane: Plane) -> None:
    """D31."""
    first, second = plane.shelf(), plane.shelf()
    text = "The glacier hut opens in June"
    copies = [*plane.keep(first, text), *plane.keep(second, text)]
    (weaker,) = plane.keep(second, "A hut needs firewood")
    names = [first, second]
    for k in (2, 9):
        # Nor does a copy fill a page that has room left.
        found = plane.alike("search", includeNamespaces=names, query="glacier hut opens", k=k)
        ids = [item["id"] for item in found["results"]]
        assert len(ids) == 2
        assert ids[0] in copies
        assert ids[1] == weaker


@pytest.mark.parametrize("door", DOORS)
@promise("plane:hits")
def test_only_a_search_of_the_present_counts(open_plane: Callable[..., Plane], door: str) -> None:
    """D29."""
    plane = open_plane(load=hashed)
    ids = plane.keep("hits", *CAFETERIA)
    plane.server.clock.move(minutes=1)
    noon = plane.server.clock.now().isoformat()
    plane.server.clock.move(minutes=1)
    quiet = dict.fromkeys(ids, 1)
    plane.ok(door, "recent", namespace="hits")
    plane.ok(door, "neighbors", id=ids[0], depth=3)
    plane.ok(door, "stats")
    for operation, name in (("search", "query"), ("context", "message")):
        plane.ok(door, operation, namespace="hits", asOf=noon, **{name: "the barista"})
    assert plane.hits("hits") == quiet
    found = plane.ok(door, "search", namespace="hits", query="choir and dog", k=2)
    returned = {item["id"] for item in found["results"]}
    assert len(returned) == 2
    assert plane.hits("hits") == {one: 2 if one in returned else 1 for one in ids}
    relevant = plane.ok(door, "context", namespace="hits", message="choir and dog", k=1)["relevant"]
    (again,) = [item["id"] for item in relevant["results"]]
    assert plane.hits("hits") == {
        one: (2 if one in returned else 1) + (one == again) for one in ids
    }
