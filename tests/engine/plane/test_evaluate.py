"""The evaluation passes where memory keeps its promises, and fails where it does not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.ranking.hybrid.abstain import Calibration
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.memory import InMemoryStore
from tests.engine.plane.brain import Brain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.model.reports import Evaluation, EvaluationCase

NAMES = (
    "newer fact supersedes older fact",
    "context pack groups typed memories",
    "junk capture is rejected",
    "hygiene report exposes review candidates",
    "memory-type retention policies are available",
    "secrets are recognised",
    "stored facts are found again",
    "meaning is found without shared words",
    "an unanswerable query returns nothing",
    "hidden facts stay hidden",
    "scratch round trip",
)


def scratch() -> InMemoryStore:
    """Make an empty store that indexes as the brain's does."""
    return InMemoryStore(stem=Analyzer("english").index_term)


@pytest.fixture
def opened(portal: BlockingPortal, tmp_path: Path) -> Iterator[Callable[..., Brain]]:
    """Open one data plane."""
    brains: list[Brain] = []

    def open_one(**options: Any) -> Brain:
        options.setdefault("scratch", scratch)
        brains.append(Brain(portal, tmp_path / "gray.duckdb", **options))
        return brains[-1]

    yield open_one
    for brain in brains:
        brain.close()


def evaluate(brain: Brain, suite: str = "core") -> Evaluation:
    """Run a suite."""
    return brain.run(brain.plane.evaluate, LOCAL_CALLER, suite)


def case(brain: Brain, number: int) -> EvaluationCase:
    """Run a suite and return one case of it."""
    return evaluate(brain).cases[number - 1]


def filled(brain: Brain) -> None:
    """Store facts, three of them hidden."""
    for number in range(30):
        brain.remember(f"Printer number {number} stands beside window {number * 7}")
    brain.capture("graymatter deployment uses port 7778")
    brain.capture("graymatter deployment uses port 7779")
    brain.remember("password: hunter2hunter!2")
    brain.remember("The guest code is blue", expires_at=brain.now.now + timedelta(hours=1))
    brain.now.forward(hours=2)


def test_a_sound_store_passes_every_case(opened: Callable[..., Brain]) -> None:
    """D56: suite core, passed; nothing is written or counted."""
    brain = opened()
    filled(brain)
    before = brain.exported()
    found = evaluate(brain)
    assert tuple(one.name for one in found.cases) == NAMES
    assert [one.name for one in found.cases if not one.passed] == []
    assert found.failed == 0
    assert [one.name for one in found.cases if one.is_skipped] == [NAMES[7], NAMES[8]]
    assert found.hygiene.counts.scanned == 31
    assert brain.exported() == before
    assert brain.store.namespaces() == ["default"]


def test_the_suite_of_retrieval_is_its_last_five_cases(opened: Callable[..., Brain]) -> None:
    """Data-plane contract 7.2: suites core (all) and retrieval (7-11)."""
    found = evaluate(opened(), "retrieval")
    assert found.suite == "retrieval"
    assert tuple(one.name for one in found.cases) == NAMES[6:]
    assert found.failed == 0


def test_an_unknown_suite_is_refused(opened: Callable[..., Brain]) -> None:
    """D56: unknown suite -> 400."""
    with pytest.raises(InvalidArgumentError):
        evaluate(opened(), "chess")


def test_a_broken_index_is_found_out(opened: Callable[..., Brain]) -> None:
    """D56: 7 fails when the index is broken on purpose."""
    brain = opened(store=InMemoryStore(stem=lambda token: token[::-1]))
    filled(brain)
    assert case(brain, 7).passed is False


def test_a_model_that_knows_no_meaning_is_found_out(opened: Callable[..., Brain]) -> None:
    """Data-plane contract 7.2, case 8: it needs the meaning, not the words."""
    found = case(opened(with_model=True), 8)
    assert (found.passed, found.is_skipped) == (False, False)


def test_invented_words_get_nothing_where_the_model_has_a_floor(
    opened: Callable[..., Brain],
) -> None:
    """Data-plane contract 7.2, case 9: abstained."""
    key = HashedEmbedder().model_key
    strict = Calibration(min_vector_score=0.6, abstain_below=0.6, unrelated_cosine=0.6)
    brain = opened(with_model=True, calibrations={key: strict})
    filled(brain)
    found = case(brain, 9)
    assert (found.passed, found.is_skipped) == (True, False)


def test_a_floor_below_every_text_is_found_out(opened: Callable[..., Brain]) -> None:
    """Data-plane contract 7.2, case 9: an answer to invented words is a failure."""
    key = HashedEmbedder().model_key
    loose = Calibration(min_vector_score=0.0, abstain_below=1e-6, unrelated_cosine=-1.0)
    brain = opened(with_model=True, calibrations={key: loose})
    filled(brain)
    assert case(brain, 9).passed is False


def test_a_store_that_loses_facts_fails_the_round_trip(opened: Callable[..., Brain]) -> None:
    """Data-plane contract 7.2, case 11: it runs on the scratch store."""
    broken = InMemoryStore(stem=lambda token: token[::-1])
    assert case(opened(scratch=lambda: broken), 11).passed is False
