"""The rows of the manifest, by topic."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Promise:
    """One row."""

    source: str
    """Acceptance case (C..), field case (F..), section of the core contract, or another page."""
    text: str
    known_gap: str = ""
    """What of it no test here holds yet, and where that comes."""
