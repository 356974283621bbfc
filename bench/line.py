"""One connection to a server over HTTP: REST and tools."""

from __future__ import annotations

import http.client
import json
import time
from typing import Any, Final

from bench.client import SHELF, ServerFailedError
from bench.http import TOKEN

EVERYTHING: Final = {"abstainBelow": 0, "minVectorScore": 0}
"""Every question gets a full page: one that finds nothing is cheaper."""
_HEADERS: Final = {
    "authorization": f"Bearer {TOKEN}",
    "content-type": "application/json",
    "accept": "application/json",
    "mcp-protocol-version": "2025-11-25",
}
_POLL_S: Final = 0.1


class Line:
    """One connection that is kept.

    Args:
        host: Of the server.
        port: Of the server.
        has_model: Whether it has a model to wait for.
    """

    def __init__(self, host: str, port: int, *, has_model: bool = True) -> None:
        self._connection = http.client.HTTPConnection(host, port)
        while has_model and self.rest("/v1/search", {"query": "ready", **EVERYTHING})["degraded"]:
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def rest(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Call, and return the body of success."""
        self._connection.request("POST", path, json.dumps(body), _HEADERS)
        answer = self._connection.getresponse()
        told = json.loads(answer.read())
        if answer.status not in (200, 201):
            raise ServerFailedError(f"{path} was answered {answer.status}")
        return told

    def tool(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Call a tool, and return its structured answer."""
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        result = self.rest("/mcp", message)["result"]
        if result.get("isError"):
            raise ServerFailedError(f"{name} failed")
        return result["structuredContent"]

    def add(self, text: str) -> None:
        """Store a fact through the core's tool."""
        self.tool("memory_add", {"agent_id": SHELF, "text": text})
