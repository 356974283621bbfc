"""The entity signal."""

from __future__ import annotations

import numpy as np
import pytest

from graymatter_mcp.ranking.hybrid.entity import entity_signal, named_subject


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("Where does Ana live?", "ana"),
        ("carol ng's phone", "carol ng"),
        ("Carol met Ng", None),
        ("Ana or Carol Ng?", None),
        ("banana", None),
        ("", None),
    ],
)
def test_a_query_names_exactly_one_known_subject_or_none(query: str, named: str | None) -> None:
    """Data-plane contract 4.4."""
    assert named_subject(query, ["ana", "carol ng", "ana", "the"]) == named


def test_the_subject_counts_whole_and_mentions_half_their_share() -> None:
    """Data-plane contract 4.4: one of two entities is 0.25."""
    mentioned = np.array([0, 1, 2])
    is_of_subject = np.array([True, False, False])
    assert entity_signal(is_of_subject, mentioned, 2).tolist() == [1.0, 0.25, 0.5]
    assert entity_signal(None, mentioned, 2).tolist() == [0.0, 0.25, 0.5]
    assert entity_signal(is_of_subject, np.zeros(3, np.int64), 0).tolist() == [1.0, 0.0, 0.0]
