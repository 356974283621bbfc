"""Tool calls in the form that nearly all of them have, read and answered without the SDK's models.

The SDK checks each message against the models of its revision and builds and sieves the result
with others, which takes longer than a small call itself. What is read here needs no such judgement:
every field is one that all revisions know, and of the right kind. Any other call, well-formed or
not, is the SDK's to judge, and `tests/surfaces/mcp/test_plain.py` holds the answers of both ways
against each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard

from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    CLIENT_INFO_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.mcp.answers import ToolAnswer

KEY: Final = "graymatter/idempotency_key"

_FIELDS: Final = frozenset({"name", "arguments", "_meta"})
_FREE: Final = frozenset({KEY, "progressToken"})
"""What `_meta` may hold in both eras."""
_ENVELOPE: Final = frozenset(
    {PROTOCOL_VERSION_META_KEY, CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY}
)
_CLIENT: Final = frozenset({"name", "version"})
_NOTHING: Final[dict[str, Any]] = {}


@dataclass(frozen=True, slots=True)
class PlainCall:
    """One tool call."""

    tool: str
    arguments: Mapping[str, Any]
    key: object
    """As `_meta` has it; None where it has none."""
    client: str
    """Name and version by the envelope; empty in the handshake era, where the opening told."""


def plain_call(params: Mapping[str, Any] | None, *, is_modern: bool) -> PlainCall | None:
    """Read the parameters of a tool call; None where the SDK has to judge them.

    Args:
        params: As the client sent them.
        is_modern: Whether they must carry an envelope; else they must not.
    """
    if params is None or not params.keys() <= _FIELDS:
        return None
    tool: object = params.get("name")
    arguments: object = params.get("arguments", _NOTHING)
    meta: object = params.get("_meta", _NOTHING)
    if not (_is_text(tool) and _is_object(arguments) and _is_object(meta)):
        return None
    free = meta.keys() - _ENVELOPE if is_modern else meta.keys()
    if not free <= _FREE or type(meta.get("progressToken", "")) not in (str, int):
        return None
    client = _client(meta) if is_modern else ""
    return None if client is None else PlainCall(tool, arguments, meta.get(KEY), client)


def plain_result(answer: ToolAnswer, stamp: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return a call's result for the wire.

    Args:
        answer: Whose text has a form in UTF-8.
        stamp: What the server says of itself in the modern era; None in the other.
    """
    meta: dict[str, Any] = dict(answer.meta)
    if stamp is not None:
        meta[SERVER_INFO_META_KEY] = stamp
    result: dict[str, Any] = {"_meta": meta} if meta else {}
    result["content"] = [{"text": answer.text, "type": "text"}]
    result["isError"] = answer.is_error
    if stamp is not None:
        result["resultType"] = "complete"
    if not answer.is_error and answer.structured is not None:
        result["structuredContent"] = answer.structured
    return result


def _client(meta: Mapping[str, Any]) -> str | None:
    """Return who calls by a plain envelope; None where it is not one."""
    if meta.get(PROTOCOL_VERSION_META_KEY) not in MODERN_PROTOCOL_VERSIONS:
        return None
    if meta.get(CLIENT_CAPABILITIES_META_KEY) != _NOTHING:
        return None
    info: object = meta.get(CLIENT_INFO_META_KEY)
    if not _is_object(info) or info.keys() != _CLIENT or not all(map(_is_text, info.values())):
        return None
    return f"{info['name']} {info['version']}".strip()


def _is_text(value: object) -> TypeGuard[str]:
    """Whether a value is text that no model could take offence at."""
    return type(value) is str and value.isascii()


def _is_object(value: object) -> TypeGuard[dict[str, Any]]:
    """Whether a value is an object with such text for its keys."""
    return type(value) is dict and all(map(_is_text, value))  # pyright: ignore[reportUnknownArgumentType] - as decoded
