"""What one caller may do, wherever it comes in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class Rights:
    """Of one caller."""

    may_write: bool = True
    project: str | None = None
    """The one project that the caller is confined to; None where it is not."""


ALL_RIGHTS: Final = Rights()
"""Of this machine's user, and of a token without restrictions."""
