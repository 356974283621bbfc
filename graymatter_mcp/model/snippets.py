"""The beginning of a long text."""

from __future__ import annotations

from typing import Final

SNIPPET_LENGTH: Final = 240
_EARLIEST_CUT: Final = 120


def snippet(text: str) -> tuple[str, bool]:
    """Return the text, cut when it is longer than 240 characters, and whether it was.

    The cut lies at the last white space, if that is behind position 120, and is marked by an
    ellipsis.

    Source: data-plane contract 2.7.
    """
    if len(text) <= SNIPPET_LENGTH:
        return text, False
    cut = text[:SNIPPET_LENGTH]
    space = max((place for place, sign in enumerate(cut) if sign.isspace()), default=0)
    return f"{cut[:space] if space > _EARLIEST_CUT else cut}…", True
