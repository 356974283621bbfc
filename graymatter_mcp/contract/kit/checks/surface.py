"""What a client reads before its first call: the opening and the list of tools."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from graymatter_mcp.contract.compat import (
    Level,
    NotAContractError,
    compare_releases,
    read_release,
)
from graymatter_mcp.contract.kit.case import broken, expect, expect_equal
from graymatter_mcp.contract.kit.check import Topic
from graymatter_mcp.contract.load import HINTS
from graymatter_mcp.contract.wire.http import json_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.contract.kit.case import Case
    from graymatter_mcp.contract.wire.base import Message

topic = Topic()

MAX_LIST_BYTES: Final = 12_000
MAX_DESCRIPTION: Final = 800
MAX_INSTRUCTION_TOKENS: Final = 240
TOKENS_PER_WORD: Final = 1.33
LITERALS: Final = ("memory_search", "memory_reflect", "weak-match", "memory_alias")
_REFERENCES: Final = frozenset({"$ref", "$defs", "$schema", "$id"})
_COMBINATORS: Final = frozenset({"anyOf", "oneOf", "allOf", "not", "if"})


def _core(case: Case) -> list[Message]:
    """Return the listed tools of the core toolset, in the order of the list."""
    return [tool for tool in case.listed if tool["name"] in case.contract.toolsets["core"]]


def _subschemas(schema: Any) -> Iterator[Message]:
    """Walk schemas only: a property may be called like a keyword."""
    yield schema
    children = [*schema.get("properties", {}).values()]
    for keyword in ("oneOf", "anyOf", "allOf"):
        children += schema.get(keyword, [])
    children += [schema[key] for key in ("items", "additionalProperties") if key in schema]
    for child in children:
        if isinstance(child, dict):
            yield from _subschemas(child)


@topic.reads("tools:seven-in-order")
def seven_in_order(case: Case) -> None:
    """The core tools come first, in the documented order, and no name twice."""
    names = [tool["name"] for tool in case.listed]
    core = list(case.contract.toolsets["core"])
    expect_equal(names[: len(core)], core, "the first tools of the list")
    expect(len(set(names)) == len(names), "a name is listed twice")
    others = {name for names in case.contract.toolsets.values() for name in names}
    expect(set(names) <= others, "a tool is listed that the contract does not know")


@topic.reads("tools:hints")
def hints(case: Case) -> None:
    """Every tool has a title and all four hints, with the documented values."""
    for tool in case.listed:
        name = tool["name"]
        promised = case.contract.tools[name]
        found = {hint: tool.get("annotations", {}).get(hint) for hint in HINTS}
        expect_equal(found, dict(promised.annotations), f"the hints of {name}")
        expect(isinstance(tool.get("title"), str), f"{name} has no title")


@topic.reads("tools:prose-rules")
def prose_rules(case: Case) -> None:
    """Titles and descriptions keep the rules of the contract."""
    for tool in _core(case):
        name, title, description = tool["name"], tool.get("title", ""), tool["description"]
        expect(
            title != name and len(title) > len(name) - 1, f"{name}: a title says more than the name"
        )
        expect(len(description) <= MAX_DESCRIPTION, f"{name}: the description is too long")
        expect(description.endswith("."), f"{name}: the description ends without a period")
        expect("use" in description.lower(), f"{name}: the description does not say when to use it")
        outcome = "Returns" in description or "Errors" in description
        expect(outcome, f"{name}: the description does not say what comes back")
        for key, part in tool["inputSchema"]["properties"].items():
            expect(part.get("description", "").strip(), f"{name}: {key} has no description")


@topic.reads("tools:small")
def small(case: Case) -> None:
    """The core list is under 12 KB as compact JSON."""
    expect(json_size({"tools": _core(case)}) < MAX_LIST_BYTES, "the list of tools is too large")


@topic.reads("tools:properties")
def properties(case: Case) -> None:
    """Every schema is the promised one, or grew by the rules with a higher revision."""
    try:
        served = read_release({"tools": list(case.listed)})
    except NotAContractError as exc:
        broken(f"the list of tools cannot be read: {exc}")
    known = {
        name: case.contract.tools[name] for name in served.tools if name in case.contract.tools
    }
    for name, promised in known.items():
        before = read_release({"tools": [_as_listed(promised)]})
        after = read_release({"tools": [tool for tool in case.listed if tool["name"] == name]})
        for change in compare_releases(before, after):
            if change.level is Level.BREAKING:
                broken(f"{change.path}: {change.text}")


def _as_listed(tool: Any) -> Message:
    listed: Message = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "annotations": dict(tool.annotations),
        "inputSchema": tool.input_schema,
        "_meta": {"graymatter/revision": tool.revision},
    }
    if tool.output_schema is not None:
        listed["outputSchema"] = tool.output_schema
    return listed


@topic.reads("tools:top-k-default")
def top_k_default(case: Case) -> None:
    """`top_k` has default 8 in the schema of both searches."""
    for name in ("memory_search", "memory_search_batch"):
        top_k = case.tools[name]["inputSchema"]["properties"]["top_k"]
        expect_equal(top_k.get("default"), 8, f"the default of top_k of {name}")


@topic.reads("tools:on-missing")
def on_missing(case: Case) -> None:
    """`on_missing` has default `error` and the enum `error`, `empty`."""
    part = case.tools["checkpoint_resume"]["inputSchema"]["properties"]["on_missing"]
    expect_equal(part.get("default"), "error", "the default of on_missing")
    expect_equal(sorted(part.get("enum", [])), ["empty", "error"], "the enum of on_missing")


@topic.reads("tools:reflect-actions")
def reflect_actions(case: Case) -> None:
    """The actions of reflect are add, update, forget, link, pin, unpin."""
    part = case.tools["memory_reflect"]["inputSchema"]["properties"]["action"]
    wanted = ["add", "forget", "link", "pin", "unpin", "update"]
    expect_equal(sorted(part.get("enum", [])), wanted, "the actions of reflect")


@topic.reads("tools:revisions")
def revisions(case: Case) -> None:
    """Every tool serves the revision of its schema."""
    for tool in case.listed:
        revision = tool.get("_meta", {}).get("graymatter/revision")
        is_count = isinstance(revision, int) and not isinstance(revision, bool)
        expect(is_count and revision >= 1, f"{tool['name']} serves no revision")


@topic.reads("schemas:sound")
def sound(case: Case) -> None:
    """Every schema compiles as draft 2020-12 and holds no reference."""
    for tool in case.listed:
        for schema in (tool["inputSchema"], tool.get("outputSchema", {})):
            try:
                Draft202012Validator.check_schema(schema)
            except SchemaError:
                broken(f"a schema of {tool['name']} is none")
            for node in _subschemas(schema):
                expect(not _REFERENCES & node.keys(), f"a schema of {tool['name']} has a reference")


@topic.reads("schemas:plain-inputs")
def plain_inputs(case: Case) -> None:
    """No input has a union, a list of types, an array without items."""
    for tool in case.listed:
        name = tool["name"]
        for node in _subschemas(tool["inputSchema"]):
            expect(not _COMBINATORS & node.keys(), f"{name}: the input has a union")
            expect(
                isinstance(node.get("type"), str), f"{name}: a part of the input has not one type"
            )
            expect(node["type"] != "array" or "items" in node, f"{name}: an array without items")
            whole = node["type"] != "object" or "properties" in node
            expect(whole, f"{name}: an object without properties")


@topic.reads("schemas:object-outputs")
def object_outputs(case: Case) -> None:
    """Every tool declares a closed output of type object; each branch is closed."""
    for tool in case.listed:
        name, schema = tool["name"], tool.get("outputSchema")
        expect(isinstance(schema, dict), f"{name} declares no output")
        expect_equal(
            tool["outputSchema"].get("type"), "object", f"the root of the output of {name}"
        )
        for branch in tool["outputSchema"].get("oneOf", [schema]):
            closed = branch.get("additionalProperties") is False
            expect(closed, f"{name}: an output is not closed")


@topic.reads("schemas:resume-union")
def resume_union(case: Case) -> None:
    """The output of a resume has two branches, the checkpoint first, and no common key."""
    schema = case.tools["checkpoint_resume"].get("outputSchema", {})
    expect_equal(set(schema), {"type", "oneOf"}, "the keys of the output of a resume")
    first, second = schema["oneOf"]
    expect("id" in first["required"], "the first branch of a resume is the checkpoint")
    expect("found" in second["required"], "the second branch of a resume is absence")
    expect(not first["properties"].keys() & second["properties"].keys(), "the branches share a key")


@topic.reads("server:identity")
def identity(case: Case) -> None:
    """The server says its name and a version."""
    info = case.session.server_info()
    expect_equal(info.get("name"), "graymatter", "the name of the server")
    expect(isinstance(info.get("version"), str) and info["version"], "the server says no version")


@topic.reads("server:instructions")
def instructions(case: Case) -> None:
    """The opening carries instructions that hold no stored content."""
    text = case.session.opening.get("instructions")
    expect(isinstance(text, str) and text, "the opening carries no instructions")


@topic.reads("server:instruction-budget")
def instruction_budget(case: Case) -> None:
    """The instructions hold the four literals within 240 estimated tokens."""
    text = str(case.session.opening.get("instructions"))
    for literal in LITERALS:
        expect(literal in text, f"the instructions do not name {literal}")
    tokens = math.ceil(len(text.split()) * TOKENS_PER_WORD)
    expect(tokens <= MAX_INSTRUCTION_TOKENS, "the instructions are too long")


@topic.reads("server:capabilities")
def capabilities(case: Case) -> None:
    """Tools, with `listChanged`, are the only capability."""
    found = case.session.opening.get("capabilities")
    expect_equal(found, {"tools": {"listChanged": True}}, "the capabilities")
