"""What recall's lists know beside the words of a fact; over every store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.engine.heads import subject_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.embedding.base import Windows
    from tests.engine.conftest import DeskMaker
    from tests.engine.desk import Desk


class Listening(HashedEmbedder):
    """Keeps what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, and keep the texts."""
        self.texts += texts
        return super().embed(texts)


def test_an_answer_gains_the_words_of_the_question_before_it(desk: Desk) -> None:
    """ADR 0047: two facts hold one word of the query; the one behind the other word is meant."""
    desk.add("The harbour opens at nine o'clock")
    desk.add("Nothing else is known of the opening")
    desk.add("So much for all that")
    desk.add("And what about the ferry to the island?")
    answer = desk.add("It leaves the harbour at ten o'clock")
    ranks = {one.text: one.ranks.keyword_rank for one in desk.receipts("ferry harbour")}
    assert 0 < ranks[answer.text] < (ranks["The harbour opens at nine o'clock"] or len(ranks))
    assert ranks["So much for all that"] == 0


def test_facts_of_who_is_named_come_before_facts_that_mention_them(desk: Desk) -> None:
    """ADR 0047: the subject stands at the head, a stamp before it or not."""
    desk.add("Otto: I have heard that Mira likes chess")
    told = desk.add("[9:00 am on 3 May, 2025] Mira: I have heard that Otto likes chess")
    found = desk.receipts("Does Mira like chess")
    assert found[0].text == told.text


def test_the_latest_comes_first_when_the_query_asks_for_it(desk: Desk) -> None:
    """Issue 6: "latest" is understood; else equal facts come oldest first."""
    texts = [f"The release number {number} went out" for number in range(1, 6)]
    for text in texts:
        desk.add(text)
    plain = {one.text: one.ranks.keyword_rank for one in desk.receipts("release number")}
    assert plain == {text: place for place, text in enumerate(texts, 1)}
    assert [one.text for one in desk.receipts("latest release number")] == texts[::-1]


def test_names_that_most_facts_hold_are_not_embedded(make_desk: DeskMaker) -> None:
    """ADR 0047; a name that few facts hold is."""
    listening = Listening()
    desk = make_desk(load=lambda: listening)
    for number in range(12):
        desk.add(f"Mira said {number} things")
    desk.add("Zoe said nothing")
    desk.settle()
    desk.receipts("What did Mira say to Zoe?")
    assert listening.texts[-1] == "What did say to Zoe?"


def test_the_subject_is_a_capitalised_word_among_the_first_four() -> None:
    """ADR 0047: a speaker, or what a fact begins with."""
    assert subject_word("Mira: hello") == "Mira"
    assert subject_word("The old Relay is down") == "Relay"
    assert subject_word("one two three four Five") == ""
    assert subject_word("Ärger im Amt") == "Ärger"
    assert subject_word("") == ""


def test_a_question_for_yesterday_finds_what_was_told_then(desk: Desk) -> None:
    """Issue 6: the keyword list ranks the facts of the days that are asked about."""
    desk.add("The old relay was sold")
    desk.now.forward(days=1)
    told = desk.add("The kettle broke")
    desk.now.forward(days=1)
    desk.add("The roof is new")
    found = desk.receipts("what happened yesterday")
    assert [one.text for one in found if one.ranks.keyword_rank] == [told.text]
    assert found[0].text == told.text
    day = told.created_at.date().isoformat()
    assert desk.receipts(f"what happened on {day}")[0].text == told.text
