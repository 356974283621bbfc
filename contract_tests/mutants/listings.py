"""Mutants that say something wrong before the first call: openings, lists, protocol errors."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any, Final

from contract_tests.mutants.mutant import STATELESS, Message, Mutant, listed, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PROSE: Final = "tools:prose-rules"


def _tool(tools: list[Message], name: str) -> Message:
    return next(tool for tool in tools if tool["name"] == name)


def _swap(tools: list[Message]) -> None:
    tools[0], tools[1] = tools[1], tools[0]


def _set(name: str, *path: str, value: Any) -> Callable[[list[Message]], None]:
    def change(tools: list[Message]) -> None:
        node: Any = _tool(tools, name)
        for step in path[:-1]:
            node = node[step]
        node[path[-1]] = value

    return change


def _drop(name: str, *path: str) -> Callable[[list[Message]], None]:
    def change(tools: list[Message]) -> None:
        node: Any = _tool(tools, name)
        for step in path[:-1]:
            node = node[step]
        del node[path[-1]]

    return change


def _extra(tools: list[Message]) -> None:
    tools.append({**tools[0], "name": "memory_erase"})


def _swap_branches(tools: list[Message]) -> None:
    _tool(tools, "checkpoint_resume")["outputSchema"]["oneOf"].reverse()


def _rename(tools: list[Message]) -> None:
    tools[2]["name"] = "memory_store"


def _bloat(tools: list[Message]) -> None:
    for tool in tools:
        tool["inputSchema"]["properties"]["agent_id"]["description"] = "Long. " * 400


_second: Final = count()


def _unstable(tools: list[Message]) -> None:
    if next(_second):
        tools[0]["description"] = "Search it. Use it again. Returns facts."


def _code(method: str, name: str, breaks: str, code: int) -> Mutant:
    def on_answer(request: Message, answer: Message) -> Message:
        if request["method"] == method and "error" in answer:
            answer["error"]["code"] = code
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer)


def _unknown_tool(request: Message, answer: Message) -> Message:
    if request["method"] == "tools/call" and "error" in answer:
        item = {"type": "text", "text": answer.pop("error")["message"]}
        answer["result"] = {"content": [item], "isError": True}
    return answer


def _refuse_null(method: str, name: str, breaks: str) -> Mutant:
    def on_answer(request: Message, answer: Message) -> Message:
        if request["method"] == method and request.get("params", {}) is None:
            answer.pop("result", None)
            answer["error"] = {"code": -32602, "message": "Invalid params"}
        return answer

    return Mutant(name=name, breaks=breaks, on_answer=on_answer)


def _no_ping(request: Message, answer: Message) -> Message:
    if request["method"] == "ping":
        answer.pop("result", None)
        answer["error"] = {"code": -32601, "message": "Method not found"}
    return answer


def _forget_ttl(request: Message, answer: Message) -> Message:
    if request["method"] == "tools/list":
        answer["result"].pop("ttlMs", None)
    return answer


def _old_revision(found: Message) -> None:
    found["protocolVersion"] = "2024-11-05"


def _name(found: Message) -> None:
    found["serverInfo"]["name"] = "memory"


def _no_instructions(found: Message) -> None:
    found.pop("instructions")


def _long_instructions(found: Message) -> None:
    found["instructions"] += " And so on." * 40


def _unnamed_alias(found: Message) -> None:
    found["instructions"] = found["instructions"].replace("memory_alias", "an alias")


def _resources(found: Message) -> None:
    found["capabilities"]["resources"] = {}


def _list_changed(found: Message) -> None:
    found["capabilities"]["tools"]["listChanged"] = False


_SEARCH: Final = ("memory_search", "inputSchema", "properties")

MUTANTS: Final[Sequence[Mutant]] = [
    listed("tools-swapped", "tools:seven-in-order", _swap),
    listed("tool-dropped", "tools:seven-in-order", lambda tools: tools.__delitem__(-1)),
    listed("tool-added", "tools:seven-in-order", _extra),
    listed("tool-renamed", "tools:seven-in-order", _rename),
    listed("hint-missing", "tools:hints", _drop("memory_add", "annotations", "openWorldHint")),
    listed(
        "hint-flipped",
        "tools:hints",
        _set("memory_reflect", "annotations", "destructiveHint", value=True),
    ),
    listed("title-missing", "tools:hints", _drop("memory_alias", "title")),
    listed("title-is-the-name", _PROSE, _set("memory_add", "title", value="memory_add")),
    listed("description-long", _PROSE, _set("memory_add", "description", value="Use. " * 200)),
    listed("description-cut", _PROSE, _set("memory_add", "description", value="Store it. Returns")),
    listed("property-undescribed", _PROSE, _drop(*_SEARCH, "query", "description")),
    listed("list-bloated", "tools:small", _bloat),
    listed("property-added", "tools:properties", _set(*_SEARCH, "since", value={"type": "string"})),
    listed("property-removed", "tools:properties", _drop(*_SEARCH, "explain")),
    listed(
        "required-dropped",
        "tools:properties",
        _set("memory_add", "inputSchema", "required", value=["agent_id"]),
    ),
    listed(
        "input-closed",
        "tools:properties",
        _set("memory_add", "inputSchema", "additionalProperties", value=False),
    ),
    listed("default-changed", "tools:top-k-default", _set(*_SEARCH, "top_k", "default", value=10)),
    listed(
        "on-missing-default",
        "tools:on-missing",
        _set(
            *("checkpoint_resume", "inputSchema", "properties", "on_missing", "default"),
            value="empty",
        ),
    ),
    listed(
        "action-missing",
        "tools:reflect-actions",
        _set("memory_reflect", "inputSchema", "properties", "action", "enum", value=["add"]),
    ),
    listed("revision-missing", "tools:revisions", _drop("memory_add", "_meta")),
    listed("reference-left", "schemas:sound", _set(*_SEARCH, "query", value={"$ref": "#/$defs/q"})),
    listed("schema-malformed", "schemas:sound", _set(*_SEARCH, "query", "type", value="strin")),
    listed(
        "union-in-input",
        "schemas:plain-inputs",
        _set("memory_reflect", "inputSchema", "anyOf", value=[{"required": ["agent"]}]),
    ),
    listed(
        "types-in-input",
        "schemas:plain-inputs",
        _set(*_SEARCH, "query", "type", value=["string", "null"]),
    ),
    listed(
        "output-open",
        "schemas:object-outputs",
        _drop("memory_add", "outputSchema", "additionalProperties"),
    ),
    listed("output-missing", "schemas:object-outputs", _drop("memory_add", "outputSchema")),
    listed(
        "output-untyped",
        "schemas:object-outputs",
        _drop("checkpoint_resume", "outputSchema", "type"),
    ),
    listed("branches-swapped", "schemas:resume-union", _swap_branches),
    listed("list-unstable", "server:list-is-stable", _unstable),
    opening("name-changed", "server:identity", _name),
    opening("instructions-missing", "server:instructions", _no_instructions),
    opening("instructions-long", "server:instruction-budget", _long_instructions),
    opening("instructions-unnamed", "server:instruction-budget", _unnamed_alias),
    opening("capability-added", "server:capabilities", _resources),
    opening("list-never-changes", "server:capabilities", _list_changed),
    opening("revision-not-echoed", "server:revisions", _old_revision),
    _code("no/such-method", "method-code", "errors:protocol", -32603),
    _code("", "unreadable-code", "errors:unreadable", -32603),
    Mutant(name="unknown-tool-as-result", breaks="errors:protocol", on_answer=_unknown_tool),
    _refuse_null("tools/list", "null-params-refused", "inputs:null-params"),
    Mutant(name="ping-refused", breaks="server:ping", on_answer=_no_ping),
    Mutant(
        name="list-without-age",
        breaks="server:stateless-answers",
        on_answer=_forget_ttl,
        revision=STATELESS,
    ),
]
