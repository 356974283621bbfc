"""How long a bridge waits for an owner that says nothing."""

from __future__ import annotations

import json
import socket
import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import KEY, tool_call
from contract_tests.wire import initialize
from graymatter_mcp.bridge.handshake import Handshake
from graymatter_mcp.bridge.lines import Request, read_line
from graymatter_mcp.bridge.link import EXACTLY_ONCE, NoOwnerError, Owner
from graymatter_mcp.bridge.main import built_answers
from graymatter_mcp.bridge.patience import Patience, Pending
from graymatter_mcp.bridge.relay import Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SHORT_S: Final = 1.5
LATE: Final = (
    "outcome unknown: the owner did not answer the write in time; check before sending it again"
)
ADD: Final = tool_call(1, "memory_add", {"agent_id": "a", "text": "x"})
SEARCH: Final = tool_call(2, "memory_search", {"agent_id": "a", "query": "x"})


class Peer:
    """The owner's end of one connection: says what the test says."""

    def __init__(self, *capabilities: str) -> None:
        ours, theirs = socket.socketpair()
        self.owner = Owner(ours, {"capabilities": list(capabilities)}, b"")
        self._end = theirs
        self._lines = theirs.makefile("rb")

    def read(self) -> dict[str, Any]:
        """Return the next message that the bridge sent, after the replay of its opening."""
        while True:
            message = json.loads(self._lines.readline())
            if message["method"] == "tools/call":
                return message

    def answer(self, message: dict[str, Any], text: str) -> None:
        """Answer one message."""
        line = {"jsonrpc": "2.0", "id": message["id"], "result": {"said": text}}
        self._end.sendall(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Hang up."""
        self._lines.close()
        self._end.close()


class Client:
    """A session on a relay whose owners come from a queue."""

    def __init__(self, call_timeout_s: float = SHORT_S) -> None:
        handshake = Handshake(built_answers())
        opening = read_line(json.dumps(initialize("2025-11-25")).encode())
        assert isinstance(opening, Request)
        handshake.answer(opening)
        self.owners: SimpleQueue[Peer | None] = SimpleQueue()
        self._answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
        self._relay = Relay(
            handshake,
            lambda line: self._answers.put(json.loads(line)),
            self._reach,
            call_timeout_s,
        )
        self._relay.start()

    def _reach(self) -> Owner:
        peer = self.owners.get()
        if peer is None:
            raise NoOwnerError("gone")
        return peer.owner

    def ask(self, message: dict[str, Any]) -> None:
        """Send one request."""
        asked = read_line(json.dumps(message).encode())
        assert isinstance(asked, Request)
        self._relay.request(asked)

    def receive(self) -> tuple[object, str]:
        """Return id and text of the next answer."""
        answer = self._answers.get(timeout=60)
        result = answer["result"]
        return answer["id"], result.get("said") or result["content"][0]["text"]

    def is_idle(self) -> bool:
        """Whether nothing waits."""
        return self._relay.is_idle


@pytest.fixture
def new_peer() -> Iterator[Callable[..., Peer]]:
    """Makes owners, by default with receipts; a bridge closes its end of each that it met."""
    made: list[Peer] = []

    def make(*capabilities: str) -> Peer:
        made.append(Peer(*capabilities))
        return made[-1]

    yield make
    for peer in made:
        peer.close()


def test_a_call_is_asked_again_under_its_key_when_the_owner_is_silent(
    new_peer: Callable[..., Peer],
) -> None:
    """Contract 10.6: timed out, not cancelled; the late answer of the first owner is dropped."""
    peers = [new_peer(EXACTLY_ONCE) for _ in range(2)]
    client = Client()
    client.owners.put(peers[0])
    client.ask(ADD)
    first = peers[0].read()
    client.owners.put(peers[1])
    again = peers[1].read()
    assert again["params"]["_meta"][KEY] == first["params"]["_meta"][KEY]
    assert again == first
    peers[1].answer(again, "stored")
    assert client.receive() == (1, "stored")
    client.ask(SEARCH)
    peers[1].answer(peers[1].read(), "found")
    assert client.receive() == (2, "found")


def test_a_write_asked_twice_in_vain_has_an_unknown_outcome_and_the_session_goes_on(
    new_peer: Callable[..., Peer],
) -> None:
    """Contract 10.2: nothing is waited for without end; what comes too late is dropped."""
    peers = [new_peer(EXACTLY_ONCE) for _ in range(2)]
    client = Client()
    client.owners.put(peers[0])
    client.owners.put(peers[1])
    client.ask(ADD)
    client.ask(SEARCH)
    asked = [peers[1].read(), peers[1].read()]
    late = "store unavailable: the owner did not answer in time; run: graymatter doctor"
    assert dict([client.receive(), client.receive()]) == {1: f"{LATE} ({late})", 2: late}
    for message in asked:
        peers[1].answer(message, "too late")
    client.ask(tool_call(3, "memory_search", {"agent_id": "a", "query": "x"}))
    peers[1].answer(peers[1].read(), "found")
    assert client.receive() == (3, "found")
    assert client.is_idle()


def test_a_late_call_says_so_when_no_owner_can_be_had_any_more(
    new_peer: Callable[..., Peer],
) -> None:
    """Contract 10.6: the original problem stands, with a note."""
    peers = [new_peer(EXACTLY_ONCE) for _ in range(2)]
    client = Client()
    client.owners.put(peers[0])
    client.ask(ADD)
    client.ask(SEARCH)
    client.owners.put(None)
    told = dict([client.receive(), client.receive()])
    assert told == {
        1: f"{LATE} (store unavailable: gone)",
        2: "store unavailable: gone",
    }
    client.ask(ADD)
    client.owners.put(peers[1])
    peers[1].answer(peers[1].read(), "stored")
    assert client.receive() == (1, "stored")


@pytest.mark.parametrize("is_late", [True, False], ids=["silent", "gone"])
def test_an_owner_without_receipts_is_never_sent_a_write_twice(
    new_peer: Callable[..., Peer], is_late: bool
) -> None:
    """Contract 10.6: neither after a time-out nor after a death, whichever owner comes next."""
    peers = [new_peer(EXACTLY_ONCE) for _ in range(1)]
    client = Client() if is_late else Client(60)
    older = new_peer()
    client.owners.put(peers[0])
    client.ask(ADD)
    client.ask(SEARCH)
    sent = [peers[0].read(), peers[0].read()]
    assert [one["params"]["name"] for one in sent] == ["memory_add", "memory_search"]
    if not is_late:
        peers[0].close()
    client.owners.put(older)
    again = older.read()
    assert again["params"]["name"] == "memory_search"
    name, text = client.receive()
    assert (name, text.startswith("outcome unknown: ")) == (1, True)
    older.answer(again, "found")
    assert client.receive() == (2, "found")


def test_calls_go_on_while_the_owner_says_anything(new_peer: Callable[..., Peer]) -> None:
    """Contract 10.2: a long queue is no silence; no call of it is asked twice."""
    peers = [new_peer(EXACTLY_ONCE) for _ in range(1)]
    client = Client()
    client.owners.put(peers[0])
    count = 60
    for number in range(count):
        client.ask(tool_call(number, "memory_add", {"agent_id": "a", "text": "x"}))
    pause = threading.Event()
    for _ in range(count):
        message = peers[0].read()
        pause.wait(SHORT_S / 30)
        peers[0].answer(message, "stored")
    assert [client.receive() for _ in range(count)] == [(n, "stored") for n in range(count)]


class Clock:
    """A clock that stands until it is told."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now_s


def waits(patience: Patience, clock: Clock, steps: list[float]) -> Pending:
    """Send a request, then look after each step."""
    pending = Pending(1, b"", is_call=True, is_read=False)
    patience.send(pending)
    for step_s in steps:
        clock.now_s += step_s
        patience.look()
    return pending


@pytest.mark.parametrize(
    ("steps", "is_over"),
    [
        ([1.0] * 29, False),
        ([1.0] * 30, True),
        ([0.1] * 299, False),
        ([0.1] * 301, True),
        ([3600.0], False),
        ([3600.0] * 14, False),
        ([1.0] * 20 + [3600.0] + [1.0] * 7, False),
        ([1.0] * 20 + [3600.0] + [1.0] * 8, True),
    ],
)
def test_time_that_we_slept_through_is_not_held_against_the_owner(
    steps: list[float], is_over: bool
) -> None:
    """Issue 3: after an hour of sleep the owner has nearly all of its 30 s still."""
    clock = Clock()
    patience = Patience(clock=clock)
    assert patience.is_over(waits(patience, clock, steps)) is is_over


def test_a_call_that_all_others_overtake_ends_too() -> None:
    """Contract 10.2: five minutes, however much else the owner says."""
    clock = Clock()
    patience = Patience(clock=clock)
    pending = waits(patience, clock, [])
    for _ in range(299):
        clock.now_s += 1
        patience.look()
        patience.heard()
    assert not patience.is_over(pending)
    clock.now_s += 1
    patience.look()
    patience.heard()
    assert patience.is_over(pending)
    assert patience.is_spent(pending)


def test_a_request_that_waits_for_an_owner_is_not_late() -> None:
    """Contract 10.6: what was never sent may always be sent."""
    clock = Clock()
    patience = Patience(clock=clock)
    waits(patience, clock, [1.0] * 100)
    unsent = Pending(2, b"", is_call=True, is_read=False)
    assert not patience.is_over(unsent)
