"""What passes between the gate and the routes behind it: a whole request, a whole answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.model.access import Caller, Rights
from graymatter_mcp.surfaces.auth import Scope

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from graymatter_mcp.surfaces.auth import Principal

Headers = tuple[tuple[bytes, bytes], ...]

JSON_TYPE: Final = b"application/json; charset=utf-8"

SAFETY_HEADERS: Final[Headers] = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
)
"""On every answer: facts belong in no cache, and no page may make something else of one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """One request that passed the gate, with its body read."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name; of a repeated one the last."""
    repeated: frozenset[str]
    """Names of headers that came more than once."""
    body: bytes
    principal: Principal | None
    """Who asks; None only on open routes."""
    request_id: str
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    """What stands where the route's path has names."""
    query: str = ""
    """Of the URL, without the question mark."""

    @property
    def rights(self) -> Rights:
        """What the caller may do.

        Raises:
            LookupError: The route is open: nobody was asked who they are.
        """
        if self.principal is None:
            raise LookupError("an open route has no caller")
        may_write = self.principal.scope is Scope.FULL
        return Rights(
            may_write=may_write,
            project=self.principal.project,
            reaches_core=self.principal.reaches_core,
        )

    @property
    def caller(self) -> Caller:
        """Who asks, as the data plane knows them.

        Raises:
            LookupError: The route is open: nobody was asked who they are.
        """
        if self.principal is None:
            raise LookupError("an open route has no caller")
        return Caller(
            tenant=self.principal.tenant,
            user_id=self.principal.user_id,
            rights=self.rights,
            token_id=self.principal.token_id,
            request_id=self.request_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """One whole answer."""

    status: int
    body: bytes = b""
    headers: Headers = ()
    media_type: bytes = JSON_TYPE
    note: str = ""
    """What was asked, in our own words, for the log."""
    is_noted: bool = False
    """Whether the audit has been told, where this is a refusal."""


class RefusedError(Exception):
    """Carries the answer to a request that goes no further."""

    def __init__(self, answer: HttpAnswer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def json_answer(status: int, document: Any, *headers: tuple[bytes, bytes]) -> HttpAnswer:
    """Answer with a JSON document."""
    body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
    return HttpAnswer(status=status, body=body, headers=headers)


def error_answer(status: int, text: str, *headers: tuple[bytes, bytes]) -> HttpAnswer:
    """Answer that something is wrong, and what to do."""
    return json_answer(status, {"error": text}, *headers)


async def send_answer(
    send: Callable[[dict[str, Any]], Awaitable[None]], answer: HttpAnswer, extra: Headers
) -> None:
    """Put an answer on the wire, with the headers that every answer has."""
    headers = [
        (b"content-length", b"%d" % len(answer.body)),
        *SAFETY_HEADERS,
        *answer.headers,
        *extra,
    ]
    if answer.body:
        headers.append((b"content-type", answer.media_type))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})
