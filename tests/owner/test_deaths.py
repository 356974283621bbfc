from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Final

import pytest

from contract_tests.processes import (
    Session,
    command,
    is_running,
    owner_pid,
    piped,
    processes_of,
    tool_call,
    wait_until,
)
from contract_tests.wire import initialize, request

KILLS: Final = 6
ADDS_A_ROUND: Final = 40
ROUNDS: Final = 100
WARM_UP: Final = 10
MEGABYTE: Final = 1024 * 1024


def add(number: int) -> dict[str, object]:
    """Build a call that stores one fact."""
    return tool_call(number, "memory_add", {"agent_id": "a", "text": f"fact {number}"})


def test_every_acknowledged_fact_survives_kills_of_the_owner_once(store: Path) -> None:
    """F1, contract 10.6: kill -9 in the middle of adds; each is answered, none is there twice."""
    with Session(store) as session:
        killed: set[int] = set()
        for place in range(KILLS):
            numbers = range(place * ADDS_A_ROUND, (place + 1) * ADDS_A_ROUND)
            session.send(*map(add, numbers))
            answers = [session.receive()]
            owner = owner_pid(store)
            os.kill(owner, signal.SIGKILL)
            killed.add(owner)
            answers += [session.receive() for _ in numbers[1:]]
            assert {answer["id"] for answer in answers} == set(numbers)
            assert all(answer["result"]["structuredContent"]["stored"] for answer in answers)
        assert len(killed) == KILLS
        count = KILLS * ADDS_A_ROUND
        assert sorted(session.facts("a")) == sorted(f"fact {number}" for number in range(count))


def test_a_read_in_flight_is_answered_by_the_next_owner(store: Path) -> None:
    """Contract 10.6: reads are sent again."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        owner = owner_pid(store)
        os.kill(owner, signal.SIGSTOP)
        session.send(tool_call(7, "memory_search", {"agent_id": "a", "query": "x"}))
        os.kill(owner, signal.SIGKILL)
        assert session.receive()["result"]["structuredContent"]["facts"] == ["x"]


def test_a_write_whose_owner_died_and_cannot_come_back_has_an_unknown_outcome(
    store: Path,
) -> None:
    """Contract 10.6: it says so, while a read and a call never sent only say why."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        owner = owner_pid(store)
        os.kill(owner, signal.SIGSTOP)
        search = {"agent_id": "a", "query": "x"}
        session.send(add(1), tool_call(2, "memory_search", search))
        # The bridge answers it by itself, behind what it has sent to the owner by then.
        assert session.ask(request(3, "ping"))["result"] == {}
        (store / "gray.duckdb").rename(store / "moved")
        (store / "gray.duckdb").mkdir()
        os.kill(owner, signal.SIGKILL)
        texts = {
            answer["id"]: answer["result"]["content"][0]["text"]
            for answer in (session.receive(), session.receive())
        }
        assert texts[1].startswith("outcome unknown: the owner went away")
        assert texts[2].startswith("store unavailable: gray.duckdb must be a regular file")
        assert session.refused("memory_add", agent_id="a", text="y").startswith("store unavail")


