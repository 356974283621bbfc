"""Results as Markdown: `docs/benchmarks.md` is this module's output and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from bench.figures import load

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.figures import Result, Row, Table

ROOT: Final = Path(__file__).parents[1]
RESULTS: Final = ROOT / "bench" / "results"
PAGE: Final = ROOT / "docs" / "benchmarks.md"

_COLUMNS: Final = {
    "ms": ["p50 ms", "p95 ms", "worst ms", "calls"],
    "share": ["share", "95 % from", "to", "questions"],
}
_HEAD: Final = """\
# Benchmarks

This page is written by `python -m bench report` from the files in `bench/results/`; edit neither
by hand. Each table ends with its baselines, measured in the same run and directory, and gives every
figure as a multiple of them: of 200 bytes appended to a file and forced to disk with fdatasync, or
of an interpreter that starts and ends. Compare these ratios: milliseconds are those of one machine
in one hour.

What these numbers are not:

- not a measure of how good answers are: only `retrieval` looks at what was found, and it counts
  facts, it does not judge what a model would say with them;
- not those of your machine, nor of an idle one: the load from outside the run is unknown;
- not a promise: a figure may be worse than the target, and stays here when it is;
- not a real diary: the texts are made-up sentences about people, services, ports, versions, dates
  and places, each one distinct, all in one namespace, which is the hardest case;
- not from a query cache, except where a line says so: every timed query is new, and the time to
  embed it is in the figure.
"""


def figure(value: float) -> str:
    """Write a figure with about three digits, whole numbers without decimals."""
    if float(value).is_integer():
        return f"{value:,.0f}"
    for bound, digits in ((1, 3), (10, 2), (100, 1)):
        if abs(value) < bound:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def render(result: Result) -> str:
    """Write one result as a section."""
    versions = ", ".join(f"{name} {number}" for name, number in result.versions.items())
    made = f"Made on {result.date} with Python {result.python}, {versions}; {result.system},"
    tables = "\n".join(_table(table, result.command) for table in result.tables)
    return f"\n## {result.name}\n\n{made} {result.cpus} CPUs.\n\n{tables}"


def render_page(results: Sequence[Result]) -> str:
    """Write the whole page, sections by name."""
    ordered = sorted(results, key=lambda result: result.name)
    return _HEAD + "".join(map(render, ordered))


def stored_results() -> list[Result]:
    """Read every committed result."""
    return [load(path) for path in sorted(RESULTS.glob("*.json"))]


def write_page() -> None:
    """Bring the page up to date with the results."""
    PAGE.write_text(render_page(stored_results()), encoding="utf-8")


def _table(table: Table, command: str) -> str:
    columns = _COLUMNS.get(table.unit)
    head = [table.title]
    head += columns or [table.unit]
    head += [f"x {baseline.what}" for baseline in table.baselines]
    lines = [head, ["---", *["---:"] * (len(head) - 1)]]
    lines += [_cells(row, table) for row in (*table.rows, *table.baselines)]
    body = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
    note = f"\n{table.note}\n" if table.note else ""
    return f"{body}\n{note}\n`{command}`\n"


def _cells(row: Row, table: Table) -> list[str]:
    if table.unit == "share":
        values = [_share(value) for value in (row.value, row.low, row.high)]
    else:
        values = [figure(row.value)]
    if table.unit == "ms":
        values += ["" if value is None else figure(value) for value in (row.p95, row.worst)]
    if table.unit in _COLUMNS:
        values.append("" if row.count is None else f"{row.count:,}")
    return [row.what, *values, *[figure(row.value / one.value) for one in table.baselines]]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
