"""`crash`: clients and the owner are killed again and again: what was acknowledged, and is lost."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random
from tempfile import gettempdir
from typing import TYPE_CHECKING, Final

from bench.aftermath import Findings, examine
from bench.baselines import append_and_sync
from bench.client import command_line, owner_pid, stop_owner
from bench.figures import Row, Table
from bench.measure import summary
from bench.mischief import MODES
from bench.scribes import Gate, Scribe

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from bench.mischief import Mischief

_NOTE: Final = (
    "Every fourth write replaces the client's last fact, the others only add: the journal gives"
    " both back where the log lost them. In the end the whole store is read, and each text must be"
    " there once."
)
_WAIT_S: Final = (0.05, 0.6)
_IN_A_ROW: Final = 0.3
"""Share of kills that wait for no write in between: an opening is killed as well."""
_PATIENCE_S: Final = 10.0
_FAILURES: Final = (
    "added facts lost",
    "replacements lost in silence",
    "writes found twice",
    "writes found that were refused with nothing stored",
    "clients that fell silent",
    "replacements lost, and reported",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--kills", type=int, default=200, help="in each mode")
    parser.add_argument("--round", type=int, default=10, help="kills between two mischiefs")
    parser.add_argument("--mode", choices=MODES, help="one mode alone; by default all of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keyword-only", action="store_true", help="without a model")


def measure(options: argparse.Namespace) -> list[Table]:
    """Run each mode; one that this process may not run is told on stderr and in its table."""
    modes = MODES.values() if options.mode is None else [MODES[options.mode]]
    tables: list[Table] = []
    for mode in modes:
        try:
            tables += _measure(mode, options)
        except PermissionError as exc:
            sys.stderr.write(f"!!!! NOT MEASURED: {mode.title}: {exc} !!!!\n")
            row = Row(what="kills", value=0)
            tables.append(
                Table(title=mode.title, unit="count", rows=(row,), note=f"NOT MEASURED: {exc}.")
            )
    return tables


def has_failed(tables: Sequence[Table]) -> bool:
    """Whether anything was lost, doubled or silent."""
    return any(row.value for table in tables for row in table.rows if row.what in _FAILURES)


def _measure(mode: Mischief, options: argparse.Namespace) -> list[Table]:
    base = Path(gettempdir()) if options.dir is None else options.dir
    with mode.place(base) as name:
        directory = Path(name).resolve() / "memory"
        directory.mkdir(mode=0o700)
        arena = Arena(directory, options)
        try:
            _kill_often(arena, mode, options)
        finally:
            arena.end()
        # A client that was killed may have started one that comes up only now.
        while _owners(directory):
            stop_owner(directory)
            time.sleep(0.1)
        findings = examine(directory, [scribe.log for scribe in arena.scribes])
        append = append_and_sync(directory)
    refusals = Counter(text for one in arena.scribes for _, text in one.log.refused)
    for text, count in refusals.most_common(10):
        sys.stderr.write(f"  refused {count} x {text[:150]}\n")
    title = f"{options.clients} clients, {mode.title}"
    times = [time_ms for one in arena.scribes for time_ms in one.log.times_ms]
    return [
        Table(title=title, unit="count", rows=_rows(arena, findings), note=_NOTE),
        Table(
            title=title,
            unit="ms",
            rows=(summary("a write, kills and waits included", times),),
            baselines=(append,),
        ),
    ]


def _rows(arena: Arena, findings: Findings) -> tuple[Row, ...]:
    counts = {
        "kills of clients' bridges": arena.kills["bridge"],
        "kills of the owner; the next one opens the store": arena.kills["owner"],
        "writes acknowledged": findings.acknowledged,
        "writes refused with a reason": findings.refused,
        "writes whose client was killed before the answer": findings.unknown,
        "losses that the store itself reported, in rows": findings.reported,
        _FAILURES[5]: min(findings.undone, findings.reported),
        _FAILURES[0]: findings.lost,
        _FAILURES[1]: max(0, findings.undone - findings.reported),
        _FAILURES[2]: findings.twice,
        _FAILURES[3]: findings.denied,
        _FAILURES[4]: findings.silences,
    }
    return tuple(Row(what=what, value=count) for what, count in counts.items())


def _kill_often(arena: Arena, mode: Mischief, options: argparse.Namespace) -> None:
    random = Random(options.seed)  # noqa: S311 - the same kills again, not a secret
    boundary = options.round
    while arena.kills.total() < options.kills:
        if random.random() > _IN_A_ROW:
            arena.wait_for_a_write()
        time.sleep(random.uniform(*_WAIT_S))
        if random.random() < 0.5:
            arena.kill_bridge(random)
        else:
            arena.kill_owner()
        if arena.kills.total() < boundary:
            continue
        boundary = arena.kills.total() + options.round
        if mode.wants_rest:
            arena.rest()
        mode.act(arena.directory, random)
        arena.gate.open()
        sys.stderr.write(f"{arena.kills.total()} kills, {arena.acknowledged} acknowledged\n")


class Arena:
    """A data directory, its clients, and whoever owns it at the moment."""

    def __init__(self, directory: Path, options: argparse.Namespace) -> None:
        self.directory = directory
        self.gate = Gate(options.clients)
        self.kills: Counter[str] = Counter()
        command = command_line(options.server, directory)
        environment = {"GRAYMATTER_MODEL": "none"} if options.keyword_only else {}
        self.scribes = [
            Scribe(number, command, environment, self.gate) for number in range(options.clients)
        ]

    @property
    def acknowledged(self) -> int:
        """Writes acknowledged so far."""
        return sum(len(one.log.acknowledged) for one in self.scribes)

    def wait_for_a_write(self) -> None:
        """Wait until one more write was acknowledged, but not for ever: the disk may be full."""
        before = self.acknowledged
        deadline = time.monotonic() + _PATIENCE_S
        while self.acknowledged == before and time.monotonic() < deadline:
            time.sleep(0.02)

    def kill_bridge(self, random: Random) -> None:
        """Kill one client's process, if there is one."""
        self.kills["bridge"] += random.choice(self.scribes).kill()

    def kill_owner(self) -> bool:
        """Kill whoever serves the directory or is about to; whether there was anyone."""
        found = _owners(self.directory)
        for pid in found:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.kills["owner"] += bool(found)
        return bool(found)

    def rest(self) -> None:
        """Kill everything, and let no client come again before the gate opens."""
        self.gate.shut()
        is_held = False
        while not is_held:
            self.kills["bridge"] += sum(scribe.kill() for scribe in self.scribes)
            is_held = self.gate.is_everyone_held(0.1)
        while self.kill_owner():
            time.sleep(0.1)

    def end(self) -> None:
        """Let every client end as clients do."""
        self.gate.end()
        for scribe in self.scribes:
            scribe.join()


def _owners(directory: Path) -> list[int]:
    """Return the processes that serve a directory, those too that have not said so yet."""
    if not Path("/proc/self").exists():
        pid = owner_pid(directory)
        return [] if pid is None else [pid]
    found: list[int] = []
    for place in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            words = (place / "cmdline").read_bytes().split(b"\0")
            if os.fsencode(directory) in words and b"daemon" in words:
                found.append(int(place.name))
    return found
