from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import Session, command, end_all, owner_pid, tool_call

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WRITES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "add": ("memory_add", {"text": "new", "confidence": "verified"}),
    "alias": ("memory_alias", {"term": "k8s", "equivalents": ["kubernetes"]}),
    "checkpoint": ("checkpoint_save", {"state": {"step": 1}}),
    "reflect add": ("memory_reflect", {"action": "add", "text": "new"}),
    "reflect update": ("memory_reflect", {"action": "update", "target": "old", "text": "new"}),
    "reflect forget": ("memory_reflect", {"action": "forget", "target": "old"}),
    "reflect pin": ("memory_reflect", {"action": "pin", "target": "old"}),
    "reflect unpin": ("memory_reflect", {"action": "unpin", "target": "pinned"}),
    "reflect link": ("memory_reflect", {"action": "link", "text": "old", "target": "pinned"}),
}
"""Each tool that writes and each action, on a namespace with the facts `old` and `pinned`."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory for all tests of this module."""
    directory = tmp_path_factory.mktemp("once") / "store"
    yield directory
    end_all(directory)


@pytest.fixture(scope="module")
def one(store: Path) -> Iterator[Session]:
    """A client."""
    with Session(store, GRAYMATTER_KG="1") as session:
        yield session


@pytest.fixture(scope="module")
def other(store: Path, one: Session) -> Iterator[Session]:
    """Another client of the same owner."""
    assert one.process.poll() is None
    with Session(store) as session:
        yield session


def prepared(session: Session, agent_id: str, name: str) -> tuple[str, dict[str, Any]]:
    """Fill a fresh namespace; return tool and arguments of a write on it."""
    for text in ("old", "pinned"):
        session.ok("memory_add", agent_id=agent_id, text=text)
    session.ok("memory_reflect", agent_id=agent_id, action="pin", target="pinned")
    tool, arguments = WRITES[name]
    return tool, {"agent_id": agent_id, **arguments}


def everything(session: Session, agent_id: str) -> Any:
    """Return what is stored: facts with their receipts, and the newest checkpoint."""
    explained = session.ok(
        "memory_search", agent_id=agent_id, query=" ", top_k=100, explain=True
    ).get("explained", [])
    checkpoint = session.result("checkpoint_resume", agent_id=agent_id)
    return (
        [(one["text"], one["provenance"]["fact_id"], one["provenance"]) for one in explained],
        checkpoint.get("structuredContent"),
    )


@pytest.mark.parametrize("name", WRITES)
def test_a_key_has_one_effect_and_one_answer(one: Session, other: Session, name: str) -> None:
    """Contract 10.6, F27: delivered twice, by two clients."""
    agent = f"twice {name}"
    tool, arguments = prepared(one, agent, name)
    first = one.result(tool, f"key {name}", **arguments)
    assert not first.get("isError"), first
    stored = everything(one, agent)
    assert other.result(tool, f"key {name}", **arguments) == first
    assert everything(one, agent) == stored


@pytest.mark.parametrize("name", WRITES)
def test_a_key_with_another_request_is_refused(one: Session, other: Session, name: str) -> None:
    """Contract 10.6: before any effect; the first request is still answered as it was."""
    agent = f"conflict {name}"
    tool, arguments = prepared(one, agent, name)
    first = one.result(tool, f"conflict {name}", **arguments)
    stored = everything(one, agent)
    for wrong_tool, wrong in (
        (tool, {**arguments, "agent_id": "somebody else"}),
        ("memory_add", {"agent_id": agent, "text": "another"}),
    ):
        text = other.refused(wrong_tool, f"conflict {name}", **wrong)
        assert "idempotency key was used with another request" in text
    assert everything(other, agent) == stored
    assert one.result(tool, f"conflict {name}", **arguments) == first


@pytest.mark.parametrize("name", WRITES)
def test_twins_in_flight_have_one_effect(
    store: Path, one: Session, other: Session, name: str
) -> None:
    """Contract 10.6: both are read before either is carried out."""
    agent = f"twins {name}"
    tool, arguments = prepared(one, agent, name)
    owner = owner_pid(store)
    os.kill(owner, signal.SIGSTOP)
    call = tool_call(1, tool, arguments, f"twins {name}")
    for session in (one, other, one, other):
        session.send(call)
    os.kill(owner, signal.SIGCONT)
    answers = [session.receive() for session in (one, other, one, other)]
    assert answers == [answers[0]] * 4
    assert not answers[0]["result"].get("isError"), answers[0]
    texts = one.facts(agent)
    assert len(texts) == len(set(texts))
    if name == "checkpoint":
        saved = answers[0]["result"]["structuredContent"]["checkpoint_id"]
        resumed = one.ok("checkpoint_resume", agent_id=agent)
        assert resumed["id"] == saved


def test_receipts_survive_the_owner(store: Path, one: Session) -> None:
    """Contract 10.6: a stop and a kill later, each write has its first answer still."""
    first: dict[str, Any] = {}
    for name in WRITES:
        tool, arguments = prepared(one, f"again {name}", name)
        first[name] = one.result(tool, f"again {name}", **arguments)
    os.kill(owner_pid(store), signal.SIGKILL)
    for _ in range(2):
        for name, (tool, arguments) in WRITES.items():
            arguments = {"agent_id": f"again {name}", **arguments}
            assert one.result(tool, f"again {name}", **arguments) == first[name], name
        stopped = json.loads(command(store, "--json", "daemon", "stop").stdout)
        assert stopped["running"] is False


def test_calls_without_a_key_of_their_own_are_calls_of_their_own(store: Path, one: Session) -> None:
    """F27: a core add stores what it is told, twice when told twice."""
    for _ in range(2):
        one.ok("memory_add", agent_id="plain", text="same")
    assert one.facts("plain") == ["same"], "an answer collapses equal texts"
    status = json.loads(command(store, "--json", "status").stdout)
    live = {row["agent"]: row["live_facts"] for row in status["store"]["agents"]}
    assert live["plain"] == 2
