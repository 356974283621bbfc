"""The TCP door of an owner: binds, lets connections in, ends them when the owner leaves."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import resource
import socket
import ssl
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import anyio
import uvicorn
from uvicorn.server import ServerState

from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.surfaces.http.bodies import BUSY
from graymatter_mcp.surfaces.http.connections import Connections
from graymatter_mcp.surfaces.http.places import Address
from graymatter_mcp.surfaces.http.protocol import GuardedProtocol, written

if TYPE_CHECKING:
    from pathlib import Path

    from graymatter_mcp.surfaces.http.connections import Ticket
    from graymatter_mcp.surfaces.http.gate import Gate
    from graymatter_mcp.surfaces.http.limits import HttpLimits

_BACKLOG: Final = 128
"""Also the most that the loop accepts at one go, before the oldest can make way."""
_OTHER_FILES: Final = 192
"""Descriptors kept for the database, the local doors, and the backlog."""


def bind(address: Address) -> socket.socket:
    """Listen on an address; nobody is answered before a `Listener` serves the socket.

    Raises:
        StoreUnavailableError: It cannot be listened on.
    """
    try:
        family, _, _, _, target = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        return socket.create_server(target[:2], family=family, backlog=_BACKLOG)
    except socket.gaierror as exc:
        raise StoreUnavailableError(f"cannot listen on {address}: no such host") from exc
    except OSError as exc:
        reason = os.strerror(exc.errno or errno.EADDRNOTAVAIL).lower()
        raise StoreUnavailableError(f"cannot listen on {address}: {reason}") from exc


def tls_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """Read a certificate chain and its key.

    Raises:
        InvalidArgumentError: They cannot be read, or do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def refuse_to_ask() -> str:
        raise InvalidArgumentError("the TLS key is locked by a password: give it without one")

    try:
        context.load_cert_chain(certificate, key, password=refuse_to_ask)
    except OSError:
        raise InvalidArgumentError(
            "the TLS certificate and key cannot be read, or do not belong together"
        ) from None
    return context


class Listener:
    """Serves a gate on a bound socket."""

    def __init__(
        self, door: socket.socket, gate: Gate, limits: HttpLimits, tls: ssl.SSLContext | None
    ) -> None:
        """Prepare.

        Args:
            door: Bound and listening.
            gate: Answers every request.
            limits: What a connection may take.
            tls: With which connections are encrypted, if they are.
        """
        self._door = door
        self._gate = gate
        self._limits = limits
        self._tls = tls
        self._connections = Connections(_affordable(limits.connections))
        self._state = ServerState()
        self._stopped = anyio.Event()
        self._server: asyncio.Server | None = None
        self._handshakes: set[asyncio.Task[None]] = set()
        self._config = uvicorn.Config(
            gate,  # pyright: ignore[reportArgumentType] - its messages are plain dicts
            http="httptools",
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            # By default it believes what any peer on loopback says of a client's address.
            proxy_headers=False,
            timeout_keep_alive=int(limits.idle_timeout_s),
        )
        # Its words on broken requests are anybody's to provoke; what matters the gate logs.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)

    @property
    def address(self) -> Address:
        """Where it listens, with the port that it was given."""
        name = self._door.getsockname()
        return Address(name[0], name[1])

    @property
    def calls(self) -> int:
        """Requests at work now."""
        return self._gate.calls

    async def serve(self) -> None:
        """Let connections in until cancelled."""
        self._config.load()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Doorman(self), sock=self._door, backlog=_BACKLOG
        )
        if self._gate.is_draining:
            self.stop()
        try:
            await anyio.sleep_forever()
        finally:
            self._server.close()
            for task in self._handshakes:
                task.cancel()
            for protocol in list(self._state.connections):
                protocol.transport.abort()

    def stop(self) -> None:
        """Let nobody in any more; who waits for an answer gets it."""
        self._gate.is_draining = True
        if self._server is not None:
            self._server.close()
        for protocol in list(self._state.connections):
            protocol.shutdown()

    def let_in(self, transport: asyncio.Transport) -> None:
        """Give a new connection a place, and a protocol that speaks HTTP."""
        # The loop does this only for sockets that name their protocol; without it, an answer in two
        # pieces waits for the client's delayed acknowledgement, some 40 ms.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        ticket = self._connections.admit(transport.abort)
        if ticket is None:
            if self._tls is None:
                transport.write(written(BUSY))
            transport.close()
            asyncio.get_running_loop().call_later(1.0, transport.abort)
            return
        protocol = GuardedProtocol(self._config, self._state, ticket, self._limits)
        if self._tls is None:
            transport.set_protocol(protocol)
            protocol.connection_made(transport)
            return
        # Before the first byte is read: it belongs to the handshake.
        transport.pause_reading()
        task = asyncio.get_running_loop().create_task(
            self._shake_hands(transport, protocol, ticket, self._tls)
        )
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)

    async def _shake_hands(
        self,
        transport: asyncio.Transport,
        protocol: GuardedProtocol,
        ticket: Ticket,
        tls: ssl.SSLContext,
    ) -> None:
        secured: Any = None
        hasty = _Hasty()
        with suppress(OSError):
            secured = await asyncio.get_running_loop().start_tls(
                transport,
                hasty,
                tls,
                server_side=True,
                ssl_handshake_timeout=self._limits.client_timeout_s,
            )
        if secured is None or hasty.is_lost:
            ticket.give_back()
            transport.abort()
            return
        secured.set_protocol(protocol)
        protocol.connection_made(secured)
        if hasty.received:
            protocol.data_received(bytes(hasty.received))


class _Hasty(asyncio.Protocol):
    """Keeps what a client sends together with the end of its handshake."""

    def __init__(self) -> None:
        self.received = bytearray()
        self.is_lost = False

    def data_received(self, data: bytes) -> None:
        """Keep it for the protocol that is about to take over."""
        self.received += data

    def connection_lost(self, exc: Exception | None) -> None:
        """Note that nobody is there to take over from."""
        self.is_lost = True


class _Doorman(asyncio.Protocol):
    """What a connection meets first."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Pass it on."""
        self._listener.let_in(transport)  # pyright: ignore[reportArgumentType] - of TCP it is one


def _affordable(connections: int) -> int:
    """Return how many connections this process has descriptors for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + _OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return connections
    return max(16, min(connections, soft - _OTHER_FILES))
