"""The rules as data: what each change means in each direction, with a pair that proves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graymatter_mcp.contract.compat.levels import Change, Direction, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

Document = dict[str, Any]
"""A schema, or, for rules about tools, a bundle."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A document before and after a change."""

    old: Document
    new: Document


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of change in one direction."""

    name: str
    direction: Direction
    level: Level
    text: str
    """The sentence of a report; the path stands before it."""
    fails: Pair
    """A pair that this rule reports."""
    passes: Pair
    """A near pair that this rule does not report."""

    @property
    def id(self) -> str:
        """Direction and name, such as ``input:property-removed``."""
        return f"{self.direction}:{self.name}"

    def at(self, path: str, detail: str = "") -> Change:
        """Report this rule at a place."""
        text = f"{self.text}: {detail}" if detail else self.text
        return Change(path=path, rule=self.id, level=self.level, text=text)


def both_ways(
    name: str, text: str, levels: tuple[Level, Level], *, fails: Pair, passes: Pair
) -> Sequence[Rule]:
    """Make the rules of one change in an input and in an output.

    Args:
        name: Of both.
        text: Of both.
        levels: In an input, in an output.
        fails: A pair that both report.
        passes: A pair that neither reports.
    """
    return [
        Rule(name=name, direction=direction, level=level, text=text, fails=fails, passes=passes)
        for direction, level in zip((Direction.INPUT, Direction.OUTPUT), levels, strict=True)
    ]
