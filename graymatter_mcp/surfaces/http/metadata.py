"""The document that tells a client which issuer to ask for a token (RFC 9728)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graymatter_mcp.surfaces.http.messages import json_answer
from graymatter_mcp.surfaces.http.routes import Route

if TYPE_CHECKING:
    from graymatter_mcp.surfaces.http.messages import HttpAnswer, HttpRequest
    from graymatter_mcp.surfaces.oauth_config import OAuthConfig


def metadata_routes(config: OAuthConfig | None) -> tuple[Route, ...]:
    """Return the routes that serve the document; they ask for no token.

    Args:
        config: Of the issuer; None where there is none, and then nothing hints at one.
    """
    if config is None:
        return ()
    # From settings alone: what a request says of its Host is not believed.
    answer = json_answer(200, _document(config))

    async def serve(_: HttpRequest) -> HttpAnswer:
        return answer

    return tuple(
        Route(path=path, methods=("GET", "HEAD"), endpoint=serve, is_open=True)
        for path in sorted(config.metadata_paths)
    )


def _document(config: OAuthConfig) -> dict[str, Any]:
    document: dict[str, Any] = {
        "resource": config.resource,
        "authorization_servers": [config.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "graymatter",
    }
    if config.scopes:
        document["scopes_supported"] = list(config.scopes)
    return document
