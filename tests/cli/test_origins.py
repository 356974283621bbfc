from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import Implementation

from graymatter_mcp import Config, EmbeddingMode, Memory, WriteOptions
from tests.cli.command import DEADLINE_S, Command

if TYPE_CHECKING:
    from pathlib import Path

TEXT = "the port is 8080"


async def add_by_mcp(command: Command, directory: Path, name: str, version: str) -> None:
    """Add the text as this client, on a connection of its own."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "graymatter_mcp", "--dir", str(directory), "--no-daemon", "mcp", "serve"],
        env=command.environment,
        cwd=command.where,
    )
    with anyio.fail_after(DEADLINE_S):
        async with Client(server, client_info=Implementation(name=name, version=version)) as client:
            result = await client.call_tool("memory_add", {"agent_id": "ana", "text": TEXT})
            assert not result.is_error


def test_the_same_text_from_four_writers_keeps_four_origins(
    graymatter: Command, tmp_path: Path
) -> None:
    """F25: who, which client, which session, when, and how sure."""
    directory = tmp_path / "memory"
    config = Config(data_dir=directory, embedding_mode=EmbeddingMode.KEYWORD)
    with Memory.open(config) as memory:
        memory.remember_with_options("ana", TEXT, WriteOptions(confidence="unverified"))
    graymatter.json("--dir", str(directory), "remember", "ana", TEXT)
    anyio.run(add_by_mcp, graymatter, directory, "claude-code", "2.1")
    anyio.run(add_by_mcp, graymatter, directory, "opencode", "0.9")
    with Memory.open(config) as memory:
        facts = memory.advanced().list("ana")[::-1]
    assert [(fact.text, fact.origin.source, fact.origin.client) for fact in facts] == [
        (TEXT, "library", ""),
        (TEXT, "cli remember", ""),
        (TEXT, "memory_add", "claude-code 2.1"),
        (TEXT, "memory_add", "opencode 0.9"),
    ]
    sessions = [fact.origin.session for fact in facts[2:]]
    assert all(sessions)
    assert len(set(sessions)) == 2
    assert [fact.confidence for fact in facts] == ["unverified", "", "", ""]
    assert sorted(fact.created_at for fact in facts) == [fact.created_at for fact in facts]


def test_origins_survive_a_change_of_the_record(tmp_path: Path) -> None:
    """F25: a correction has its own origin, and the retired fact keeps the one it had."""
    config = Config(data_dir=tmp_path / "memory", embedding_mode=EmbeddingMode.KEYWORD)
    with Memory.open(config) as memory:
        store = memory.advanced()
        first = store.put_returning_fact("ana", TEXT)
        store.revise_with_options("ana", TEXT, "the port is 9090", WriteOptions())
        assert [fact.origin for fact in store.list("ana") if fact.id == first.id] == [first.origin]
