"""Rules about REST routes: places, statuses, bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Direction, Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


def _route(name: str = "a", **parts: Any) -> Document:
    return {
        "name": name,
        "method": "POST",
        "paths": [f"/v1/{name}"],
        "summary": f"The route {name}",
        "access": "bearer",
        "takes": "body",
        "success": [200],
        "errors": [400, 401],
        "needs_write": False,
        "revision": 1,
        "requestSchema": {"type": "object", "properties": {}},
        "responseSchema": {"type": "object", "additionalProperties": False, "properties": {}},
        **parts,
    }


def _bundle(*routes: Document) -> Document:
    return {"toolsets": {}, "tools": [], "routes": list(routes)}


_A: Final = _route()
_B: Final = _route("b")
_AB: Final = _bundle(_A, _B)
_REWORDED: Final = Pair(_AB, _bundle({**_A, "summary": "The route a, in other words"}, _B))
_NO_ANSWER: Final = {key: value for key, value in _A.items() if key != "responseSchema"}


def _changed(**parts: Any) -> Pair:
    return Pair(_AB, _bundle({**_A, "revision": 2, **parts}, _B))


def _rule(
    name: str, text: str, *, fails: Pair, passes: Pair = _REWORDED, level: Level = Level.BREAKING
) -> Rule:
    return Rule(
        name=name, direction=Direction.TOOL, level=level, text=text, fails=fails, passes=passes
    )


RULES: Final[Sequence[Rule]] = [
    _rule(
        "route-added",
        "a route was added",
        fails=Pair(_bundle(_A), _AB),
        passes=Pair(_AB, _bundle(_B, _A)),
        level=Level.ADDITIVE,
    ),
    _rule("route-removed", "a route was removed or renamed", fails=Pair(_AB, _bundle(_A))),
    _rule(
        "route-path-added",
        "a route answers at a further path",
        fails=_changed(paths=["/v1/a", "/v1/me/a"]),
        level=Level.ADDITIVE,
    ),
    _rule(
        "route-path-removed",
        "a route no longer answers at a path",
        fails=_changed(paths=["/v1/c"]),
        passes=_changed(paths=["/v1/me/a", "/v1/a"]),
    ),
    _rule(
        "route-body-optional",
        "a body is no longer required",
        fails=_changed(takes="optional body"),
        passes=_changed(takes="query"),
        level=Level.ADDITIVE,
    ),
    _rule(
        "route-errors-changed",
        "the statuses of errors changed",
        fails=_changed(errors=[400, 401, 409]),
        passes=Pair(_AB, _bundle({**_A, "errors": [401, 400]}, _B)),
        level=Level.ADDITIVE,
    ),
    _rule(
        "route-changed",
        "method, access, statuses of success or place of the arguments changed",
        fails=_changed(success=[201, 200]),
        passes=_changed(takes="optional body"),
    ),
    _rule(
        "route-body-changed",
        "a status has another kind of body",
        fails=Pair(_AB, _bundle({**_NO_ANSWER, "revision": 2}, _B)),
    ),
]
