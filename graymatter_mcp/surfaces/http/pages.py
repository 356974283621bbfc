"""What a browser is told, so that a page of a listed origin may read our answers.

Source: data-plane contract 2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.surfaces.http.messages import HttpAnswer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.http.messages import Headers
    from graymatter_mcp.surfaces.http.routes import Place

ASKS_FIRST: Final = "access-control-request-method"
_SHOWN: Final = (
    b"x-request-id, x-ratelimit-limit, x-ratelimit-remaining, x-ratelimit-reset, retry-after,"
    b" idempotency-replayed, www-authenticate"
)
_TAKEN: Final = (
    b"authorization, content-type, idempotency-key, x-request-id, mcp-protocol-version,"
    b" mcp-method, mcp-name, mcp-session-id"
)
_KEPT_S: Final = b"600"


def reflected(origin: str) -> Headers:
    """Return what lets a page of this very origin read an answer."""
    return (
        (b"access-control-allow-origin", origin.encode("latin-1")),
        (b"access-control-expose-headers", _SHOWN),
        (b"vary", b"Origin"),
    )


def is_question(method: str, headers: Mapping[str, str]) -> bool:
    """Whether a browser asks what a page may do, before it does it."""
    return method == "OPTIONS" and ASKS_FIRST in headers


def permission(place: Place) -> HttpAnswer:
    """Answer a browser that asks first: it sends no bearer yet, and learns nothing but methods."""
    return HttpAnswer(
        status=204,
        headers=(
            (b"access-control-allow-methods", ", ".join(place.methods).encode("ascii")),
            (b"access-control-allow-headers", _TAKEN),
            (b"access-control-max-age", _KEPT_S),
        ),
    )
