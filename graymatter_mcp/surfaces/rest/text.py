"""Whether what came is text that a store and an answer can hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


def is_text(value: object) -> bool:
    """Whether no string in a value, keys included, holds U+0000 or a lone surrogate."""
    return not any(_NOT_TEXT.search(leaf) for leaf in _strings(value))


def _strings(value: object) -> Iterator[str]:
    # A stack: a caller decides how deep a value nests, and recursion would end in a crash.
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, dict):
            children = cast("dict[str, object]", node)
            yield from children
            stack.extend(children.values())
        elif isinstance(node, list):
            stack.extend(cast("list[object]", node))
