"""Versions of releases: three numbers, compared as numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.compat.levels import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

Version = tuple[int, int, int]

_VERSION: Final = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


def parse_version(text: str) -> Version:
    """Read ``1.2.3`` or ``1.2``; what follows, such as ``rc1``, does not count.

    Raises:
        ValueError: It begins with no version.
    """
    match = _VERSION.match(text)
    if match is None:
        raise ValueError(f'"{text}" is no version: write it as 0.1.0')
    return int(match[1]), int(match[2]), int(match[3] or 0)


def is_prior_minor(old: str, new: str) -> bool:
    """Whether one release is of the minor just before that of another."""
    before, after = parse_version(old), parse_version(new)
    return before[0] == after[0] and before[1] + 1 == after[1]


def in_order(versions: Iterable[str]) -> list[str]:
    """Return versions, oldest first."""
    return sorted(versions, key=parse_version)


def needed_level(old: str, new: str) -> Level:
    """Return the gravest change that the step from one version to another may hold."""
    before, after = parse_version(old), parse_version(new)
    if after[:1] > before[:1]:
        return Level.BREAKING
    if after[:2] > before[:2]:
        return Level.ADDITIVE
    return Level.PROSE if after > before else Level.SAME
