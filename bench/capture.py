"""`capture`: how right capture is over its case table, and what the hygiene report costs."""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING, Final

from bench.baselines import python_start
from bench.figures import Row, Table
from bench.measure import summary
from bench.texts import sentences
from graymatter_mcp.policy.contradiction import contradicts
from graymatter_mcp.policy.hygiene import HygieneFact, hygiene
from graymatter_mcp.policy.refinement import refines
from tests.policy.cases import capture_cases

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

_JUDGED: Final = ("supersede", "merge")
_RUNS: Final = 3
_K: Final = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what this benchmark can be told."""
    parser.add_argument("--facts", type=int, default=10_000, help="facts of each hygiene report")


def measure(options: argparse.Namespace) -> list[Table]:
    """Judge every pair of the table, then report on three made-up stores."""
    cases = capture_cases()
    seen = Counter((case.expected, _outcome(case.new, case.old)) for case in cases)
    return [
        Table(
            title=f"{len(cases)} pairs",
            unit="count",
            rows=tuple(_rows(seen)),
            note="1 is perfect. Precision counts facts that were hidden or rewritten wrongly.",
        ),
        Table(
            title=f"hygiene over {options.facts:,} facts",
            unit="ms",
            rows=tuple(
                summary(what, [_cpu_ms(_facts(texts)) for _ in range(_RUNS)])
                for what, texts in _stores(options.facts)
            ),
            baselines=(python_start(),),
            note="Time of the processor, not of the clock: whatever else ran is left out.",
        ),
    ]


def _outcome(new: str, old: str) -> str:
    if contradicts(new, old):
        return "supersede"
    return "merge" if refines(new, old) else "keep"


def _rows(seen: Counter[tuple[str, str]]) -> Iterator[Row]:
    for outcome in _JUDGED:
        right = seen[outcome, outcome]
        made = sum(count for (_, got), count in seen.items() if got == outcome)
        wanted = sum(count for (expected, _), count in seen.items() if expected == outcome)
        yield Row(what=f"{outcome}: pairs", value=wanted)
        yield Row(what=f"{outcome}: precision", value=right / made if made else 0)
        yield Row(what=f"{outcome}: recall", value=right / wanted if wanted else 0)
    yield Row(what="keep both: pairs", value=sum(n for (e, _), n in seen.items() if e == "keep"))
    wrong = sum(count for (expected, got), count in seen.items() if expected != got)
    yield Row(what="wrong", value=wrong)


def _stores(count: int) -> Iterator[tuple[str, list[str]]]:
    yield "sentences of a few templates", list(sentences(count, "hygiene"))
    yield "readings of one gauge", [f"The pressure is {number}" for number in range(count)]
    yield "one text again and again", ["The API uses port 7778"] * count


def _facts(texts: Sequence[str]) -> list[HygieneFact]:
    return [
        HygieneFact(
            fact_id=str(number),
            content=text,
            namespace="default",
            project_id=None,
            memory_type=None,
            confidence=None,
            overall=None,
            base_days=None,
            age_days=0,
            vector_owed_minutes=None,
        )
        for number, text in enumerate(texts)
    ]


def _cpu_ms(facts: Sequence[HygieneFact]) -> float:
    start = time.process_time()
    hygiene(facts, k=_K)
    return (time.process_time() - start) * 1000
