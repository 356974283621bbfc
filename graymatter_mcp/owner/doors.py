"""Where an owner listens: JSON-RPC lines for bridges, HTTP for commands and libraries.

Both doors ask for the token of `owner.json`, which only this user can read, and a Unix socket also
for the uid of its peer.
"""

from __future__ import annotations

import hmac
import json
import logging
import os
import secrets
import socket
import struct
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
from anyio.abc import SocketAttribute, SocketListener

from graymatter_mcp.bridge.lines import NO_LIMIT
from graymatter_mcp.bridge.link import UNAUTHORIZED
from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.surfaces.mcp.exchange import Exchange

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from anyio.abc import SocketStream

    from graymatter_mcp.surfaces.mcp.server import GraymatterServer

logger = logging.getLogger(__name__)

CAPABILITIES: Final = (
    "confidence-write-v1",
    "confidence-recall-v1",
    "confidence-lifecycle-v1",
    "confidence-shared-write-v1",
    "exactly-once-v1",
)
Toolsets = tuple[str, ...]
"""Names of what one connection serves."""

_HELLO_BYTES: Final = 4096
_HELLO_TIMEOUT_S: Final = 5.0
_READ_BYTES: Final = 256 * 1024
_MAX_SOCKET_PATH: Final = 100
"""Bytes that every system takes in the address of a Unix socket."""


def bind_doors(
    directory: Path, names: tuple[str, ...], *, loopback_tcp: bool
) -> dict[str, socket.socket]:
    """Bind one listening socket a name, readable by this user alone.

    Args:
        directory: Where Unix sockets are made, unless its path is too long for one.
        names: Doors.
        loopback_tcp: Listen on 127.0.0.1 instead, where Unix sockets do not exist.
    """
    doors: dict[str, socket.socket] = {}
    for name in names:
        if loopback_tcp or not hasattr(socket, "AF_UNIX"):
            door = socket.create_server(("127.0.0.1", 0))
        else:
            path = socket_path(directory, name)
            path.unlink(missing_ok=True)
            door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            door.bind(str(path))
            path.chmod(0o600)
            door.listen(128)
        door.setblocking(False)
        doors[name] = door
    return doors


def socket_path(directory: Path, name: str) -> Path:
    """Return where a door's socket lives: in the directory, or in a private runtime directory.

    Raises:
        StoreUnavailableError: The runtime directory is not ours, or every place is too deep.
    """
    path = directory / f"{name}.sock"
    if _is_short(path):
        return path
    digest = f"{directory.stat().st_dev:x}-{directory.stat().st_ino:x}"
    for base in _runtime_directories():
        private = base / f"graymatter-{os.getuid()}"
        path = private / f"{digest}-{name}.sock"
        if _is_short(path):
            _make_private(private)
            return path
    raise StoreUnavailableError(
        "no socket can be made, since every path is too long: set XDG_RUNTIME_DIR to a short one"
    )


def _runtime_directories() -> tuple[Path, ...]:
    named = os.environ.get("XDG_RUNTIME_DIR")
    # The last one because the others are settings, and may be as long as the directory.
    places = (named, tempfile.gettempdir(), "/tmp")  # noqa: S108 - in a 0700 folder that is checked
    return tuple(Path(place) for place in places if place)


def _is_short(path: Path) -> bool:
    return len(os.fsencode(path)) <= _MAX_SOCKET_PATH


