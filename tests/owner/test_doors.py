from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import pytest
from anyio.abc import SocketAttribute

from contract_tests.processes import Session, connected, end_all, greet, owner_note, tool_call
from contract_tests.wire import DEADLINE_S, request
from graymatter_mcp.bridge.link import connect
from graymatter_mcp.owner.doors import address_of, bind_doors, listen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.abc import SocketStream

OTHER_UID: Final = 54321
REFUSED: Final = {"graymatter": "refused", "reason": "unauthorized"}
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can run as another user")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A data directory for all tests of this module."""
    directory = tmp_path_factory.mktemp("doors") / "store"
    yield directory
    end_all(directory)


@pytest.fixture(scope="module")
def client(store: Path) -> Iterator[Session]:
    """A client whose owner is up, before and after whatever comes to the door."""
    with Session(store) as opened:
        opened.ok("memory_add", agent_id="a", text="secret")
        yield opened


@pytest.fixture
def session(store: Path, client: Session) -> Iterator[Session]:
    """The same; the owner that served it before the test serves it after."""
    owner = owner_note(store)["pid"]
    yield client
    assert client.facts("a") == ["secret"]
    assert owner_note(store)["pid"] == owner


def ask(store: Path, authorization: str | None, path: str = "/owner") -> tuple[int, Any]:
    """Send one HTTP request to the owner's second door."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = connected(store, "http")
    headers = {} if authorization is None else {"authorization": authorization}
    try:
        connection.request("GET" if path == "/owner" else "POST", path, "{}", headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def strangers(token: str) -> list[Any]:
    """Return what is not the token, and still might pass for it."""
    return [None, "", "wrong", token[:-1], token + " ", token.upper(), [token], 0, True, "\ud800"]


def test_a_wrong_or_missing_token_is_refused_at_the_door_of_bridges(
    store: Path, session: Session
) -> None:
    """C71: whatever type it has; the connection ends without a word more."""
    token = owner_note(store)["token"]
    hellos: list[Any] = [{"graymatter": "hello", "token": one} for one in strangers(token)]
    hellos += [{"graymatter": "hello"}, {}, [], token, None, request(1, "ping")]
    for hello in hellos:
        with connected(store, "lines") as connection:
            assert greet(connection, hello) == REFUSED
            assert connection.recv(1) == b""


@pytest.mark.parametrize(
    "raw",
    [b"", b"{", b"\xff\xfe", b"[" * 4095, b"1" * 4500, b"x" * 100_000, b"GET / HTTP/1.1\r"],
    ids=["blank", "half", "bytes", "deep", "digits", "long", "http"],
)
def test_nonsense_at_the_door_of_bridges_ends_only_itself(
    store: Path, session: Session, raw: bytes
) -> None:
    """C71: no greeting, whatever its bytes, ends the owner or another client."""
    with connected(store, "lines") as connection:
        connection.sendall(raw + b"\n")
        with connection.makefile("rb") as answer:
            try:
                lines = answer.readlines()
            except ConnectionResetError:
                lines = []
    assert [json.loads(line) for line in lines] in ([], [REFUSED])
    assert session.facts("a") == ["secret"]


def test_a_wrong_or_missing_token_is_refused_at_the_door_of_commands(
    store: Path, session: Session
) -> None:
    """C71: on every path, with the same words."""
    token = owner_note(store)["token"]
    for given in (None, "", "Bearer", "Bearer ", f"Bearer {token}x", token, "Basic " + token):
        for path in ("/owner", "/owner/stop", "/owner/hand-over", "/rpc/recall", "/rpc/none"):
            status, body = ask(store, given, path)
            assert (status, body["error"]) == (400, "unauthorized")
    assert ask(store, f"Bearer {token}")[0] == 200
    assert session.process.poll() is None


REMEMBER: Final = b'{"request":{"namespace":"a","text":"x","consolidate":%s}}'
NONSENSE: Final[dict[str, tuple[str, bytes]]] = {
    "empty": ("remember", b""),
    "half": ("remember", b'{"request":'),
    "bytes": ("remember", b'{"request":"\xff"}'),
    "utf-16": ("remember", '{"request":{}}'.encode("utf-16")),
    "list": ("remember", b"[]"),
    "null": ("remember", b"null"),
    "number": ("remember", b"5"),
    "digits": ("remember", b'{"request":' + b"1" * 5000 + b"}"),
    "not a number": ("remember", b'{"request":NaN}'),
    "deep list": ("save_checkpoint", b"[" * 100_000),
    "deep state": ("save_checkpoint", b'{"state":' + b'{"x":' * 100_000),
    "unclosed depth": ("recall", b'{"a":' * 900),
    "depth": (
        "save_checkpoint",
        b'{"namespace":"a","state":' + b'{"x":' * 900 + b"1" + b"}" * 901,
    ),
    "nothing given": ("remember", b"{}"),
    "one missing": ("forget", b'{"namespace":"a"}'),
    "one too many": ("list_agents", b'{"namespace":"a"}'),
    "wrong type": ("remember", b'{"request":5}'),
    "wrong type inside": ("remember", REMEMBER % b"[]"),
    "half a surrogate": ("recall_all", b'{"request":{"namespace":"\\ud800","query":"x"}}'),
    "unknown method": ("no_such_method", b"{}"),
    "inner method": ("__init__", b"{}"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_at_the_door_of_commands_is_the_callers_fault(
    store: Path, session: Session, name: str
) -> None:
    """C71: 400 with a sentence of ours, never 500; the owner goes on."""
    method, body = NONSENSE[name]
    status, answer = post(store, method, body)
    assert (status, answer["code"]) == (400, "invalid_argument")
    assert session.process.poll() is None


def post(store: Path, method: str, body: bytes) -> tuple[int, Any]:
    """Send bytes to a method; return status and answer."""
    connection = http.client.HTTPConnection("localhost")
    connection.sock = connected(store, "http")
    try:
        headers = {"authorization": f"Bearer {owner_note(store)['token']}"}
        connection.request("POST", f"/rpc/{method}", body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_a_body_without_end_is_refused_in_bounded_memory(store: Path, session: Session) -> None:
    """C71: at 64 MiB, the longest line of the other door."""
    status, answer = post(store, "remember", b" " * (64 * 1024 * 1024 + 1))
    assert (status, answer["error"]) == (400, "the body must be shorter than 67108864 bytes")
    assert session.process.poll() is None


@pytest.mark.parametrize("length", ["x", "-1", "1e3", "5, 6", "9" * 30, ""])
def test_a_bad_content_length_ends_only_its_own_connection(
    store: Path, session: Session, length: str
) -> None:
    """C71: a refusal or a closed line, and no method is carried out."""
    token = owner_note(store)["token"]
    head = f"POST /rpc/remember HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n"
    with connected(store, "http") as connection:
        connection.sendall(f"{head}content-length: {length}\r\n\r\n".encode() + REMEMBER % b"true")
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            first = answer.readline()
    assert first == b"" or first.startswith(b"HTTP/1.1 4")
    assert session.facts("a") == ["secret"]


CLIENT: Final = """
import os, socket, sys
uid, path, data = int(sys.argv[1]), sys.argv[2], sys.argv[3].encode()
os.setgid(uid); os.setuid(uid)
client = socket.socket(socket.AF_UNIX)
client.settimeout(60)
try:
    client.connect(path)
    client.sendall(data)
    print("answer", client.recv(4096))
