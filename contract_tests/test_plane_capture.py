"""The data plane: what capture takes, refuses, classifies and finds there already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.plane_stored import hits_of, stored_metadata
from contract_tests.plane_wire import DOORS, REST

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane

by_door = pytest.mark.parametrize("door", DOORS)

FILLER: Final = "conversational filler — not durable knowledge"
TOO_SHORT: Final = "too short — not durable knowledge"
TOO_LONG: Final = "too long (4001 chars, max 4000) — split into one fact per entry"
SENSITIVE: Final = {
    "openai": "The key is sk-" + "aB3dE5fG7hJ9kL1m",
    "stripe": "Billing uses sk_live_" + "4eC39HqLyjWDarjt",
    "github": "CI pushes with ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "github fine": "CI pushes with github_pat_" + "11ABCDEFG0aBcDeFgHiJkLmNoPqRsTuVwX",
    "gitlab": "The runner has glpat-" + "x1Y2z3A4b5C6d7E8f9",
    "slack": "The bot has xoxb-" + "123456789012-abc",
    "aws": "Uploads use AKIA" + "IOSFODNN7EXAMPL1",
    "google": "Maps use AIza" + "SyD4x8Qw2Er6Ty0Ui4Op8As2Df6Gh0Jk4Lz",
    "hugging face": "Models come with hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZ1234",
    "ours": "The agent has gm_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5bC7dE9f",
    "pem": "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA",
    "jwt": "It sends eyJhbGciOiJI.eyJzdWIiOiIx.dozjgNryP4J3",
    "bearer": "Send Bearer aB3dE5fG7hJ9kL1mN3pQ5r with it",
    "url": "The queue is amqp://worker:s3cret-pw@mq.internal",
    "assignment": "api_key = 9fK2mQ7xLp0Zt4Vb",
    "assignment with is": "The client secret is 9fK2mQ7xLp0Zt4Vb",
    "password": "password: hunter2!",
}
PRIVATE: Final = {
    "word": "The token limit is 4096",
    "required": "Password is required",
    "uuid": "The run was 123e4567-e89b-12d3-a456-426614174000",
    "digest": "The commit is 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "placeholder": "password: ${DB_PASSWORD}",
    "angles": "The api key: <your-key-here>",
    "stars": "The secret is ********",
    "change me": "password = changeme",
    "path": "The credential: /etc/app/conf.d",
}


@promise("plane:capture-keys")
@by_door
def test_a_captured_fact_says_what_was_found_out_about_it(plane: Plane, door: str) -> None:
    """D36."""
    shelf = plane.shelf()
    content = "The deployment of the payments service runs on k3s behind traefik since March"
    written = plane.ok(door, "capture", content=content, namespace=shelf, metadata={"team": "pay"})
    assert written.keys() == {"id", "embedded"}
    (item,) = plane.alike("recent", namespace=shelf)["results"]
    assert (item["source"], item["sourceType"], item["capturedFrom"]) == (
        "memory_capture",
        "chat",
        "memory_capture",
    )
    assert item["metadata"] == {
        "team": "pay",
        "memoryType": "deployment_state",
        "worthiness": {
            "durable": 0.75,
            "reuseLikelihood": 0.85,
            "userRelevance": 0.9,
            "confidence": 1.0,
            "overall": 0.855,
        },
        "retention": {
            "policy": "current_only",
            "baseEffectiveDays": 30,
            "supersedeAggressively": True,
        },
        "sensitivity": "private",
        "captureAction": "inserted",
        "lifecycleStatus": "active",
    }


@promise("plane:capture-keys")
def test_keys_of_the_server_that_a_caller_sends_are_dropped(plane: Plane) -> None:
    """D36; data plane, 1.3: three of them count, and none is stored as sent."""
    shelf = plane.shelf()
    sent: dict[str, Any] = {
        "memoryType": "decision",
        "sensitivity": "internal",
        "lifecycleStatus": "deprecated",
        "supersededBy": "nobody",
        "supersedes": ["nothing"],
        "captureAction": "dreamt",
        "worthiness": {"overall": 7},
        "retention": None,
        "own": "kept",
    }
    plane.ok(REST, "capture", content="We chose the blue one", namespace=shelf, metadata=sent)
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    told = item["metadata"]
    assert told.keys() == {
        *("own", "memoryType", "sensitivity", "lifecycleStatus"),
        *("captureAction", "worthiness", "retention"),
    }
    assert (told["own"], told["memoryType"], told["sensitivity"]) == (
        "kept",
        "decision",
        "internal",
    )
    assert (told["lifecycleStatus"], told["captureAction"]) == ("active", "inserted")
    assert told["retention"]["policy"] == "medium_long"


@promise("plane:capture-keys")
@pytest.mark.parametrize("kind", ["gossip", "", 7, ["decision"]])
def test_a_type_that_is_none_is_found_out_as_if_it_were_not_sent(
    plane: Plane, kind: object
) -> None:
    """D36; data plane, 5.2."""
    shelf = plane.shelf()
    content = "Ana prefers window seats on trains"
    plane.ok(REST, "capture", content=content, namespace=shelf, metadata={"memoryType": kind})
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert item["metadata"]["memoryType"] == "user_preference"


@promise("plane:gate")
@by_door
@pytest.mark.parametrize(
    ("content", "is_forced", "reason"),
    [
        ("ok thanks", False, FILLER),
        ("Got it, thank you!", False, FILLER),
        ("short one", False, TOO_SHORT),
        ("x" * 4001, False, TOO_LONG),
        ("x" * 4001, True, TOO_LONG),
    ],
    ids=["ok", "got it", "short", "long", "long and forced"],
)
def test_what_is_no_knowledge_is_refused_with_a_reason(
    plane: Plane, door: str, content: str, is_forced: bool, reason: str
) -> None:
    """D37."""
    shelf = plane.shelf()
    fields = {"content": content, "namespace": shelf, "force": is_forced}
    outcome = plane.ask(door, "capture", **fields)
    assert outcome.body == {"id": None, "rejected": reason}
    assert outcome.response is None or outcome.response.status == 200
    assert plane.ok(REST, "recent", namespace=shelf)["results"] == []


@promise("plane:gate")
def test_force_lets_in_what_is_short(plane: Plane) -> None:
    """D37; remember has no limit of its own below that of the schema."""
    shelf = plane.shelf()
    for content in ("short", "thanks", "x" * 4000):
        answer = plane.post("capture", content=content, namespace=shelf, force=True)
        assert answer.status == 201
    assert plane.post("remember", content="y " * 2001, namespace=shelf).status == 201
    refused = plane.post("remember", content="ok thanks", namespace=shelf)
    assert (refused.status, refused.document) == (200, {"id": None, "rejected": FILLER})


@promise("plane:duplicate")
@by_door
@pytest.mark.parametrize("operation", ["capture", "remember"])
def test_what_is_there_already_is_reinforced(plane: Plane, door: str, operation: str) -> None:
    """D41."""
    shelf, other = plane.shelf(), plane.shelf()
    content = "The staging cluster runs in Frankfurt"
    refs = [f"{shelf}-1", f"{shelf}-2"]
    first = plane.ok(door, operation, content=content, namespace=shelf, sourceRefs=refs[:1])
    again = plane.ask(door, operation, content=f"  {content}\n", namespace=shelf, sourceRefs=refs)
    assert again.body == {"id": first["id"], "deduplicated": True, "embedded": True}
    assert again.response is None or again.response.status == 200
    assert hits_of(plane, shelf, first["id"]) == 2
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert (item["id"], item["content"]) == (first["id"], content)
    elsewhere = plane.ok(door, operation, content=content, namespace=other)
    assert elsewhere["id"] != first["id"]
    (found,) = plane.ok(door, "search", query="staging cluster Frankfurt", namespace=other)[
        "results"
    ]
    assert found["id"] == elsewhere["id"]
    for ref in refs:
        gone = plane.ok(door, "forget", sourceRef=ref)
        assert gone["ids"] == ([first["id"]] if ref == refs[0] else [])


@promise("plane:duplicate")
def test_both_handles_of_a_fact_that_was_said_twice_lead_to_it(plane: Plane) -> None:
    """D41."""
    shelf = plane.shelf()
    content = "The staging cluster runs in Frankfurt"
    first = plane.ok(REST, "capture", content=content, namespace=shelf, sourceRefs=[f"{shelf}-1"])
    plane.ok(REST, "capture", content=content, namespace=shelf, sourceRefs=[f"{shelf}-2"])
    assert plane.ok(REST, "forget", sourceRef=f"{shelf}-2")["ids"] == [first["id"]]


@promise("plane:duplicate")
def test_the_stricter_level_and_the_later_end_stay(plane: Plane) -> None:
    """D41; data plane, 5.3: no end is later than any."""
    shelf = plane.shelf()
    content = "The board meets in the small room"
    fields = {"content": content, "namespace": shelf}
    soon, late = "2099-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"
    first = plane.ok(REST, "capture", **fields, sensitivity="internal", expiresAt=late)["id"]

    def again(**more: Any) -> dict[str, Any]:
        assert plane.ok(REST, "capture", **fields, **more)["id"] == first
        (item,) = plane.ok(REST, "recent", namespace=shelf, maxSensitivity="sensitive")["results"]
        return item["metadata"]

    told = again(sensitivity="public", expiresAt=soon)
    assert (told["sensitivity"], told["expiresAt"]) == ("internal", late)
    assert again(sensitivity="sensitive", expiresAt=soon)["sensitivity"] == "sensitive"
    assert "expiresAt" not in again()


@promise("plane:duplicate")
def test_an_old_truth_said_again_is_a_new_fact(plane: Plane) -> None:
    """D41; data plane, 5.3: a superseded or deprecated twin is no duplicate."""
    shelf = plane.shelf()
    port = "The gateway listens on port {}".format
    first = plane.ok(REST, "capture", content=port(7001), namespace=shelf)["id"]
    second = plane.ok(REST, "capture", content=port(7002), namespace=shelf)["id"]
    third = plane.post("capture", content=port(7001), namespace=shelf)
    assert third.status == 201
    assert third.document["id"] not in (first, second)
    assert third.document["superseded"] == [second]
    assert stored_metadata(plane, shelf, first)["supersededBy"] == second
    status = {"lifecycleStatus": "deprecated"}
    plane.ok(REST, "update", id=third.document["id"], metadata=status)
    assert plane.post("capture", content=port(7001), namespace=shelf).status == 201


@promise("plane:sensitivity")
@pytest.mark.parametrize("content", SENSITIVE.values(), ids=SENSITIVE.keys())
def test_what_looks_like_a_secret_is_hidden_unless_asked_for(plane: Plane, content: str) -> None:
    """D43; the shapes of 5.5."""
    shelf = plane.shelf()
    fact_id = plane.ok(REST, "capture", content=content, namespace=shelf)["id"]
    assert plane.ok(REST, "recent", namespace=shelf)["results"] == []
    assert plane.ok(REST, "search", namespace=shelf, query=content)["results"] == []
    seen = {"namespace": shelf, "maxSensitivity": "sensitive"}
    (item,) = plane.ok(REST, "recent", **seen)["results"]
    assert (item["id"], item["metadata"]["sensitivity"]) == (fact_id, "sensitive")
    assert [one["id"] for one in plane.ok(REST, "search", query=content, **seen)["results"]] == [
        fact_id
    ]


@promise("plane:sensitivity")
@pytest.mark.parametrize("content", PRIVATE.values(), ids=PRIVATE.keys())
def test_a_word_alone_is_no_secret(plane: Plane, content: str) -> None:
    """D43."""
    shelf = plane.shelf()
    plane.ok(REST, "capture", content=content, namespace=shelf)
    (item,) = plane.ok(REST, "recent", namespace=shelf)["results"]
    assert item["metadata"]["sensitivity"] == "private"


@promise("plane:sensitivity")
@by_door
def test_an_explicit_level_wins(plane: Plane, door: str) -> None:
    """D43: the field before the metadata, the metadata before what the text gives away."""
    shelf = plane.shelf()
    content = "password: hunter2! on host {}".format
    for number, (sent, expected) in enumerate(
        [
            ({"sensitivity": "public"}, "public"),
            ({"metadata": {"sensitivity": "internal"}}, "internal"),
            ({"sensitivity": "public", "metadata": {"sensitivity": "internal"}}, "public"),
            ({"metadata": {"sensitivity": "topsecret"}}, "sensitive"),
        ]
    ):
        text = content(f"alpha{number}")
        fact_id = plane.ok(door, "remember", content=text, namespace=shelf, **sent)["id"]
        found = plane.ok(door, "recent", namespace=shelf, maxSensitivity="sensitive", k=1)
        (item,) = found["results"]
        assert (item["id"], item["metadata"]["sensitivity"]) == (fact_id, expected)


@promise("plane:exact-text")
@by_door
@pytest.mark.parametrize(
    "content",
    [
        "  two blanks before, a line after\n",
        "e\u0301tude and \u00e9tude are two spellings",
        "family \U0001f468\u200d\U0001f469\u200d\U0001f467 and flag \U0001f1e9\U0001f1ea",
        "\u202eright to left\u202c and \ufeffa mark and a \u00a0 space",
        "tabs\tand\r\nlines\u2028and\u0085others",
        "データベースのポートは5432です、はい",
    ],
)
def test_a_text_comes_back_as_it_was_sent(plane: Plane, door: str, content: str) -> None:
    """Data plane, 1.2: stored as sent, not trimmed."""
    shelf = plane.shelf()
    plane.ok(door, "capture", content=content, namespace=shelf)
    (item,) = plane.alike("recent", namespace=shelf)["results"]
    assert item["content"] == content
