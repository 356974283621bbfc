"""Checking of values: as strict as the files, and silent about what the values hold."""

from __future__ import annotations

import math

import pytest

from graymatter_mcp.contract.check import Checker, ContractViolationError
from graymatter_mcp.contract.load import load_bundle

CHECKER = Checker(load_bundle())
FOUND = {"agent_id": "a", "query": "q", "count": 1, "facts": ["f"]}


def test_a_payload_that_fits_is_accepted() -> None:
    """C10."""
    CHECKER.check_output("memory_search", FOUND)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": "secret"}, "memory_search/output: $.count: type"),
        ({"count": 1.5}, "memory_search/output: $.count: type"),
        ({"facts": ["f", 7]}, "memory_search/output: $.facts[1]: type"),
        ({"secret key": 1}, "memory_search/output: $: additionalProperties"),
        ({"facts": ("f",)}, "memory_search/output: $.facts: not JSON text"),
        ({"query": "secret \ud800"}, "memory_search/output: $.query: not JSON text"),
        ({"count": math.inf}, "memory_search/output: $.count: not JSON text"),
    ],
)
def test_a_violation_tells_place_and_rule_but_no_value(
    change: dict[str, object], message: str
) -> None:
    """House 3: violations are logged, and logs hold no text of facts."""
    with pytest.raises(ContractViolationError) as caught:
        CHECKER.check_output("memory_search", FOUND | change)
    assert str(caught.value) == message


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_found_in_free_parts_too(number: float) -> None:
    """Wire 4: both JSON parsers accept NaN and Infinity."""
    payload = {"id": "1", "created_at": "t", "state": {"secret": [{"deep": number}]}}
    with pytest.raises(ContractViolationError) as caught:
        CHECKER.check_output("checkpoint_resume", payload)
    assert str(caught.value) == "checkpoint_resume/output: $.state: not JSON text"


def test_deep_values_are_walked_without_recursion() -> None:
    """Contract 7: a state has no size limit, so checking it may not crash."""
    state: dict[str, object] = {}
    for _ in range(100_000):
        state = {"s": state}
    CHECKER.check_output("checkpoint_resume", {"id": "1", "created_at": "t", "state": state})
    while state:
        # Torn down from outside: the interpreter would free it recursively.
        state = state["s"]  # pyright: ignore[reportAssignmentType] - the loop above made it


def test_a_missing_argument_is_refused_and_an_unknown_one_left_open() -> None:
    """House 3: the check is exactly as strict as the file."""
    CHECKER.check_input("memory_add", {"agent_id": "a", "text": "t", "more": 1})
    with pytest.raises(ContractViolationError, match=r"^memory_add/input: \$: required$"):
        CHECKER.check_input("memory_add", {"agent_id": "a"})
