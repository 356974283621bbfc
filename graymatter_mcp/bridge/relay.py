"""Requests on their way to the owner and answers on their way back, across deaths of the owner."""

from __future__ import annotations

import os
import threading
import time

from graymatter_mcp.bridge.lines import (
    INTERNAL_ERROR,
    LineSplitter,
    encode,
    encode_id,
    error_message,
)
from graymatter_mcp.bridge.link import NoOwnerError, Owner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from graymatter_mcp.bridge.handshake import Handshake
    from graymatter_mcp.bridge.lines import JsonId, Notification, Request

KEY = "graymatter/idempotency_key"
OUTCOME_UNKNOWN = (
    "outcome unknown: the owner went away after the write was sent; check before sending it again"
)
_READ_BYTES = 256 * 1024
_PARENT_CHECK_S = 1.0
_RETRY_S = 0.05


class _Pending:
    """A request without an answer; `line` is what the owner gets, under a number of ours."""

    __slots__ = ("id", "is_call", "line", "was_sent")

    def __init__(self, request_id: JsonId, line: bytes, *, is_call: bool) -> None:
        self.id = request_id
        self.line = line
        self.is_call = is_call
        self.was_sent = False


class Relay:
    """Carries requests to the owner from any thread; a thread of its own carries answers back."""

    def __init__(
        self,
        handshake: Handshake,
        write: Callable[[bytes], None],
        leave: Callable[[], None],
        reach: Callable[[], Owner],
    ) -> None:
        """Prepare; nothing is connected before `start`.

        Args:
            handshake: Knows how the session was opened.
            write: Writes one line to the client.
            leave: Ends the process: the parent is gone.
            reach: Finds or starts an owner; raises NoOwnerError.
        """
        self._handshake = handshake
        self._write = write
        self._leave = leave
        self._reach = reach
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._pending: dict[int, _Pending] = {}
        self._numbers: dict[Any, int] = {}
        self._count = 0
        self._initialized: bytes | None = None
        self._owner: Owner | None = None
        self._parent = os.getppid()
        self._swallowed: set[int] = set()

    def start(self) -> None:
        """Start to look for the owner."""
        threading.Thread(target=self._run, name="graymatter-owner", daemon=True).start()

    def request(self, request: Request) -> None:
        """Send a request, now or as soon as there is an owner."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": request.method}
        is_call = request.method == "tools/call"
        if request.params is not None:
            message["params"] = _stamped(request.params) if is_call else request.params
        with self._lock:
            number = self._next()
            pending = _Pending(request.id, encode(message | {"id": number}), is_call=is_call)
            self._pending[number] = pending
            self._numbers[_key(request.id)] = number
            self._changed.notify_all()
            self._send(pending)

    def notify(self, notification: Notification) -> None:
        """Pass a notification on; a cancelled request needs no answer any more."""
        params = notification.params
        with self._lock:
            if notification.method == "notifications/initialized":
                self._initialized = encode(_notification(notification.method, params))
            if notification.method == "notifications/cancelled":
                number = self._numbers.pop(_key((params or {}).get("requestId")), None)
                if number is None or self._pending.pop(number, None) is None:
                    return
                params = {**(params or {}), "requestId": number}
                self._changed.notify_all()
            if self._owner is not None:
                self._send_line(self._owner, encode(_notification(notification.method, params)))

    def drain(self, timeout_s: float) -> None:
        """Wait until every request is answered, or time is up."""
        deadline = time.monotonic() + timeout_s
        with self._lock:
            while self._pending and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for an answer."""
        return not self._pending

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _send(self, pending: _Pending) -> None:
        if self._owner is not None:
            pending.was_sent = True
            self._send_line(self._owner, pending.line)

    def _send_line(self, owner: Owner, line: bytes) -> None:
        try:
            owner.connection.sendall(line)
        except OSError:
            # The reading thread notices too, and sends again what is unanswered.
            owner.connection.close()

    def _run(self) -> None:
        while True:
            try:
                owner = self._reach()
            except NoOwnerError as exc:
                self._refuse_all(str(exc))
                self._wait_for_request()
                continue
            self._greeted(owner)
            self._read_from(owner)
            with self._lock:
                self._owner = None
            owner.connection.close()
            self._settle_unsure(owner)
            time.sleep(_RETRY_S)
            if not self._pending:
                self._wait_for_request()

    def _wait_for_request(self) -> None:
        """Wait until somebody needs an owner."""
        with self._lock:
            while not self._pending:
                self._changed.wait(_PARENT_CHECK_S)
                self._check_parent()

    def _check_parent(self) -> None:
        if os.getppid() != self._parent:
            self._leave()

    def _greeted(self, owner: Owner) -> None:
        """Put a fresh connection where the session is, and send what waits."""
        with self._lock:
            if self._handshake.opener is not None:
                method, params = self._handshake.opener
                number = self._next()
                self._swallowed.add(number)
                message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                self._send_line(owner, encode(message))
                if self._initialized is not None:
                    self._send_line(owner, self._initialized)
            self._owner = owner
            for pending in list(self._pending.values()):
                self._send(pending)

    def _read_from(self, owner: Owner) -> None:
        """Pass answers on until the owner hangs up."""
        splitter = LineSplitter(limit=1 << 62)
        chunk = owner.rest
        owner.connection.settimeout(_PARENT_CHECK_S)
        while True:
            for line in splitter.feed(chunk):
                if isinstance(line, bytes):
                    self._pass_back(line)
            try:
                chunk = owner.connection.recv(_READ_BYTES)
            except TimeoutError:
                self._check_parent()
                chunk = b""
                continue
            except OSError:
                return
            if not chunk:
                return

    def _pass_back(self, line: bytes) -> None:
        number, rest = _answered(line)
        if number is None:
            self._write(line + b"\n")
            return
        with self._lock:
            if number in self._swallowed:
                self._swallowed.discard(number)
                return
            pending = self._pending.pop(number, None)
            if pending is None:
                return
            if self._numbers.get(_key(pending.id)) == number:
                del self._numbers[_key(pending.id)]
        # Written before anybody is told: a drain must not end the process in between.
        self._write(b'{"jsonrpc":"2.0","id":' + encode_id(pending.id) + b"," + rest + b"\n")
        with self._lock:
            self._changed.notify_all()

    def _settle_unsure(self, owner: Owner) -> None:
        """Answer what an owner without receipts took along: nobody can say whether it happened."""
        if owner.is_exact:
            return
        with self._lock:
            lost = {n: p for n, p in self._pending.items() if p.was_sent and p.is_call}
            for number in lost:
                del self._pending[number]
        for pending in lost.values():
            self._fail(pending, OUTCOME_UNKNOWN)

    def _fail(self, pending: _Pending, text: str) -> None:
        """Answer a call by a tool error, which the model can read."""
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
        if self._handshake.is_modern:
            result["resultType"] = "complete"
        self._write(encode({"jsonrpc": "2.0", "id": pending.id, "result": result}))

    def _refuse_all(self, reason: str) -> None:
        with self._lock:
            refused = list(self._pending.values())
            self._pending.clear()
            self._numbers.clear()
        text = f"store unavailable: {reason}"
        for pending in refused:
            if pending.is_call:
                self._fail(pending, text)
            else:
                self._write(encode(error_message(pending.id, INTERNAL_ERROR, text)))
        with self._lock:
            self._changed.notify_all()


def _stamped(params: dict[str, Any]) -> dict[str, Any]:
    """Give a call a key of its own, so that sending it again has no second effect."""
    meta = params.get("_meta")
    if meta is not None and (not isinstance(meta, dict) or KEY in meta):
        return params
    return {**params, "_meta": {**(meta or {}), KEY: os.urandom(16).hex()}}


def _notification(method: str, params: dict[str, Any] | None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else message | {"params": params}


def _answered(line: bytes) -> tuple[int | None, bytes]:
    """Return the number that an owner's line answers, and the line behind its id."""
    head, _, rest = line.partition(b",")
    number, comma, body = rest.partition(b",")
    if head != b'{"jsonrpc":"2.0"' or not comma or not number.startswith(b'"id":'):
        return None, line
    return int(number[5:]), body


def _key(request_id: Any) -> Any:
    """Tell 7 from "7" and from 7.0, which Python would take for one key."""
    return type(request_id).__name__, repr(request_id)
