"""Compare the REST routes of two releases: places, statuses, revisions, and all their schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Change, Direction, gravest
from graymatter_mcp.contract.compat.revisions import compare_revisions
from graymatter_mcp.contract.compat.same import ABSENT, same_json
from graymatter_mcp.contract.compat.table import RULES
from graymatter_mcp.contract.compat.walk import compare_schemas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from graymatter_mcp.contract.compat.release import ServedRoute
    from graymatter_mcp.contract.compat.rules import Document

FOLDER: Final = "rest"

_PROSE: Final = ("summary", "description", "family")
_RULED: Final = frozenset({*_PROSE, "paths", "takes", "errors", "revision"})
_NEEDS_BODY: Final = "body"
_BODY_OPTIONAL: Final = "optional body"


def compare_routes(
    old: Mapping[str, ServedRoute], new: Mapping[str, ServedRoute]
) -> Iterator[Change]:
    """Yield every difference, classified."""
    for name in old:
        if name not in new:
            yield _rule("route-removed", f"{FOLDER}/{name}")
    for name, route in new.items():
        if name in old:
            yield from _compare_route(f"{FOLDER}/{name}", old[name], route)
        else:
            yield _rule("route-added", f"{FOLDER}/{name}")


def _rule(name: str, path: str, detail: str = "") -> Change:
    return RULES[f"{Direction.TOOL}:{name}"].at(path, detail)


def _compare_route(path: str, old: ServedRoute, new: ServedRoute) -> Iterator[Change]:
    changes = [
        *_compare_about(path, old.about, new.about),
        *compare_schemas(old.request, new.request, Direction.INPUT, path=f"{path}/request"),
        *_compare_answers(path, _answers(old), _answers(new)),
    ]
    yield from changes
    yield from compare_revisions(path, old.revision, new.revision, gravest(changes))


def _compare_about(path: str, old: Document, new: Document) -> Iterator[Change]:
    if any(_differs(old, new, key) for key in _PROSE):
        yield _rule("prose-changed", path)
    yield from _compare_paths(path, old.get("paths", []), new.get("paths", []))
    if _differs(old, new, "takes"):
        is_wider = (old.get("takes"), new.get("takes")) == (_NEEDS_BODY, _BODY_OPTIONAL)
        yield _rule("route-body-optional" if is_wider else "route-changed", path, "takes")
    if sorted(old.get("errors", [])) != sorted(new.get("errors", [])):
        yield _rule("route-errors-changed", path)
    # Where it answers, who may come, what success is: whatever is not understood breaks.
    for key in sorted((old.keys() | new.keys()) - _RULED):
        if _differs(old, new, key):
            yield _rule("route-changed", path, key)


def _compare_paths(path: str, old: list[str], new: list[str]) -> Iterator[Change]:
    for one in old:
        if one not in new:
            yield _rule("route-path-removed", path, one)
    for one in new:
        if one not in old:
            yield _rule("route-path-added", path, one)


def _answers(route: ServedRoute) -> dict[str, Document]:
    response = {} if route.response is None else {"response": route.response}
    return {**response, **route.failures}


def _compare_answers(
    path: str, old: Mapping[str, Document], new: Mapping[str, Document]
) -> Iterator[Change]:
    for name in sorted(old.keys() | new.keys()):
        place = f"{path}/{name}"
        if name in old and name in new:
            yield from compare_schemas(old[name], new[name], Direction.OUTPUT, path=place)
        else:
            yield _rule("route-body-changed", place)


def _differs(old: Document, new: Document, key: str) -> bool:
    before: Any = old.get(key, ABSENT)
    return not same_json(before, new.get(key, ABSENT))
