"""What the lists of the core are ranked by: worked by hand."""

from __future__ import annotations

import numpy as np
import pytest

from graymatter_mcp.ranking.core_lists import keyword_scores, similarities

ALONE = np.full(4, -1, np.int32)
ALL = np.ones(4, np.bool_)


def test_the_keyword_list_ends_where_facts_share_only_common_words() -> None:
    """ADR 0047: below 0.35 of the best, or below half of it where no vector list stands by."""
    scores = np.array([2.0, 0.7, 0.69, 0.0])
    found = keyword_scores(scores, about=None, newness=None, restrict=None)
    assert found.tolist() == [2.0, 0.7, 0.0, 0.0]
    scores = np.array([2.0, 1.0, 0.99, 0.0])
    alone = keyword_scores(scores, about=None, newness=None, restrict=None, is_alone=True)
    assert alone.tolist() == [2.0, 1.0, 0.0, 0.0]


def test_every_fact_that_holds_the_identifiers_asked_for_is_ranked() -> None:
    """Contract 5.3: identifiers typed exactly come first, however long the fact."""
    scores = np.array([2.0, 0.1, 0.3, 0.0])
    held = np.array([False, True, False, False])
    found = keyword_scores(scores, about=None, newness=None, restrict=held)
    assert found[1] > 0


def test_facts_about_what_is_named_gain_a_fifth() -> None:
    """ADR 0047."""
    about = np.array([False, True, False, False])
    found = keyword_scores(np.array([1.1, 1.0, 1.0, 0.0]), about=about, newness=None, restrict=None)
    assert found.tolist() == [1.1, 1.2, 1.0, 0.0]


def test_the_newest_gain_most_where_the_query_asks_for_them() -> None:
    """ADR 0047: equal facts come newest first then."""
    newness = np.array([0.25, 0.5, 0.75, 1.0])
    found = keyword_scores(np.ones(4), about=None, newness=newness, restrict=None)
    assert found.tolist() == pytest.approx([1.05, 1.1, 1.15, 1.2])


def test_short_texts_are_damped_and_rows_without_vector_stay_unranked() -> None:
    """ADR 0047: a text of two tokens counts a quarter, one below 0 as it is.

    A text of no tokens that has no vector makes no warning either: its product is nowhere counted.
    """
    products = np.array([8.0, 8.0, -8.0, -np.inf], np.float32)
    tokens = np.array([2, 9, 2, 0], np.float32)
    found = similarities(
        products, tokens=tokens, previous=ALONE, eligible=ALL, about=None, newness=None
    )
    assert found.tolist() == [2.0, 8.0, -8.0, -np.inf]


def test_closeness_gains_what_neighbours_lend_and_what_the_query_names() -> None:
    """ADR 0047: a row without vector is lent nothing that would rank it."""
    found = similarities(
        np.array([10.0, 1.0, -np.inf, 0.0], np.float32),
        tokens=np.full(4, 9, np.float32),
        previous=np.array([-1, 0, 1, 2], np.int32),
        eligible=ALL,
        about=np.array([False, False, True, True]),
        newness=None,
    )
    assert found.tolist() == pytest.approx([10.3, 4.0, -np.inf, 0.15 + 2.0])
