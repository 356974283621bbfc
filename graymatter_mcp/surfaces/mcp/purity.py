"""What no argument may hold anywhere: text that is no text, numbers that are no numbers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.errors import InvalidArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOT_TEXT: Final = re.compile("[\x00\ud800-\udfff]")


def refuse_bad_text(name: str, value: object) -> None:
    """Walk one argument to its leaves, keys included.

    Raises:
        InvalidArgumentError: A string holds U+0000 or a lone surrogate.
    """
    if any(isinstance(leaf, str) and _NOT_TEXT.search(leaf) for leaf in _leaves(value)):
        raise InvalidArgumentError(f"{name} is not valid text")


def refuse_non_finite(name: str, value: object) -> None:
    """Walk one argument to its leaves.

    Raises:
        InvalidArgumentError: A number is NaN or infinite, which readers of JSON let pass.
    """
    if any(isinstance(leaf, float) and not math.isfinite(leaf) for leaf in _leaves(value)):
        raise InvalidArgumentError(f"{name} holds a number that is not finite")


def _leaves(value: object) -> Iterator[object]:
    # A stack: a caller decides how deep a value nests, and recursion would end in a crash.
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            for key, child in cast("dict[str, object]", node).items():
                yield key
                stack.append(child)
        elif isinstance(node, list):
            stack.extend(cast("list[object]", node))
        else:
            yield node
