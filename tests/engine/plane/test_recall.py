"""What hybrid search finds, over a real store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio.from_thread
import pytest

from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def brain(tmp_path: Path) -> Iterator[Brain]:
    """Open one with a model."""
    with anyio.from_thread.start_blocking_portal() as portal:
        brain = Brain(portal, tmp_path / "brain.duckdb", with_model=True)
        yield brain
        brain.close()


def test_a_text_is_as_close_to_itself_as_can_be(brain: Brain) -> None:
    """Data plane 4.6: a floor is a cosine, so 0.99 lets through what was asked word for word."""
    text = "The relay sleeps in winter"
    told = brain.remember(text)
    brain.remember("Nobody has seen the kettle")
    found = brain.search(text, min_vector_score=0.99, weights={"keyword": 0, "graph": 0})
    assert [item.id for item in found] == [told.id]
