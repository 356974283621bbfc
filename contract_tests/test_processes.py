"""Several real processes on one directory: started, killed, stopped, mistaken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.manifest import promise
from contract_tests.processes import (
    AloneSession,
    Session,
    command,
    connected,
    end_all,
    greet,
    is_running,
    owner_note,
    owner_pid,
    processes_of,
    tool_call,
    wait_until,
)
from contract_tests.wire import (
    DEADLINE_S,
    BridgeWire,
    as_line,
    environment,
    graymatter,
    initialize,
    request,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

CLIENTS: Final = 4
ADDS: Final = 50


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Path]:
    """A data directory that does not exist yet; fails when a process outlives the test."""
    directory = tmp_path / "store"
    yield directory
    end_all(directory)


@promise("clients:one-store")
@pytest.mark.parametrize("is_killed", [False, True], ids=["calm", "owner killed"])
def test_four_clients_add_and_search_at_once(store: Path, is_killed: bool) -> None:
    """F1: every fact is there once, no call fails, with and without a kill of the owner."""
    sessions = [Session(store) for _ in range(CLIENTS)]
    expected: set[str] = set()
    try:
        for place, session in enumerate(sessions):
            for number in range(ADDS):
                text = f"client {place} says {number}"
                expected.add(text)
                session.send(
                    tool_call(number, "memory_add", {"agent_id": "a", "text": text}),
                    tool_call(-number - 1, "memory_search", {"agent_id": "a", "query": text}),
                )
        first = [session.receive() for session in sessions]
        if is_killed:
            os.kill(owner_pid(store), signal.SIGKILL)
        for session, answer in zip(sessions, first, strict=True):
            answers = [answer, *(session.receive() for _ in range(2 * ADDS - 1))]
            assert len({one["id"] for one in answers}) == 2 * ADDS
            assert not [one for one in answers if one["result"].get("isError")]
        for session in sessions:
            facts = session.facts("a")
            assert (len(facts), set(facts)) == (CLIENTS * ADDS, expected)
    finally:
        for session in sessions:
            session.close()


@promise("owner:shared", "clients:one-store")
def test_eight_clients_of_one_instant_share_one_owner_that_leaves_after_them(store: Path) -> None:
    """C70, F1."""
    wires = [BridgeWire(store) for _ in range(8)]
    try:
        for wire in wires:
            call = tool_call(1, "memory_add", {"agent_id": "a", "text": "x"})
            wire.send(initialize("2025-11-25"), call)
        for wire in wires:
            assert [wire.receive().get("error"), wire.receive()["result"]["isError"]] == [
                None,
                False,
            ]
        bridges = {wire.process.pid for wire in wires}
        wait_until(lambda: processes_of(store) - bridges == {owner_pid(store)}, "one owner")
    finally:
        for wire in wires:
            wire.close()
    wait_until(lambda: not processes_of(store), "the owner leaves when idle")
    assert not {"owner.json", "lines.sock", "http.sock"} & {path.name for path in store.iterdir()}


@promise("owner:private")
def test_whoever_does_not_know_the_token_is_refused(store: Path) -> None:
    """C71: at the door of bridges and at that of commands."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        for hello in ({"graymatter": "hello"}, {"graymatter": "hello", "token": "wrong"}):
            with connected(store, "lines") as connection:
                assert greet(connection, hello) == {
                    "graymatter": "refused",
                    "reason": "unauthorized",
                }
        with connected(store, "http") as connection:
            connection.sendall(b"POST /owner/stop HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            with connection.makefile("rb") as answer:
                assert b'"unauthorized"' in answer.read()
        assert session.facts("a") == ["x"]


@promise("owner:private")
def test_stopping_the_owner_leaves_no_call_waiting(store: Path) -> None:
    """C71."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        owner = owner_pid(store)
        search = {"agent_id": "a", "query": "x"}
        session.send(*(tool_call(number, "memory_search", search) for number in range(100)))
        assert command(store, "daemon", "stop").returncode == 0
        answers = [session.receive() for _ in range(100)]
        assert {answer["id"] for answer in answers} == set(range(100))
        wait_until(lambda: not is_running(owner), "the owner ends")


@promise("calls:bounded")
def test_a_call_to_an_owner_that_hangs_ends_and_the_session_goes_on(store: Path) -> None:
    """Contract 10.2, 10.6: of a write nobody knows the outcome; a late answer is dropped."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        owner = owner_pid(store)
        os.kill(owner, signal.SIGSTOP)
        session.send(
            tool_call(1, "memory_add", {"agent_id": "a", "text": "perhaps"}),
            tool_call(2, "memory_search", {"agent_id": "a", "query": "before"}),
        )
        both = (session.receive(), session.receive())
        texts = {answer["id"]: answer["result"]["content"][0]["text"] for answer in both}
        hangs = f"store unavailable: the owner (pid {owner}) does not answer"
        assert texts[1].startswith("outcome unknown: the owner did not answer the write in time")
        assert hangs in texts[1]
        assert texts[2].startswith(hangs)
        assert session.ask(request(3, "ping"))["result"] == {}
        os.kill(owner, signal.SIGCONT)
        assert session.facts("a") in (["perhaps", "before"], ["before"])
        session.ok("memory_add", agent_id="a", text="after")
        assert session.facts("a")[0] == "after"
        assert owner_pid(store) == owner


@promise("owner:remember-beside")
@pytest.mark.parametrize("kind", [Session, AloneSession], ids=["on demand", "of another client"])
def test_an_owner_that_runs_does_not_make_remember_fail(store: Path, kind: type[Session]) -> None:
    """C72: the command goes through it."""
    with kind(store) as session:
        session.ok("memory_add", agent_id="a", text="from the client")
        assert command(store, "remember", "a", "from the command").returncode == 0
        assert session.facts("a") == ["from the command", "from the client"]


@promise("clients:no-orphans")
@pytest.mark.parametrize("ending", ["end of input", "SIGTERM", "SIGHUP", "nobody reads"])
def test_a_client_that_leaves_takes_its_process_along(store: Path, ending: str) -> None:
    """F2: and the owner follows when it has been idle."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        assert session.process.stdin is not None
        assert session.process.stdout is not None
        if ending == "end of input":
            session.process.stdin.close()
        elif ending == "nobody reads":
            session.process.stdout.close()
        else:
            session.process.send_signal(signal.Signals[ending])
        assert session.process.wait(DEADLINE_S) == 0
    wait_until(lambda: not processes_of(store), "nothing is left")


@promise("start:at-once")
def test_the_opening_needs_no_store_and_the_first_calls_are_answered(store: Path) -> None:
    """F5: with the model not loaded yet; the answer by meaning comes by itself."""
    model = "all-MiniLM-L6-v2"
    with BridgeWire(store, GRAYMATTER_MODEL=model) as wire:
        opened = wire.ask(initialize("2025-11-25"))
        assert opened["result"]["protocolVersion"] == "2025-11-25"
        added = wire.ask(
            tool_call(1, "memory_add", {"agent_id": "a", "text": "The harbour is closed."})
        )
        assert added["result"]["structuredContent"]["stored"] is True
        search = {"agent_id": "a", "query": "harbour"}
        found = wire.ask(tool_call(2, "memory_search", search))["result"]
        assert found["structuredContent"]["facts"] == ["The harbour is closed."]
        meant = {"agent_id": "a", "query": "the port is shut", "explain": True}

        def is_semantic() -> bool:
            answer = wire.ask(tool_call(3, "memory_search", meant))["result"]
            (receipt,) = answer["structuredContent"]["explained"]
            return receipt["ranks"]["vector_rank"] == 1

        wait_until(is_semantic, "the vectors come")


@promise("ids:taken-everywhere")
def test_an_id_names_the_same_thing_wherever_it_is_printed(store: Path) -> None:
    """F12: receipts of fact and checkpoint, over stdio and through the command."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        explained = session.ok("memory_search", agent_id="a", query="x", explain=True)
        fact_id = explained["explained"][0]["provenance"]["fact_id"]
        told = command(store, "--json", "recall", "a", "x", "--explain")
        assert fact_id in told.stdout.decode()
        saved = session.ok("checkpoint_save", agent_id="a", state={"step": 1})
        resumed = session.ok("checkpoint_resume", agent_id="a")
        assert resumed["id"] == saved["checkpoint_id"]
        session.ok("memory_reflect", agent_id="a", action="update", target="x", text="y")
        after = session.ok("memory_search", agent_id="a", query="y", explain=True)
        assert after["explained"][0]["provenance"]["supersedes"] == [fact_id]


@promise("scope:by-directory")
def test_one_name_in_two_directories_is_two_namespaces(tmp_path: Path, store: Path) -> None:
    """F15: two owners at once, and arguments that no tool knows."""
    elsewhere = tmp_path / "elsewhere"
    with Session(store) as here, Session(elsewhere) as there:
        here.ok("memory_add", agent_id="a", text="here", namespace="b", project=str(elsewhere))
        there.ok("memory_add", agent_id="a", text="there", agentId="b", dir=str(store))
        assert (here.facts("a"), there.facts("a")) == (["here"], ["there"])
        assert (here.facts("b"), there.facts("b")) == ([], [])
        search = {"agent_id": "a", "query": " ", "namespace": "b", "project": str(elsewhere)}
        found = here.ok("memory_search", **search)
        assert (found["agent_id"], found["facts"]) == ("a", ["here"])
        assert owner_pid(store) != owner_pid(elsewhere)
    end_all(elsewhere)


@promise("writes:exactly-once")
def test_a_call_delivered_twice_is_one_fact_though_the_owner_died_between(store: Path) -> None:
    """F27, contract 10.6."""
    add = {"agent_id": "a", "text": "once"}
    with Session(store) as one, Session(store) as other:
        first = one.result("memory_add", "a key", **add)
        os.kill(owner_pid(store), signal.SIGKILL)
        assert other.result("memory_add", "a key", **add) == first
        assert one.result("memory_add", "a key", **add) == first
        assert one.ok("memory_search", agent_id="a", query=" ")["count"] == 1
        refused = other.refused("memory_add", "a key", agent_id="a", text="twice")
        assert "another request" in refused
        assert one.facts("a") == ["once"]
        status = json.loads(command(store, "--json", "status").stdout)
        assert status["store"]["total_live_facts"] == 1


@promise("start:says-where")
def test_the_start_line_names_the_directory_its_reason_and_misspelt_variables(
    store: Path,
) -> None:
    """F34: a relative path means the working directory."""
    store.parent.mkdir(exist_ok=True)
    done = subprocess.run(
        [graymatter(), "--dir", store.name, "mcp", "serve"],
        input=as_line(initialize("2025-11-25")),
        capture_output=True,
        check=True,
        cwd=store.parent,
        env=environment(GRAYMATTER_DIRECTORY="x"),
    )
    assert done.stderr.decode().splitlines() == [
        "graymatter: unknown variable GRAYMATTER_DIRECTORY: is it misspelt?",
        f"graymatter: serving {store} (by --dir)",
    ]


@promise("reflect:everywhere")
def test_retired_facts_stay_retired_for_every_process(store: Path) -> None:
    """C39: through the owner's socket, from two clients and the command."""
    with Session(store) as one, Session(store) as other:
        one.ok("memory_add", agent_id="a", text="old")
        other.ok("memory_reflect", agent_id="a", action="update", target="old", text="new")
        one.ok("memory_add", agent_id="a", text="gone")
        other.ok("memory_reflect", agent_id="a", action="forget", target="gone")
        assert one.facts("a") == other.facts("a") == ["new"]
        batch = one.ok("memory_search_batch", agent_id="a", queries=["old", "gone"])
        assert batch["merged"] == ["new"]
        told = json.loads(command(store, "--json", "recall", "a", "old").stdout)
        assert told["facts"] == ["new"]
        assert owner_note(store)["version"]
