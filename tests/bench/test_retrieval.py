"""The evaluation of what is found: its file, its figures, its way through the engine."""

from __future__ import annotations

from math import log2
from pathlib import Path
from typing import Final

import pytest

from bench.__main__ import parser
from bench.retrieval import measure
from bench.retrieval.ablation import PARTS, parts_of, without
from bench.retrieval.conversations import Question, load
from bench.retrieval.scores import Score, interval, mean, score
from graymatter_mcp.ranking import context, core_lists

DATA: Final = Path(__file__).with_name("conversations.json")


def test_turns_carry_their_day_and_speaker_and_picture() -> None:
    """Issue 6: the evaluation stores what its data says."""
    one, two = load(DATA, "turns")
    assert one.facts == {
        "D1:1": "[9:00 am on 3 February, 2025] Ada: I have planted cherry trees behind the mill.",
        "D1:2": "[9:00 am on 3 February, 2025] Ben: Lovely! How many?",
        "D1:3": "[9:00 am on 3 February, 2025] Ada: Four of them."
        " [shared image: a row of young trees]",
        "D2:1": "[5:30 pm on 12 March, 2025] Ben: My boat has a new engine at last.",
    }
    assert [(q.category, set(q.evidence)) for q in one.questions] == [
        ("single-hop", {"D1:1"}),
        ("temporal", {"D2:1"}),
        ("multi-hop", {"D1:1", "D1:3"}),
    ]
    assert two.name == "two"


def test_observations_answer_for_the_turns_they_were_made_of() -> None:
    """Issue 6: the same recipe is measured on observations."""
    one, _ = load(DATA, "observations")
    assert list(one.facts) == ["O0", "O1"]
    assert [set(q.evidence) for q in one.questions] == [{"O0"}, {"O1"}, {"O0"}]


def test_scores_are_those_worked_by_hand() -> None:
    """Issue 6: R@k, MRR and nDCG@10."""
    question = Question(text="?", category="c", evidence=frozenset("bdz"))
    found = score(["a", "b", "c", "e", "f", "d"], question, "one").values
    gained = 1 / log2(3) + 1 / log2(7)
    assert found == pytest.approx(
        {
            "R@5": 1 / 3,
            "R@8": 2 / 3,
            "R@10": 2 / 3,
            "MRR": 1 / 2,
            "nDCG@10": gained / (1 + 1 / log2(3) + 1 / 2),
        }
    )


def test_an_interval_holds_its_mean_and_widens_with_the_spread_over_conversations() -> None:
    """Issue 6: intervals over conversations."""

    def scores(*values: float) -> list[Score]:
        return [
            Score(conversation=str(number), category="c", values={"MRR": value})
            for number, value in enumerate(values)
            for _ in range(20)
        ]

    alike, apart = scores(0.5, 0.5), scores(0.2, 0.8)
    assert mean(apart, "MRR") == pytest.approx(0.5)
    assert interval(alike, "MRR") == (0.5, 0.5)
    low, high = interval(apart, "MRR")
    assert low == pytest.approx(0.2)
    assert high == pytest.approx(0.8)


def test_a_part_is_left_out_only_while_a_run_is_without_it() -> None:
    """Issue 6: the ablation table; every part changes something, and comes back."""
    before = (context.ONE_STEP, core_lists.FULL_TOKENS)
    with without("neighbours"), without("short"):
        assert (context.ONE_STEP, core_lists.FULL_TOKENS) == (0.0, 1)
    assert before == (context.ONE_STEP, core_lists.FULL_TOKENS)
    assert set(parts_of("core")) | set(parts_of("plane")) == set(PARTS)


@pytest.mark.parametrize(
    "asked",
    [
        ["--surface", "core,plane,bm25"],
        ["--surface", "core,plane,context", "--wire"],
    ],
    ids=["in process", "over HTTP"],
)
def test_every_surface_is_asked_and_finds_what_is_there(asked: list[str], tmp_path: Path) -> None:
    """Issue 6: core by MCP, search and context by REST, and BM25 alone to compare with."""
    told = ["--dir", str(tmp_path), "--facts", "turns", "--mode", "words", *asked]
    tables = measure(parser().parse_args(["retrieval", str(DATA), *told]))
    assert [table.title.split()[0].rstrip(",") for table in tables] == asked[1].split(",")
    for table in tables:
        found = {row.what: row.value for row in table.rows}
        assert found["R@5"] == 1.0
        assert found["MRR"] > 0.5


@pytest.mark.parametrize("asked", [["--surface", "context"], ["--wire", "--ablation"]])
def test_what_cannot_be_asked_so_is_refused(asked: list[str]) -> None:
    """Issue 6: a figure under the name of another surface would be worse than none."""
    with pytest.raises(ValueError, match=r"--surface takes|leave --wire out"):
        measure(parser().parse_args(["retrieval", str(DATA), "--facts", "turns", *asked]))
