"""Numbers that can be repeated: each belongs to a stored result of a command that still runs."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Final

import pytest

from bench.__main__ import BENCHMARKS, parser
from bench.figures import load
from bench.report import PAGE, RESULTS, ROOT, figure, render_page, stored_results

if TYPE_CHECKING:
    from pathlib import Path

    from bench.figures import Result

TINY: Final = {
    "capture": ["--facts", "100"],
    "codes": ["--sizes", "300", "--calls", "2"],
    "core": ["--sizes", "30", "--calls", "2"],
    "crash": ["--kills", "3", "--clients", "2", "--mode", "plain", "--keyword-only"],
    "embed": ["--tokens", "8", "--calls", "2"],
    "http": ["--calls", "5", "--in-flight", "2", "--each", "3"],
    "load": ["--facts", "30", "--clients", "2", "--seconds", "0.5", "--queries", "3"],
    "plane": ["--sizes", "30", "--calls", "2", "--shared-facts", "60", "--projects", "3"],
    "retrieval": ["tests/bench/conversations.json", "--facts", "turns"],
    "start": ["--facts", "30", "--calls", "1"],
    "visits": ["--facts", "30", "--rounds", "10"],
}
_DEADLINE_S: Final = 300.0
_FIGURE: Final = re.compile(r"(\d[\d,]*(?:\.\d+)?) ?(ms|MB|op/s|facts/s)\b")
_PLACE: Final = re.compile(r"(?:^|[\s\"'=])(?:/|~|[A-Z]:\\)\w+")


def quoted_figures(text: str) -> set[tuple[str, str]]:
    """Return the numbers with a unit of measured things."""
    return {(number, unit) for number, unit in _FIGURE.findall(text)}


def stored_figures(results: list[Result]) -> set[tuple[str, str]]:
    """Return every figure of the results as the page spells it."""
    return {
        (figure(value), table.unit)
        for result in results
        for table in result.tables
        for row in (*table.rows, *table.baselines)
        for value in (row.value, row.p95, row.worst)
        if value is not None
    }


def prose() -> list[Path]:
    """Return the pages that may quote figures."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [page for page in pages if page != PAGE]


def test_the_page_is_what_report_writes_from_the_stored_results() -> None:
    """F30: each figure in our docs belongs to a stored result of a command in bench/."""
    assert PAGE.read_text(encoding="utf-8") == render_page(stored_results())


@pytest.mark.parametrize("page", prose(), ids=lambda page: page.name)
def test_a_figure_quoted_elsewhere_stands_in_a_stored_result(page: Path) -> None:
    """F30; figures of the README come from the same results."""
    strangers = quoted_figures(page.read_text(encoding="utf-8")) - stored_figures(stored_results())
    assert not strangers


def test_a_quoted_figure_is_recognised_in_every_spelling() -> None:
    """F30: the check above would else see nothing and pass."""
    text = "Search takes 4.31 ms (p95 12ms), 1,234 op/s in 277 MB; 3 masters, 40 kB, 15 min."
    assert quoted_figures(text) == {
        ("4.31", "ms"),
        ("12", "ms"),
        ("1,234", "op/s"),
        ("277", "MB"),
    }


@pytest.mark.parametrize("path", sorted(RESULTS.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_result_names_a_command_that_is_still_accepted(path: Path) -> None:
    """F30: each number names its command; no place of one machine is committed."""
    result = load(path)
    assert result.name == path.stem
    assert shlex.split(result.command)[:4] == ["python", "-m", "bench", result.name]
    assert parser().parse_args(shlex.split(result.command)[3:]).name == result.name
    assert not _PLACE.search(path.read_text(encoding="utf-8"))


def test_every_benchmark_has_a_tiny_run_here() -> None:
    """F30: the command still runs, so none may be left out below."""
    assert set(TINY) == set(BENCHMARKS)


@pytest.mark.parametrize("name", TINY)
def test_a_benchmark_runs_and_leaves_a_result_with_baselines(name: str, tmp_path: Path) -> None:
    """F30: the command still runs. Issue: ratios to baselines of the same run."""
    path = tmp_path / "result.json"
    run = subprocess.run(
        [sys.executable, "-m", "bench", name, *TINY[name], "--json", path, f"--dir={tmp_path}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=_DEADLINE_S,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result = load(path)
    assert result.command == shlex.join(["python", "-m", "bench", name, *TINY[name]])
    assert result.name == name
    assert result.command in run.stdout
    assert result.tables
    assert all(table.rows for table in result.tables)
    assert all(table.baselines for table in result.tables if table.unit in {"ms", "op/s"})
    assert not _PLACE.search(path.read_text(encoding="utf-8"))
    assert not list(tmp_path.glob("tmp*")), "a store was left behind"
