"""Reads the body of a request: bounded in size, in time, and in what all of them hold together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import anyio

from graymatter_mcp.surfaces.http.messages import RefusedError, error_answer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from graymatter_mcp.surfaces.http.limits import HttpLimits

CLOSE: Final = (b"connection", b"close")
RETRY_SOON: Final = (b"retry-after", b"1")
BUSY: Final = error_answer(503, "the server is busy: send it again", RETRY_SOON, CLOSE)
_DIGITS: Final = 18


class ClientGoneError(Exception):
    """The client hung up before its body was complete: nobody waits for an answer."""


class Bodies:
    """All bodies that are in memory."""

    def __init__(self, limits: HttpLimits) -> None:
        self._limits = limits
        self._held = 0

    def release(self, size: int) -> None:
        """Forget a body that was read."""
        self._held -= size

    async def read(
        self,
        receive: Callable[[], Awaitable[dict[str, Any]]],
        declared: str | None,
        limit: int,
    ) -> bytes:
        """Read one body; the caller releases it.

        Args:
            receive: Of ASGI.
            declared: `Content-Length`, if it came.
            limit: In bytes, for this route.

        Raises:
            RefusedError: It is too large, too slow, or there is no room now.
            ClientGoneError: It never became complete.
        """
        if is_over(declared, limit):
            raise _too_large(limit)
        body = bytearray()
        try:
            with anyio.fail_after(self._limits.client_timeout_s):
                await self._fill(body, receive, limit)
        except TimeoutError:
            self.release(len(body))
            seconds = self._limits.client_timeout_s
            raise RefusedError(
                error_answer(408, f"the body did not arrive within {seconds:g} s", CLOSE)
            ) from None
        except (RefusedError, ClientGoneError):
            self.release(len(body))
            raise
        return bytes(body)

    async def _fill(
        self, body: bytearray, receive: Callable[[], Awaitable[dict[str, Any]]], limit: int
    ) -> None:
        while True:
            message = await receive()
            if message["type"] != "http.request":
                raise ClientGoneError
            chunk: bytes = message.get("body", b"")
            body += chunk
            self._held += len(chunk)
            if len(body) > limit:
                raise _too_large(limit)
            if self._held > self._limits.held_bytes:
                raise RefusedError(BUSY)
            if not message.get("more_body", False):
                return


def is_over(declared: str | None, limit: int) -> bool:
    """Whether a `Content-Length` says more than the limit; one that is no number says nothing."""
    if declared is None or not (declared.isascii() and declared.isdigit()):
        return False
    return len(declared) > _DIGITS or int(declared) > limit


def _too_large(limit: int) -> RefusedError:
    return RefusedError(error_answer(413, f"request body exceeds {limit} bytes", CLOSE))
