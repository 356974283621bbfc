"""One spelling of the contract, so that two of them can be compared and reviewed as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from graymatter_mcp.contract.load import Bundle

_SETS: Final = frozenset({"required", "enum"})
"""Keywords whose arrays are sets; in every other array, the list of tools too, order counts."""


def canonical_json(value: Any) -> str:
    """Spell a JSON value, such as the result of ``tools/list``, in exactly one way.

    Keys are sorted, arrays of ``required`` and ``enum`` too; two spaces of indent, a final newline.
    """
    return json.dumps(_canonical(value), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def canonical_bundle(bundle: Bundle) -> str:
    """Spell a whole bundle: a list of tools in wire order, keys as on the wire."""
    return canonical_json(
        [
            {
                "name": tool.name,
                "title": tool.title,
                "description": tool.description,
                "annotations": dict(tool.annotations),
                "revision": tool.revision,
                "inputSchema": tool.input_schema,
                "outputSchema": tool.output_schema,
            }
            for tool in bundle.tools
        ]
    )


def _canonical(node: object) -> object:
    if isinstance(node, list):
        return [_canonical(item) for item in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    return {
        key: sorted(cast("list[object]", value), key=json.dumps)
        if key in _SETS and isinstance(value, list)
        else _canonical(value)
        for key, value in cast("dict[str, object]", node).items()
    }
