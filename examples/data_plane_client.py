"""Use the data plane as tools: a real MCP client that spawns the server with both toolsets.

    python examples/data_plane_client.py [DATA_DIR]

One session of an agent: ground the answer, capture what lasts, correct it, recap, and look back.
Without DATA_DIR the memory lies in a temporary directory.
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
from mcp_types import TextContent

# The command beside this interpreter: a client's configuration says just "graymatter".
COMMAND = str(Path(sys.executable).with_name("graymatter"))


async def call(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool; return what it answered. The client checks it against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    if result.is_error or result.structured_content is None:
        (text,) = result.content
        assert isinstance(text, TextContent)
        sys.exit(f"{tool} failed: {text.text}")
    return result.structured_content


async def main(data_dir: Path) -> None:
    """Hold one session."""
    server = StdioServerParameters(
        command=COMMAND,
        args=["--dir", str(data_dir), "--quiet", "mcp", "serve", "--toolset", "core,dataplane"],
    )
    async with Client(server, read_timeout_seconds=60) as client:
        before = await call(client, "memory_context", message="How do we deploy the webshop?")
        print("known before:", [item["content"] for item in before["contextPack"]["all"]])

        first = await call(client, "memory_capture", content="The staging API uses port 8137")
        second = await call(client, "memory_capture", content="The staging API uses port 8200")
        print("superseded:", second.get("superseded") == [first["id"]])
        recap = await call(
            client,
            "memory_session_recap",
            decisions=["Decided to need two approvals for each deploy."],
            preferences=["The user prefers answers with commands."],
        )
        print("saved:", recap["saved"])

        found = await call(client, "memory_hybrid_search", query="port of the staging API", k=1)
        print("found:", [item["content"] for item in found["results"]])
        after = await call(client, "memory_context", message="How do we deploy the webshop?")
        for section in ("decisions", "userPreferences", "currentSetup"):
            items = after["contextPack"][section]
            print(f"{section}:", [item["content"] for item in items])

        # What one toolset stores the other finds: `agent_id` and `namespace` are the same shelf.
        core = await call(client, "memory_search", agent_id="default", query="staging port")
        print("by the core:", core["facts"])
        forgotten = await call(client, "memory_forget", id=second["id"])
        print("forgotten:", json.dumps(forgotten))


if __name__ == "__main__":
    if len(sys.argv) > 1:
        anyio.run(main, Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as directory:
            memory = Path(directory) / "memory"
            try:
                anyio.run(main, memory)
            finally:
                # The process that holds the memory stays for the next client; here none will come.
                subprocess.run([COMMAND, "--dir", memory, "--quiet", "daemon", "stop"], check=True)
