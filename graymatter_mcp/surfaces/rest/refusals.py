"""Refusals that the audit is told of: those of operations, and those before any was asked.

Source: data-plane contract 8.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import ErrorCode, GraymatterError
from graymatter_mcp.model.access import Caller
from graymatter_mcp.surfaces.error_map import ERROR_MAP

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.accounts import Accounts
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.auth import Principal
    from graymatter_mcp.surfaces.rest.operations import Asked, Operation, Reply

NO_ROUTE: Final = "no_route"
_OUTCOMES: Final = {401: ErrorCode.UNAUTHORIZED, 403: ErrorCode.FORBIDDEN}


def audited(action: str, operation: Operation) -> Operation:
    """Return an operation whose refusals are noted, under a name."""

    async def noting(plane: DataPlane, asked: Asked) -> Reply:
        try:
            return await operation(plane, asked)
        except GraymatterError as error:
            if ERROR_MAP[error.code].http_status in _OUTCOMES:
                _note(plane.accounts, asked.caller, action, error.code)
            raise

    return noting


class RefusalsAtTheGate:
    """What a gate tells of those that it turned away."""

    def __init__(self, plane: DataPlane) -> None:
        self._plane = plane

    def __call__(
        self, status: int, principal: Principal | None, action: str, request_id: str
    ) -> None:
        """Note an answer, if it is a refusal; waits for nothing.

        Args:
            status: Of the answer.
            principal: Who asked; None where nobody knows.
            action: Method and path of the route; empty where there is none.
            request_id: Of the request.
        """
        outcome = _OUTCOMES.get(status)
        if outcome is None:
            return
        caller = None
        if principal is not None:
            caller = Caller(
                tenant=principal.tenant,
                user_id=principal.user_id,
                token_id=principal.token_id,
                request_id=request_id,
            )
        _note(self._plane.accounts, caller, action or NO_ROUTE, outcome, request_id)


def _note(
    accounts: Accounts,
    caller: Caller | None,
    action: str,
    outcome: ErrorCode,
    request_id: str = "",
) -> None:
    event = accounts.audit.event(caller, action, outcome=outcome.value, request_id=request_id)
    accounts.refusals.note(event)
