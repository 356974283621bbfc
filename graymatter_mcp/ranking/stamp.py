"""The stamp that a text may begin with: a day or time in brackets, before what it says."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from graymatter_mcp.ranking.days import written_day

_STAMP: Final = re.compile(r"\s*\[(?=[^\]\n]*\d)[^\]\n]{1,64}\]\s*")


def stamp_of(text: str) -> str:
    """Return the stamp at the head of a text with the space around it, or ""."""
    # Few texts have one: a look at the first character spares the others the pattern.
    if not text[:2].lstrip().startswith("["):
        return ""
    match = _STAMP.match(text)
    return match[0] if match else ""


def stamped_day(text: str) -> date | None:
    """Return the day that the stamp of a text names, or None."""
    stamp = stamp_of(text)
    return written_day(stamp) if stamp else None
