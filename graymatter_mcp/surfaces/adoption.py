"""Whether a client sees what this server serves, and how it gets to see it.

Source: data-plane contract 7.3.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.model.checkpoints import JsonObject

GENERIC: Final = "generic"
PREVIEW: Final = 240
"""Characters of the instructions that are shown."""
REQUIRED_TOOLS: Final = (
    "memory_context",
    "memory_capture",
    "memory_session_recap",
    "memory_hybrid_search",
    "memory_update",
    "memory_hygiene",
    "memory_evaluate",
    "memory_adoption",
)
REFRESH: Final[Mapping[str, tuple[str, ...]]] = {
    "hermes": ("/reload-mcp", "/reload-skills", "/reset (or a fresh session)"),
    "claudeCode": ("restart Claude Code session", "re-run tools/list"),
    "claudeDesktop": ("restart Claude Desktop", "open a new chat"),
    "codex": ("restart Codex CLI", "re-run tools/list"),
    "opencode": ("restart OpenCode", "re-run tools/list"),
    "cursor": ("toggle the server off and on in Cursor settings", "open a new chat"),
    GENERIC: (
        "call initialize",
        "call tools/list",
        "compare tool count/names and instructionsHash",
        "start a new MCP session if stale",
    ),
}
"""What a user does in each client so that it asks the server anew."""
_NOTE: Final = "A running session keeps the tools and the instructions that it began with."
_SEND_TOOLS: Final = "Send observedTools, the names of the tools that the client sees."
_REFRESH_TOOLS: Final = "Run the refresh commands, then list the tools again."
_WIDER: Final = "Start the server with the toolset dataplane, then run the refresh commands."
_SEND_HASH: Final = "Send observedInstructionsHash, the SHA-256 of the instructions."
_REFRESH_INSTRUCTIONS: Final = "Run the refresh commands and begin a new session."
_NOTHING: Final = "Nothing to do."
_PROTOCOL: Final = (
    "Nobody can see from here whether the agent follows the instructions: look at a transcript for"
    " memory_context before substantive work and memory_capture after it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What MCP clients of this server are given."""

    tools: Sequence[Mapping[str, Any]]
    """The array of `tools/list`, as it is sent."""
    instructions: str
    version: str
    list_changed: bool = True

    @property
    def names(self) -> list[str]:
        """Names of the tools, sorted."""
        return sorted(str(tool["name"]) for tool in self.tools)

    @property
    def tools_hash(self) -> str:
        """Digest of the array as canonical JSON: sorted keys, no spaces."""
        text = json.dumps(
            list(self.tools), ensure_ascii=False, sort_keys=True, separators=(",", ":")
        )
        return sha256(text.encode()).hexdigest()

    @property
    def instructions_hash(self) -> str:
        """Digest of the instructions in UTF-8."""
        return sha256(self.instructions.encode()).hexdigest()


def adoption(served: Served, fields: Mapping[str, Any]) -> JsonObject:
    """Compare what a client saw with what is served.

    Args:
        served: By this server.
        fields: The request, checked.
    """
    client = fields.get("client", GENERIC)
    seen: list[str] | None = fields.get("observedTools")
    return {
        "server": {"name": "graymatter", "version": served.version, "adoptionSchema": 1},
        "mcp": {
            "toolCount": len(served.tools),
            "tools": list(served.names),
            "toolsHash": served.tools_hash,
            "instructionsHash": served.instructions_hash,
            "instructionsPreview": served.instructions[:PREVIEW],
            "listChanged": served.list_changed,
        },
        "requiredTools": list(REQUIRED_TOOLS),
        "features": _features(seen),
        "refresh": {
            "commands": list(REFRESH.get(client, REFRESH[GENERIC])),
            "requiresNewSession": True,
            "note": _NOTE,
        },
        "requestedClient": client,
        "diagnostics": [
            _tool_surface(served, seen, fields.get("observedToolsHash")),
            _instructions(served, fields.get("observedInstructionsHash")),
            {
                "check": "mandatory_protocol",
                "ok": False,
                "verifiableAtRuntime": False,
                "action": _PROTOCOL,
            },
        ],
    }


def _features(seen: Sequence[str] | None) -> JsonObject:
    return {
        "proactiveContext": seen is None or "memory_context" in seen,
        "durableCapture": seen is None or "memory_capture" in seen,
        "sessionRecap": True,
        "hygiene": True,
        "evaluation": True,
        "sensitivity": True,
        "projectAwareContextPacks": True,
        "retentionDecay": True,
        "asOf": True,
        "abstention": True,
    }


def _tool_surface(served: Served, seen: list[str] | None, digest: str | None) -> JsonObject:
    names = set(served.names)
    observed = None if seen is None else set(seen)
    missing = [] if observed is None else sorted(names - observed)
    extra = [] if observed is None else sorted(observed - names)
    lacking = [] if observed is None else [one for one in REQUIRED_TOOLS if one not in observed]
    is_other_list = digest is not None and digest.lower() != served.tools_hash
    if observed is None and digest is None:
        status, action = "unknown", _SEND_TOOLS
    elif missing or extra or is_other_list:
        status, action = "stale", _REFRESH_TOOLS
    elif lacking:
        status, action = "stale", _WIDER
    else:
        status, action = "ok", _NOTHING
    return {
        "check": "tool_surface",
        "ok": status == "ok",
        "status": status,
        "expectedCount": len(served.tools),
        "observedCount": None if seen is None else len(seen),
        "missingRequiredTools": list(lacking),
        "missingTools": list(missing),
        "extraTools": list(extra),
        "action": action,
    }


def _instructions(served: Served, digest: str | None) -> JsonObject:
    expected = served.instructions_hash
    if digest is None:
        status, action = "unknown", _SEND_HASH
    elif digest.lower() == expected:
        status, action = "ok", _NOTHING
    else:
        status, action = "stale", _REFRESH_INSTRUCTIONS
    return {
        "check": "instructions_hash",
        "ok": status == "ok",
        "status": status,
        "expected": expected,
        "observed": digest,
        "action": action,
    }
