"""Everything that one release serves, as one document that can be frozen and compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from graymatter_mcp.contract.compat.release import FAILURES, REQUEST, RESPONSE
from graymatter_mcp.contract.load import (
    MAJOR,
    BrokenContractError,
    Schema,
    read_document,
    read_schema,
    schema_root,
)
from graymatter_mcp.contract.routes import FOLDER, read_route, route_names

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable


def bundle_document(version: str, root: Traversable | None = None) -> Schema:
    """Build the bundle of a version from schema files.

    Args:
        version: Written into the bundle.
        root: The directory of schemas; by default the one that came with the package.

    Raises:
        BrokenContractError: The files are missing or inconsistent.
    """
    toolsets = cast("dict[str, list[str]]", read_document("toolsets.json", root))
    names = dict.fromkeys(name for listed in toolsets.values() for name in listed)
    return {
        "contract": MAJOR,
        "version": version,
        "toolsets": toolsets,
        "tools": [_tool(name, root) for name in names],
        "routes": [_route(name, root) for name in route_names(root)],
        "deprecations": read_deprecations(root),
    }


def read_deprecations(root: Traversable | None = None) -> list[Any]:
    """Read the notices in force; a directory from before the first notice has none.

    Raises:
        BrokenContractError: The file cannot be read.
    """
    path = (schema_root() if root is None else root).joinpath("deprecations.json")
    if not path.is_file():
        return []
    try:
        return cast("list[Any]", json.loads(path.read_text("utf-8"))["notices"])
    except (ValueError, KeyError) as exc:
        raise BrokenContractError("deprecations.json cannot be read") from exc


def _tool(name: str, root: Traversable | None) -> Schema:
    about = cast("Schema", read_document(f"tools/{name}/tool.json", root))
    tool: Schema = {
        "name": name,
        **{key: about[key] for key in ("title", "description", "annotations", "revision")},
        "inputSchema": read_schema(f"tools/{name}/input.json", root),
        "outputSchema": read_schema(f"tools/{name}/output.json", root),
    }
    return {**tool, "opt_in": about["opt_in"]} if "opt_in" in about else tool


def _route(name: str, root: Traversable | None) -> Schema:
    about = cast("Schema", read_document(f"{FOLDER}/{name}/route.json", root))
    read = read_route(name, root)
    route: Schema = {"name": name, **about, REQUEST: read.request}
    if read.response is not None:
        route[RESPONSE] = read.response
    if read.failures:
        route[FAILURES] = {str(status): schema for status, schema in read.failures.items()}
    return route
