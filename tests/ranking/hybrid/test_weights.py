"""Which weights a request ends up with."""

from __future__ import annotations

import pytest

from graymatter_mcp.ranking.hybrid.weights import Weights, settled


def test_what_was_sent_replaces_its_default_only() -> None:
    """Data-plane contract 4.5."""
    assert settled({}, "port of the api") == Weights(
        keyword=0.5, vector=0.5, graph=0.3, entity=0.1, recency=0.0
    )
    assert settled({"vector": 0, "entity": 2}, "port") == Weights(
        keyword=0.5, vector=0.0, graph=0.3, entity=2.0, recency=0.0
    )


@pytest.mark.parametrize(
    "query",
    ["The LATEST port", "newest?", "most recently used", "most recent run", "last time we met",
     "what runs currently", "right now", "as of now"],
)  # fmt: skip
def test_a_query_for_the_newest_gives_recency_a_weight(query: str) -> None:
    """Data-plane contract 4.5."""
    assert settled({}, query) == Weights(recency=0.1)
    assert settled({"recency": 0}, query) == Weights(recency=0)


@pytest.mark.parametrize("query", ["latestness", "recent", "now", "concurrently", "last"])
def test_other_words_give_recency_none(query: str) -> None:
    """Data-plane contract 4.5: whole words only."""
    assert settled({}, query) == Weights()
