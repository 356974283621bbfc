from __future__ import annotations

import json
import os
import signal
from typing import TYPE_CHECKING, Final

from contract_tests.processes import Session, command, connected, owner_note, owner_pid, tool_call
from contract_tests.wire import request

if TYPE_CHECKING:
    from pathlib import Path

MARK: Final = "Zwiebelkuchen-Xylophon"


def logs(store: Path) -> str:
    """Return all that was logged."""
    return "".join(path.read_text("utf-8") for path in sorted(store.glob("owner.log*")))


def test_the_log_never_holds_what_a_client_said(store: Path) -> None:
    """House 4, issue 3.1: facts, targets, queries, names, keys; through successes and failures."""
    with Session(store, GRAYMATTER_KG="1") as session:
        session.ok("memory_add", agent_id=MARK, text=f"{MARK} fact")
        session.ok("checkpoint_save", agent_id=MARK, state={MARK: MARK})
        session.facts(MARK)
        session.refused("memory_reflect", agent_id=MARK, action="forget", target=f"{MARK} none")
        session.refused("memory_reflect", agent_id=MARK, action=MARK)
        session.refused("memory_add", agent_id="a", text="x", confidence=MARK)
        session.refused("memory_add", MARK, agent_id="a")
        session.result("memory_add", MARK, agent_id="a", text="one")
        session.refused("memory_add", MARK, agent_id="a", text="two")
        for bad in (request(1, MARK), tool_call(1, MARK, {})):
            assert "error" in session.ask(bad)
        session.ask(tool_call(MARK, "memory_add", {"agent_id": [MARK], "text": {MARK: 1}}))
        with connected(store, "lines") as connection:
            connection.sendall(json.dumps({"token": MARK}).encode() + b"\n")
            assert MARK.encode() not in connection.recv(4096)
        with connected(store, "http") as connection:
            connection.sendall(f"GET /{MARK} HTTP/1.1\r\nhost: {MARK}\r\n\r\n{MARK}".encode())
            connection.recv(4096)
        token = owner_note(store)["token"]
        os.kill(owner_pid(store), signal.SIGKILL)
        assert session.facts(MARK)
        assert command(store, "daemon", "stop").returncode == 0
    assert logs(store), "there is something to look at"
    assert MARK not in logs(store)
    assert token not in logs(store)


def test_the_log_rotates(store: Path) -> None:
    """Issue 3.1: a megabyte or two, however long the owner lives; 0600 all of it."""
    store.mkdir(mode=0o700)
    full = "x" * 99 + "\n"
    for name in ("owner.log", "owner.log.1", "owner.log.2"):
        (store / name).write_text(full * 10_000)
        (store / name).chmod(0o600)
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        sizes = {path.name: path.stat().st_size for path in store.glob("owner.log*")}
        assert set(sizes) == {"owner.log", "owner.log.1", "owner.log.2"}
        assert sizes["owner.log"] < 10_000
        assert (store / "owner.log").stat().st_mode & 0o777 == 0o600
