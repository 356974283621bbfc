"""The REST routes, read from their files: routing, checks and OpenAPI all come from here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.contract.load import (
    MAJOR,
    BrokenContractError,
    Schema,
    read_document,
    read_schema,
    schema_root,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

FOLDER: Final = "rest"
_BODIES: Final = ("body", "optional body")
_TAKES: Final = (*_BODIES, "query", "nothing")


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteContract:
    """One route as its folder describes it, references inlined."""

    name: str
    """Of the folder; `rest/<name>` names its request in `contract.issues`."""
    method: str
    paths: tuple[str, ...]
    """Templates with `{parameters}`: the route's own, then the same below `/v1/me`."""
    family: str
    """`plane`, `account`, `admin`, `legacy` or `open`."""
    summary: str
    description: str
    is_open: bool
    """Whether it answers without a bearer."""
    takes: str
    """Where the arguments are: `body`, `optional body`, `query` or `nothing`."""
    success: tuple[int, ...]
    errors: tuple[int, ...]
    needs_write: bool
    revision: int
    request: Schema
    response: Schema | None
    """None where success has no body."""
    failures: Mapping[int, Schema]
    """By error status, what its body may be in place of the plain error."""

    @property
    def path(self) -> str:
        """The first template."""
        return self.paths[0]

    @property
    def takes_body(self) -> bool:
        """Whether the arguments are a JSON body."""
        return self.takes in _BODIES

    @property
    def has_optional_body(self) -> bool:
        """Whether an empty body counts as an empty object."""
        return self.takes == "optional body"

    @property
    def is_strict(self) -> bool:
        """Whether an unknown key is refused; elsewhere it is ignored."""
        return self.request.get("additionalProperties") is False


@cache
def load_routes() -> tuple[RouteContract, ...]:
    """Load every route that came with the package, by name.

    Raises:
        BrokenContractError: The files are missing or inconsistent.
    """
    return tuple(load_route(name) for name in route_names())


@cache
def load_route(name: str) -> RouteContract:
    """Load the route of a folder.

    Raises:
        BrokenContractError: There is no such folder, or its files are inconsistent.
    """
    return read_route(name)


def route_names(root: Traversable | None = None) -> list[str]:
    """Return the names of all routes in order; none in a directory from before the first."""
    folder = (schema_root() if root is None else root).joinpath(MAJOR, FOLDER)
    if not folder.is_dir():
        return []
    return sorted(one.name for one in folder.iterdir() if one.is_dir())


def read_route(name: str, root: Traversable | None = None) -> RouteContract:
    """Read the route of a folder.

    Args:
        name: Of the folder.
        root: The directory of schemas; by default the one that came with the package.

    Raises:
        BrokenContractError: There is no such folder, or its files are inconsistent.
    """
    about = cast("Schema", read_document(f"{FOLDER}/{name}/route.json", root))
    if about["takes"] not in _TAKES or about["access"] not in ("bearer", "open"):
        raise BrokenContractError(f"route.json of {name} holds a word that is not known")
    return RouteContract(
        name=name,
        method=about["method"],
        paths=tuple(about["paths"]),
        family=about["family"],
        summary=about["summary"],
        description=about.get("description", ""),
        is_open=about["access"] == "open",
        takes=about["takes"],
        success=tuple(about["success"]),
        errors=tuple(about["errors"]),
        needs_write=about["needs_write"],
        revision=about["revision"],
        request=read_schema(f"{FOLDER}/{name}/request.json", root),
        response=_optional(name, "response.json", root),
        failures={
            status: schema
            for status in about["errors"]
            if (schema := _optional(name, f"{status}.json", root)) is not None
        },
    )


def _optional(name: str, file: str, root: Traversable | None) -> Schema | None:
    folder = (schema_root() if root is None else root).joinpath(MAJOR, FOLDER, name)
    return read_schema(f"{FOLDER}/{name}/{file}", root) if folder.joinpath(file).is_file() else None
