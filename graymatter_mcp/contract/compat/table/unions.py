"""Rules about `oneOf`: branches are told apart, keep their place, and never come unasked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Direction, Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


def _branch(*required: str, **properties: Any) -> Document:
    return {
        "type": "object",
        "additionalProperties": False,
        "required": list(required),
        "properties": properties,
    }


def _union(*branches: Document) -> Document:
    return {"type": "object", "oneOf": list(branches)}


_WORD: Final = {"type": "string"}
_A: Final = _branch("a", a=_WORD)
_A_WITH_NOTE: Final = _branch("a", a=_WORD, note=_WORD)
_B: Final = _branch("b", b=_WORD)
_C: Final = _branch("c", c=_WORD)
_LOOSE: Final = {"type": "object", "properties": {"b": _WORD}}
_AB: Final = _union(_A, _B)
_ABC: Final = _union(_A, _B, _C)
_SAME: Final = Pair(_AB, _union(_A_WITH_NOTE, _B))


def _tool(arguments: Document, output: Document) -> Document:
    tool = {"name": "t", "inputSchema": arguments, "outputSchema": output}
    return {"tools": [{**tool, "opt_in": {"output/oneOf/2": "want"}}]}


def _rule(
    name: str,
    text: str,
    *,
    fails: Pair,
    passes: Pair = _SAME,
    direction: Direction = Direction.OUTPUT,
    level: Level = Level.BREAKING,
) -> Rule:
    return Rule(name=name, direction=direction, level=level, text=text, fails=fails, passes=passes)


RULES: Final[Sequence[Rule]] = [
    _rule(
        "union",
        "an input with a union changed; unions are not allowed in inputs",
        fails=Pair(_A, _AB),
        passes=Pair(_A, _A_WITH_NOTE),
        direction=Direction.INPUT,
    ),
    _rule("branch-added", "a new branch may be sent unasked", fails=Pair(_AB, _ABC)),
    _rule(
        "branch-added-on-request",
        "a new branch is sent only when a new optional argument asks for it",
        fails=Pair(_tool(_branch(), _AB), _tool(_branch(want=_WORD), _ABC)),
        passes=Pair(_tool(_branch(want=_WORD), _AB), _tool(_branch(want=_WORD), _ABC)),
        level=Level.ADDITIVE,
    ),
    _rule("branch-removed", "a branch was removed", fails=Pair(_ABC, _AB)),
    _rule("branches-reordered", "branches changed places", fails=Pair(_AB, _union(_B, _A))),
    _rule(
        "branches-overlap",
        "branches cannot be told apart by a required key or value",
        fails=Pair(_union(_A, _LOOSE), _union(_A_WITH_NOTE, _LOOSE)),
    ),
    _rule("union-added", "one shape became a union", fails=Pair(_A, _AB)),
    _rule("union-removed", "a union became one shape", fails=Pair(_AB, _A)),
    _rule(
        "union-not-alone",
        "a union that changed stands beside other keywords than its type",
        fails=Pair({**_AB, "required": ["a"]}, {**_ABC, "required": ["a"]}),
    ),
]
