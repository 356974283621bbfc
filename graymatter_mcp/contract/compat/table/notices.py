"""Rules about deprecation notices: once published, they stay as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Direction, Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

_NOTICE: Final = {
    "what": "input:property-removed",
    "where": "a/input/properties/x",
    "announced_in": "0.1.0",
    "remove_not_before": "1.0.0",
    "instead": "y",
}


def _bundle(*notices: Document) -> Document:
    return {"toolsets": {}, "tools": [], "deprecations": list(notices)}


def _changed(**parts: Any) -> Document:
    return _bundle({**_NOTICE, **parts})


_KEPT: Final = Pair(_bundle(_NOTICE), _changed(instead="the newer y"))


def _rule(name: str, text: str, *, fails: Pair, level: Level = Level.BREAKING) -> Rule:
    return Rule(
        name=name, direction=Direction.TOOL, level=level, text=text, fails=fails, passes=_KEPT
    )


RULES: Final[Sequence[Rule]] = [
    _rule(
        "notice-added",
        "a deprecation was announced",
        fails=Pair(_bundle(), _bundle(_NOTICE)),
        level=Level.ADDITIVE,
    ),
    _rule(
        "notice-withdrawn",
        "a published deprecation is gone",
        fails=Pair(_bundle(_NOTICE), _bundle()),
    ),
    _rule(
        "notice-brought-forward",
        "a published deprecation was dated back or its removal brought forward",
        fails=Pair(_bundle(_NOTICE), _changed(remove_not_before="0.9.0")),
    ),
]
