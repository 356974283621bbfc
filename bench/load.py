"""`load`: several clients at once, adding and searching: errors, the worst call, calls a second."""

from __future__ import annotations

import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier
from time import perf_counter
from typing import TYPE_CHECKING, Final

from bench.baselines import (
    append_and_sync,
    embeddings_per_second,
    per_second,
    python_start,
)
from bench.client import Client, ServerFailedError, command_line, stop_owner
from bench.figures import Row, Table
from bench.fill import Vectors, fact_count, fill
from bench.measure import summary
from bench.texts import questions, sentences

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_MIX: Final = ("add", "search")
_NOTE: Final = (
    "Every add needs a vector, and so does every search whose query is new; the sentences embedded"
    " for the last baseline are as long as both. Clients, bridges and server share the cores with"
    " that work."
)
_PLENTY: Final = 1_000_000
"""Texts a client could ask for: more than it can send."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument(
        "--facts", type=fact_count, default=1_000, help="facts in each store at first"
    )
    parser.add_argument(
        "--queries",
        type=int,
        help="distinct queries of each client, asked again and again; by default none repeats",
    )
    parser.add_argument(
        "--shared", action="store_true", help="one data directory for all, not one for each"
    )


@dataclass(slots=True)
class _Log:
    """What one client saw."""

    times_ms: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in _MIX})
    errors: int = 0


def measure(options: argparse.Namespace) -> list[Table]:
    """Let every client call without pause, adds and searches in turn."""
    count: int = options.clients
    with TemporaryDirectory(dir=options.dir) as name, ExitStack() as stack:
        base = Path(name)
        directories = _stores(base, options)
        stack.callback(lambda: [stop_owner(directory) for directory in set(directories)])
        clients = [
            stack.enter_context(Client(command_line(options.server, directory)))
            for directory in directories
        ]
        for client in clients:
            client.initialize()
            client.wait_for_vectors()
        barrier = Barrier(count)
        with ThreadPoolExecutor(count) as pool:
            runs = [
                pool.submit(_run, client, number, barrier, options)
                for number, client in enumerate(clients)
            ]
        logs = [run.result() for run in runs]
        append = append_and_sync(base)
    place = "one data directory" if options.shared else "a data directory each"
    queries = f"{options.queries} queries each" if options.queries else "no query twice"
    title = f"{count} clients, {place}, {queries}, {options.seconds:g} s"
    return _tables(logs, title, options.seconds, append)


def _stores(base: Path, options: argparse.Namespace) -> list[Path]:
    """Fill one store and, unless it is shared, copy it: one directory for each client."""
    first = base / "store 0"
    fill(first, options.facts, Vectors())
    directories = [first] * options.clients
    if not options.shared:
        directories = [base / f"store {number}" for number in range(options.clients)]
        for directory in directories[1:]:
            shutil.copytree(first, directory)
    return directories


def _run(client: Client, number: int, barrier: Barrier, options: argparse.Namespace) -> _Log:
    log = _Log()
    asked = questions(_PLENTY, f"client {number}")
    calls: dict[str, tuple[Callable[[str], str], Iterator[str]]] = {
        "add": (client.add, sentences(_PLENTY, f"client {number}")),
        "search": (client.search, cycle(islice(asked, options.queries))),
    }
    barrier.wait()
    end = perf_counter() + options.seconds
    for kind in cycle(_MIX):
        call, inputs = calls[kind]
        text = next(inputs)
        start = perf_counter()
        if start >= end:
            break
        try:
            call(text)
        except ServerFailedError as exc:
            log.errors += 1
            sys.stderr.write(f"client {number}, {kind}: {exc}\n")
            if not client.is_running():
                break
        log.times_ms[kind].append((perf_counter() - start) * 1e3)
    return log


def _tables(logs: list[_Log], title: str, seconds: float, append: Row) -> list[Table]:
    times = {kind: [t for log in logs for t in log.times_ms[kind]] for kind in _MIX}
    total = sum(map(len, times.values()))
    return [
        Table(
            title=title,
            unit="ms",
            rows=tuple(summary(f"memory_{kind}", times[kind]) for kind in _MIX),
            baselines=(append, python_start()),
        ),
        Table(
            title=title,
            unit="op/s",
            rows=(Row(what="adds and searches, all clients", value=total / seconds),),
            baselines=(*per_second(append), embeddings_per_second()),
            note=_NOTE,
        ),
        Table(
            title=title,
            unit="count",
            rows=(Row(what="errors", value=sum(log.errors for log in logs)),),
        ),
    ]
