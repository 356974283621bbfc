"""JSON-RPC as lines of UTF-8: bytes in, checked messages out, and back.

Pure. The SDK's parser is not used: it refuses lone surrogates and answers nothing to a line it
cannot read, which leaves the client waiting for ever.
"""

from __future__ import annotations

import json
import math

# Not from `typing`: its import takes as long as the interpreter itself needs to start.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any, Final, TypeGuard

    JsonId = str | int | float
    """What a client may use to name a request; echoed as it came."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

MAX_LINE_BYTES: Final = 64 * 1024 * 1024
"""Longest line that is read whole, unless set; of a longer one only the ends are kept."""

LIMIT_VARIABLE: Final = "GRAYMATTER_MAX_LINE_BYTES"
MIN_LINE_BYTES: Final = 1024
NO_LIMIT: Final = 1 << 62

HEAD_BYTES: Final = 64 * 1024
TAIL_BYTES: Final = 1024


class Value:
    """Equal to another of its class when all slots are: a dataclass without its import."""

    __slots__: tuple[str, ...] = ()

    def __init__(self, *fields: Any) -> None:
        for name, field in zip(self.__slots__, fields, strict=True):
            object.__setattr__(self, name, field)

    def __eq__(self, other: object) -> bool:
        """Compare class and slots."""
        return type(other) is type(self) and all(
            getattr(self, name) == getattr(other, name) for name in self.__slots__
        )

    __hash__ = None  # pyright: ignore[reportAssignmentType] - how Python says unhashable

    def __repr__(self) -> str:
        """Show class and slots."""
        fields = ", ".join(repr(getattr(self, name)) for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class Overlong(Value):
    """The ends of a line above the limit, kept to find its id."""

    __slots__ = ("head", "tail")
    head: bytes
    tail: bytes


class Request(Value):
    """A call that must be answered under `id`."""

    __slots__ = ("id", "method", "params")
    id: JsonId
    method: str
    params: dict[str, Any] | None


class Notification(Value):
    """A message that is never answered."""

    __slots__ = ("method", "params")
    method: str
    params: dict[str, Any] | None


class Refusal(Value):
    """A line that is answered with an error; id None where it could not be read."""

    # In the order of the arguments, which sorting would swap.
    __slots__ = ("id", "code", "message")  # noqa: RUF023
    id: JsonId | None
    code: int
    message: str


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


def read_line(
    line: bytes | Overlong, limit: int = MAX_LINE_BYTES
) -> Request | Notification | Refusal | None:
    """Read one line; None when it asks for nothing (blank, or an answer to us).

    Args:
        line: As the splitter cut it.
        limit: The splitter's, to be named where the line was longer.
    """
    if isinstance(line, Overlong):
        text = line.head.decode("utf-8", "replace") + "\n" + line.tail.decode("utf-8", "replace")
        return Refusal(
            salvage_id(text),
            INVALID_REQUEST,
            f"Invalid Request: a line over {limit} bytes; {LIMIT_VARIABLE} sets the limit",
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
    import re  # only for lines that nobody should send

    depth = 0
    last: list[str] = ["", ""]
    for match in re.finditer(_LEXEME, text[:HEAD_BYTES], re.DOTALL):
        token = match.group()
        if depth == 1 and last == ['"id"', ":"]:
            return _usable_id(token)
        depth += (token in _OPENING) - (token in _CLOSING)
        last = [last[1], token]
    ending = re.search(_LAST_ID, text[-TAIL_BYTES:])
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


def encode_id(request_id: JsonId) -> bytes:
    """Write an id as the client wrote it."""
    return json.dumps(request_id).encode()


def error_message(
    request_id: JsonId | None, code: int, message: str, details: object = None
) -> dict[str, Any]:
    """Build a JSON-RPC error answer; `details` None leaves its `data` out."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details is not None:
        error["data"] = details
    return {"jsonrpc": "2.0", "id": request_id, "error": error}


def _as_message(value: Any) -> Request | Notification | Refusal | None:
    if isinstance(value, list):
        return Refusal(None, INVALID_REQUEST, "Invalid Request: batches are not served")
    if not isinstance(value, dict):
        return Refusal(None, INVALID_REQUEST, "Invalid Request: not an object")
    fields: dict[str, Any] = value  # pyright: ignore[reportUnknownVariableType] - as decoded
    claimed = fields.get("id")
    request_id = claimed if is_id(claimed) else None
    if fields.get("jsonrpc") != "2.0":
        return Refusal(request_id, INVALID_REQUEST, 'Invalid Request: "jsonrpc" must be "2.0"')
    if "method" not in fields and ("result" in fields or "error" in fields):
        return None
    if not isinstance(fields.get("method"), str):
        return Refusal(request_id, INVALID_REQUEST, 'Invalid Request: "method" must be a string')
    return _as_call(fields, request_id)


def _as_call(
    fields: dict[str, Any], request_id: JsonId | None
) -> Request | Notification | Refusal | None:
    params: Any = fields.get("params")
    is_readable = params is None or isinstance(params, dict)
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
_LEXEME = r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+'
_LAST_ID = r',\s*"id"\s*:\s*(-?[0-9.eE+-]+|"(?:[^"\\]|\\.)*")\s*}\s*$'
# strict=False: a raw control character in a string must not cost the request its answer.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_refuse_constant, parse_float=_finite)
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))
