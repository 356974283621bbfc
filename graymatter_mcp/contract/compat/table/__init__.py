"""The table of rules, by topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.compat.table import (
    notices,
    objects,
    routes,
    tools,
    unions,
    values,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.contract.compat.rules import Rule

RULES: Final[Mapping[str, Rule]] = {
    rule.id: rule
    for topic in (objects, values, unions, tools, routes, notices)
    for rule in topic.RULES
}
"""Every rule by its id."""
