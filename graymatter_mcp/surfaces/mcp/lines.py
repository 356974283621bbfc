"""JSON-RPC as lines of UTF-8: bytes in, checked messages out, and back.

Pure. The SDK's parser is not used: it refuses lone surrogates and answers nothing to a line it
cannot read, which leaves the client waiting for ever.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeGuard, cast

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

JsonId = str | int | float
"""What a client may use to name a request; echoed as it came."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Longest line that is read whole; of a longer one only the ends are kept."""

HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 1024


@dataclass(frozen=True, slots=True)
class Overlong:
    """The ends of a line above `MAX_LINE_BYTES`, kept to find its id."""

    head: bytes
    tail: bytes


@dataclass(frozen=True, slots=True)
class Request:
    """A call that must be answered under `id`."""

    id: JsonId
    method: str
    params: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Notification:
    """A message that is never answered."""

    method: str
    params: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """A line that is answered with an error; id None where it could not be read."""

    id: JsonId | None
    code: int
    message: str


Incoming = Request | Notification | Refusal


class NotJsonNumberError(ValueError):
    """NaN, Infinity, or a number beyond the range of a double."""


class LineSplitter:
    """Cuts a byte stream into lines, in memory bounded by `limit` and one chunk."""

    def __init__(self, limit: int = MAX_LINE_BYTES) -> None:
        self._limit = limit
        self._line = bytearray()
        self._overlong: Overlong | None = None

    def feed(self, chunk: bytes) -> Iterator[bytes | Overlong]:
        """Yield each line that ends within `chunk`, without its newline."""
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            self._take(piece)
            yield self._end()
        self._take(rest)

    def finish(self) -> Iterator[bytes | Overlong]:
        """Yield the last line when the stream ended without a newline."""
        if self._line or self._overlong:
            yield self._end()

    def _take(self, piece: bytes) -> None:
        if self._overlong is None and len(self._line) + len(piece) <= self._limit:
            self._line += piece
            return
        kept = self._overlong or Overlong(
            bytes(self._line[:HEAD_BYTES]), bytes(self._line[-TAIL_BYTES:])
        )
        self._line = bytearray()
        head = kept.head + piece[: HEAD_BYTES - len(kept.head)]
        self._overlong = Overlong(head, (kept.tail + piece[-TAIL_BYTES:])[-TAIL_BYTES:])

    def _end(self) -> bytes | Overlong:
        line = self._overlong or bytes(self._line)
        self._line = bytearray()
        self._overlong = None
        return line


def read_line(line: bytes | Overlong) -> Incoming | None:
    """Read one line; None when it asks for nothing (blank, or an answer to us)."""
    if isinstance(line, Overlong):
        text = line.head.decode("utf-8", "replace") + "\n" + line.tail.decode("utf-8", "replace")
        return Refusal(
            salvage_id(text),
            INVALID_REQUEST,
            f"Invalid Request: a line over {MAX_LINE_BYTES} bytes",
        )
    # A lone broken byte must not cost the whole message: the field it sits in is still readable.
    text = line.decode("utf-8", "replace").lstrip("\ufeff")
    if not text.strip(" \t\r\n"):
        return None
    try:
        value = _DECODER.decode(text)
    except NotJsonNumberError:
        return Refusal(
            salvage_id(text), PARSE_ERROR, "Parse error: NaN and infinite numbers are not JSON"
        )
    except RecursionError:
        return Refusal(salvage_id(text), INVALID_REQUEST, "Invalid Request: nested too deeply")
    except json.JSONDecodeError:
        return Refusal(None, PARSE_ERROR, "Parse error: the line is not JSON")
    except ValueError:
        # Python converts no integer of more than 4300 digits.
        return Refusal(
            salvage_id(text), INVALID_REQUEST, "Invalid Request: a number has too many digits"
        )
    return _as_message(value)


def salvage_id(text: str) -> JsonId | None:
    """Find the id of a message that cannot be parsed as a whole, by its outermost keys.

    Looks at the first 64 KiB, then at the very end, where some clients put the id.
    """
    depth = 0
    last: list[str] = ["", ""]
    for match in _TOKEN.finditer(text[:HEAD_BYTES]):
        token = match.group()
        if depth == 1 and last == ['"id"', ":"]:
            return _usable_id(token)
        depth += (token in _OPENING) - (token in _CLOSING)
        last = [last[1], token]
    ending = _LAST_ID.search(text[-TAIL_BYTES:])
    return _usable_id(ending.group(1)) if ending else None


def encode(message: Mapping[str, Any]) -> bytes:
    """Write one message as one line; never fails.

    A payload that JSON cannot hold becomes the error -32603 under the same id.
    """
    try:
        text = _ENCODER.encode(message)
    except (ValueError, TypeError, RecursionError):
        return encode(error_message(message.get("id"), INTERNAL_ERROR, "Internal error"))
    try:
        return text.encode() + b"\n"
    except UnicodeEncodeError:
        # A lone surrogate has no UTF-8 form, but JSON can say it as an escape.
        return _ASCII_ENCODER.encode(message).encode() + b"\n"


def error_message(
    request_id: JsonId | None, code: int, message: str, details: object = None
) -> dict[str, Any]:
    """Build a JSON-RPC error answer; `details` None leaves its `data` out."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details is not None:
        error["data"] = details
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _as_message(value: object) -> Incoming | None:
    if isinstance(value, list):
        return Refusal(None, INVALID_REQUEST, "Invalid Request: batches are not served")
    if not isinstance(value, dict):
        return Refusal(None, INVALID_REQUEST, "Invalid Request: not an object")
    fields = cast("dict[str, Any]", value)  # JSON objects have string keys
    claimed = fields.get("id")
    request_id = claimed if is_id(claimed) else None
    if fields.get("jsonrpc") != "2.0":
        return Refusal(request_id, INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"')
    if "method" not in fields and ("result" in fields or "error" in fields):
        return None
    if not isinstance(fields.get("method"), str):
        return Refusal(request_id, INVALID_REQUEST, 'Invalid Request: "method" must be a string')
    return _as_call(fields, request_id)


def _as_call(fields: dict[str, Any], request_id: JsonId | None) -> Incoming | None:
    params: dict[str, Any] | None = fields.get("params")
    # What the wire says may differ from what the annotation hopes.
    is_readable = params is None or isinstance(cast("object", params), dict)
    if "id" not in fields:
        return Notification(fields["method"], params) if is_readable else None
    if request_id is None:
        return Refusal(None, INVALID_REQUEST, 'Invalid Request: "id" must be a string or a number')
    if not is_readable:
        return Refusal(request_id, INVALID_PARAMS, 'Invalid params: "params" must be an object')
    return Request(request_id, fields["method"], params)


def is_id(value: object) -> TypeGuard[JsonId]:
    """Whether a value can name a request; true and false are no numbers here."""
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _usable_id(token: str) -> JsonId | None:
    try:
        value = _DECODER.decode(token)
    except ValueError:
        return None
    return value if is_id(value) else None


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise NotJsonNumberError
    return number


def _refuse_constant(_literal: str) -> None:
    raise NotJsonNumberError


_OPENING = frozenset("{[")
_CLOSING = frozenset("}]")
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)
_LAST_ID = re.compile(r',\s*"id"\s*:\s*(-?[0-9.eE+-]+|"(?:[^"\\]|\\.)*")\s*}\s*$')
# strict=False: a raw control character in a string must not cost the request its answer.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant, parse_float=_finite)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
