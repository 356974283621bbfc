from __future__ import annotations

import pytest

from graymatter_mcp.policy.contradiction import contradicts
from graymatter_mcp.policy.refinement import refines
from tests.policy.cases import CaptureCase, capture_cases

CASES = capture_cases()


def _outcome(new: str, old: str) -> str:
    if contradicts(new, old):
        return "supersede"
    return "merge" if refines(new, old) else "keep"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.old} -> {case.new}")
def test_each_pair_of_the_table_is_judged_as_it_says(case: CaptureCase) -> None:
    """Data plane 5.4 and 5.6, D38, D39, D42: the cosine may be as high as it likes."""
    assert _outcome(case.new, case.old) == case.expected


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.expected == "keep"], ids=lambda case: f"{case.new} -> {case.old}"
)
def test_two_facts_that_may_both_hold_never_contradict_whichever_came_first(
    case: CaptureCase,
) -> None:
    """Data plane 5.4: hiding a true fact costs more than keeping two.

    Rule 6 looks at what the old fact would lose, so it has a direction of its own.
    """
    if "lost" not in case.why:
        assert not contradicts(case.old, case.new)


def test_the_table_covers_enough() -> None:
    """Issue 5: at least 60 pairs beyond the table of the contract, of each kind."""
    own = [case for case in CASES if not case.why.startswith("contract:")]
    assert len(own) >= 60
    assert {case.expected for case in own} == {"supersede", "merge", "keep"}
    assert len(CASES) - len(own) >= 21
