"""The routes of the core that were there before `/v1`, with texts of their own.

Source: data-plane contract 10; core contract 11.4.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Final

from graymatter_mcp.contract.check import ContractViolationError, ValueChecker
from graymatter_mcp.contract.routes import load_route
from graymatter_mcp.engine.scoped import memory_for
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.requests import RecallOptions, RecallRequest, RememberRequest
from graymatter_mcp.surfaces.codec import rfc3339_micros
from graymatter_mcp.surfaces.http.limits import MIB
from graymatter_mcp.surfaces.http.messages import HttpAnswer, error_answer, json_answer
from graymatter_mcp.surfaces.http.routes import Route
from graymatter_mcp.surfaces.rest.endpoint import failure_answer
from graymatter_mcp.surfaces.rest.legacy_requests import read_legacy

if TYPE_CHECKING:
    from graymatter_mcp.contract.routes import RouteContract
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.engine.faces import TwoFacedMemory
    from graymatter_mcp.model.checkpoints import JsonObject, JsonValue
    from graymatter_mcp.surfaces.http.messages import HttpRequest
    from graymatter_mcp.surfaces.rest.rules import Fields

logger = logging.getLogger(__name__)

INTERNAL: Final = error_answer(500, "internal error")
HINT: Final = "send the request again with confirm: true to erase the candidate"
RECALLED: Final = 8
LISTED: Final = 50
_NO_CONFIDENCE: Final = RecallOptions(confidence_weight=0.0)
"""Whatever is configured: these routes are from before there were labels."""
_POSITIVE: Final = re.compile(r"0*[1-9][0-9]{0,17}")

Answer = tuple[int, "JsonObject"]
Operation = Callable[["Memory", "Fields"], Awaitable[Answer]]


async def remember(memory: Memory, fields: Fields) -> Answer:
    """Store a fact."""
    request = RememberRequest(
        namespace=Namespace(fields["agent"]),
        text=fields["text"],
        origin=Origin(source="rest remember"),
    )
    await memory.remember(request)
    return 200, {"status": "ok"}


async def recall(memory: Memory, fields: Fields) -> Answer:
    """Rank the facts of an agent."""
    found = await memory.recall(_request(fields, "q", _count(fields.get("k"), RECALLED)))
    return 200, {"results": list(found.facts)}


async def consolidate(memory: Memory, fields: Fields) -> Answer:
    """Decay and prune."""
    await memory.consolidate(Namespace(fields["agent"]))
    return 200, {"status": "ok"}


async def facts(memory: Memory, fields: Fields) -> Answer:
    """List the newest facts of an agent."""
    limit = _count(fields.get("limit"), LISTED)
    found = await memory.newest(Namespace(fields["agent"]), limit)
    listed: list[JsonValue] = [
        {
            "id": fact.id,
            "text": fact.text,
            "weight": fact.weight,
            "created_at": rfc3339_micros(fact.created_at),
        }
        for fact in found
    ]
    return 200, {"facts": listed}


async def forget(memory: Memory, fields: Fields) -> Answer:
    """Erase a fact by its id, or what a query finds first once that is confirmed."""
    if "id" in fields:
        return await _erased(memory, fields, fields["id"])
    found = await memory.recall_explain(_request(fields, "query", 1))
    # A fact that only its age ranked has nothing to do with the query.
    matches = [one for one in found.receipts if one.ranks.keyword_rank or one.ranks.vector_rank]
    if not matches:
        return 200, {"status": "not_found"}
    candidate = matches[0]
    fact_id = candidate.provenance.fact_id
    if fields.get("confirm"):
        return await _erased(memory, fields, fact_id)
    shown: JsonObject = {"id": fact_id, "text": candidate.text}
    return 200, {"status": "confirm_required", "candidate": shown, "hint": HINT}


async def forget_by_id(memory: Memory, fields: Fields) -> Answer:
    """Erase a fact."""
    status, body = await _erased(memory, fields, fields["id"])
    return (status, body) if "deleted_id" in body else (404, body)


async def _erased(memory: Memory, fields: Fields, name: str) -> Answer:
    if await memory.erase(Namespace(fields["agent"]), FactId(name)):
        return 200, {"status": "ok", "deleted_id": name}
    return 200, {"status": "not_found"}


def _request(fields: Fields, query: str, top_k: int) -> RecallRequest:
    return RecallRequest(
        namespace=Namespace(fields["agent"]),
        query=fields[query],
        top_k=top_k,
        options=_NO_CONFIDENCE,
        hints=False,
    )


def _count(text: str | None, usual: int) -> int:
    """Read a positive number; anything else is the usual one."""
    return int(text) if text is not None and _POSITIVE.fullmatch(text) else usual


OPERATIONS: Final[Mapping[str, Operation]] = {
    "legacy-remember": remember,
    "legacy-recall": recall,
    "legacy-consolidate": consolidate,
    "legacy-facts": facts,
    "legacy-forget": forget,
    "legacy-forget-id": forget_by_id,
}
"""By the name of the route. `/healthz` is one of the probes."""


class LegacyEndpoint:
    """Answers one of the routes; nothing raised gets out but what is refused."""

    def __init__(self, route: RouteContract, operation: Operation, memory: TwoFacedMemory) -> None:
        """Prepare.

        Args:
            route: As its files describe it.
            operation: Carries it out.
            memory: Whom it asks, as far as the caller may.
        """
        self._route = route
        self._operation = operation
        self._memory = memory
        self._checker = ValueChecker(f"rest/{route.name}", route.response)

    async def __call__(self, request: HttpRequest) -> HttpAnswer:
        """Answer."""
        fields = read_legacy(self._route, request)
        try:
            reach = self._memory.plane.accounts.reach
            memory = memory_for(self._memory, reach, request.caller)
            status, body = await self._operation(memory, fields)
            if status in self._route.success:
                self._checker.check(body)
        except GraymatterError as error:
            answer = failure_answer(error)
            return INTERNAL if answer.status == INTERNAL.status else answer
        except ContractViolationError as exc:
            # The message tells place and rule, never the value.
            logger.error("an answer broke the contract: %s", exc)  # noqa: TRY400
            return INTERNAL
        except Exception as exc:  # noqa: BLE001 - these routes have words of their own for it
            logger.error("%s failed with %s", self._route.name, type(exc).__name__)  # noqa: TRY400
            return INTERNAL
        return json_answer(status, body)


def legacy_routes(memory: TwoFacedMemory) -> list[Route]:
    """Return the routes over a memory."""
    found: list[Route] = []
    for name, operation in OPERATIONS.items():
        contract = load_route(name)
        endpoint = LegacyEndpoint(contract, operation, memory)
        found += [
            Route(path=path, methods=(contract.method,), endpoint=endpoint, body_bytes=MIB)
            for path in contract.paths
        ]
    return found
