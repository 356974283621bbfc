"""Every operation by the name of its route, and the twins that differ from theirs."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from graymatter_mcp.surfaces.rest.accounts import ACCOUNT_HANDLERS, ACCOUNT_TWINS
from graymatter_mcp.surfaces.rest.description import describe
from graymatter_mcp.surfaces.rest.operations import OPERATIONS, TWINS
from graymatter_mcp.surfaces.rest.refusals import audited
from graymatter_mcp.surfaces.rest.report_operations import REPORTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from graymatter_mcp.surfaces.rest.operations import Operation


def _audited(operations: Mapping[str, Operation]) -> dict[str, Operation]:
    return {name: audited(name, one) for name, one in operations.items()}


BY_ROUTE: Final[Mapping[str, Operation]] = MappingProxyType(
    # Those of accounts tell the audit themselves, and of more than refusals.
    {**_audited({**OPERATIONS, **REPORTS, "openapi": describe}), **ACCOUNT_HANDLERS}
)
BY_TOOL: Final[Mapping[str, Operation]] = MappingProxyType({**_audited(TWINS), **ACCOUNT_TWINS})
"""By the name of the tool, where its arguments or its answer are not those of the route."""
