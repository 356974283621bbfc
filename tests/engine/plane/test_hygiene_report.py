"""The hygiene report over a prepared store: exactly what was prepared, and nothing is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.model.access import LOCAL_CALLER, Caller
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.reports import ContradictionCandidate, HygieneReport, Stale
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

LONG = "and that was agreed by our whole team in the meeting on the second floor"


@pytest.fixture
def brain(portal: BlockingPortal, tmp_path: Path) -> Iterator[Brain]:
    """Open a data plane without a model."""
    brain = Brain(portal, tmp_path / "gray.duckdb")
    yield brain
    brain.close()


def report(brain: Brain, k: int = 20, caller: Caller = LOCAL_CALLER) -> HygieneReport:
    """Ask for the report."""
    return brain.run(brain.plane.hygiene, caller, k)


def test_each_list_holds_exactly_what_was_prepared(brain: Brain) -> None:
    """D55: four of the five lists, and a second look finds the same: nothing was written."""
    old = brain.capture("Our staging deployment runs on k3s at host alpha, as the team agreed")
    brain.now.forward(days=16)
    low = brain.remember("Cats sleep often", force=True)
    one = brain.remember(f"Our project prefers short meetings {LONG}")
    two = brain.remember(f"Our project prefers short meetings {LONG} again")
    port = brain.remember("Our production API for the team listens on port 7001", namespace="ops")
    other = brain.remember("Our production API for the team listens on port 7002", namespace="ops")
    found = report(brain)
    assert [one.fact_id for one in found.low_value] == [low.id]
    assert found.stale == (Stale(fact_id=str(old.id), reason="current_state_review"),)
    assert set(found.duplicate_clusters) == {
        (str(two.id), str(one.id)),
        (str(other.id), str(port.id)),
    }
    assert found.contradiction_candidates == (
        ContradictionCandidate(
            fact_ids=(str(other.id), str(port.id)), reason="comparable_scalar_conflict"
        ),
    )
    assert found.orphan_candidates == ()
    assert found.counts.scanned == 6
    before = brain.exported()
    seq = brain.plane.accounts.feed.page(LOCAL_CALLER, 0, None, 500).next_seq
    assert report(brain) == found
    assert brain.exported() == before
    assert brain.plane.accounts.feed.page(LOCAL_CALLER, 0, None, 500).next_seq == seq


def test_a_copy_of_a_superseded_fact_is_named_with_it(brain: Brain) -> None:
    """Data-plane contract 7.1: restatement of a superseded fact, not its heir."""
    old = brain.capture("graymatter deployment uses port 7778")
    brain.capture("graymatter deployment uses port 7779")
    copy = brain.remember("the graymatter deployment uses port 7778 today")
    stale = [one for one in report(brain).stale if one.reason == "copy_of_superseded"]
    assert stale == [Stale(fact_id=str(copy.id), reason="copy_of_superseded", of=old.id)]


def test_a_pinned_fact_that_capture_contradicts_is_listed(brain: Brain) -> None:
    """D46: pinned core fact contradicted by capture: both active, listed by hygiene."""
    pinned = brain.core("graymatter deployment uses port 7778")
    brain.pin(pinned)
    new = brain.capture("graymatter deployment uses port 7779")
    assert new.superseded == ()
    (pair,) = report(brain).contradiction_candidates
    assert set(pair.fact_ids) == {pinned, new.id}


def test_vectors_tell_what_words_do_not(portal: BlockingPortal, tmp_path: Path) -> None:
    """Data-plane contract 7.1: contradiction candidates have equal frames, or cosine >= 0.85."""
    texts = (
        "The gate of the gate of the gate of the gate of the team listens on port 7001",
        "The gate of the gate of the gate of the gate of the team is used by guests on port 7002",
    )
    pairs: list[int] = []
    for at, has_model in enumerate((False, True)):
        brain = Brain(portal, tmp_path / f"{at}.duckdb", with_model=has_model)
        for text in texts:
            brain.remember(text)
        pairs.append(report(brain).counts.contradiction_candidates)
        brain.close()
    assert pairs == [0, 1]


def test_a_vector_owed_for_over_ten_minutes_is_an_orphan(
    portal: BlockingPortal, tmp_path: Path
) -> None:
    """Data-plane contract 7.1: warm, no vector under the current model key, over 10 minutes."""
    brain = Brain(portal, tmp_path / "gray.duckdb", with_model=True)
    brain.remember("The queue is called jobs")
    orphan = brain.core("The broker listens on the second floor")
    assert report(brain).orphan_candidates == ()
    brain.now.forward(minutes=11)
    assert report(brain).orphan_candidates == (orphan,)
    brain.close()


def test_only_the_newest_updated_are_scanned_over_all_shelves(brain: Brain) -> None:
    """Data-plane contract 7.1: the newest-updated max(100, 20k) active facts."""
    first = brain.remember("Dogs bark", force=True)
    ids = [
        brain.remember(f"Item {number} says", force=True, namespace=f"shelf{number % 3}").id
        for number in range(101)
    ]
    assert report(brain, 1).counts.scanned == 100
    low = {one.fact_id for one in report(brain, 5).low_value}
    assert first.id not in low
    assert report(brain, 5).low_value[0].fact_id == ids[-1]
    assert report(brain, 6).counts.scanned == 102


def test_guarded_and_foreign_facts_are_not_scanned(brain: Brain) -> None:
    """Data-plane contract 7.1: what the caller can see, up to private."""
    ana = brain.user("ana")
    brain.remember("Cats sleep often", ana, force=True)
    brain.remember("password: hunter2hunter!2", force=True)
    assert report(brain).counts.scanned == 0
    assert report(brain, caller=ana).counts.scanned == 1
    assert Namespace("default") in brain.store.namespaces()
