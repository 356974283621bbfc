"""Every check, by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.kit.checks import (
    arguments,
    batches,
    checkpoints,
    curation,
    protocol,
    ranking,
    search,
    surface,
    writes,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.contract.kit.check import Check

CHECKS: Final[Sequence[Check]] = [
    check
    for module in (
        *(surface, protocol, arguments, search, ranking),
        *(batches, writes, curation, checkpoints),
    )
    for check in module.topic.checks
]
"""All checks; those that only look come first within each topic."""
