"""What is answered without an owner: the opening of a session, ping and the list of tools.

The answers come from a file that a test holds equal to what the owner's server says.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from graymatter_mcp.bridge.lines import Request

MODERN_VERSION = "2026-07-28"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY = "io.modelcontextprotocol/clientInfo"


class Handshake:
    """Follows one session far enough to answer its cheap requests, and to replay its opening."""

    def __init__(self, built: dict[str, Any]) -> None:
        """Start before the first message.

        Args:
            built: The generated file: `initialize` by protocol revision, `newest` of them, and
                `handshake` and `modern`, each with results by method.
        """
        self._built = built
        self._is_modern: bool | None = None
        self._is_open = False
        self.opener: tuple[str, dict[str, Any] | None] | None = None
        """Method and parameters that put a fresh connection where this one is; None before it."""

    @property
    def is_modern(self) -> bool:
        """Whether the session opened without a handshake."""
        return bool(self._is_modern)

    def is_read(self, params: dict[str, Any] | None) -> bool:
        """Whether a call of a tool changes nothing, so that losing its answer loses nothing."""
        name = (params or {}).get("name")
        tools: Any = self._built["handshake"]["tools/list"]["tools"]
        return any(tool["name"] == name and tool["annotations"]["readOnlyHint"] for tool in tools)

    def answer(self, request: Request) -> dict[str, Any] | None:
        """Return the result of a request that needs no owner; None for all others."""
        if self._is_modern is None:
            self._is_modern = request.method != "initialize" and _has_envelope(request.params)
        if self._is_modern:
            return self._answer_modern(request)
        if request.method == "initialize" and not self._is_open:
            return self._initialize(request)
        return self._answer_open(request)

    def _initialize(self, request: Request) -> dict[str, Any] | None:
        params: Any = request.params
        if not _is_opening(params):
            return None  # the owner says what is wrong with it
        self.opener = (request.method, params)
        self._is_open = True
        versions: dict[str, Any] = self._built["initialize"]
        return versions.get(params["protocolVersion"], versions[self._built["newest"]])

    def _answer_open(self, request: Request) -> dict[str, Any] | None:
        params: Any = request.params or {}
        if not _is_plain_meta(params.get("_meta", {})):
            return None
        if request.method == "ping":
            return {}
        if request.method == "tools/list" and self._is_open and not set(params) - {"_meta"}:
            return self._built["handshake"]["tools/list"]
        return None

    def _answer_modern(self, request: Request) -> dict[str, Any] | None:
        params: Any = request.params
        if not _is_envelope(params):
            return None
        if self.opener is None:
            self.opener = ("server/discover", {"_meta": params["_meta"]})
        if set(params) == {"_meta"}:
            return self._built["modern"].get(request.method)
        return None


def _has_envelope(params: dict[str, Any] | None) -> bool:
    meta = (params or {}).get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def _is_envelope(params: dict[str, Any] | None) -> bool:
    """Whether the envelope is whole, so that the owner could only say yes to it."""
    if params is None or not _has_envelope(params):
        return False
    meta: dict[str, Any] = params["_meta"]
    return (
        meta[VERSION_KEY] == MODERN_VERSION
        and isinstance(meta.get(CAPABILITIES_KEY), dict)
        and (CLIENT_KEY not in meta or _is_client(meta[CLIENT_KEY]))
    )


def _is_opening(params: dict[str, Any] | None) -> bool:
    return (
        params is not None
        and isinstance(params.get("protocolVersion"), str)
        and isinstance(params.get("capabilities"), dict)
        and _is_client(params.get("clientInfo"))
    )


def _is_client(info: Any) -> bool:
    fields: Any = info if isinstance(info, dict) else {}  # pyright: ignore[reportUnknownVariableType]
    return isinstance(fields.get("name"), str) and isinstance(fields.get("version"), str)


def _is_plain_meta(meta: Any) -> bool:
    """Whether it is what a request of the handshake era may say of itself."""
    return (
        isinstance(meta, dict)
        and VERSION_KEY not in meta
        and type(meta.get("progressToken", "")) in (str, int)  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - as decoded
    )
