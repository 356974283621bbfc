"""Calls tools and checks what must hold of every reply, whatever a test is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator

from contract_tests.clients import MISSING, RawClient, reply_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contract_tests.clients import Client, Reply

_LEAKS = ("Traceback", 'File "', ".py", "Exception", "duckdb", "site-packages", "/tmp")  # noqa: S108 - looked for, not used


class Caller:
    """A client whose replies are checked by a validator of our own against the served schemas."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.tools = {tool["name"]: tool for tool in client.list_tools()}
        # The validator's stubs name a type that is not there.
        self._outputs: dict[str, Any] = {
            name: Draft202012Validator(tool["outputSchema"]) for name, tool in self.tools.items()
        }

    def reply(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call one tool and check the reply against the rules of every reply.

        Source: contract 2.5 and C10.
        """
        return self.checked(tool, self.client.call(tool, arguments))

    def checked(self, tool: str, reply: Reply) -> Reply:
        """Check a reply that came another way."""
        assert len(reply.content) == 1
        assert set(reply.content[0]) == {"type", "text"}
        assert reply.text
        if reply.is_error:
            assert reply.structured is MISSING, "a strict client loses the text of such an error"
            assert not [leak for leak in _LEAKS if leak in reply.text], reply.text
        else:
            self._outputs[tool].validate(reply.structured)
        return reply

    def ok(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call one tool that must succeed; return its payload."""
        reply = self.reply(tool, arguments)
        assert not reply.is_error, reply.text
        return reply.structured

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call one tool that must fail; return the text."""
        reply = self.reply(tool, arguments)
        assert reply.is_error, reply.text
        return reply.text

    def add(self, agent_id: str, *texts: str, **options: str) -> None:
        """Store facts, oldest first."""
        for text in texts:
            self.ok("memory_add", agent_id=agent_id, text=text, **options)

    def add_at_once(self, agent_id: str, texts: Sequence[str]) -> None:
        """Store many facts in no certain order, without waiting between them."""
        assert isinstance(self.client, RawClient)
        wire = self.client.wire
        wire.send(
            *(
                self.client.call_request("memory_add", {"agent_id": agent_id, "text": text})
                for text in texts
            )
        )
        for _ in texts:
            assert not self.checked("memory_add", reply_of(wire.receive())).is_error

    def facts(self, agent_id: str, query: str = " ", **options: Any) -> list[str]:
        """Return what a search finds; by default all facts, newest first."""
        options = {"top_k": 1000, **options}
        return self.ok("memory_search", agent_id=agent_id, query=query, **options)["facts"]

    def receipts(self, agent_id: str, query: str = " ", **options: Any) -> list[dict[str, Any]]:
        """Return what an explained search finds."""
        options = {"top_k": 1000, **options}
        answer = self.ok("memory_search", agent_id=agent_id, query=query, explain=True, **options)
        return answer.get("explained", [])

    def reflect(self, action: str, agent_id: str, /, **arguments: Any) -> dict[str, Any]:
        """Curate; must succeed."""
        return self.ok("memory_reflect", action=action, agent_id=agent_id, **arguments)
