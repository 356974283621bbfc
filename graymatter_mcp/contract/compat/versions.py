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


def prior_minor(versions: Iterable[str], version: str) -> list[str]:
    """Return the releases of the last minor before that of a version."""
    mine = parse_version(version)[:2]
    earlier = [one for one in versions if parse_version(one)[:2] < mine]
    last = max((parse_version(one)[:2] for one in earlier), default=None)
    return [one for one in earlier if parse_version(one)[:2] == last]


def in_order(versions: Iterable[str]) -> list[str]:
    """Return versions, oldest first."""
    return sorted(versions, key=parse_version)


def allowed_level(old: str, new: str) -> Level:
    """Return the gravest change that a step between versions may hold without a notice."""
    before, after = parse_version(old), parse_version(new)
    if after[:2] > before[:2]:
        return Level.ADDITIVE
    return Level.PROSE if after > before else Level.SAME
