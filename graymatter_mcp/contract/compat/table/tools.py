"""Rules about tools: names, order, hints, revisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.compat.levels import Direction, Level
from graymatter_mcp.contract.compat.rules import Document, Pair, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


def _tool(name: str, **parts: Any) -> Document:
    return {
        "name": name,
        "title": f"The tool {name}",
        "description": "Use it. Returns nothing.",
        "annotations": {"readOnlyHint": True, "destructiveHint": False},
        "revision": 1,
        "inputSchema": {"type": "object", "properties": {}},
        "outputSchema": {"type": "object", "additionalProperties": False, "properties": {}},
        **parts,
    }


def _bundle(*tools: Document, toolset: str = "core") -> Document:
    return {"toolsets": {toolset: [tool["name"] for tool in tools]}, "tools": list(tools)}


_A: Final = _tool("a")
_B: Final = _tool("b")
_C: Final = _tool("c")
_WIDER: Final = {"type": "object", "properties": {"x": {"type": "string"}}}
_AB: Final = _bundle(_A, _B)
_REWORDED: Final = Pair(_AB, _bundle({**_A, "description": "Use it well. Returns nothing."}, _B))
_GROWN: Final = Pair(_AB, _bundle({**_A, "inputSchema": _WIDER, "revision": 2}, _B))
_NO_OUTPUT: Final = {key: value for key, value in _B.items() if key != "outputSchema"}


def _rule(
    name: str, text: str, *, fails: Pair, passes: Pair = _REWORDED, level: Level = Level.BREAKING
) -> Rule:
    return Rule(
        name=name, direction=Direction.TOOL, level=level, text=text, fails=fails, passes=passes
    )


RULES: Final[Sequence[Rule]] = [
    _rule(
        "toolset-added",
        "a toolset was added",
        fails=Pair(_AB, {**_AB, "toolsets": {**_AB["toolsets"], "more": ["b"]}}),
        level=Level.ADDITIVE,
    ),
    _rule(
        "toolset-removed",
        "a toolset was removed or renamed",
        fails=Pair(_AB, _bundle(_A, _B, toolset="other")),
    ),
    _rule(
        "tool-added",
        "a tool was added at the end of its toolset",
        fails=Pair(_AB, _bundle(_A, _B, _C)),
        passes=Pair(_AB, _bundle(_A, _C, _B)),
        level=Level.ADDITIVE,
    ),
    _rule(
        "tool-inserted",
        "a tool was added before others",
        fails=Pair(_AB, _bundle(_A, _C, _B)),
        passes=Pair(_AB, _bundle(_A, _B, _C)),
    ),
    _rule("tool-removed", "a tool was removed or renamed", fails=Pair(_AB, _bundle(_A))),
    _rule("tools-reordered", "tools changed places", fails=Pair(_AB, _bundle(_B, _A))),
    _rule(
        "hint-changed",
        "a hint was added, changed or removed",
        fails=Pair(_AB, _bundle({**_A, "annotations": {"readOnlyHint": True}}, _B)),
    ),
    _rule(
        "prose-changed",
        "title or description changed",
        fails=_REWORDED,
        passes=_GROWN,
        level=Level.PROSE,
    ),
    _rule(
        "revision-not-raised",
        "the schemas changed and the revision did not",
        fails=Pair(_AB, _bundle({**_A, "inputSchema": _WIDER}, _B)),
        passes=_GROWN,
    ),
    _rule(
        "revision-raised-idly",
        "the revision was raised and the schemas are the same",
        fails=Pair(_AB, _bundle({**_A, "revision": 2}, _B)),
        passes=_GROWN,
        level=Level.ADDITIVE,
    ),
    _rule(
        "revision-lowered",
        "the revision went backwards",
        fails=Pair(_bundle({**_A, "revision": 2}), _bundle(_A)),
        passes=_GROWN,
    ),
    _rule(
        "output-schema-added",
        "results are promised that were not",
        fails=Pair(_bundle(_A, _NO_OUTPUT), _bundle(_A, {**_B, "revision": 2})),
        level=Level.ADDITIVE,
    ),
    _rule(
        "output-schema-removed",
        "results are no longer promised",
        fails=Pair(_AB, _bundle(_A, {**_NO_OUTPUT, "revision": 2})),
    ),
    _rule(
        "unknown-part",
        "a part changed of which the checker knows nothing",
        fails=Pair(_AB, _bundle({**_A, "execution": {"taskSupport": "required"}}, _B)),
    ),
]
