"""Clients of `crash`: they write without pause, remember what was acknowledged, and come again."""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bench.client import Client, ServerFailedError
from bench.texts import sentences

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_REPLACE_EVERY: Final = 4
"""One write in so many replaces the client's last fact instead of adding one."""
_PAUSE_S: Final = 0.02
_NOTHING_STORED: Final = "nothing was stored"


@dataclass(frozen=True, slots=True)
class Write:
    """One text to store, and the one that it retires."""

    agent: str
    text: str
    replaced: str = ""


@dataclass(slots=True)
class Log:
    """What one client was told."""

    acknowledged: list[Write] = field(default_factory=list[Write])
    refused: list[tuple[Write, str]] = field(default_factory=list[tuple[Write, str]])
    unknown: list[Write] = field(default_factory=list[Write])
    """Sent, and never answered: the client was killed meanwhile."""
    silences: int = 0
    """Clients that lived on without answering, or could not be greeted at all."""
    times_ms: list[float] = field(default_factory=list[float])

    @property
    def denied(self) -> list[Write]:
        """Writes of which the answer said that nothing was stored."""
        return [write for write, text in self.refused if _NOTHING_STORED in text]


class Scribe:
    """One client on a thread: a new process whenever the last one was killed."""

    def __init__(
        self, number: int, command: Sequence[str], environment: Mapping[str, str], gate: Gate
    ) -> None:
        self.log = Log()
        self._agent = f"scribe-{number}"
        self._command = command
        self._environment = environment
        self._gate = gate
        self._client: Client | None = None
        self._was_killed = False
        self._lock = threading.Lock()
        self._writes = self._plan()
        self._last = ""
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def kill(self) -> bool:
        """Kill the process; whether there was one."""
        with self._lock:
            if self._client is None:
                return False
            self._was_killed = True
            with suppress(ProcessLookupError):
                os.kill(self._client.pid, signal.SIGKILL)
            return True

    def join(self) -> None:
        """Wait until the client has left; the gate is shut for good."""
        self._thread.join()

    def _run(self) -> None:
        while self._gate.lets_in():
            write = next(self._writes)
            try:
                self._carry_out(self._spawned(), write)
            except ServerFailedError:
                self.log.silences += not self._was_killed
                self.log.unknown.append(write)
                self._forget()
                time.sleep(_PAUSE_S)
        self._forget()

    def _spawned(self) -> Client:
        if self._client is None:
            with self._lock:
                self._was_killed = False
                client = self._client = Client(self._command, self._environment)
            client.initialize()
        return self._client

    def _forget(self) -> None:
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _carry_out(self, client: Client, write: Write) -> None:
        arguments = {"agent_id": write.agent, "text": write.text}
        tool = "memory_add"
        if write.replaced:
            tool = "memory_reflect"
            arguments |= {"action": "update", "target": write.replaced}
        start = time.perf_counter()
        # Whether it took effect is open until the answer: it is no target before that.
        self._last = ""
        result = client.ask("tools/call", {"name": tool, "arguments": arguments})
        self.log.times_ms.append((time.perf_counter() - start) * 1e3)
        if result.get("isError"):
            self.log.refused.append((write, result["content"][0]["text"]))
            time.sleep(_PAUSE_S)
            return
        self.log.acknowledged.append(write)
        self._last = write.text

    def _plan(self) -> Iterator[Write]:
        for number, sentence in enumerate(sentences(1_000_000, self._agent)):
            is_update = number % _REPLACE_EVERY == _REPLACE_EVERY - 1
            yield Write(self._agent, f"{sentence} (note {number})", self._last if is_update else "")


class Gate:
    """Lets clients write, holds them for a while, and sends them home at the end."""

    def __init__(self, clients: int) -> None:
        self._turn = threading.Condition()
        self._clients = clients
        self._held = 0
        self._is_open = True
        self._is_over = False

    def lets_in(self) -> bool:
        """Wait while the gate is shut; False at the end."""
        with self._turn:
            self._held += 1
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._is_open or self._is_over)
            self._held -= 1
            return not self._is_over

    def shut(self) -> None:
        """Let nobody in from now on."""
        with self._turn:
            self._is_open = False

    def is_everyone_held(self, wait_s: float) -> bool:
        """Whether all clients stand before the gate, or come to it in time."""
        with self._turn:
            return self._turn.wait_for(lambda: self._held == self._clients, wait_s)

    def open(self) -> None:
        """Let everyone in."""
        with self._turn:
            self._is_open = True
            self._turn.notify_all()

    def end(self) -> None:
        """Send everyone home."""
        with self._turn:
            self._is_over = True
            self._turn.notify_all()
