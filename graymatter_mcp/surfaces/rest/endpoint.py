"""One REST route at work: from a request that passed the gate to a checked answer."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.check import ContractViolationError, ValueChecker
from graymatter_mcp.contract.issues import Issue
from graymatter_mcp.errors import ErrorCode, GraymatterError, QuotaError
from graymatter_mcp.model.requests import CallKey
from graymatter_mcp.surfaces.error_map import ERROR_MAP, reason_of
from graymatter_mcp.surfaces.http.messages import (
    HttpAnswer,
    RefusedError,
    error_answer,
)
from graymatter_mcp.surfaces.rest.bodies import encoded
from graymatter_mcp.surfaces.rest.operations import Asked
from graymatter_mcp.surfaces.rest.requests import issues_answer, read_arguments

if TYPE_CHECKING:
    from collections.abc import Callable

    from graymatter_mcp.contract.routes import RouteContract
    from graymatter_mcp.engine.plane.base import DataPlane
    from graymatter_mcp.surfaces.http.messages import HttpRequest
    from graymatter_mcp.surfaces.rest.operations import Operation, Reply

logger = logging.getLogger(__name__)

KEY_HEADER: Final = "idempotency-key"
MAX_KEY: Final = 128
REPLAYED: Final = (b"idempotency-replayed", b"true")
INTERNAL: Final = error_answer(500, "internal server error")
FAILED_PARTS: Final = frozenset({"results", "degraded", "abstained", "relevant", "recent"})
"""What stands beside the error where a search found nothing since a leg was away."""
NO_CONTENT: Final = 204
_FORGET_FIRST_S: Final = 60
"""Until the next try where only forgetting helps: nobody can tell when that is done."""
_UNAVAILABLE: Final = "store unavailable"
_READ_ONLY: Final = "store is read-only"


class RestEndpoint:
    """Answers one route of the data plane."""

    def __init__(
        self,
        route: RouteContract,
        operation: Operation,
        plane: DataPlane,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Prepare.

        Args:
            route: As its files describe it.
            operation: Carries it out.
            plane: Whom it asks.
            now: Says which times lie ahead; another clock only in tests.
        """
        self._route = route
        self._operation = operation
        self._plane = plane
        self._now = now
        self._checker = ValueChecker(f"rest/{route.name}", route.response)

    async def __call__(self, request: HttpRequest) -> HttpAnswer:
        """Answer; whatever the operation refuses becomes its status and text."""
        now = self._now()
        fields = read_arguments(
            self._route,
            request.body,
            request.headers.get("content-type"),
            request.query,
            now=now,
        )
        asked = Asked(
            caller=request.caller,
            fields={**fields, **request.parameters},
            now=now,
            key=self._key(request, fields),
        )
        try:
            reply = await self._operation(self._plane, asked)
        except GraymatterError as error:
            # Whoever carries out an operation tells the audit.
            return replace(failure_answer(error), is_noted=True)
        return self._answer(reply)

    def _answer(self, reply: Reply) -> HttpAnswer:
        if reply.failure is not None:
            kept = {key: reply.body[key] for key in reply.body if key in FAILED_PARTS}
            return _sent(503, encoded({**kept, "error": reply.failure}))
        try:
            self._checker.check(reply.body)
        except ContractViolationError as exc:
            # The message tells place and rule, never the value.
            logger.error("an answer broke the contract: %s", exc)  # noqa: TRY400
            return INTERNAL
        headers = (REPLAYED,) if reply.is_replayed else ()
        body = b"" if reply.status == NO_CONTENT else encoded(reply.body)
        return _sent(reply.status, body, *headers)

    def _key(self, request: HttpRequest, fields: dict[str, Any]) -> CallKey | None:
        """Return under what a write takes effect once, if it has a key.

        Raises:
            RefusedError: The key is none that can be taken.
        """
        given = request.headers.get(KEY_HEADER)
        if given is None or not self._route.needs_write:
            return None
        if not 1 <= len(given) <= MAX_KEY or not given.isascii() or not given.isprintable():
            words = f"must be 1 to {MAX_KEY} printable ASCII characters"
            issue = Issue(path=KEY_HEADER, message=words, code="invalid_format")
            raise RefusedError(issues_answer([issue]))
        caller = request.caller
        # Two callers may choose one key, and neither may be given the other's answer.
        owner = [caller.tenant, caller.user_id, caller.token_id, given]
        asked = [self._route.name, fields, dict(request.parameters)]
        return CallKey(key=f"rest {_digest(owner)}", digest=_digest(asked))


def failure_answer(error: GraymatterError) -> HttpAnswer:
    """Return what a caller hears of a failure.

    Source: data-plane contract 2.6.
    """
    text = reason_of(error)
    status = ERROR_MAP[error.code].http_status
    if error.code is ErrorCode.STORE_UNAVAILABLE:
        text = _UNAVAILABLE
    if error.code is ErrorCode.READ_ONLY and text == _READ_ONLY:
        status = 503
    if status >= 500 and status != 503:
        return INTERNAL
    if isinstance(error, QuotaError):
        seconds = _FORGET_FIRST_S if error.retry_after_s is None else error.retry_after_s
        return error_answer(status, text, (b"retry-after", b"%d" % seconds))
    return error_answer(status, text)


def _sent(status: int, body: bytes, *headers: tuple[bytes, bytes]) -> HttpAnswer:
    return HttpAnswer(status=status, body=body, headers=headers)


def _digest(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
