"""An agent that reaches a shared memory over HTTP, with the official Python client.

    export GRAYMATTER_URL=https://memory.example.org/mcp GRAYMATTER_TOKEN=gm_...
    python examples/remote_agent.py

It remembers a fact, finds it again, and shows what a read_only token would be told. The client
speaks the newest protocol revision and falls back to the handshake by itself.
"""

from __future__ import annotations

import json
import os
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

AGENT = "webshop"


async def main(url: str, token: str) -> None:
    """Hold one conversation."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        added = await client.call_tool(
            "memory_add", {"agent_id": AGENT, "text": "Deploys need two approvals."}
        )
        (text,) = added.content
        assert isinstance(text, TextContent)
        print("refused:" if added.is_error else "stored:", text.text)
        found = await client.call_tool(
            "memory_search", {"agent_id": AGENT, "query": "approvals", "top_k": 3}
        )
        print("found:", json.dumps(found.structured_content, ensure_ascii=False))


if __name__ == "__main__":
    try:
        where, bearer = os.environ["GRAYMATTER_URL"], os.environ["GRAYMATTER_TOKEN"]
    except KeyError as missing:
        sys.exit(f"set {missing.args[0]}")
    anyio.run(main, where, bearer)
