"""The gate of every write: what is no durable knowledge is turned away with a reason."""

from __future__ import annotations

import re
from typing import Final

MIN_LENGTH: Final = 12

_FILLER: Final = re.compile(
    r"(thanks?|ok(ay)?|sure|got it|great|cool|yes|no|nope|yep|alright|noted|done)"
    r"([ ,!.]+(thanks?|thank you|ok(ay)?|great|cool|done))*[.! ]*",
    re.IGNORECASE,
)


def rejection(content: str, *, max_length: int | None, force: bool) -> str | None:
    """Return why the content is turned away, or None to let it in.

    Args:
        content: As sent; judged without the white space around it.
        max_length: The most characters taken, forced or not; None or 0 for no limit.
        force: Lets short texts and filler in.

    Source: data-plane contract 5.1.
    """
    text = content.strip()
    if not force and _FILLER.fullmatch(text):
        return "conversational filler — not durable knowledge"
    if not force and len(text) < MIN_LENGTH:
        return "too short — not durable knowledge"
    if max_length and len(text) > max_length:
        return f"too long ({len(text)} chars, max {max_length}) — split into one fact per entry"
    return None
