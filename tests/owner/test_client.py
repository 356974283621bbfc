"""Commands and libraries whose owner takes a request and never answers it."""

from __future__ import annotations

import json
import os
import socket
import tempfile
import threading
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import anyio
import pytest

from graymatter_mcp.errors import CommitUnknownError, StoreUnavailableError
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.requests import RememberRequest
from graymatter_mcp.owner.client import RemoteMemory, ask_owner

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graymatter_mcp.engine.base import Memory

HEADERS_END = b"\r\n\r\n"


class Taker:
    """A door behind which requests are read to their end, and then nothing comes."""

    def __init__(self, directory: Path, *, hangs_up: bool) -> None:
        self._hangs_up = hangs_up
        self._door = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._door.bind(str(directory / "http.sock"))
        self._door.listen()
        self._taken: list[socket.socket] = []
        note = {"pid": os.getpid(), "http": str(directory / "http.sock"), "token": "t"}
        (directory / "owner.json").write_text(json.dumps(note))
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        try:
            while True:
                connection, _ = self._door.accept()
                _read_request(connection)
                self._taken.append(connection)
                if self._hangs_up:
                    connection.close()
        except OSError:
            return

    def close(self) -> None:
        """Close every socket; the thread ends with the door."""
        self._door.shutdown(socket.SHUT_RDWR)
        for open_socket in (self._door, *self._taken):
            open_socket.close()


def _read_request(connection: socket.socket) -> None:
    taken = b""
    while HEADERS_END not in taken:
        taken += connection.recv(4096)
    head, _, body = taken.partition(HEADERS_END)
    length = next(
        (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-len")),
        0,
    )
    while len(body) < length:
        body += connection.recv(4096)


@pytest.fixture
def directory() -> Iterator[Path]:
    """A directory whose path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="gm-", dir="/tmp") as name:
        yield Path(name)


@pytest.fixture(params=[True, False], ids=["hangs up", "says nothing"])
def taker(directory: Path, request: pytest.FixtureRequest) -> Iterator[bool]:
    """An owner that takes requests and answers none; whether it hangs up on them."""
    door = Taker(directory, hangs_up=request.param)
    yield request.param
    door.close()


def test_a_write_that_was_sent_and_not_answered_has_an_unknown_outcome(
    directory: Path, taker: bool
) -> None:
    """Contract 10.6: never "store unavailable", which says that nothing was stored."""
    with pytest.raises(CommitUnknownError, match=r"^outcome unknown: the owner .*; check before"):
        ask_owner(directory, "POST", "/rpc/remember", {}, 0.2, is_write=True)


def test_a_read_that_was_not_answered_says_so(directory: Path, taker: bool) -> None:
    """Contract 10.2: what changes nothing leaves nothing open."""
    said = "the owner went away before it answered" if taker else "did not answer within"
    with pytest.raises(StoreUnavailableError, match=said):
        ask_owner(directory, "POST", "/rpc/recall", {}, 0.2)


def test_a_memory_knows_which_of_its_methods_write(directory: Path) -> None:
    """Contract 10.6: the same through `Memory`, as the library and the commands call it."""
    door = Taker(directory, hangs_up=True)
    memory = cast("Memory", RemoteMemory(directory))  # its methods go by name
    try:
        wanted = RememberRequest(namespace=Namespace("a"), text="x")
        with pytest.raises(CommitUnknownError):
            anyio.run(memory.remember, wanted)
        with pytest.raises(CommitUnknownError):
            anyio.run(partial(memory.forget, Namespace("a"), "x"))
        with pytest.raises(StoreUnavailableError):
            anyio.run(memory.list_agents)
    finally:
        door.close()


def test_a_write_that_finds_no_owner_was_never_sent(directory: Path) -> None:
    """Contract 10.6: then "store unavailable" is the truth."""
    with pytest.raises(StoreUnavailableError, match="no owner answers"):
        ask_owner(directory, "POST", "/rpc/remember", {}, 0.2, is_write=True)
