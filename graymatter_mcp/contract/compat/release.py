"""What one server serves, read from a bundle, from `tools/list`, or from schema files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.contract.compat.rules import Document

REVISION_KEY: Final = "graymatter/revision"
REQUEST: Final = "requestSchema"
RESPONSE: Final = "responseSchema"
FAILURES: Final = "failureSchemas"
_ROUTE_PARTS: Final = frozenset({"name", REQUEST, RESPONSE, FAILURES})
_PARTS: Final = frozenset(
    {
        *("name", "title", "description", "annotations", "revision", "opt_in"),
        *("inputSchema", "outputSchema", "_meta"),
    }
)


class NotAContractError(Exception):
    """A document is no description of tools; the message says what it lacks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedTool:
    """One tool as some release served it."""

    name: str
    title: str = ""
    description: str = ""
    annotations: Document = field(default_factory=dict[str, Any])
    revision: int | None = None
    """None where the server says none."""
    input_schema: Document
    output_schema: Document | None = None
    opt_in: Mapping[str, str] = field(default_factory=dict[str, str])
    """Path of a branch of the output -> the optional argument that alone brings it."""
    others: Document = field(default_factory=dict[str, Any])
    """Parts of which the checker knows nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedRoute:
    """One REST route as some release served it."""

    name: str
    about: Document
    """Everything that `route.json` said."""
    request: Document
    response: Document | None = None
    """None where success has no body."""
    failures: Mapping[str, Document] = field(default_factory=dict[str, Any])
    """By error status, what its body may be in place of the plain error."""

    @property
    def revision(self) -> int | None:
        """Counts changes; None where the document says none."""
        return self.about.get("revision")


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """One deprecation, as `deprecations.json` holds it."""

    what: str
    """Id of the rule that the removal or change will break."""
    where: str
    """Path of the change, as reports spell it."""
    announced_in: str
    remove_not_before: str
    instead: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """Everything that is compared."""

    version: str
    toolsets: Mapping[str, tuple[str, ...]]
    """Names of tools in the order of the list."""
    tools: Mapping[str, ServedTool]
    notices: tuple[Notice, ...] = ()
    routes: Mapping[str, ServedRoute] | None = None
    """None where nobody can say: a list of tools tells nothing of routes."""


def read_release(document: Any) -> Release:
    """Read a frozen bundle, the result of `tools/list`, or a bare list of tools.

    Raises:
        NotAContractError: It is none of these.
    """
    if not isinstance(document, (dict, list)):
        raise NotAContractError('it holds no list "tools"')
    is_list = isinstance(document, list)
    bundle = cast("Document", {"tools": document} if is_list else document)
    if not isinstance(bundle.get("tools"), list):
        raise NotAContractError('it holds no list "tools"')
    tools = [_tool(tool) for tool in cast("list[Any]", bundle["tools"])]
    names = tuple(tool.name for tool in tools)
    if len(set(names)) != len(names):
        raise NotAContractError("it names a tool twice")
    toolsets = cast("Mapping[str, list[str]]", bundle.get("toolsets", {"core": list(names)}))
    return Release(
        version=str(bundle.get("version", "")),
        toolsets={name: tuple(listed) for name, listed in toolsets.items()},
        tools={tool.name: tool for tool in tools},
        notices=tuple(read_notice(one) for one in bundle.get("deprecations", [])),
        routes=_routes(bundle),
    )


def read_notice(document: Any) -> Notice:
    """Read one entry of `deprecations.json`.

    Raises:
        NotAContractError: A key is missing, unknown or no string.
    """
    keys = set(Notice.__dataclass_fields__)
    if not isinstance(document, dict) or set(cast("Document", document)) != keys:
        raise NotAContractError(f"a notice has exactly the keys {', '.join(sorted(keys))}")
    entry = cast("Document", document)
    if not all(isinstance(value, str) and value for value in entry.values()):
        raise NotAContractError("each value of a notice is a text that is not empty")
    return Notice(**entry)


def _routes(bundle: Document) -> Mapping[str, ServedRoute] | None:
    # A bundle from before the first route served none; a list of tools leaves it open.
    if "routes" not in bundle and "contract" not in bundle:
        return None
    routes = [_route(one) for one in cast("list[Document]", bundle.get("routes", []))]
    return {route.name: route for route in routes}


def _route(document: Document) -> ServedRoute:
    if not isinstance(document.get("name"), str) or not isinstance(document.get(REQUEST), dict):
        raise NotAContractError(f"a route lacks a name or a {REQUEST}")
    return ServedRoute(
        name=document["name"],
        about={key: value for key, value in document.items() if key not in _ROUTE_PARTS},
        request=document[REQUEST],
        response=document.get(RESPONSE),
        failures=document.get(FAILURES, {}),
    )


def _tool(document: Any) -> ServedTool:
    if not isinstance(document, dict):
        raise NotAContractError("a tool is no object")
    tool = cast("Document", document)
    if not isinstance(tool.get("name"), str) or not isinstance(tool.get("inputSchema"), dict):
        raise NotAContractError("a tool lacks a name or an inputSchema")
    meta = dict(cast("Document", tool.get("_meta") or {}))
    served = meta.pop(REVISION_KEY, None)
    others = {key: value for key, value in tool.items() if key not in _PARTS}
    return ServedTool(
        name=tool["name"],
        title=tool.get("title") or "",
        description=tool.get("description") or "",
        annotations=cast("Document", tool.get("annotations") or {}),
        revision=tool.get("revision", served),
        input_schema=tool["inputSchema"],
        output_schema=tool.get("outputSchema"),
        opt_in=tool.get("opt_in", {}),
        others={**others, **({"_meta": meta} if meta else {})},
    )
