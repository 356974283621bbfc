"""From calls to rows, from rows to Markdown: worked by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bench.figures import Result, Row, Table, load, save
from bench.measure import durations_ms, percentile, summary
from bench.report import figure, render

if TYPE_CHECKING:
    from pathlib import Path

RESULT = Result(
    name="core",
    command="python -m bench core",
    date="2026-03-01",
    python="3.11.7",
    system="Linux x86_64",
    cpus=2,
    versions={"duckdb": "2.0.1", "mcp": "2.3.0"},
    tables=(
        Table(
            title="1,000 facts",
            unit="ms",
            rows=(
                Row(what="memory_add", value=0.5, p95=1.25, worst=12.34, count=1200),
                Row(what="share", value=100.4),
            ),
            baselines=(Row(what="append", value=0.25, p95=0.3, worst=2.5, count=100),),
            note="Vectors are real.",
        ),
        Table(title="memory", unit="MB", rows=(Row(what="server", value=277.4),)),
    ),
)
PAGE = """
## core

Made on 2026-03-01 with Python 3.11.7, duckdb 2.0.1, mcp 2.3.0; Linux x86_64, 2 CPUs.

| 1,000 facts | p50 ms | p95 ms | worst ms | calls | x append |
| --- | ---: | ---: | ---: | ---: | ---: |
| memory_add | 0.500 | 1.25 | 12.3 | 1,200 | 2 |
| share | 100 |  |  |  | 402 |
| append | 0.250 | 0.300 | 2.50 | 100 | 1 |

Vectors are real.

`python -m bench core`

| memory | MB |
| --- | ---: |
| server | 277 |

`python -m bench core`
"""


def test_a_result_is_rendered_with_ratios_command_and_date() -> None:
    """F30: each number names its command and date; issue: ratios beside the baselines."""
    assert render(RESULT) == PAGE


def test_a_stored_result_is_read_back_whole(tmp_path: Path) -> None:
    """F30: the page is made from what was measured, not from memory."""
    save(RESULT, tmp_path / "core.json")
    assert load(tmp_path / "core.json") == RESULT


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.0374, "0.037"),
        (9.876, "9.88"),
        (12.34, "12.3"),
        (8137.6, "8,138"),
        (-0.2, "-0.200"),
    ],
)
def test_a_figure_has_about_three_digits(value: float, text: str) -> None:
    """House: one spelling of a number, so that quotes can be compared."""
    assert figure(value) == text


def test_percentiles_are_values_that_were_measured() -> None:
    """Nearest rank: p50 of 1..10 is 5, p95 is the 10th; one value is every percentile."""
    values = [float(value) for value in (7, 1, 10, 4, 2, 9, 3, 8, 6, 5)]
    assert (percentile(values, 0.5), percentile(values, 0.95)) == (5, 10)
    assert percentile([float(value) for value in range(1, 101)], 0.95) == 95
    assert percentile([3.0], 0.5) == 3
    assert summary("x", values) == Row(what="x", value=5, p95=10, worst=10, count=10)


def test_every_input_is_used_once_and_the_first_ones_are_not_timed() -> None:
    """Issue: queries must be distinct, or the query cache answers."""
    seen: list[int] = []
    times = durations_ms(seen.append, range(7), warm_up=3)
    assert seen == [0, 1, 2, 3, 4, 5, 6]
    assert len(times) == 4
