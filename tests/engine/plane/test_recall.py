"""What hybrid search finds, over a real store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import anyio.from_thread
import pytest

from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.facts import Fact
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import RecentRequest
from graymatter_mcp.ranking.tokens import tokenize
from graymatter_mcp.store.base import NewFact, WriteBatch
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from graymatter_mcp.store.base import Snapshot


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


def test_an_answer_gains_the_words_of_the_question_before_it(brain: Brain) -> None:
    """ADR 0048: the fact behind "ferry" is meant, though both say "harbour"."""
    brain.remember("The harbour opens at nine o'clock")
    brain.remember("Nothing else is known of the opening")
    brain.remember("So much for all that")
    brain.remember("And what about the ferry to the island?")
    answer = brain.remember("It leaves the harbour at ten o'clock")
    found = brain.search("ferry harbour", weights={"vector": 0, "graph": 0, "entity": 0})
    assert answer.id in [item.id for item in found[:2]]
    assert "So much for all that" not in [item.content for item in found]


def test_a_speaker_behind_a_stamp_is_the_subject(brain: Brain) -> None:
    """ADR 0048; data plane 4.2: the entity signal is 1 for facts of the one who is named."""
    told = brain.remember("[1:56 pm on 8 May, 2023] Mira: chess is what I like")
    brain.remember("[2:10 pm on 9 May, 2023] Otto: and Mira likes chess, I hear")
    found = brain.search("Does Mira like chess?")
    assert found[0].id == told.id
    assert found[0].signals is not None
    assert found[0].signals.entity == 1.0


def test_a_question_for_yesterday_finds_what_was_told_then(brain: Brain) -> None:
    """Issue 6: days are reckoned from the request; a day in metadata or a stamp counts first."""
    sold = brain.remember("The old relay was sold", metadata={"occurredAt": "2026-01-05T10:00:00Z"})
    brain.now.forward(days=1)
    told = brain.remember("The kettle broke")
    stamped = brain.remember("[5 January, 2026] Ada: the mill burned down")
    brain.now.forward(days=1)
    brain.remember("The roof is new")
    weights = {"vector": 0, "graph": 0}
    yesterday = brain.search("what happened yesterday", weights=weights)
    assert [item.id for item in yesterday] == [told.id]
    on_day = brain.search("what happened on 2026-01-05", weights=weights)
    assert {item.id for item in on_day[:2]} == {sold.id, stamped.id}


def test_a_shelf_that_nobody_wrote_to_is_not_looked_at(
    brain: Brain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 5: callers may name any shelf, and nothing is kept of those that do not exist."""
    brain.remember("The relay sleeps in winter", namespace="there")
    asked: list[str] = []
    snapshot = brain.store.snapshot

    def noting(namespace: Namespace, *args: Any) -> Snapshot:
        asked.append(namespace)
        return snapshot(namespace, *args)

    monkeypatch.setattr(brain.store, "snapshot", noting)
    assert brain.search("relay", namespace="nowhere") == []
    (found,) = brain.search("relay", namespace="there", agent_name=None)
    assert found.namespace == "there"
    assert "nowhere" not in asked


def test_facts_of_one_moment_on_several_shelves_come_by_id_descending(brain: Brain) -> None:
    """Data plane 4.8: one total order over all shelves, wherever the cut falls."""
    at = brain.now.now
    ids = [brain.clock.stamp()[1] for _ in range(6)]
    shelves = [Namespace(name) for name in ("ash", "oak", "ash", "elm", "oak", "ash")]
    facts = [
        Fact(id=one, agent_id=shelf, text=f"It is {one}", created_at=at, accessed_at=at)
        for one, shelf in zip(ids, shelves, strict=True)
    ]
    new = tuple(NewFact(fact=fact, terms=tokenize(fact.text)) for fact in reversed(facts))
    brain.store.apply(WriteBatch(at=at, facts=new))
    for k in (2, 4, 6):
        found = brain.run(brain.plane.recent, LOCAL_CALLER, RecentRequest(k=k))
        assert [item.id for item in found] == sorted(ids, reverse=True)[:k]
