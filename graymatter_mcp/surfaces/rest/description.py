"""The description of all routes, served as one of them."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.surfaces.rest.openapi import openapi_document
from graymatter_mcp.surfaces.rest.operations import Reply

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.rest.operations import Asked

_DISTRIBUTION: Final = "graymatter-mcp"


async def describe(_plane: DataPlane, _asked: Asked) -> Reply:
    """Return the description; it is the same for every caller."""
    return Reply(body=_document())


@cache
def _document() -> dict[str, Any]:
    return openapi_document(metadata.version(_DISTRIBUTION))
