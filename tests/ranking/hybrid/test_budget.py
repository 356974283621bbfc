"""The token budget against the worked example."""

from __future__ import annotations

import pytest

from graymatter_mcp.ranking.hybrid.budget import admitted, cost

LENGTHS = [100, 41, 300, 9]


def test_the_costs_of_the_worked_example() -> None:
    """Data-plane contract, example E4."""
    assert [cost(length) for length in LENGTHS] == [25, 11, 75, 3]


@pytest.mark.parametrize(
    ("max_tokens", "taken"), [(60, 2), (1, 1), (36, 2), (35, 1), (111, 3), (114, 4), (None, 4)]
)
def test_the_walk_stops_at_the_first_that_does_not_fit(max_tokens: int | None, taken: int) -> None:
    """Data-plane contract, example E4, and D32."""
    assert admitted(LENGTHS, max_tokens) == taken


def test_nothing_is_admitted_of_nothing_and_contents_left_out_are_free() -> None:
    """Data-plane contract 4.11: the content as returned counts."""
    assert admitted([], 5) == 0
    assert admitted([0] * 7, 1) == 7
