"""How moments are spelled in metadata and answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime


def stamp_text(moment: datetime) -> str:
    """Return ``YYYY-MM-DDTHH:MM:SS.mmmZ`` of a moment in UTC; what is finer is cut off."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"
