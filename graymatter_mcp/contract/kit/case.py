"""What a check works with: one conversation, whose every reply is held to the common rules."""

from __future__ import annotations

import re
import secrets
import time
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from jsonschema import Draft202012Validator

from graymatter_mcp.contract.wire.session import MISSING, Reply, reply_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.contract.compat import Release
    from graymatter_mcp.contract.wire.base import Message
    from graymatter_mcp.contract.wire.session import Session

NAMESPACE: Final = "contract-check"
_LEAKS: Final = re.compile(r"Traceback|File \"|Exception|duckdb|\.py\b|(?:^|\s)(?:/[\w.-]+){2,}")
"""Exceptions, modules, absolute paths."""
_SETTLED_POLL_S: Final = 0.05
_SETTLED_TRIES: Final = 200
_WARM_POLL_S: Final = 0.5
_WARM_TRIES: Final = 60


class BrokenPromiseError(Exception):
    """A server does not do what the contract says; the message says what it did."""


def broken(text: str) -> NoReturn:
    """Report a broken promise."""
    raise BrokenPromiseError(text)


def expect(condition: object, text: str) -> None:
    """Report a broken promise unless a condition holds."""
    if not condition:
        broken(text)


def expect_equal(found: object, wanted: object, what: str) -> None:
    """Report a broken promise unless two values are equal."""
    if found != wanted:
        broken(f"{what}: wanted {_short(wanted)}, found {_short(found)}")


def as_list(value: Any) -> list[Any]:
    """Read an array that may be null or absent."""
    return [] if value is None else value


def _short(value: object, limit: int = 160) -> str:
    text = repr(value)
    return text if len(text) <= limit else f"{text[:limit]}..."


class Case:
    """One check at work on one server."""

    def __init__(self, session: Session, contract: Release, tools: Sequence[Message]) -> None:
        self.session = session
        self.contract = contract
        """What this package promises."""
        self.tools = {tool["name"]: tool for tool in tools}
        self.listed = tools
        self.written: dict[str, set[str]] = {}
        """Namespaces of this run and the texts stored there."""

    def agent(self) -> str:
        """Return a namespace that nobody has used."""
        name = f"{NAMESPACE}/{secrets.token_hex(8)}"
        self.written[name] = set()
        return name

    def reply(self, tool: str, arguments: Any) -> Reply:
        """Call one tool and hold the reply to the rules of every reply."""
        answer = self.session.call(tool, arguments)
        if "error" in answer:
            broken(f"{tool} answered with a protocol error where a result is due")
        return self.checked(tool, reply_of(answer))

    def checked(self, tool: str, reply: Reply) -> Reply:
        """Hold a reply to the rules of every reply."""
        content = reply.content
        expect(len(content) == 1, f"{tool}: a result has exactly one item of content")
        item = cast("Message", content[0]) if isinstance(content[0], dict) else {}
        is_text = item.get("type") == "text" and bool(item.get("text"))
        expect(is_text, f"{tool}: the one item is a text that is not empty")
        if reply.is_error:
            expect(reply.structured is MISSING, f"{tool}: an error has no structuredContent key")
            leak = _LEAKS.search(reply.text)
            expect(leak is None, f"{tool}: the text of an error shows something from inside")
        else:
            self._fits(tool, reply.structured)
        return reply

    def _fits(self, tool: str, payload: Any) -> None:
        promised = self.contract.tools.get(tool)
        served = self.tools.get(tool, {}).get("outputSchema")
        for whose, schema in (
            ("served", served),
            ("promised", promised and promised.output_schema),
        ):
            if schema is None:
                continue
            validator = cast("Any", Draft202012Validator(schema))  # its stubs are partly unknown
            error = next(validator.iter_errors(payload), None)
            if error is not None:
                place = "/".join(map(str, error.absolute_path)) or "its root"
                broken(
                    f"{tool}: a success breaks the {whose} schema at {place} ({error.validator})"
                )

    def ok(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """Call one tool that must succeed; return its payload."""
        reply = self.reply(tool, arguments)
        if reply.is_error:
            broken(f"{tool} failed with: {reply.text[:120]}")
        return reply.structured

    def refused(self, tool: str, /, **arguments: Any) -> str:
        """Call one tool that must fail; return the text."""
        reply = self.reply(tool, arguments)
        expect(reply.is_error, f"{tool} took what it must refuse: {_short(arguments)}")
        return reply.text

    def add(self, agent: str, *texts: str, **options: Any) -> list[dict[str, Any]]:
        """Store facts, oldest first; return the payloads."""
        self.written.setdefault(agent, set()).update(texts)
        return [self.ok("memory_add", agent_id=agent, text=text, **options) for text in texts]

    def reflect(self, action: str, agent: str, /, **arguments: Any) -> dict[str, Any]:
        """Curate; must succeed."""
        if action in ("add", "update"):
            self.written.setdefault(agent, set()).add(arguments["text"])
        return self.ok("memory_reflect", action=action, agent_id=agent, **arguments)

    def facts(self, agent: str, query: str = " ", **options: Any) -> list[str]:
        """Return what a search finds; by default all facts, newest first."""
        payload = self.ok(
            "memory_search", agent_id=agent, query=query, **{"top_k": 1000, **options}
        )
        return as_list(payload["facts"])

    def receipts(self, agent: str, query: str = " ", **options: Any) -> list[dict[str, Any]]:
        """Return what an explained search finds."""
        options = {"top_k": 1000, "explain": True, **options}
        payload = self.ok("memory_search", agent_id=agent, query=query, **options)
        return as_list(payload.get("explained"))

    def settle(self, agent: str) -> None:
        """Wait until the vectors of a namespace no longer arrive, so that two answers compare."""
        last: Mapping[str, Any] = {}
        for _ in range(_SETTLED_TRIES):
            arguments = {"agent_id": agent, "query": "settled", "explain": True, "top_k": 1000}
            reply = self.reply("memory_search", arguments)
            if reply.is_error:
                broken(f"memory_search failed with: {reply.text[:120]}")
            loading = reply.meta.get("graymatter/degraded") in ("model_loading", "reembedding")
            ranks = {
                one["provenance"]["fact_id"]: one["ranks"]["vector_rank"]
                for one in as_list(reply.structured.get("explained"))
            }
            complete = all(ranks.values()) or not any(ranks.values())
            if not loading and complete and ranks == last:
                return
            last = ranks
            time.sleep(_SETTLED_POLL_S)

    def warm_up(self) -> None:
        """Wait for a server that is still coming up behind the one that answers."""
        for _ in range(_WARM_TRIES):
            answer = self.session.call("memory_search", {"agent_id": NAMESPACE, "query": "ready"})
            if "error" in answer or not reply_of(answer).text.startswith("store unavailable"):
                return
            time.sleep(_WARM_POLL_S)

    def clean_up(self) -> None:
        """Retire what was stored; the contract has no way for a client to erase."""
        for agent, texts in self.written.items():
            for text in texts:
                if text:
                    arguments = {"action": "forget", "agent_id": agent, "target": text}
                    self.session.call("memory_reflect", arguments)
