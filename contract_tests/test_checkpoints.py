"""Saving and resuming: absence is an answer only for who asks for it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from contract_tests.inside import engine, keyword_config, serving
from contract_tests.manifest import promise
from graymatter_mcp import Message

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller

_BAD_MODES: tuple[Any, ...] = ("", 0, 1.5, True, {}, [], "sometimes", "Empty", "null")
_BAD_STATES: tuple[Any, ...] = (7, True, [{}])
_ON_MISSING = 'on_missing must be "error" or "empty"'


def absence(agent: str) -> str:
    """Return the text for who does not ask for typed absence."""
    return f'no checkpoint found for agent "{agent}": no checkpoints for agent "{agent}"'


@promise("resume:absent-is-an-error", "resume:never-an-unasked-empty")
def test_without_a_checkpoint_resume_is_a_text_only_error(caller: Caller, agent: str) -> None:
    """Contract C16, C21."""
    assert caller.refused("checkpoint_resume", agent_id=agent) == absence(agent)
    assert caller.refused("checkpoint_resume", agent_id=agent, on_missing="error") == absence(agent)


@promise("resume:empty-on-request")
def test_without_a_checkpoint_resume_is_empty_when_asked_to(caller: Caller, agent: str) -> None:
    """Contract C17."""
    reply = caller.reply("checkpoint_resume", {"agent_id": agent, "on_missing": "empty"})
    assert reply.structured == {"found": False, "agent_id": agent}
    assert reply.text == f'No checkpoint saved for agent "{agent}" yet.'


@promise("resume:on-missing-is-checked", "inputs:absent-null-empty")
def test_any_other_on_missing_is_refused_whether_or_not_something_is_saved(
    caller: Caller, agent: str
) -> None:
    """Contract C18; F9."""
    for saved in (False, True):
        if saved:
            caller.ok("checkpoint_save", agent_id=agent)
        for value in _BAD_MODES:
            text = caller.refused("checkpoint_resume", agent_id=agent, on_missing=value)
            assert text == _ON_MISSING


@promise("resume:on-missing-is-checked", "inputs:absent-null-empty")
def test_null_on_missing_is_no_on_missing(caller: Caller, agent: str) -> None:
    """Contract C18; F9."""
    text = caller.refused("checkpoint_resume", agent_id=agent, on_missing=None)
    assert text == absence(agent)


@promise("resume:same-in-every-mode")
def test_a_checkpoint_comes_back_the_same_in_every_mode(caller: Caller, agent: str) -> None:
    """Contract C19."""
    state = {"goal": "ship", "steps": [1, 2.5, None, True], "größe": {"名": "記憶"}}
    saved = caller.ok("checkpoint_save", agent_id=agent, state=json.dumps(state))
    answers = [
        caller.reply("checkpoint_resume", {"agent_id": agent, **mode})
        for mode in ({}, {"on_missing": "error"}, {"on_missing": "empty"}, {"on_missing": None})
    ]
    assert answers[0].structured == {
        "id": saved["checkpoint_id"],
        "created_at": saved["created_at"],
        "state": state,
    }
    assert all(one == answers[0] for one in answers)


@promise("checkpoints:text-tells-the-payload")
def test_the_text_of_a_resume_tells_the_state(caller: Caller, agent: str) -> None:
    """Contract 3.6, C12."""
    saved = caller.ok("checkpoint_save", agent_id=agent, state='{"goal": "ship"}')
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", saved["created_at"])
    assert caller.reply("checkpoint_resume", {"agent_id": agent}).text == (
        f'Checkpoint "{saved["checkpoint_id"]}" restored for agent "{agent}".\n'
        f"Created: {saved['created_at']}\n"
        'State:\n{\n  "goal": "ship"\n}'
    )


@promise("checkpoints:newest-wins")
def test_the_newest_of_several_is_resumed_and_none_is_overwritten(
    caller: Caller, agent: str
) -> None:
    """Contract section 7."""
    ids = [
        caller.ok("checkpoint_save", agent_id=agent, state={"step": step})["checkpoint_id"]
        for step in range(5)
    ]
    assert len(set(ids)) == 5
    resumed = caller.ok("checkpoint_resume", agent_id=agent)
    assert (resumed["id"], resumed["state"]) == (ids[-1], {"step": 4})


@promise("checkpoints:numbers-survive")
def test_numbers_in_a_state_come_back_as_they_went_in(caller: Caller, agent: str) -> None:
    """Contract section 7."""
    state = '{"big": 123456789012345678901234567890, "whole": 1.0, "small": 1e-7, "neg": -0.5}'
    caller.ok("checkpoint_save", agent_id=agent, state=state)
    resumed = caller.ok("checkpoint_resume", agent_id=agent)["state"]
    assert resumed["big"] == 123456789012345678901234567890
    assert resumed == json.loads(state)


@promise("save:takes-an-object", "inputs:absent-null-empty")
@pytest.mark.parametrize(
    ("arguments", "state"),
    [
        ({}, None),
        ({"state": None}, None),
        ({"state": ""}, None),
        ({"state": "null"}, None),
        ({"state": {"a": [1]}}, {"a": [1]}),
        ({"state": '{"a": [1]}'}, {"a": [1]}),
        ({"state": ' {"a": "\\u00fc"}\n'}, {"a": "ü"}),
    ],
)
def test_a_state_is_an_object_or_a_string_that_holds_one(
    caller: Caller, agent: str, arguments: dict[str, Any], state: object
) -> None:
    """Contract C22; F9."""
    caller.ok("checkpoint_save", agent_id=agent, **arguments)
    assert caller.ok("checkpoint_resume", agent_id=agent).get("state") == state


@promise("save:refuses-the-rest", "inputs:absent-null-empty")
@pytest.mark.parametrize(
    ("state", "text"),
    [
        *((state, "state must be a JSON object or a string holding one") for state in _BAD_STATES),
        ("[1]", "state must be valid JSON: expected an object"),
        ('"word"', "state must be valid JSON: expected an object"),
        ("7", "state must be valid JSON: expected an object"),
        ("{oops}", "state must be valid JSON: "),
        (" ", "state must be valid JSON: "),
        ('{"a": NaN}', "state must be valid JSON: "),
        ('{"a": 1e999}', "state must be valid JSON: "),
        ('{"a": ' * 2000 + "1" + "}" * 2000, "state must be valid JSON: "),
    ],
)
def test_a_state_that_would_be_lost_is_refused_and_nothing_is_saved(
    caller: Caller, agent: str, state: object, text: str
) -> None:
    """Contract C22; F9."""
    refusal = caller.refused("checkpoint_save", agent_id=agent, state=state)
    assert refusal == text or (text.endswith(": ") and refusal.startswith(text))
    assert caller.ok("checkpoint_resume", agent_id=agent, on_missing="empty")["found"] is False


@promise("resume:failures-are-errors")
def test_a_store_that_is_not_open_is_an_error_in_both_modes(tmp_path: Path) -> None:
    """Contract C20."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        opened.run(opened.memory.aclose)
        for mode in ("error", "empty"):
            text = caller.refused("checkpoint_resume", agent_id="a", on_missing=mode)
            assert text.startswith("checkpoint resume error: ")
            assert "not initialised" in text


