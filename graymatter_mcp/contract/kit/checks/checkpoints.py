"""Checkpoints: each save is new, the newest comes back as it went in."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.kit.case import expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic

if TYPE_CHECKING:
    from graymatter_mcp.contract.kit.case import Case

topic = Topic()

_STATE: Final[dict[str, Any]] = {
    "goal": "release 2.1",
    "steps": ["build", "test"],
    "big": 9007199254740993,
    "ratio": 0.1,
    "nothing": None,
    "deep": {"漢字": [1, {"x": False}]},
}
_SECONDS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


@topic.writes("checkpoints:numbers-survive")
def comes_back(case: Case) -> None:
    """A state comes back as it went in, numbers included, in every mode."""
    agent = case.agent()
    saved = case.ok("checkpoint_save", agent_id=agent, state=json.dumps(_STATE))
    expect_equal(saved["agent_id"], agent, "the namespace of a save")
    expect(_SECONDS.fullmatch(saved["created_at"]), "created_at is no UTC time in whole seconds")
    wanted = {"id": saved["checkpoint_id"], "created_at": saved["created_at"], "state": _STATE}
    for options in ({}, {"on_missing": "error"}, {"on_missing": "empty"}):
        found = case.ok("checkpoint_resume", agent_id=agent, **options)
        expect_equal(found, wanted, "the payload of a resume")


@topic.writes("checkpoints:newest-wins")
def newest_wins(case: Case) -> None:
    """The newest of several is resumed, each under an id of its own."""
    agent = case.agent()
    ids = [
        case.ok("checkpoint_save", agent_id=agent, state=json.dumps({"step": step}))
        for step in range(3)
    ]
    expect_equal(len({one["checkpoint_id"] for one in ids}), 3, "how many ids three saves have")
    found = case.ok("checkpoint_resume", agent_id=agent)
    wanted = (ids[-1]["checkpoint_id"], {"step": 2})
    expect_equal((found["id"], found.get("state")), wanted, "the checkpoint that is resumed")


@topic.writes("save:takes-an-object")
def takes_an_object(case: Case) -> None:
    """A state is an object or a string that holds one; without one there is none."""
    for state in ({"as": "object"}, '{"as": "object"}'):
        agent = case.agent()
        case.ok("checkpoint_save", agent_id=agent, state=state)
        found = case.ok("checkpoint_resume", agent_id=agent)
        expect_equal(found.get("state"), {"as": "object"}, "the state that was saved")
    for options in ({}, {"state": None}, {"state": ""}, {"state": "null"}):
        agent = case.agent()
        case.ok("checkpoint_save", agent_id=agent, **options)
        found = case.ok("checkpoint_resume", agent_id=agent)
        expect("state" not in found, "a checkpoint without a state shows one")


@topic.writes("save:refuses-the-rest")
def refuses_the_rest(case: Case) -> None:
    """A state that is no object is refused and nothing is saved."""
    agent = case.agent()
    for state in ("no json", "[1]", "7", 7, True, [1]):
        case.refused("checkpoint_save", agent_id=agent, state=state)
    case.refused("checkpoint_resume", agent_id=agent)


@topic.writes("checkpoints:text-tells-the-payload")
def text_tells_the_payload(case: Case) -> None:
    """The text of a resume tells its payload."""
    agent = case.agent()
    case.ok("checkpoint_save", agent_id=agent, state='{"step": 1}')
    reply = case.reply("checkpoint_resume", {"agent_id": agent})
    first = f'Checkpoint "{reply.structured["id"]}" restored for agent "{agent}".'
    expect_equal(reply.text.splitlines()[0], first, "the first line of a resume")
    expect('"step": 1' in reply.text, "the text of a resume does not show the state")
