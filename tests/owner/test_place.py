"""An owner whose directory, or part of it, is taken away under it."""

from __future__ import annotations

import os
import shutil
import signal
from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.processes import (
    Session,
    is_running,
    owner_note,
    owner_pid,
    processes_of,
    wait_until,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def _move(directory: Path) -> None:
    directory.rename(directory.with_name("elsewhere"))


def _replace(directory: Path) -> None:
    _move(directory)
    directory.mkdir()


def _empty(directory: Path) -> None:
    for path in directory.iterdir():
        path.unlink()


LOSSES: Final[dict[str, Callable[[Path], Any]]] = {
    "deleted": shutil.rmtree,
    "moved": _move,
    "replaced": _replace,
    "emptied": _empty,
}


@pytest.mark.parametrize("loss", LOSSES)
def test_an_owner_leaves_a_directory_that_is_gone_and_its_client_goes_on(
    store: Path, loss: str
) -> None:
    """Issue 3: what is stored from then on is where everybody looks."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        owner = owner_pid(store)
        LOSSES[loss](store)
        wait_until(lambda: not is_running(owner), "the owner leaves")
        session.ok("memory_add", agent_id="a", text="after")
        with Session(store) as other:
            assert other.facts("a") == ["after"]
        assert owner_pid(store) != owner


def test_an_owner_leaves_when_nobody_can_come_any_more(store: Path) -> None:
    """Issue 3: without its socket nobody could reach it, nor take its place."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        note = owner_note(store)
        os.unlink(note["lines"])  # noqa: PTH108 - a name, not a path of ours
        wait_until(lambda: not is_running(note["pid"]), "the owner leaves")
        with Session(store) as other:
            other.ok("memory_add", agent_id="a", text="after")
        assert session.facts("a") == ["after", "before"]


def test_an_owner_that_leaves_late_takes_nothing_of_the_next(store: Path) -> None:
    """Issue 3: at the place of its sockets there may be those of another by then."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="before")
        late = owner_pid(store)
        os.kill(late, signal.SIGSTOP)
        _move(store)
        with Session(store) as other:
            other.ok("memory_add", agent_id="a", text="after")
            note = owner_note(store)
            os.kill(late, signal.SIGCONT)
            wait_until(lambda: not is_running(late), "the late owner leaves")
            with Session(store) as third:
                assert third.facts("a") == session.facts("a") == other.facts("a") == ["after"]
            assert owner_note(store) == note
            bridges = {session.process.pid, other.process.pid}
            wait_until(lambda: processes_of(store) - bridges == {note["pid"]}, "one owner")


def test_an_owner_writes_its_note_again_when_it_is_lost(store: Path) -> None:
    """Issue 3: newcomers find it, and start no other."""
    with Session(store) as session:
        session.ok("memory_add", agent_id="a", text="x")
        note = owner_note(store)
        (store / "owner.json").unlink()
        assert owner_note(store) == note
        with Session(store) as other:
            assert other.facts("a") == ["x"]
        assert owner_note(store) == note
