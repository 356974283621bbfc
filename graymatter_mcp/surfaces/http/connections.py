"""Which connections are open, and which makes way when no place is left."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Ticket:
    """One connection's place."""

    __slots__ = ("_connections", "abort")

    def __init__(self, connections: Connections, abort: Callable[[], None]) -> None:
        self._connections = connections
        self.abort = abort

    def busy(self) -> None:
        """Note that a request came."""
        self._connections.set_busy(self)

    def idle(self) -> None:
        """Note that all requests are answered."""
        self._connections.set_idle(self)

    def give_back(self) -> None:
        """Note that the connection is closed; twice is fine."""
        self._connections.forget(self)


class Connections:
    """All connections of one listener.

    At the bound the one that waits longest makes way, those that never spoke first: a flood of
    silent connections costs the flood its own places, and nobody else's.
    """

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._all: set[Ticket] = set()
        self._silent: OrderedDict[Ticket, None] = OrderedDict()
        self._idle: OrderedDict[Ticket, None] = OrderedDict()

    def __len__(self) -> int:
        """Count the open ones."""
        return len(self._all)

    def admit(self, abort: Callable[[], None]) -> Ticket | None:
        """Take a new connection in; None when every place is at work.

        Args:
            abort: Ends the connection at once.
        """
        if len(self._all) >= self._bound and not self._make_way():
            return None
        ticket = Ticket(self, abort)
        self._all.add(ticket)
        self._silent[ticket] = None
        return ticket

    def set_busy(self, ticket: Ticket) -> None:
        """Keep a connection in its place."""
        self._silent.pop(ticket, None)
        self._idle.pop(ticket, None)

    def set_idle(self, ticket: Ticket) -> None:
        """Let a connection make way for others, after those that never spoke."""
        if ticket in self._all:
            self._idle[ticket] = None

    def forget(self, ticket: Ticket) -> None:
        """Free the place of a connection."""
        self.set_busy(ticket)
        self._all.discard(ticket)

    def _make_way(self) -> bool:
        for waiting in (self._silent, self._idle):
            if waiting:
                oldest, _ = waiting.popitem(last=False)
                self._all.discard(oldest)
                oldest.abort()
                return True
        return False
