"""Evidence and abstention against the worked example."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from graymatter_mcp.ranking.hybrid.abstain import (
    BUNDLED,
    UNCALIBRATED,
    Calibration,
    abstains,
    evidence,
    joined,
    nearness,
)

ALL = np.ones(4, np.bool_)


def rows(*held: int) -> NDArray[np.int32]:
    """Return the rows that hold a term."""
    return np.array(held, np.int32)


def judged(values: NDArray[np.float64], floor: float = 0.30) -> bool:
    """Whether a whole answer with these values abstains."""
    return abstains(
        values, np.ones(values.size, np.bool_), floor=floor, degraded=False, has_content_terms=True
    )


def test_the_share_of_the_terms_in_the_worked_example() -> None:
    """Data-plane contract, example E3: idf 1.203973, 1.203973 and, unknown, 2.302585."""
    shares = evidence([rows(0), rows(1), rows()], None, ALL)
    assert shares.tolist() == pytest.approx([0.255592, 0.255592, 0.0, 0.0], abs=1e-6)


def test_the_cosines_of_the_worked_example() -> None:
    """Data-plane contract, example E3, with c 0."""
    values = evidence([rows()], np.array([0.12, 0.30, 0.9, math.nan]), ALL)
    assert values.tolist() == pytest.approx([0.0, 0.375, 1.0, 0.0], abs=1e-6)
    assert evidence([], np.array([-math.inf] * 4), ALL).tolist() == [0.0] * 4


@pytest.mark.parametrize(("share", "value", "is_silent"), [(0.2, 0.3, False), (0.18, 0.2825, True)])
def test_term_share_and_cosine_together(share: float, value: float, is_silent: bool) -> None:
    """Data-plane contract, example E3: c 0.20 or 0.18, cosine 0.20, s 0.125."""
    near = nearness(np.array([0.20]), BUNDLED)
    assert near.tolist() == pytest.approx([0.125], abs=1e-6)
    values = joined(np.array([share]), near)
    assert values.tolist() == pytest.approx([value], abs=1e-6)
    assert judged(values) is is_silent


def test_both_parts_join_as_independent_evidence() -> None:
    """Data-plane contract 4.9: 1 - (1 - 0.255592)(1 - 0.375) = 0.534745."""
    values = evidence([rows(0), rows(1), rows()], np.array([0.30, 0.0, 0.30, 0.0]), ALL)
    assert values.tolist() == pytest.approx([0.534745, 0.255592, 0.375, 0.0], abs=1e-6)
    assert not judged(values)


def test_evidence_counts_eligible_facts_only() -> None:
    """Data-plane contract 4.1: N = 2, df 1 and 0: 0.693147 / (0.693147 + 1.791759)."""
    eligible = np.array([True, True, False, False])
    values = evidence([rows(0, 2), rows(3)], np.array([0.0, 0.0, 0.9, 0.9]), eligible)
    assert values.tolist() == pytest.approx([0.278943, 0.0, 0.0, 0.0], abs=1e-6)


def test_a_part_of_an_unknown_term_is_a_part_of_its_mass() -> None:
    """ADR 0061: E3 with half of the unknown term: (1.203973 + 2.302585 / 2) / 4.710531."""
    lent = [(rows(0, 3), np.array([0.5, 0.5]))]
    eligible = np.array([True, True, True, False])
    values = evidence([rows(0), rows(1), rows()], None, ALL, lent=lent)
    assert values.tolist() == pytest.approx([0.5, 0.255592, 0.0, 0.244408], abs=1e-6)
    values = evidence([rows()], None, eligible, lent=lent)
    assert values.tolist() == pytest.approx([0.5, 0.0, 0.0, 0.0])


def test_an_answer_is_kept_where_absence_is_not_shown() -> None:
    """Data-plane contract 4.9."""
    nothing = np.zeros(4)

    def silent(
        *, eligible: NDArray[np.bool_] = ALL, floor: float = 0.3, degraded: bool = False,
        has_content_terms: bool = True,
    ) -> bool:  # fmt: skip
        return abstains(
            nothing, eligible, floor=floor, degraded=degraded, has_content_terms=has_content_terms
        )

    assert silent()
    assert not silent(eligible=np.zeros(4, np.bool_))
    assert not silent(floor=UNCALIBRATED.abstain_below)
    assert not silent(degraded=True)
    assert not silent(has_content_terms=False)


def test_the_floor_equals_what_is_printed_in_spite_of_rounding() -> None:
    """Data-plane contract, example E3: 0.30 is kept."""
    assert not judged(np.array([0.3 - 1e-16, 0.0]))
    assert judged(np.array([0.2999, 0.0]))


def test_the_constants_of_the_models() -> None:
    """Data-plane contract 4.6, 4.9."""
    assert (
        Calibration(
            min_vector_score=0.25, abstain_below=0.30, unrelated_cosine=0.15, cosine_span=0.40
        )
        == BUNDLED
    )
    assert (UNCALIBRATED.min_vector_score, UNCALIBRATED.abstain_below) == (0.0, 0.0)
