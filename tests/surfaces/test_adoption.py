"""A client learns whether it sees what is served."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from graymatter_mcp.contract.load import read_schema
from graymatter_mcp.surfaces.adoption import REQUIRED_TOOLS, Served, adoption

TOOLS: list[dict[str, Any]] = [
    {"name": name, "title": "ü", "inputSchema": {"type": "object"}}
    for name in (*REQUIRED_TOOLS, "memory_add")
]
SERVED = Served(tools=TOOLS, instructions="Hold on. " * 40, version="9.9.9")


def report(**fields: Any) -> Any:
    """Ask, and hold the answer to its schema."""
    body = adoption(SERVED, fields)
    # jsonschema's own stubs are partly unknown.
    validator: Any = Draft202012Validator(read_schema("rest/adoption/response.json"))
    assert list(validator.iter_errors(body)) == []
    return body


def test_nothing_observed_is_unknown() -> None:
    """D57: no observations -> unknown, and never ok."""
    body = report()
    surface, instructions, protocol = body["diagnostics"]
    assert [one["ok"] for one in body["diagnostics"]] == [False, False, False]
    assert (surface["status"], surface["observedCount"]) == ("unknown", None)
    assert (instructions["status"], instructions["observed"]) == ("unknown", None)
    assert protocol["verifiableAtRuntime"] is False
    assert all(body["features"].values())


def test_the_digests_are_those_of_what_is_sent() -> None:
    """Data-plane contract 7.3: UTF-8 instructions; canonical JSON of the array."""
    mcp = report()["mcp"]
    one = Served(tools=[{"name": "a", "b": "ü"}], instructions="ä", version="1")
    assert one.instructions_hash == sha256("ä".encode()).hexdigest()
    assert one.tools_hash == sha256('[{"b":"ü","name":"a"}]'.encode()).hexdigest()
    assert (mcp["toolCount"], mcp["tools"]) == (9, sorted(tool["name"] for tool in TOOLS))
    assert mcp["instructionsPreview"] == SERVED.instructions[:240]
    assert mcp["instructionsHash"] == SERVED.instructions_hash


def test_an_equal_list_and_digest_are_ok() -> None:
    """D57: equal list and hash -> ok; digests are compared without case."""
    body = report(
        observedTools=[tool["name"] for tool in TOOLS],
        observedToolsHash=SERVED.tools_hash.upper(),
        observedInstructionsHash=SERVED.instructions_hash.upper(),
    )
    surface, instructions, _ = body["diagnostics"]
    assert (surface["status"], surface["ok"], surface["observedCount"]) == ("ok", True, 9)
    assert (instructions["status"], instructions["ok"]) == ("ok", True)


def test_a_missing_tool_is_stale_and_named() -> None:
    """D57: one tool missing -> stale and named; the feature that needs it is off."""
    names = [tool["name"] for tool in TOOLS if tool["name"] != "memory_capture"]
    body = report(observedTools=[*names, "memory_old"])
    surface, *_ = body["diagnostics"]
    assert surface["status"] == "stale"
    assert surface["missingTools"] == ["memory_capture"]
    assert surface["missingRequiredTools"] == ["memory_capture"]
    assert surface["extraTools"] == ["memory_old"]
    assert (body["features"]["durableCapture"], body["features"]["proactiveContext"]) == (
        False,
        True,
    )


def test_a_wrong_digest_makes_the_tools_stale() -> None:
    """Data-plane contract 7.3: a wrong observedToolsHash makes tool_surface stale."""
    names = [tool["name"] for tool in TOOLS]
    surface, instructions, _ = report(
        observedTools=names, observedToolsHash="0" * 64, observedInstructionsHash="0" * 64
    )["diagnostics"]
    assert (surface["status"], surface["missingTools"]) == ("stale", [])
    assert instructions["status"] == "stale"


def test_a_server_without_the_required_tools_says_how_to_get_them() -> None:
    """ADR 0042: what the client sees is what is served, and not enough."""
    core = replace(SERVED, tools=[TOOLS[-1]])
    body: Any = adoption(core, {"observedTools": ["memory_add"]})
    surface = body["diagnostics"][0]
    assert (surface["status"], surface["missingTools"]) == ("stale", [])
    assert surface["missingRequiredTools"] == list(REQUIRED_TOOLS)
    assert "dataplane" in surface["action"]


@pytest.mark.parametrize(
    ("client", "first", "count"),
    [
        ("hermes", "/reload-mcp", 3),
        ("claudeCode", "restart Claude Code session", 2),
        ("claudeDesktop", "restart Claude Desktop", 2),
        ("codex", "restart Codex CLI", 2),
        ("opencode", "restart OpenCode", 2),
        ("cursor", "toggle the server off and on in Cursor settings", 2),
        ("generic", "call initialize", 4),
        ("somebody", "call initialize", 4),
    ],
)
def test_each_client_has_its_commands(client: str, first: str, count: int) -> None:
    """D57: each client's commands."""
    body = report(client=client)
    commands = body["refresh"]["commands"]
    assert (commands[0], len(commands), body["requestedClient"]) == (first, count, client)
