"""`visits`: clients that come, work and go, while one stays: what is left of them."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.baselines import resident_mb
from bench.client import Client, ServerFailedError, command_line, owner_pid, stop_owner
from bench.figures import Row, Table
from bench.fill import Vectors, fact_count, fill
from bench.texts import questions, sentences

if TYPE_CHECKING:
    import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--facts", type=fact_count, default=1_000, help="facts in the store")
    parser.add_argument("--rounds", type=int, default=100, help="clients, one after another")


def measure(options: argparse.Namespace) -> list[Table]:
    """Let each client search and add, and look at the owner and at what else still runs."""
    rounds: int = options.rounds
    with TemporaryDirectory(dir=options.dir) as name, ExitStack() as stack:
        store = Path(name) / "store"
        fill(store, options.facts, Vectors())
        stack.callback(stop_owner, store)
        command = command_line(options.server, store)
        staying = stack.enter_context(Client(command))
        staying.initialize()
        staying.wait_for_vectors()
        texts, asked = sentences(rounds, "visit"), questions(rounds, "visit")
        before = _processes_of(store)
        memory: list[Row] = []
        for number in range(1, rounds + 1):
            with Client(command) as client:
                client.initialize()
                client.search(next(asked))
                client.add(next(texts))
            if number in (rounds // 10, rounds // 2, rounds):
                memory.append(Row(what=f"owner after {number} clients", value=_owner_mb(store)))
        left = _processes_of(store) - before
    title = f"{rounds} clients that come, search, add and go, one after another"
    return [
        Table(title=title, unit="MB", rows=tuple(memory)),
        Table(title=title, unit="count", rows=(Row(what="processes left", value=len(left)),)),
    ]


def _owner_mb(store: Path) -> float:
    owner = owner_pid(store)
    memory = None if owner is None else resident_mb(owner)
    if memory is None:
        raise ServerFailedError("no owner's memory can be read here")
    return memory


def _processes_of(store: Path) -> set[int]:
    """Return the processes that were told of a directory on their command line."""
    found: set[int] = set()
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and str(store).encode() in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    return found
