"""Whose memory it is: refused when blank, kept byte for byte when good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from contract_tests.clients import RawClient
from contract_tests.conftest import raw_doors_only
from contract_tests.manifest import promise

if TYPE_CHECKING:
    from contract_tests.caller import Caller

_BAD: Final[tuple[Any, ...]] = (None, 7, 1.5, True, False, {}, [], ["a"], "", "   ", "\u2003")
_ACTIONS: Final[dict[str, dict[str, str]]] = {
    "add": {"text": "New"},
    "update": {"target": "Kept", "text": "New"},
    "forget": {"target": "Kept"},
    "link": {"target": "a", "text": "b"},
    "pin": {"target": "Kept"},
    "unpin": {"target": "Kept"},
}


@promise("identity:bad-is-refused", "inputs:absent-null-empty")
def test_a_bad_identity_is_refused_for_every_action(caller: Caller, agent: str) -> None:
    """Contract C29; also when the other spelling is good, and before anything is touched."""
    caller.add(agent, "Kept")
    for action, needs in _ACTIONS.items():
        labelled: list[dict[str, Any]] = [{}]
        if action in ("add", "update"):
            labelled.append({"confidence": "verified"})
        for key in ("agent_id", "agent"):
            other = "agent" if key == "agent_id" else "agent_id"
            for bad in _BAD:
                for more in labelled:
                    sent: dict[str, Any] = {"action": action, key: bad, **needs, **more}
                    expected = f"{key} must be a non-empty string"
                    assert caller.refused("memory_reflect", **sent) == expected
                    assert caller.refused("memory_reflect", **sent, **{other: agent}) == expected
    (receipt,) = caller.receipts(agent)
    assert receipt["text"] == "Kept"
    assert "pinned" not in receipt["provenance"]


@promise("identity:bad-is-refused")
def test_without_an_identity_every_action_asks_for_one(caller: Caller) -> None:
    """Contract 3.8: none is taken from the directory, a token or the connection."""
    for action, needs in _ACTIONS.items():
        text = caller.refused("memory_reflect", action=action, **needs)
        assert text == "agent_id is required"


@promise("identity:tool-error")
@raw_doors_only
def test_a_bad_identity_is_a_tool_error_not_a_protocol_error(caller: Caller) -> None:
    """Contract C30."""
    assert isinstance(caller.client, RawClient)
    for tool, arguments in (
        ("memory_reflect", {"action": "add", "agent_id": None, "text": "x"}),
        ("memory_reflect", {"action": "add", "agent": " ", "text": "x"}),
        ("memory_add", {"agent_id": "\u2003", "text": "x"}),
    ):
        answer = caller.client.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "error" not in answer
        assert answer["result"]["isError"] is True
        assert "structuredContent" not in answer["result"]


@promise("identity:byte-exact")
def test_good_identities_are_kept_byte_for_byte(caller: Caller, agent: str) -> None:
    """Contract C31, 4.2."""
    identities = [
        agent,
        f" {agent} ",
        f"{agent}\n",
        agent.upper(),
        f"{agent} 記憶",
        f"{agent} cafe\u0301",
        f"{agent} café",
        f"{agent}/../x",
        f"{agent}\u200b",
    ]
    for place, identity in enumerate(identities):
        assert caller.ok("memory_add", agent_id=identity, text=f"Fact {place}") == {
            "agent_id": identity,
            "stored": True,
        }
    for place, identity in enumerate(identities):
        found = caller.ok("memory_search", agent_id=identity, query=" ")
        assert (found["agent_id"], found["facts"]) == (identity, [f"Fact {place}"])
        done = caller.reflect("pin", identity, target=f"Fact {place}")
        assert done["agent"] == identity


@promise("identity:byte-exact")
def test_the_shared_namespace_is_an_ordinary_id(caller: Caller, agent: str) -> None:
    """Contract C31, 4.2."""
    caller.add("__shared__", f"Shared by {agent}")
    assert f"Shared by {agent}" in caller.facts("__shared__")
    caller.reflect("forget", "__shared__", target=f"Shared by {agent}")
    assert f"Shared by {agent}" not in caller.facts("__shared__")
    assert caller.facts(agent) == []


@promise("identity:agent-id-wins")
def test_agent_id_wins_over_agent(caller: Caller, agent: str) -> None:
    """Contract C32."""
    done = caller.ok(
        "memory_reflect", action="add", agent_id=agent, agent=f"{agent}-old", text="Mine"
    )
    assert done["agent"] == agent
    assert "agent_id" not in done
    assert caller.facts(agent) == ["Mine"]
    assert caller.facts(f"{agent}-old") == []


@promise("identity:agent-alone")
def test_agent_alone_drives_every_action(caller: Caller, agent: str) -> None:
    """Contract C32: accepted through 0.x."""
    caller.add(agent, "Kept")
    for action in ("add", "pin", "unpin", "link", "update"):
        done = caller.ok("memory_reflect", action=action, agent=agent, **_ACTIONS[action])
        assert done["agent"] == agent
    caller.ok("memory_reflect", action="forget", agent=agent, target="New")
    assert caller.facts(agent) == []
