"""How much of an item is returned."""

from __future__ import annotations

from dataclasses import replace

from graymatter_mcp.policy.shaping import shaped
from tests.policy.items import item


def test_full_returns_the_item_as_it_is() -> None:
    """Data-plane contract 2.7."""
    assert shaped(item(1, "a" * 300), "full") == item(1, "a" * 300)


def test_a_snippet_cuts_long_contents_only() -> None:
    """Data-plane contract 2.7, D33."""
    assert shaped(item(1, "short"), "snippet") == item(1, "short")
    long = item(1, "a" * 200 + " " + "b" * 99)
    assert shaped(long, "snippet") == replace(long, content="a" * 200 + "…", truncated=True)


def test_ids_leaves_out_content_metadata_and_provenance() -> None:
    """Data-plane contract 2.7, D33."""
    assert shaped(item(1), "ids") == replace(
        item(1),
        content=None,
        metadata=None,
        source_type=None,
        captured_from=None,
        agent_name=None,
        confidence=None,
    )
