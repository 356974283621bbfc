"""Every operation by the name of its route, and the twins that differ from theirs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from graymatter_mcp.surfaces.rest.accounts import ACCOUNT_HANDLERS, ACCOUNT_TWINS
from graymatter_mcp.surfaces.rest.description import describe
from graymatter_mcp.surfaces.rest.operations import OPERATIONS, TWINS
from graymatter_mcp.surfaces.rest.report_operations import REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.rest.operations import Operation

BY_ROUTE: Final[Mapping[str, Operation]] = MappingProxyType(
    {**OPERATIONS, **ACCOUNT_HANDLERS, **REPORTS, "openapi": describe}
)
BY_TOOL: Final[Mapping[str, Operation]] = MappingProxyType({**TWINS, **ACCOUNT_TWINS})
"""By the name of the tool, where its arguments or its answer are not those of the route."""
