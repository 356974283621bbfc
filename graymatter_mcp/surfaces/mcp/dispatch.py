"""Carry out one tool call: check, act, check again, tell; nothing raised gets out."""

from __future__ import annotations

import logging
import traceback
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

from graymatter_mcp.contract.check import Checker, ContractViolationError
from graymatter_mcp.engine.restricted import restrict
from graymatter_mcp.engine.scoped import memory_for
from graymatter_mcp.errors import GraymatterError, InvalidArgumentError
from graymatter_mcp.surfaces.mcp.answers import ToolAnswer, UnknownToolError
from graymatter_mcp.surfaces.mcp.arguments import prepare
from graymatter_mcp.surfaces.mcp.budget import DEFAULT_BUDGET, fit
from graymatter_mcp.surfaces.mcp.calls import Call
from graymatter_mcp.surfaces.mcp.failures import INTERNAL, broken_answer_text, failure_text
from graymatter_mcp.surfaces.mcp.handlers import HANDLERS
from graymatter_mcp.surfaces.mcp.render import render
from graymatter_mcp.surfaces.mcp.server import served_by
from graymatter_mcp.surfaces.mcp.twins import Twins

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from graymatter_mcp.contract.load import Bundle
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.model.checkpoints import JsonObject, JsonValue
    from graymatter_mcp.surfaces.mcp.answers import Caller
    from graymatter_mcp.surfaces.mcp.arguments import Arguments
    from graymatter_mcp.surfaces.mcp.budget import LeftOut
    from graymatter_mcp.surfaces.mcp.calls import Outcome
    from graymatter_mcp.surfaces.mcp.handlers import Handler

_log: Final = logging.getLogger(__name__)


class Dispatcher:
    """`ToolCalls` over one memory.

    Args:
        bundle: The tools that are served; each must have a handler.
        memory: What the calls act on.
        answer_budget: Bytes of compact JSON of a search's payload; 0 = no limit.
        plane: What the tools of the toolset `dataplane` act on; only needed where it is served.
        now: Says to those tools which times lie ahead; another clock only in tests.
    """

    def __init__(
        self,
        bundle: Bundle,
        memory: Memory,
        answer_budget: int = DEFAULT_BUDGET,
        plane: DataPlane | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._plane: Final = plane
        self._twins: Final = Twins(bundle, plane, now, served_by(bundle))
        self._handlers: Final = {
            tool.name: HANDLERS[tool.name] for tool in bundle.tools if tool.name not in self._twins
        }
        self._checker: Final = Checker(bundle)
        self._memory: Final = memory
        self._answer_budget: Final = answer_budget

    async def call(
        self, name: str, arguments: Mapping[str, object] | None, caller: Caller
    ) -> ToolAnswer:
        """Answer a call of a known tool.

        Raises:
            UnknownToolError: No tool of this name is served.
        """
        if name in self._twins:
            return await self._twins.call(name, arguments or {}, caller)
        handler = self._handlers.get(name)
        if handler is None:
            raise UnknownToolError(name)
        try:
            checked = self._checked(name, arguments or {})
        except InvalidArgumentError as error:
            return _failure(str(error))
        except Exception as exc:  # noqa: BLE001 - nothing reaches the SDK raised
            _log_fault(name, exc)
            return _failure(f"{name}: {INTERNAL}")
        return await self._carry_out(handler, Call(tool=name, arguments=checked, caller=caller))

    def _checked(self, name: str, raw: Mapping[str, object]) -> Arguments:
        arguments = prepare(name, raw)
        try:
            self._checker.check_input(name, arguments)
        except ContractViolationError as exc:
            raise InvalidArgumentError(f"arguments do not fit the schema: {exc}") from exc
        return arguments

    async def _carry_out(self, handler: Handler, call: Call) -> ToolAnswer:
        try:
            result = await handler.effect(self._reached(call.caller), call)
        except Exception as exc:  # noqa: BLE001 - as above
            if not isinstance(exc, GraymatterError):
                _log_fault(call.tool, exc)
            return _failure(failure_text(call.tool, call.arguments, exc))
        try:
            return self._answer(call, handler.outcome(call, result))
        except GraymatterError as error:
            return _failure(failure_text(call.tool, call.arguments, error))
        except ContractViolationError as exc:
            _log.error("an answer breaks the contract: %s", exc)
        except Exception as exc:  # noqa: BLE001 - as above; the effect has taken place
            _log_fault(call.tool, exc)
        return _failure(broken_answer_text(call.tool, call.arguments, writes=handler.writes))

    def _reached(self, caller: Caller) -> Memory:
        """Return the memory as the caller may use it."""
        if self._plane is None:
            return restrict(self._memory, caller.rights)
        return memory_for(self._memory, self._plane.accounts.reach, caller.who)

    def _answer(self, call: Call, outcome: Outcome) -> ToolAnswer:
        sent, left_out = fit(outcome, self._answer_budget)
        self._checker.check_output(call.tool, sent.payload)
        text = render(
            call.tool,
            call.arguments,
            sent.payload,
            degraded=sent.degraded,
            left_out=left_out,
        )
        structured = cast("JsonObject", sent.payload)
        return ToolAnswer(text=text, structured=structured, meta=_meta(sent, left_out))


def _failure(text: str) -> ToolAnswer:
    return ToolAnswer(text=text, is_error=True)


def _meta(outcome: Outcome, left_out: LeftOut | None) -> JsonObject:
    meta: JsonObject = {}
    if outcome.degraded is not None:
        meta["graymatter/degraded"] = outcome.degraded.value
    if left_out is not None:
        ids: list[JsonValue] = list(left_out.fact_ids)
        meta["graymatter/left_out"] = {"facts": left_out.facts, "fact_ids": ids}
    return meta


def _log_fault(tool: str, exc: Exception) -> None:
    """Log types and places only: the message of an exception may hold the text of a fact."""
    _log.error("%s failed:\n%s", tool, "\n".join(_trace(exc)))


def _trace(exc: BaseException) -> Iterator[str]:
    seen: set[int] = set()
    link: BaseException | None = exc
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield f"{type(link).__module__}.{type(link).__qualname__}"
        yield "".join(traceback.format_tb(link.__traceback__)).rstrip()
        link = link.__cause__ or link.__context__