@promise("resume:failures-are-errors")
def test_a_damaged_record_is_neither_skipped_nor_taken_for_absence(
    start: Callable[..., Caller], tmp_path: Path
) -> None:
    """Contract C20; section 7: also when a newer record of the agent is sound."""
    caller = start()
    first = caller.ok("checkpoint_save", agent_id="a", state={"step": 1})["checkpoint_id"]
    caller.ok("checkpoint_save", agent_id="a", state={"step": 2})
    caller.ok("checkpoint_save", agent_id="other", state={"step": 3})
    caller.client.close()
    with duckdb.connect(str(tmp_path / "store" / "gray.duckdb")) as database:
        damaged = database.execute(
            "UPDATE checkpoints SET record = '{\"state\": ' WHERE namespace = 'a' AND record LIKE ?"
            " RETURNING namespace",
            ['%"step"%1%'],
        ).fetchall()
    assert damaged, first
    caller = start()
    for mode in ("error", "empty"):
        text = caller.refused("checkpoint_resume", agent_id="a", on_missing=mode)
        assert text.startswith("checkpoint resume error: ")
        assert "decode checkpoint" in text
    assert caller.ok("checkpoint_resume", agent_id="other")["state"] == {"step": 3}


@promise("checkpoints:message-count")
def test_messages_saved_by_the_library_are_counted(tmp_path: Path) -> None:
    """Contract 3.6."""
    with engine(keyword_config(tmp_path)) as opened, serving(opened.memory) as caller:
        turns = [Message(role="user", content="Hi"), Message(role="assistant", content="Hello")]
        opened.run(opened.memory.save_checkpoint, "a", None, messages=turns)
        reply = caller.reply("checkpoint_resume", {"agent_id": "a"})
        assert reply.structured.keys() == {"id", "created_at", "message_count"}
        assert reply.structured["message_count"] == 2
        assert reply.text.endswith("Messages: 2 turns")
