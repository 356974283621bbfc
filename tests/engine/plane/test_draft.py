"""What a call looks at before it writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.engine.plane.corpus import Corpora
from graymatter_mcp.engine.plane.details import Details
from graymatter_mcp.engine.plane.draft import Draft, Entry
from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.base import WriteBatch
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

SHELF = Namespace("default")


@pytest.fixture
def brain(portal: BlockingPortal, tmp_path: Path) -> Iterator[Brain]:
    """Open one without a model."""
    brain = Brain(portal, tmp_path / "gray.duckdb")
    yield brain
    brain.close()


def draft_of(brain: Brain) -> Draft:
    """Begin a call."""
    analyzer = Analyzer("english")
    return Draft(brain.store, Corpora(brain.store, analyzer), analyzer, brain.now.now)


def test_a_fact_that_goes_while_a_call_looks_at_it_has_changed(brain: Brain) -> None:
    """Issue 5: the core forgets in a turn of its own; the decision is then made anew."""
    fact_id = brain.core("The kettle uses port 7778")
    draft = draft_of(brain)
    part = draft.part(SHELF)
    brain.store.apply(WriteBatch(at=brain.now.now, delete=((SHELF, fact_id),)))
    with pytest.raises(FactChangedError):
        draft.entry_of(part, 0)


def test_of_what_a_call_wrote_only_texts_with_the_same_words_are_judged(brain: Brain) -> None:
    """Issue 5: 700 items of a recap must not each be held against all before them."""
    draft = draft_of(brain)
    for text in ("The kettle uses port 7778", "Every lamp is green", "The kettles use port 1"):
        at, fact_id = brain.clock.stamp()
        fact = Fact(id=fact_id, agent_id=SHELF, text=text, created_at=at, accessed_at=at)
        details = Details(content_at=at, updated_at=at)
        draft.add(Entry(fact=fact, details=details, is_new=True, text=text))
    judged: list[str] = []

    def judge(text: str) -> bool:
        judged.append(text)
        return True

    found = draft.alike(SHELF, "The kettle uses port 7779", judge)
    assert judged == ["The kettle uses port 7778", "The kettles use port 1"]
    assert [entry.text for entry in found] == judged