except PermissionError:
    print("no entry")
except ConnectionError:
    print("answer", b"")
"""


def as_other(path: str, what: str) -> str:
    """Send something to a socket as another user; return what comes back."""
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(OTHER_UID), path, what],
        capture_output=True,
        check=True,
        text=True,
        timeout=DEADLINE_S,
    )
    return done.stdout.strip()


@as_root
def test_another_user_is_refused_at_both_doors_even_with_the_token(
    store: Path, session: Session
) -> None:
    """C71: the sockets let nobody in; with their modes opened, the peer's uid decides."""
    note = owner_note(store)
    hello = json.dumps({"graymatter": "hello", "version": "0", "token": note["token"]}) + "\n"
    get = f"GET /owner HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {note['token']}\r\n\r\n"
    sent = {"lines": hello, "http": get}
    for door, what in sent.items():
        assert as_other(note[door], what) == "no entry"
    for folder in (store, *store.parents):
        if folder == Path(tempfile.gettempdir()):
            break
        folder.chmod(0o755)
    for door, what in sent.items():
        os.chmod(note[door], 0o666)  # noqa: PTH101, S103 - what is tested
        assert as_other(note[door], what) == "answer b''"
    assert session.process.poll() is None


def test_stopping_the_owner_unblocks_every_waiting_call(store: Path, client: Session) -> None:
    """C71: calls in flight are answered, by this owner or by the next."""
    note = owner_note(store)
    search = {"agent_id": "a", "query": "secret"}
    client.send(*(tool_call(number, "memory_search", search) for number in range(200)))
    assert ask(store, f"Bearer {note['token']}", "/owner/stop") == (200, {"stopping": True})
    answers = [client.receive() for _ in range(200)]
    assert {answer["id"] for answer in answers} == set(range(200))
    assert not any(answer["result"].get("isError") for answer in answers)


def test_neither_end_of_a_loopback_connection_holds_short_messages_back(tmp_path: Path) -> None:
    """Design 2: head and body of a request go apart, and each would wait 40 ms for the other."""
    door = bind_doors(tmp_path, ("lines",), loopback_tcp=True)["lines"]
    found: list[int] = []

    async def one_connection() -> None:
        is_served = anyio.Event()

        async def serve(stream: SocketStream) -> None:
            async with stream:
                raw = stream.extra_attributes[SocketAttribute.raw_socket]()
                found.append(raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            is_served.set()

        with anyio.fail_after(DEADLINE_S):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listen, door, serve)
                connection = connect({"lines": address_of(door)}, "lines")
                assert connection is not None
                with connection:
                    found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
                    await is_served.wait()
                tasks.cancel_scope.cancel()

    anyio.run(one_connection)
    assert [bool(flag) for flag in found] == [True, True]
