"""The twins of the REST routes as tools: the same arguments, the same bodies."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.check import ContractViolationError, ValueChecker
from graymatter_mcp.errors import (
    ErrorCode,
    GraymatterError,
    InvalidArgumentError,
    ReadOnlyError,
)
from graymatter_mcp.model.requests import CallKey
from graymatter_mcp.surfaces.error_map import ERROR_MAP, reason_of
from graymatter_mcp.surfaces.mcp.answers import ToolAnswer
from graymatter_mcp.surfaces.rest.all_operations import BY_ROUTE, BY_TOOL
from graymatter_mcp.surfaces.rest.bodies import encoded
from graymatter_mcp.surfaces.rest.operations import TWIN_BYTES, Asked
from graymatter_mcp.surfaces.rest.refusals import audited
from graymatter_mcp.surfaces.rest.report_operations import adoption_of
from graymatter_mcp.surfaces.rest.rules import check_arguments

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from graymatter_mcp.contract.load import Bundle, ToolContract
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.adoption import Served
    from graymatter_mcp.surfaces.mcp.answers import Caller
    from graymatter_mcp.surfaces.rest.operations import Operation, Reply

logger = logging.getLogger(__name__)

TOOLSET: Final = "dataplane"
INTERNAL: Final = "error: internal server error"
TOOK_EFFECT: Final = f"{INTERNAL}; the write took effect"


class Twins:
    """Carries out the tools of the data plane; nothing raised gets out."""

    def __init__(
        self,
        bundle: Bundle,
        plane: DataPlane | None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        served: Served | None = None,
    ) -> None:
        """Prepare.

        Args:
            bundle: What is served; the tools of other toolsets are none of ours.
            plane: Whom the tools ask; None where only the core is served.
            now: Says which times lie ahead.
            served: What clients are given here.
        """
        special = {} if served is None else {"adoption": adoption_of(served)}
        self._plane = plane
        self._now = now
        self._tools = {
            tool.name: _Twin(tool, special) for tool in bundle.tools if tool.toolset == TOOLSET
        }

    def __contains__(self, name: str) -> bool:
        """Whether a tool is one of ours."""
        return name in self._tools

    async def call(self, name: str, arguments: Mapping[str, object], caller: Caller) -> ToolAnswer:
        """Answer a call."""
        twin, plane = self._tools[name], self._plane
        assert plane is not None, "who serves the toolset has the plane"
        now = self._now()
        try:
            fields = check_arguments(f"tools/{name}", dict(arguments), now)
            asked = Asked(
                caller=caller.who,
                fields=fields,
                now=now,
                key=_key(name, fields, caller),
                max_bytes=TWIN_BYTES,
            )
        except InvalidArgumentError as error:
            return _failure(f"error: {error}")
        try:
            reply = await twin.operation(plane, asked)
        except GraymatterError as error:
            return _failure(failure_text(error))
        except Exception as exc:  # noqa: BLE001 - the last door before the wire; only the type
            logger.error("%s failed with %s", name, type(exc).__name__)  # noqa: TRY400
            return _failure(INTERNAL)
        return twin.answer(reply)


class _Twin:
    def __init__(self, tool: ToolContract, special: Mapping[str, Operation]) -> None:
        known = {**BY_ROUTE, **special}
        self._writes = not tool.annotations["readOnlyHint"]
        operation: Operation = BY_TOOL.get(tool.name) or known[tool.route]
        self.operation = _for_writers(tool.route, operation) if self._writes else operation
        self._checker = ValueChecker(f"{tool.name}/output", tool.output_schema)

    def answer(self, reply: Reply) -> ToolAnswer:
        try:
            self._checker.check(reply.body)
        except ContractViolationError as exc:
            logger.error("an answer breaks the contract: %s", exc)  # noqa: TRY400
            return _failure(TOOK_EFFECT if self._writes else INTERNAL)
        return ToolAnswer(text=encoded(reply.body).decode(), structured=reply.body)


def _for_writers(action: str, operation: Operation) -> Operation:
    """Return an operation that refuses read-only tokens in these words.

    Routes that change projects say `restricted token` to them; their tools do not.
    """

    async def refuse(_: DataPlane, __: Asked) -> Reply:
        raise ReadOnlyError("read-only token")

    refusing = audited(action, refuse)

    async def checked(plane: DataPlane, asked: Asked) -> Reply:
        may_write = asked.caller.rights.may_write
        return await (operation if may_write else refusing)(plane, asked)

    return checked


def failure_text(error: GraymatterError) -> str:
    """Return the text of a refused call.

    Source: data-plane contract 9.
    """
    status = ERROR_MAP[error.code].http_status
    if status >= 500 and status != 503:
        return INTERNAL
    if error.code is ErrorCode.STORE_UNAVAILABLE:
        return "error: store unavailable"
    return f"error: {reason_of(error)}"


def _failure(text: str) -> ToolAnswer:
    return ToolAnswer(text=text, is_error=True)


def _key(name: str, fields: dict[str, Any], caller: Caller) -> CallKey | None:
    if not caller.key:
        return None
    asked = json.dumps([name, fields], sort_keys=True)
    return CallKey(key=caller.key, digest=sha256(asked.encode("utf-8", "replace")).hexdigest())