def _make_private(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = folder.lstat().st_uid == os.getuid() and not folder.is_symlink()
    except OSError as exc:
        raise StoreUnavailableError("the runtime directory cannot be created") from exc
    if not is_ours:
        raise StoreUnavailableError(f"{folder.name} belongs to somebody else")
    folder.chmod(0o700)


def address_of(door: socket.socket) -> Any:
    """Return a door's address as `owner.json` names it."""
    name = door.getsockname()
    return name if isinstance(name, str) else [name[0], name[1]]


def is_same_user(raw: Any) -> bool:
    """Whether the peer of a Unix socket runs as us; true for TCP, where the token decides.

    Args:
        raw: A connected socket, or what a transport shows of one.
    """
    if raw.family != getattr(socket, "AF_UNIX", None) or not hasattr(socket, "SO_PEERCRED"):
        return True
    credentials = raw.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    _, uid, _ = struct.unpack("3i", credentials)
    return uid == os.getuid()


class LinesDoor:
    """Greets bridges and serves each a session of its own."""

    def __init__(
        self,
        token: str,
        hello: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]],
        build: Callable[[Toolsets], GraymatterServer],
        leave: Callable[[], None],
    ) -> None:
        """Prepare.

        Args:
            token: What a peer must know.
            hello: Answers a greeting; the session goes on when it says ``hello``.
            build: Makes the server of one connection; raises InvalidArgumentError for toolsets
                that are not known.
            leave: Called once a peer was told ``leaving``.
        """
        self._token = token
        self._hello = hello
        self._build = build
        self._leave = leave
        self._exchanges: set[Exchange] = set()
        self._greetings = 0
        self._is_stopped = False

    @property
    def clients(self) -> int:
        """Bridges connected now."""
        return len(self._exchanges)

    @property
    def is_greeting(self) -> bool:
        """Whether somebody is at the door who may become a client."""
        return self._greetings > 0

    def stop(self) -> None:
        """Read no further from anybody; what was read is answered."""
        self._is_stopped = True
        for exchange in list(self._exchanges):
            exchange.stop()

    async def serve(self, stream: SocketStream) -> None:
        """Serve one connection to its end."""
        wire = _SocketWire(stream)
        raw = stream.extra_attributes[SocketAttribute.raw_socket]()
        async with stream:
            try:
                server = await self._receive(wire) if is_same_user(raw) else None
                if server is not None:
                    await self._converse(wire, server)
            except OSError:
                return
            except Exception as exc:  # noqa: BLE001 - one peer must not end the others
                place = traceback.extract_tb(exc.__traceback__)[-1]
                logger.error(  # noqa: TRY400 - a traceback may quote what a peer sent
                    "a connection ends: %s at %s:%d", type(exc).__name__, place.name, place.lineno
                )

    async def _converse(self, wire: _SocketWire, server: GraymatterServer) -> None:
        # No limit of ours: the bridge kept its own, and has lengthened lines by a key since.
        exchange = Exchange(wire, wire, max_line_bytes=NO_LIMIT)
        self._exchanges.add(exchange)
        if self._is_stopped:
            exchange.stop()  # greeted while we were asked to leave
        try:
            await exchange.serve(server)
        finally:
            self._exchanges.discard(exchange)

    async def _receive(self, wire: _SocketWire) -> GraymatterServer | None:
        self._greetings += 1
        try:
            return await self._greet(wire)
        finally:
            self._greetings -= 1

    async def _greet(self, wire: _SocketWire) -> GraymatterServer | None:
        """Exchange greetings; return the server that the peer shall have, if any."""
        with anyio.move_on_after(_HELLO_TIMEOUT_S):
            hello = await wire.receive_hello()
            given = str(hello.get("token", "")).encode("utf-8", "replace")
            if not hmac.compare_digest(given, self._token.encode()):
                refusal = {"graymatter": "refused", "reason": UNAUTHORIZED}
                await wire.send(json.dumps(refusal).encode() + b"\n")
                return None
            server: GraymatterServer | None = None
            answer = await self._hello(hello)
            if answer["graymatter"] == "hello":
                try:
                    server = self._build(_toolsets_in(hello))
                except InvalidArgumentError as exc:
                    answer = {"graymatter": "refused", "reason": str(exc)}
            await wire.send(json.dumps(answer).encode() + b"\n")
            if answer["graymatter"] == "leaving":
                # Not earlier: the end of the process would overtake the answer.
                self._leave()
            return server
        return None


def _toolsets_in(hello: dict[str, Any]) -> Toolsets:
    """Return what a greeting asks for; clients from before there was a choice ask for nothing."""
    return tuple(str(hello.get("toolsets", "core")).split(","))


class _SocketWire:
    """An exchange's source and sink over a socket."""

    def __init__(self, stream: SocketStream) -> None:
        self._stream = stream
        self._rest = b""
        self._is_broken = False

    async def receive_hello(self) -> dict[str, Any]:
        """Read the first line; anything but an object is an empty greeting."""
        data = b""
        while b"\n" not in data and len(data) < _HELLO_BYTES:
            chunk = await self.receive()
            if not chunk:
                return {}
            data += chunk
        line, _, self._rest = data.partition(b"\n")
        try:
            hello: Any = json.loads(line)
        except (ValueError, RecursionError):
            return {}
        return dict(hello) if isinstance(hello, dict) else {}  # pyright: ignore[reportUnknownArgumentType]

    async def receive(self) -> bytes:
        """Wait for bytes; empty at the end."""
        if self._rest:
            rest, self._rest = self._rest, b""
            return rest
        try:
            return await self._stream.receive(_READ_BYTES)
        except (anyio.EndOfStream, anyio.ClosedResourceError):
            return b""
        except anyio.BrokenResourceError as exc:
            self._is_broken = True
            raise OSError("the bridge is gone") from exc

    async def send(self, data: bytes) -> None:
        """Write all bytes."""
        try:
            await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as exc:
            self._is_broken = True
            raise OSError("the bridge is gone") from exc

    def is_broken(self) -> bool:
        """Whether the bridge was found gone."""
        return self._is_broken


def new_token() -> str:
    """Return a token of 256 random bits."""
    return secrets.token_urlsafe(32)


async def listen(door: socket.socket, serve: Callable[[SocketStream], Awaitable[None]]) -> None:
    """Serve every connection of a bound door, each in a task of its own."""
    listener = await SocketListener.from_socket(door)
    async with listener:
        await listener.serve(serve)
