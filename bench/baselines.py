"""What the machine charges for the least such work, measured where and when the rest is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Final

from bench.figures import Row
from bench.measure import durations_ms, summary
from bench.texts import sentences
from graymatter_mcp.embedding.minilm import MiniLM

APPEND: Final = "raw append + fdatasync"
START: Final = "python -c pass"
_RECORD: Final = b"x" * 200
_IMPLAUSIBLE_MS: Final = 0.02


def append_and_sync(directory: Path, calls: int = 100) -> Row:
    """Time appends that reach the disk of `directory`: the floor of any durable write."""
    with tempfile.NamedTemporaryFile(dir=directory, buffering=0) as file:

        def append(_: int) -> None:
            file.write(_RECORD)
            os.fdatasync(file.fileno())

        row = summary(APPEND, durations_ms(append, range(calls + 5), warm_up=5))
    if row.value < _IMPLAUSIBLE_MS:
        sys.stderr.write("warning: nothing here reaches a disk; choose one with --dir\n")
    return row


def python_start(calls: int = 10) -> Row:
    """Time an interpreter that does nothing: the floor of any process start."""

    def start(_: int) -> None:
        subprocess.run([sys.executable, "-c", "pass"], check=True)

    return summary(START, durations_ms(start, range(calls + 2), warm_up=2))


def python_memory() -> Row | None:
    """Measure the resident memory of an interpreter that does nothing; None where unknown."""
    with subprocess.Popen(
        [sys.executable, "-c", "print(flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        megabytes = resident_mb(process.pid)
        process.communicate(b"\n")
    return None if megabytes is None else Row(what=START, value=megabytes)


def resident_mb(pid: int) -> float | None:
    """Return the resident memory of a process in 10**6 bytes; None where ``/proc`` is missing."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return None
    (kib,) = (int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return kib * 1024 / 1e6


def embeddings_per_second(seconds: float = 3.0) -> Row:
    """Embed sentences on every core and do nothing else: the ceiling of whatever needs a vector."""
    cores = os.cpu_count() or 1
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:
        rates = pool.map(_embedded, [seconds] * cores, range(cores))
        return Row(what="vectors made on all cores, nothing else", value=sum(rates))


def _embedded(seconds: float, core: int) -> float:
    model = MiniLM()
    texts = sentences(1_000_000, f"core {core}")
    model.embed([next(texts)])
    count, start = 0, perf_counter()
    while perf_counter() - start < seconds:
        model.embed([next(texts)])
        count += 1
    return count / (perf_counter() - start)


def per_second(append: Row) -> tuple[Row, ...]:
    """Turn the append's time into a rate, as the baseline of rates."""
    return (Row(what=append.what, value=1e3 / append.value),)
