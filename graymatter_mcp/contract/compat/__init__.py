"""The compatibility checker: which change of the contract breaks whom. Pure: documents in."""

from __future__ import annotations

from graymatter_mcp.contract.compat.levels import Change, Direction, Level, gravest
from graymatter_mcp.contract.compat.release import (
    NotAContractError,
    Notice,
    Release,
    ServedTool,
    read_notice,
    read_release,
)
from graymatter_mcp.contract.compat.table import RULES
from graymatter_mcp.contract.compat.tools import compare_releases
from graymatter_mcp.contract.compat.walk import compare_schemas

__all__ = [
    "RULES",
    "Change",
    "Direction",
    "Level",
    "NotAContractError",
    "Notice",
    "Release",
    "ServedTool",
    "compare_releases",
    "compare_schemas",
    "gravest",
    "read_notice",
    "read_release",
]
