"""What a mutant is: a good server whose requests or answers are tampered with on their way."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Callable

Message = dict[str, Any]

STATELESS: Final = "2026-07-28"
NEWEST: Final = "2025-11-25"


def _as_it_is(request: Message) -> Message:
    return request


def _answer_as_it_is(request: Message, answer: Message) -> Message:
    del request
    return answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One broken server."""

    name: str
    breaks: str
    """The check that must notice."""
    on_request: Callable[[Message], Message] = _as_it_is
    on_answer: Callable[[Message, Message], Message] = _answer_as_it_is
    revision: str = NEWEST
    """The protocol revision in which it shows."""


def opening(name: str, breaks: str, change: Callable[[Message], None]) -> Mutant:
    """Tamper with what the server says at the opening."""

    def on_answer(request: Message, answer: Message) -> Message:
        if request["method"] in ("initialize", "server/discover"):
            change(answer["result"])
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer)


def listed(
    name: str, breaks: str, change: Callable[[list[Message]], None], revision: str = NEWEST
) -> Mutant:
    """Tamper with the list of tools."""

    def on_answer(request: Message, answer: Message) -> Message:
        if request["method"] == "tools/list":
            change(answer["result"]["tools"])
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer, revision=revision)


def result(name: str, breaks: str, tool: str, change: Callable[[Message, Message], None]) -> Mutant:
    """Tamper with the result of a call; `change` takes result and arguments."""

    def on_answer(request: Message, answer: Message) -> Message:
        params = request.get("params", {})
        if request["method"] == "tools/call" and params.get("name") == tool and "result" in answer:
            change(answer["result"], params.get("arguments") or {})
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer)


def payload(
    name: str, breaks: str, tool: str, change: Callable[[Message, Message], None]
) -> Mutant:
    """Tamper with the payload of a success; `change` takes payload and arguments."""

    def on_result(found: Message, arguments: Message) -> None:
        if isinstance(found.get("structuredContent"), dict):
            change(found["structuredContent"], arguments)

    return result(name, breaks, tool, on_result)


def failure(name: str, breaks: str, change: Callable[[Message], None]) -> Mutant:
    """Tamper with the result of every call that failed."""

    def on_answer(request: Message, answer: Message) -> Message:
        if request["method"] == "tools/call" and answer.get("result", {}).get("isError"):
            change(answer["result"])
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer)


def arguments(name: str, breaks: str, tool: str, change: Callable[[Message], None]) -> Mutant:
    """Tamper with the arguments of a call before the server sees them."""

    def on_request(request: Message) -> Message:
        params: Any = request.get("params")
        sent: Any = cast("Message", params).get("arguments") if isinstance(params, dict) else None
        if request["method"] == "tools/call" and isinstance(sent, dict):
            changed: Message = json.loads(json.dumps(sent))
            if tool in ("*", params["name"]):
                change(changed)
            return {**request, "params": {**params, "arguments": changed}}
        return request

    return Mutant(name=name, breaks=breaks, on_request=on_request)


def receipts(name: str, breaks: str, change: Callable[[list[Message], Message], None]) -> Mutant:
    """Tamper with the receipts of an explained search."""

    def on_payload(found: Message, sent: Message) -> None:
        if found.get("explained"):
            change(found["explained"], sent)

    return payload(name, breaks, "memory_search", on_payload)
