"""Requests on their way to the owner and answers on their way back, across deaths of the owner."""

from __future__ import annotations

import os
import select
import threading
import time
from contextlib import suppress

from graymatter_mcp.bridge.lines import NO_LIMIT, LineSplitter, encode, encode_id
from graymatter_mcp.bridge.link import NoOwnerError, Owner, hang_up
from graymatter_mcp.bridge.patience import CALL_TIMEOUT_S, Patience, Pending
from graymatter_mcp.bridge.unanswered import (
    NOT_IN_TIME,
    is_open,
    tool_error,
    unanswered,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from graymatter_mcp.bridge.handshake import Handshake
    from graymatter_mcp.bridge.lines import Notification, Request

KEY = "graymatter/idempotency_key"
_READ_BYTES = 256 * 1024
_RETRY_S = 0.05


class Relay:
    """Carries requests to the owner from any thread; a thread of its own carries answers back."""

    def __init__(
        self,
        handshake: Handshake,
        write: Callable[[bytes], None],
        reach: Callable[[], Owner],
        call_timeout_s: float = CALL_TIMEOUT_S,
    ) -> None:
        """Prepare; nothing is connected before `start`.

        Args:
            handshake: Knows how the session was opened.
            write: Writes one line to the client.
            reach: Finds or starts an owner; raises NoOwnerError.
            call_timeout_s: Silence after which an owner is asked again.
        """
        self._handshake = handshake
        self._write = write
        self._reach = reach
        self._patience = Patience(call_timeout_s)
        # Held while an owner is written to, which may take as long as the owner reads nothing.
        # The other lock is not: the thread that reads must go on, or both ends wait for ever.
        self._sending = threading.Lock()
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._pending: dict[int, Pending] = {}
        self._numbers: dict[Any, int] = {}
        self._count = 0
        self._initialized: bytes | None = None
        self._owner: Owner | None = None
        self._opened_behind = 0
        """Number of the last request that came before the opening."""
        self._swallowed: set[int] = set()

    def start(self) -> None:
        """Start to look for the owner."""
        threading.Thread(target=self._run, name="graymatter-owner", daemon=True).start()

    def request(self, request: Request) -> None:
        """Send a request, now or as soon as there is an owner."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": request.method}
        is_call = request.method == "tools/call"
        if request.params is not None:
            message["params"] = self._stamped(request.params) if is_call else request.params
        is_read = is_call and self._handshake.is_read(request.params)
        with self._sending:
            with self._lock:
                number = self._next()
                line = encode(message | {"id": number})
                pending = Pending(request.id, line, is_call=is_call, is_read=is_read)
                self._pending[number] = pending
                self._numbers[_key(request.id)] = number
                owner = self._owner
                if owner is not None:
                    self._patience.send(pending)
                self._changed.notify_all()
            self._send(owner, line)

    def open(self) -> None:
        """Tell an owner that is there already how the session was opened."""
        with self._sending:
            with self._lock:
                self._opened_behind = self._count
                owner, lines = self._owner, self._opening()
            self._send(owner, *lines)

    def notify(self, notification: Notification) -> None:
        """Pass a notification on; a cancelled request needs no answer any more."""
        params = notification.params
        with self._sending:
            with self._lock:
                if notification.method == "notifications/cancelled":
                    number = self._numbers.pop(_key((params or {}).get("requestId")), None)
                    if number is None or self._pending.pop(number, None) is None:
                        return
                    params = {**(params or {}), "requestId": number}
                    self._changed.notify_all()
                line = encode(_notification(notification.method, params))
                if notification.method == "notifications/initialized":
                    self._initialized = line
                owner = self._owner
            self._send(owner, line)

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

    def _stamped(self, params: dict[str, Any]) -> dict[str, Any]:
        """Give a call a key of its own, so that sending it again has no second effect."""
        meta: Any = {} if params.get("_meta") is None else params["_meta"]
        if not isinstance(meta, dict):
            return params
        fields: Any = meta  # pyright: ignore[reportUnknownVariableType] - as decoded
        given: Any = fields.get(KEY)
        if isinstance(given, str) and given:
            return params
        if self._handshake.is_modern and not meta:
            return params  # refused for its missing envelope, in the words for that
        return {**params, "_meta": {**meta, KEY: os.urandom(16).hex()}}

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _send(self, owner: Owner | None, *lines: bytes) -> None:
        if owner is None:
            return
        with suppress(OSError):  # the thread that reads sees the end, and all is sent again
            for line in lines:
                owner.connection.sendall(line)

    def _run(self) -> None:
        while True:
            try:
                owner = self._reach()
            except NoOwnerError as exc:
                self._refuse_all(str(exc))
                self._wait_for_request()
                continue
            except Exception as exc:  # noqa: BLE001 - what waits must be answered, come what may
                self._refuse_all(f"the owner cannot be reached ({type(exc).__name__})")
                self._wait_for_request()
                continue
            self._settle_unsure(owner)
            self._catch_up(owner)
            self._read_from(owner)
            hang_up(owner.connection)
            with self._sending, self._lock:
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
                self._changed.wait()

    def _catch_up(self, owner: Owner) -> None:
        """Put a fresh connection where the session is, and send what waits."""
        self._sending.acquire()
        with self._lock:
            self._owner = owner
            self._patience.heard()
            waiting = list(self._pending.items())
            for _, pending in waiting:
                self._patience.send(pending)
            last = self._opened_behind
            lines = [pending.line for number, pending in waiting if number <= last]
            lines += self._opening()
            lines += [pending.line for number, pending in waiting if number > last]

        def send() -> None:
            self._send(owner, *lines)
            self._sending.release()

        # A thread of its own, for this one has to read what is answered meanwhile.
        threading.Thread(target=send, name="graymatter-catch-up", daemon=True).start()

    def _opening(self) -> list[bytes]:
        if self._handshake.opener is None:
            return []
        method, params = self._handshake.opener
        number = self._next()
        self._swallowed.add(number)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return [encode(message), *([self._initialized] if self._initialized else [])]

    def _read_from(self, owner: Owner) -> None:
        """Pass answers on until the owner hangs up, or has been silent for too long."""
        splitter = LineSplitter(NO_LIMIT)
        chunk = owner.rest
        while True:
            for line in splitter.feed(chunk):
                if isinstance(line, bytes):
                    self._pass_back(line)
            if not self._wait_for(owner):
                return
            try:
                chunk = owner.connection.recv(_READ_BYTES)
            except OSError:
                return
            if not chunk:
                return

    def _wait_for(self, owner: Owner) -> bool:
        """Wait for the owner to say something; False where it shall be asked anew."""
        # Not a timeout of the socket, which would hold for those who send as well.
        poll = select.poll()
        poll.register(owner.connection, select.POLLIN)
        while True:
            has_spoken = bool(poll.poll(self._patience.tick_s * 1000))
            is_due = self._patience.look()
            if has_spoken:
                self._patience.heard()
            if is_due and self._has_hung():
                return False
            if has_spoken:
                return True

    def _has_hung(self) -> bool:
        """Give up what waited in vain; whether other requests shall be asked again."""
        late = [entry for entry in self._waiting() if self._patience.is_over(entry[1])]
        spent = [entry for entry in late if self._patience.is_spent(entry[1])]
        for number, pending in spent:
            pending.is_late = True
            self._refuse(number, pending, NOT_IN_TIME)
        if len(late) == len(spent):
            return False
        for _, pending in self._waiting():
            pending.is_late = pending.was_sent
        return True

    def _pass_back(self, line: bytes) -> None:
        number, rest = _answered(line)
        if number is None:
            self._write(line + b"\n")
            return
        with self._lock:
            if number in self._swallowed:
                self._swallowed.discard(number)
                return
            pending = self._pending.get(number)
        if pending is not None:
            line = b'{"jsonrpc":"2.0","id":' + encode_id(pending.id) + b"," + rest + b"\n"
            self._finish(number, pending, line)

    def _finish(self, number: int, pending: Pending, line: bytes) -> None:
        """Answer a request; it is pending until that is written, or a drain would not wait."""
        self._write(line)
        with self._lock:
            self._pending.pop(number, None)
            if self._numbers.get(_key(pending.id)) == number:
                del self._numbers[_key(pending.id)]
            self._changed.notify_all()

    def _settle_unsure(self, owner: Owner) -> None:
        """Answer writes that were sent, where an owner without receipts would repeat the effect."""
        if owner.is_exact:
            return
        is_modern = self._handshake.is_modern
        for number, pending in self._waiting():
            if is_open(pending):
                line = tool_error(pending, unknown(pending), is_modern=is_modern)
                self._finish(number, pending, line)

    def _refuse_all(self, reason: str) -> None:
        for number, pending in self._waiting():
            self._refuse(number, pending, reason)

    def _refuse(self, number: int, pending: Pending, reason: str) -> None:
        line = unanswered(pending, reason, is_modern=self._handshake.is_modern)
        self._finish(number, pending, line)

    def _waiting(self) -> list[tuple[int, Pending]]:
        with self._lock:
            return list(self._pending.items())


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
