"""Talk to graymatter as an agent's host does: a real MCP client that spawns the server on stdio.

    python examples/python_client.py [DATA_DIR]

Two sessions, one after the other, each spawns `graymatter mcp serve`: what the first stores and
saves, the second finds and resumes. The first takes answers as they come; the second asks again
while the model is still loading. Without DATA_DIR the memory lies in a temporary directory.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters
from mcp_types import CallToolResult, TextContent

AGENT = "webshop"
# The command beside this interpreter: a client's configuration says just "graymatter".
COMMAND = str(Path(sys.executable).with_name("graymatter"))

Call = tuple[str, dict[str, Any]]

FIRST_SESSION: list[Call] = [
    ("checkpoint_resume", {"agent_id": AGENT, "on_missing": "empty"}),
    ("memory_add", {"agent_id": AGENT, "text": "Deploys need two approvals."}),
    ("memory_add", {"agent_id": AGENT, "text": "The staging port is 8137."}),
    (
        "memory_add",
        {
            "agent_id": AGENT,
            "text": "Passwords live in the vault, never in the repository.",
            "confidence": "verified",
        },
    ),
    ("memory_search", {"agent_id": AGENT, "query": "8137", "top_k": 1}),
    (
        "checkpoint_save",
        {"agent_id": AGENT, "state": json.dumps({"goal": "release 2.1", "next": "ask for review"})},
    ),
]

SECOND_SESSION: list[Call] = [
    ("checkpoint_resume", {"agent_id": AGENT}),
    ("memory_search", {"agent_id": AGENT, "query": "where do the credentials live?", "top_k": 2}),
    (
        "memory_reflect",
        {
            "action": "update",
            "agent_id": AGENT,
            "target": "The staging port is 8137.",
            "text": "The staging port is 8200.",
        },
    ),
    (
        "memory_search_batch",
        {"agent_id": AGENT, "queries": ["staging port", "approvals for a deploy"], "top_k": 1},
    ),
    ("memory_search", {"agent_id": AGENT, "query": "staging port", "top_k": 1, "explain": True}),
]


async def converse(data_dir: Path, calls: list[Call], *, is_patient: bool) -> None:
    """Start a server on `data_dir`, make the calls in order and print each structured answer."""
    server = StdioServerParameters(
        command=COMMAND, args=["--dir", str(data_dir), "--quiet", "mcp", "serve"]
    )
    async with Client(server, read_timeout_seconds=60) as client:
        info = client.server_info
        assert info is not None
        print(f"== {info.name} {info.version}, protocol {client.protocol_version}")
        for tool, arguments in calls:
            # The client checks the structured answer against the tool's schema by itself.
            result = await client.call_tool(tool, arguments)
            with anyio.fail_after(60):
                while is_patient and degraded(result) == "model_loading":
                    await anyio.sleep(0.2)
                    result = await client.call_tool(tool, arguments)
            (text,) = result.content
            assert isinstance(text, TextContent)
            if result.is_error:
                sys.exit(f"{tool} failed: {text.text}")
            print(f"\n{tool} {json.dumps(arguments)}")
            print(json.dumps(result.structured_content, indent=2, ensure_ascii=False))
            if degraded(result):
                print(f"(answered by keyword only: {degraded(result)})")
        print()


def degraded(result: CallToolResult) -> str | None:
    """Return why a search was answered without the model, if it was."""
    return (result.meta or {}).get("graymatter/degraded")


async def main(data_dir: Path) -> None:
    """Hold both sessions."""
    await converse(data_dir, FIRST_SESSION, is_patient=False)
    await converse(data_dir, SECOND_SESSION, is_patient=True)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        anyio.run(main, Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            data_dir = Path(directory) / "memory"
            try:
                anyio.run(main, data_dir)
            finally:
                # The process that holds the memory stays for the next client; here none will come.
                subprocess.run(
                    [COMMAND, "--dir", data_dir, "--quiet", "daemon", "stop"], check=True
                )
