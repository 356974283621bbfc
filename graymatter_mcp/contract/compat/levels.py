"""How grave a change is, where it lies, and what is said of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Level(IntEnum):
    """What a change asks of callers; the larger, the graver."""

    SAME = 0
    PROSE = 1
    """Words for people: a snapshot changes, no revision does."""
    ADDITIVE = 2
    """Old callers go on as they are: a new revision, a minor release, a line in the changelog."""
    BREAKING = 3
    """A caller that keeps the last release's contract may fail."""

    @property
    def word(self) -> str:
        """The level in lower case, as reports spell it."""
        return self.name.lower()


class Direction(StrEnum):
    """Who writes the values that a schema describes."""

    INPUT = "input"
    """The caller writes them: what was accepted must stay accepted."""
    OUTPUT = "output"
    """The server writes them: what is sent must be what was promised."""
    TOOL = "tool"
    """Neither: names, order, hints, revisions, notices."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Change:
    """One difference between two contracts."""

    path: str
    """Tool, ``input`` or ``output``, then steps into the schema, joined by ``/``."""
    rule: str
    """Id of the rule that classified it."""
    level: Level
    text: str


def gravest(changes: Iterable[Change]) -> Level:
    """Return the level of the gravest change, `SAME` when there is none."""
    return max((change.level for change in changes), default=Level.SAME)
