"""The shape of every success, and that the check of it is a check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest
from jsonschema import ValidationError

from contract_tests.caller import Caller
from contract_tests.clients import Reply
from contract_tests.manifest import promise

if TYPE_CHECKING:
    from contract_tests.clients import Client

_CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("memory_search", {"query": "bread"}),
    ("memory_search_batch", {"queries": ["bread"]}),
    ("memory_add", {"text": "Bread rises"}),
    ("memory_add", {"text": "Salt helps", "confidence": "verified"}),
    ("memory_search", {"query": "bread"}),
    ("memory_search", {"query": "bread", "explain": True}),
    ("memory_search", {"query": "bread", "explain": True, "confidence_weight": 0.5}),
    ("memory_search", {"query": "xylophone concerto bread"}),
    ("memory_search", {"query": "bread", "min_confidence": "verified"}),
    ("memory_search_batch", {"queries": ["bread", "salt"], "confidence_weight": 0}),
    ("memory_alias", {"term": "loaf", "equivalents": ["bread"]}),
    ("checkpoint_resume", {"on_missing": "empty"}),
    ("checkpoint_save", {"state": '{"step": 1}'}),
    ("checkpoint_resume", {}),
    ("memory_reflect", {"action": "add", "text": "Yeast works"}),
    ("memory_reflect", {"action": "add", "text": "Rye", "confidence": "unverified"}),
    ("memory_reflect", {"action": "pin", "target": "Rye"}),
    ("memory_search", {"query": "rye", "explain": True}),
    ("memory_reflect", {"action": "unpin", "target": "Rye"}),
    ("memory_reflect", {"action": "update", "target": "Rye", "text": "Rye bread"}),
    ("memory_search", {"query": "rye", "explain": True}),
    ("memory_reflect", {"action": "link", "target": "yeast", "text": "bread"}),
    ("memory_reflect", {"action": "forget", "target": "Rye bread"}),
)


@promise("outputs:fit-their-schema", "outputs:one-story")
def test_every_tool_answers_in_its_schema_with_one_text_item(caller: Caller, agent: str) -> None:
    """Contract C10, C12; F8: `Caller.reply` checks both on every call of every test."""
    seen: set[str] = set()
    for tool, arguments in _CALLS:
        reply = caller.reply(tool, {"agent_id": agent, **arguments})
        assert not reply.is_error, reply.text
        seen.add(tool)
    assert seen == caller.tools.keys()


class _Replaying:
    """A client that answers what it is given."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.next = Reply(content=[])

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def call(self, tool: str, arguments: object) -> Reply:
        """Answer."""
        del tool, arguments
        return self.next


@promise("outputs:fit-their-schema")
def test_a_payload_off_its_schema_would_be_seen(newest: Caller) -> None:
    """House, section 5, question 8: one extra key, one wrong type, an error with a payload."""
    client: Any = _Replaying(newest.client)
    caller = Caller(client)
    item = {"type": "text", "text": "Memory stored."}
    good = {"agent_id": "a", "stored": True}
    client.next = Reply(content=[item], structured=good)
    caller.ok("memory_add")
    for bad in ({**good, "extra": 1}, {**good, "stored": "yes"}, {"agent_id": "a"}, None):
        client.next = Reply(content=[item], structured=bad)
        with pytest.raises(ValidationError):
            caller.reply("memory_add", {})
    for broken in (
        Reply(content=[item, item], structured=good),
        Reply(content=[], structured=good),
        Reply(content=[item], structured=good, is_error=True),
    ):
        client.next = broken
        with pytest.raises(AssertionError):
            caller.reply("memory_add", {})
