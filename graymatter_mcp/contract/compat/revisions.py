"""Does the revision of a tool or route tell what happened to its schemas?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.contract.compat.levels import Change, Direction, Level
from graymatter_mcp.contract.compat.table import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator


def compare_revisions(
    path: str, old: int | None, new: int | None, level: Level
) -> Iterator[Change]:
    """Yield what is wrong with a revision.

    Args:
        path: Of the tool or route.
        old: Before; None counts as 0.
        new: Now.
        level: Of the gravest change that it shall tell.
    """
    before, after = old or 0, new or 0
    if after < before:
        yield _rule("revision-lowered", path)
    elif after == before and level > Level.PROSE:
        yield _rule("revision-not-raised", path)
    elif after > before and level <= Level.PROSE:
        yield _rule("revision-raised-idly", path)


def _rule(name: str, path: str) -> Change:
    return RULES[f"{Direction.TOOL}:{name}"].at(f"{path}/revision")