@pytest.mark.parametrize("sleepers", ["owner", "bridge", "both", "both, the owner wakes last"])
def test_calls_are_answered_after_a_sleep(store: Path, sleepers: str) -> None:
    """Issue 3: SIGSTOP and SIGCONT, as when a laptop sleeps; no call is lost, late or repeated."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        owner = owner_pid(store)
        pids = {"owner": [owner], "bridge": [session.process.pid]}.get(
            sleepers, [session.process.pid, owner]
        )
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        search = {"agent_id": "a", "query": "before"}
        session.send(add(1), tool_call(2, "memory_search", search))
        for pid in pids if sleepers.endswith("last") else reversed(pids):
            os.kill(pid, signal.SIGCONT)
        both = (session.receive(), session.receive())
        answers = {answer["id"]: answer["result"]["structuredContent"] for answer in both}
        assert answers[1]["stored"] is True
        assert "before" in answers[2]["facts"]
        assert sorted(session.facts("a")) == ["before", "fact 1"]
        assert owner_pid(store) == owner


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_ends_an_owner_and_its_clients_notice_nothing(store: Path, name: str) -> None:
    """F1, F2: what it had read is answered by it, the rest by the next; each fact is there once."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        owner = owner_pid(store)
        session.send(*map(add, range(ADDS_A_ROUND)))
        os.kill(owner, signal.Signals[name])
        answers = [session.receive() for _ in range(ADDS_A_ROUND)]
        assert {answer["id"] for answer in answers} == set(range(ADDS_A_ROUND))
        assert all(answer["result"]["structuredContent"]["stored"] for answer in answers)
        wait_until(lambda: not is_running(owner), "the owner ends")
        assert len(session.facts("a")) == ADDS_A_ROUND + 1
        assert owner_pid(store) != owner


def test_an_owner_is_out_of_reach_of_its_first_clients_terminal_and_death(store: Path) -> None:
    """F2: Ctrl-C and hang-up go to a session that is not its own; a killed bridge is let go."""
    with Session(store) as first, Session(store) as second:
        first.ok("memory_add", agent_id="a", text="x")
        owner = owner_pid(store)
        assert os.getsid(owner) == owner != os.getsid(0)
        first.send(*map(add, range(ADDS_A_ROUND)))
        first.process.kill()
        first.process.wait()
        assert "x" in second.facts("a")
        assert owner_pid(store) == owner

        def clients() -> int:
            return json.loads(command(store, "--json", "daemon", "status").stdout)["clients"]

        wait_until(lambda: clients() == 1, "the owner forgets the killed one")
    wait_until(lambda: not processes_of(store), "nothing is left")


def test_a_client_that_comes_while_the_owner_sleeps_is_served_when_it_wakes(store: Path) -> None:
    """Issue 3: the newcomer starts no second owner, and loses nothing."""
    with Session(store) as first:
        first.ok("memory_add", agent_id="a", text="before")
        owner = owner_pid(store)
        os.kill(owner, signal.SIGSTOP)
        with Session(store) as second:
            second.send(add(1))
            bridges = {first.process.pid, second.process.pid}
            wait_until(
                lambda: processes_of(store) - bridges - {owner}, "the newcomer looks for an owner"
            )
            os.kill(owner, signal.SIGCONT)
            assert second.receive()["result"]["structuredContent"]["stored"] is True
            assert owner_pid(store) == owner
            wait_until(lambda: processes_of(store) - bridges == {owner}, "one owner")


def test_many_clients_come_and_go_and_nothing_stays(store: Path) -> None:
    """F2: after each round there is the owner and nobody else, and it does not grow."""
    sizes: list[int] = []
    with Session(store, GRAYMATTER_IDLE_EXIT="0") as session:
        session.ok("memory_add", agent_id="a", text="x")
    owner = owner_pid(store)
    wait_until(lambda: processes_of(store) == {owner}, "the owner alone")
    for number in range(ROUNDS):
        answers = piped(store, initialize("2025-11-25"), add(number), *map(add, range(1000, 1010)))
        assert len(answers) == 12
        assert processes_of(store) == {owner}
        sizes.append(resident_bytes(owner))
    assert max(sizes) - sizes[WARM_UP - 1] <= 20 * MEGABYTE
    descriptors = len(os.listdir(f"/proc/{owner}/fd"))  # noqa: PTH208 - names are enough
    piped(store, initialize("2025-11-25"), add(0))
    status = json.loads(command(store, "--json", "daemon", "status").stdout)
    assert status["clients"] == 0
    wait_until(
        lambda: len(os.listdir(f"/proc/{owner}/fd")) <= descriptors,  # noqa: PTH208 - the same
        "no descriptor is left",
    )
    assert command(store, "daemon", "stop").returncode == 0
    assert not is_running(owner)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="utf-8").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")
