"""The document that tells a client which issuer to ask for a token (RFC 9728)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request

    from graymatter_mcp.surfaces.oauth_config import OAuthConfig


def metadata(config: OAuthConfig) -> dict[str, Any]:
    """Return the document, built from settings alone: what a request says is not believed."""
    document: dict[str, Any] = {
        "resource": config.resource,
        "authorization_servers": [config.issuer],
        "bearer_methods_supported": ["header"],
        "resource_name": "graymatter",
    }
    if config.scopes:
        document["scopes_supported"] = list(config.scopes)
    return document


def metadata_routes(config: OAuthConfig) -> tuple[Route, ...]:
    """Return the routes that serve the document; they ask for no token."""
    answer = JSONResponse(metadata(config), headers={"Cache-Control": "public, max-age=3600"})

    async def serve(_: Request) -> JSONResponse:
        return answer

    return tuple(Route(path, serve) for path in sorted(config.metadata_paths))
