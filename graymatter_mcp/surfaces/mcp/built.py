"""Makes the file from which a bridge answers: what the server says to each opening, word for word.

Run ``python -m graymatter_mcp.surfaces.mcp.built`` when schemas, instructions or version change.
"""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from graymatter_mcp.bridge.handshake import CAPABILITIES_KEY, MODERN_VERSION, VERSION_KEY
from graymatter_mcp.bridge.main import built_path
from graymatter_mcp.contract.load import load_bundle, toolset_names
from graymatter_mcp.settings import PREFIX, Settings
from graymatter_mcp.surfaces.mcp.answers import UnknownToolError
from graymatter_mcp.surfaces.mcp.exchange import Exchange
from graymatter_mcp.surfaces.mcp.server import build_server

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.mcp.answers import Caller, ToolAnswer


def selections() -> list[tuple[str, ...]]:
    """Return every choice of toolsets that a client can make."""
    names = sorted(toolset_names())
    return [some for size in range(1, len(names) + 1) for some in combinations(names, size)]


def built_file(toolsets: tuple[str, ...]) -> Path:
    """Return where the answers of a choice of toolsets lie."""
    return Path(built_path(",".join(toolsets)))


async def built_answers(toolsets: tuple[str, ...]) -> dict[str, Any]:
    """Ask a server everything that a bridge answers itself, in every protocol revision."""
    handshakes: dict[str, Any] = {}
    lists: list[Any] = []
    for version in HANDSHAKE_PROTOCOL_VERSIONS:
        opening = {
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "build", "version": "0"},
        }
        initialized, listed = await _answers(
            toolsets, ("initialize", opening), ("tools/list", None)
        )
        handshakes[version] = initialized
        lists.append(listed)
    assert all(listed == lists[0] for listed in lists), "the list differs between revisions"
    envelope: dict[str, Any] = {"_meta": {VERSION_KEY: MODERN_VERSION, CAPABILITIES_KEY: {}}}
    methods = ("server/discover", "tools/list")
    modern = await _answers(toolsets, *((method, envelope) for method in methods))
    return {
        "version": handshakes[LATEST_HANDSHAKE_VERSION]["serverInfo"]["version"],
        "newest": LATEST_HANDSHAKE_VERSION,
        "initialize": handshakes,
        "handshake": {"tools/list": lists[0]},
        "modern": dict(zip(methods, modern, strict=True)),
        "variables": sorted(PREFIX + name.upper() for name in Settings.model_fields),
    }


class _NoCalls:
    """Serves no call: only openings and lists are asked for."""

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """See the protocol."""
        raise UnknownToolError(name)


class _Script:
    """Both ends of an exchange: lines that are sent, lines that come back."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.answers: list[Any] = []

    async def receive(self) -> bytes:
        """Give all lines, then the end."""
        data, self._data = self._data, b""
        return data

    async def send(self, data: bytes) -> None:
        """Keep the answers."""
        self.answers += [json.loads(line) for line in data.splitlines()]

    def is_broken(self) -> bool:
        """Never."""
        return False


async def _answers(
    toolsets: tuple[str, ...], *requests: tuple[str, dict[str, Any] | None]
) -> list[Any]:
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": place, "method": method, "params": params or {}})
        for place, (method, params) in enumerate(requests)
    ]
    script = _Script("\n".join(lines).encode() + b"\n")
    await Exchange(script, script).serve(build_server(load_bundle(toolsets), _NoCalls()))
    return [one["result"] for one in sorted(script.answers, key=lambda one: one["id"])]


if __name__ == "__main__":
    for chosen in selections():
        text = json.dumps(anyio.run(built_answers, chosen), ensure_ascii=False, indent=1)
        built_file(chosen).write_text(text + "\n", encoding="utf-8")
