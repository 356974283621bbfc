"""`start`: from process start to the first answers, as a client sees them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from bench.baselines import python_start
from bench.client import Client, ServerFailedError, command_line, stop_owner
from bench.figures import Row, Table
from bench.fill import Vectors, fact_count, fill
from bench.measure import summary
from bench.texts import questions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

_PEER: Final = "@modelcontextprotocol/server-memory"
_ALONE: Final = "Skipped: starts beside a running server, as this one serves one client."
_REAL_VECTORS: Final = 500
"""A start reads all vectors and looks at none: making 10,000 would take longer than all starts."""
_STAGES: Final = (
    "initialize answered",
    "first tools/call answered",
    "first answer with vectors",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--facts", type=fact_count, default=1_000, help="facts in the store")
    parser.add_argument("--calls", type=int, default=20, help="starts for each figure")
    parser.add_argument("--peer", action="store_true", help=f"compare with npm {_PEER}")


def measure(options: argparse.Namespace) -> list[Table]:
    """Start servers with nothing running, then beside one that runs."""
    calls: int = options.calls
    with TemporaryDirectory(dir=options.dir) as name, ExitStack() as stack:
        base = Path(name)
        store = base / "store"
        vectors = Vectors(_REAL_VECTORS, _REAL_VECTORS)
        fill(store, options.facts, vectors)
        stack.callback(stop_owner, store)
        command = command_line(options.server, store)
        asked = questions(2 * (calls + 1), "start")
        cold = _starts(command, calls, asked, store)
        with Client(command) as first:
            first.initialize()
            first.wait_for_vectors()
            notes = [vectors.note(options.facts)]
            try:
                beside = _starts(command, calls, asked, None)
            except ServerFailedError as exc:
                beside = {}
                notes.append(_ALONE)
                sys.stderr.write(f"{_ALONE} It said: {exc}\n")
        baselines = [python_start(calls)]
        if options.peer:
            baselines += _peer(base, calls)
    rows = [
        summary(f"{situation}: {stage}", times)
        for situation, stages in (("nothing running", cold), ("owner up", beside))
        for stage, times in stages.items()
    ]
    return [
        Table(
            title=f"time since process start, {options.facts:,} facts in the store",
            unit="ms",
            rows=tuple(rows),
            baselines=tuple(baselines),
            note=" ".join(filter(None, notes)),
        )
    ]


def _starts(
    command: list[str], calls: int, asked: Iterator[str], cold: Path | None
) -> dict[str, list[float]]:
    """Start `calls` servers one after another; in a `cold` directory no owner is left between."""
    stages: dict[str, list[float]] = {stage: [] for stage in _STAGES}
    # The first start is spent: it finds files that no other process has read.
    for number in range(calls + 1):
        with Client(command) as client:
            client.initialize()
            times = [client.since_start_ms()]
            client.search(next(asked))
            times.append(client.since_start_ms())
            client.wait_for_vectors()
            times.append(client.since_start_ms())
        if cold is not None:
            stop_owner(cold)
        if number:
            for stage, time_ms in zip(_STAGES, times, strict=True):
                stages[stage].append(time_ms)
    return stages


def _peer(base: Path, calls: int) -> list[Row]:
    """Install the npm server and time its starts, without npx's own cost in its figure."""
    npm = shutil.which("npm")
    if npm is None:
        sys.stderr.write(f"SKIPPED: the comparison with {_PEER}, since npm is not installed\n")
        return []
    peer = base / "peer"
    peer.mkdir()
    installed = subprocess.run(
        [npm, "install", "--no-audit", "--no-fund", "--silent", "--prefix", str(peer), _PEER],
        env={**os.environ, "npm_config_update_notifier": "false"},
        check=False,
    )
    if installed.returncode:
        sys.stderr.write(f"SKIPPED: the comparison with {_PEER}, since npm cannot install it\n")
        return []
    command = [str(peer / "node_modules" / ".bin" / "mcp-server-memory")]
    times: list[float] = []
    for _ in range(calls + 1):
        with Client(command, {"MEMORY_FILE_PATH": str(base / "peer.json")}) as client:
            client.initialize()
            times.append(client.since_start_ms())
    package = json.loads((peer / "node_modules" / _PEER / "package.json").read_bytes())
    return [summary(f"npm {_PEER} {package['version']} to initialize", times[1:])]
