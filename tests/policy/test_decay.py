from __future__ import annotations

import pytest

from graymatter_mcp.policy.decay import effective_days, is_demoted, is_promoted


@pytest.mark.parametrize(
    ("base", "hits", "days"),
    [(7, 1, 7), (7, 3, 14), (7, 7, 21), (7, 15, 28), (7, 31, 35), (7, 1023, 70), (30, 1, 30)],
)
def test_reads_lengthen_a_life_by_their_logarithm(base: int, hits: int, days: int) -> None:
    """Data plane 7.5, E7."""
    assert effective_days(base, hits) == days


def test_a_fact_goes_cold_after_its_days_and_a_pinned_one_never() -> None:
    """Data plane 7.5, D58."""
    assert not is_demoted(base=7, hits=1, idle_days=6.9)
    assert not is_demoted(base=7, hits=1, idle_days=7)
    assert is_demoted(base=7, hits=1, idle_days=7.1)
    assert not is_demoted(base=7, hits=15, idle_days=14)
    assert not is_demoted(base=7, hits=1, idle_days=7000, is_pinned=True)


def test_a_search_brings_back_what_its_read_makes_warm() -> None:
    """Data plane 7.5, E7: 7 x log2(22) is 31.216; 7 x log2(3) is 11.095."""
    assert effective_days(7, 21) == pytest.approx(31.216, abs=5e-4)
    assert is_promoted(base=7, hits=20, idle_days=14)
    assert effective_days(7, 2) == pytest.approx(11.095, abs=5e-4)
    assert not is_promoted(base=7, hits=1, idle_days=30)
