"""``python -m bench <name>``: run one benchmark, or write the page of all results."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bench import (
    capture,
    codes,
    core,
    crash,
    embed,
    http,
    load,
    plane,
    report,
    retrieval,
    start,
    visits,
)
from bench.client import SERVER
from bench.figures import result_of, save

if TYPE_CHECKING:
    from collections.abc import Sequence

BENCHMARKS: Final[dict[str, Any]] = {
    "capture": capture,
    "codes": codes,
    "core": core,
    "crash": crash,
    "embed": embed,
    "http": http,
    "load": load,
    "plane": plane,
    "retrieval": retrieval,
    "start": start,
    "visits": visits,
}
_PLACES: Final = ("--json", "--dir", "--vectors")


def main(arguments: Sequence[str]) -> None:
    """Run one command line; the tables go to stdout, the progress to stderr."""
    options = parser().parse_args(arguments)
    if options.name == "report":
        report.write_page()
        return
    tables = BENCHMARKS[options.name].measure(options)
    result = result_of(options.name, _command(arguments), tables)
    if options.json is not None:
        save(result, options.json)
    print(report.render(result))
    if options.name == "crash" and crash.has_failed(tables):
        raise SystemExit("the store did not keep its word: see the table")


def parser() -> argparse.ArgumentParser:
    """Return what reads a command line."""
    frame = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    names = frame.add_subparsers(dest="name", required=True)
    names.add_parser("report", help="write docs/benchmarks.md from bench/results")
    for name, module in BENCHMARKS.items():
        command = names.add_parser(name, help=module.__doc__)
        command.add_argument("--json", type=Path, help="also write the result to this file")
        command.add_argument("--dir", type=Path, help="where stores are made, and the disk is")
        command.add_argument("--server", default=SERVER, help="command; {dir} is its directory")
        module.add_arguments(command)
    return frame


def _command(arguments: Sequence[str]) -> str:
    """Return the command without its places: those belong to one machine."""
    kept: list[str] = []
    words = iter(arguments)
    for word in words:
        if word in _PLACES:
            next(words)
        elif not word.startswith(tuple(f"{place}=" for place in _PLACES)):
            kept.append(Path(word).name if Path(word).is_absolute() else word)
    return shlex.join(["python", "-m", "bench", *kept])


if __name__ == "__main__":
    main(sys.argv[1:])
