"""The names in a question that most facts share: they say whose fact it is, not which one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_MOST: Final = 0.1
"""Share of the facts that hold a name from which it tells too few of them apart."""
_WORD: Final = re.compile(r"[^\W\d_][\w-]*")
_GENITIVE: Final = re.compile(r"['\u2019]s\b")


def without_shared_names(query: str, share_of: Callable[[str], float]) -> str:
    """Return a query without the capitalised words that a tenth of the facts hold.

    A model that embeds a question puts much weight on names; where nearly every fact holds them,
    all facts come close, and what is asked about no longer tells them apart.

    Args:
        query: As sent.
        share_of: Gives the share of the facts that hold a word.

    Returns:
        The query as it is where no word of it goes, or none would be left.
    """
    kept: list[str] = []
    end = 0
    is_first = True
    for match in _WORD.finditer(query):
        genitive = _GENITIVE.match(query, match.end())
        # The first word of a sentence is capitalised whatever it is.
        may_go = match[0][0].isupper() and (genitive is not None or not is_first)
        is_first = False
        if may_go and share_of(match[0]) >= _MOST:
            kept.append(query[end : match.start()])
            end = genitive.end() if genitive else match.end()
    if not kept:
        return query
    left = " ".join("".join([*kept, query[end:]]).split())
    return left if _WORD.search(left) else query
