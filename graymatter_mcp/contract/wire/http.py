"""A server at a URL: one request a POST, an answer in JSON or as the one event of a stream."""

from __future__ import annotations

import http.client
import json
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.contract.wire.base import (
    DEADLINE_S,
    STATELESS_REVISION,
    Message,
    WireError,
    decode,
    encode,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_ACCEPT: Final = "application/json, text/event-stream"
_SESSION: Final = "mcp-session-id"
_UNAUTHORIZED: Final = 401
_TOO_MANY: Final = 429
_TRIES: Final = 3
_MAX_WAIT_S: Final = 60.0


class HttpWire:
    """A connection to a server that runs already."""

    is_stream = False

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._url = url
        self._headers = dict(headers or {})
        # The machine's proxies are for other hosts than the one that is named here.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self._session = ""

    def ask(self, message: Message, revision: str) -> Message:
        """Send one request and return its answer."""
        answer = _message_of(*self._post(message, revision))
        if type(answer.get("id")) is not type(message["id"]) or answer["id"] != message["id"]:
            raise WireError("the server answered with another id than was asked")
        return answer

    def tell(self, message: Message, revision: str) -> None:
        """Send a notification."""
        self._post(message, revision)

    def ask_raw(self, line: bytes) -> Message:
        """Over HTTP there are no lines."""
        raise WireError("bytes of one's own choice are for streams")

    def close(self) -> None:
        """Nothing is kept open."""

    def _post(self, message: Message, revision: str) -> tuple[str, bytes]:
        # A URL that opens a file is refused before: see `connect`.
        request = urllib.request.Request(  # noqa: S310
            self._url, encode(message), self._headers_of(message, revision)
        )
        for _ in range(_TRIES):
            try:
                with self._opener.open(request, timeout=DEADLINE_S) as answer:
                    return self._read(answer)
            except urllib.error.HTTPError as exc:
                with exc:
                    if exc.code == _UNAUTHORIZED:
                        text = "the server wants a token: give one with --header"
                        raise WireError(text) from None
                    if exc.code != _TOO_MANY:
                        return self._read(exc)
                    time.sleep(_wait_s(exc.headers.get("Retry-After")))
            except (OSError, http.client.HTTPException) as exc:
                raise WireError("the server cannot be reached") from exc
        raise WireError("the server goes on asking for fewer requests a minute")

    def _headers_of(self, message: Message, revision: str) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": _ACCEPT, **self._headers}
        if message["method"] != "initialize":
            headers["MCP-Protocol-Version"] = revision
        if revision == STATELESS_REVISION:
            headers["Mcp-Method"] = message["method"]
            name = message.get("params", {}).get("name")
            if isinstance(name, str):
                headers["Mcp-Name"] = name
        elif self._session:
            headers[_SESSION] = self._session
        return headers

    def _read(self, answer: Any) -> tuple[str, bytes]:
        self._session = answer.headers.get(_SESSION) or self._session
        return answer.headers.get_content_type(), answer.read()


def _wait_s(retry_after: str | None) -> float:
    """Return how long a server that limits requests wants to be left alone; at most a minute."""
    try:
        return max(0.0, min(float(retry_after or 1), _MAX_WAIT_S))
    except ValueError:
        return 1.0  # a date, which tells no more than that it is soon


def _message_of(content_type: str, body: bytes) -> Message:
    if content_type != "text/event-stream":
        return decode(body)
    for line in body.splitlines():
        if line.startswith(b"data:"):
            message = decode(line[5:])
            if "id" in message and "method" not in message:
                return message
    raise WireError("the stream of events ended without the answer")


def as_header(text: str) -> tuple[str, str]:
    """Read ``Name: value``.

    Raises:
        ValueError: It has no colon.
    """
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise ValueError("a header is written as Name: value")
    return name.strip(), value.strip()


def json_size(value: Any) -> int:
    """Return the bytes of a value as compact JSON."""
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())
