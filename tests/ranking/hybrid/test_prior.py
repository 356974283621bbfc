"""The rank prior against the worked example."""

from __future__ import annotations

import numpy as np
import pytest

from graymatter_mcp.ranking.hybrid.fusion import fuse
from graymatter_mcp.ranking.hybrid.prior import CURRENT_STATE_TYPES, prior
from tests.ranking.hybrid.corpus import EXAMPLE, A, D


def test_the_worked_example() -> None:
    """Data-plane contract, example E2."""
    factors = prior(
        np.array([0.5, 1.0, 0.8, 0.4]),
        np.array([99.0, 0.0, 30.0, 15.0]),
        np.array([False, True, True, True]),
    )
    assert factors.tolist() == pytest.approx([0.85, 1.15, 0.991871, 0.894603], abs=1e-6)
    assert {"deployment_state", "setup_fact"} == CURRENT_STATE_TYPES


def test_the_worked_example_on_the_fused_scores() -> None:
    """Data-plane contract, example E2 on E1: A with confidence 0.5, D a fresh deployment state."""
    confidence = np.array([0.5, 1.0, 1.0, 1.0])
    is_current_state = np.array([False, False, False, True])
    scores = fuse(EXAMPLE).score * prior(confidence, np.zeros(4), is_current_state)
    assert scores[[A, D]].tolist() == pytest.approx([0.572449, 0.492857], abs=1e-6)


def test_a_clock_set_back_lifts_no_score_above_a_fresh_one() -> None:
    """Data-plane contract 4.7: the range of the prior is [0.7, 1.15]."""
    factors = prior(np.array([1.0, 0.0]), np.array([-9.0, -9.0]), np.array([True, False]))
    assert factors.tolist() == pytest.approx([1.15, 0.7])
