from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.errors import (
    FactChangedError,
    FactNotFoundError,
    GraymatterError,
    InvalidArgumentError,
    StoreUnavailableError,
)
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.requests import RememberRequest, WriteOptions
from tests.engine.desk import AGENT, BY_HAND, DEADLINE_S, Desk, a_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.embedding.base import Windows
    from graymatter_mcp.model.facts import Fact
    from tests.engine.conftest import DeskMaker

OLD = "the port is 8080"


class MeetingEmbedder(HashedEmbedder):
    """Lets texts that hold ``race`` go on only when as many as agreed are being embedded."""

    def __init__(self, parties: int) -> None:
        super().__init__()
        self.barrier = threading.Barrier(parties)

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, together."""
        if any("race" in text for text in texts):
            self.barrier.wait(DEADLINE_S)
        return super().embed(texts)


def at_once(portal: BlockingPortal, *calls: Callable[[], Any]) -> list[Any]:
    """Run calls at the same time; errors of ours take the place of answers."""

    async def guarded(call: Callable[[], Any]) -> Any:
        try:
            return await call()
        except GraymatterError as exc:
            return exc

    futures = [portal.start_task_soon(guarded, call) for call in calls]
    return [future.result(DEADLINE_S) for future in futures]


def revision(desk: Desk, text: str) -> Callable[[], Any]:
    """Prepare the replacement of `OLD`."""
    return lambda: desk.memory.revise(AGENT, OLD, text, WriteOptions(), BY_HAND)


def test_an_update_is_in_the_very_next_vector_list(make_desk: DeskMaker) -> None:
    """Contract 6, update: embedding comes first."""
    desk = make_desk(load=HashedEmbedder)
    desk.add(OLD)
    desk.settle()
    replacement = desk.update(OLD, "the port is 9090").replacement
    (receipt,) = desk.receipts("which port")
    assert (receipt.provenance.fact_id, receipt.ranks.vector_rank) == (replacement.id, 1)


def test_of_two_racing_updates_one_wins_and_the_other_writes_nothing(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """C40, F33: both read the same source before either wrote."""
    desk = make_desk(load=lambda: MeetingEmbedder(2))
    old = desk.add(OLD)
    desk.settle()
    outcomes = at_once(portal, revision(desk, "race one"), revision(desk, "race two"))
    (lost,) = [one for one in outcomes if isinstance(one, GraymatterError)]
    (won,) = [one for one in outcomes if not isinstance(one, GraymatterError)]
    assert isinstance(lost, FactChangedError)
    facts = desk.run(desk.memory.list_facts, AGENT)
    assert {fact.id: fact.superseded_by for fact in facts} == {
        old.id: won.replacement.id,
        won.replacement.id: "",
    }


def test_a_pin_set_while_the_fact_is_replaced_is_not_lost(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """C42, C41: the old fact keeps its pin, and the replacement has none."""
    embedder = MeetingEmbedder(2)
    desk = make_desk(load=lambda: embedder)
    desk.add(OLD)
    desk.settle()

    async def pin_meanwhile() -> None:
        await desk.memory.set_pinned(AGENT, OLD, True)
        await anyio.to_thread.run_sync(embedder.barrier.wait, DEADLINE_S)

    at_once(portal, revision(desk, "race over"), pin_meanwhile)
    listed = desk.listed()
    assert (listed[OLD].pinned, listed[OLD].is_superseded) == (True, True)
    assert (listed["race over"].pinned, listed["race over"].is_superseded) == (False, False)


def test_pins_and_retirements_at_once_lose_nothing(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """C42: both are patches of their own fields."""
    desk = make_desk()
    facts = [desk.add(f"fact {number}") for number in range(25)]

    def of(fact: Fact) -> list[Callable[[], Any]]:
        return [
            lambda: desk.memory.pin_facts(AGENT, [fact.id], True),
            lambda: desk.memory.retire(AGENT, [fact.id]),
            lambda: desk.memory.recall(a_request(fact.text)),
        ]

    outcomes = at_once(portal, *(call for fact in facts for call in of(fact)))
    assert not [one for one in outcomes if isinstance(one, GraymatterError)]
    assert [(one.pinned, one.superseded_by) for one in desk.listed().values()] == [
        (True, "agent")
    ] * 25


@pytest.mark.parametrize("has_model", [True, False])
def test_a_store_that_fails_in_an_update_leaves_everything_as_it_was(
    make_desk: DeskMaker, monkeypatch: pytest.MonkeyPatch, has_model: bool
) -> None:
    """C40: nothing is retired, and the failure is reported."""
    desk = make_desk(load=HashedEmbedder if has_model else None)
    desk.add(OLD)
    desk.settle()
    before = desk.listed()

    def fail(_: object) -> None:
        raise StoreUnavailableError("the disk is full; nothing was stored")

    with monkeypatch.context() as patched:
        patched.setattr(desk.store, "apply", fail)
        for call in (
            lambda: desk.update(OLD, "the port is 9090"),
            lambda: desk.run(desk.memory.forget, AGENT, OLD),
            lambda: desk.run(desk.memory.set_pinned, AGENT, OLD, True),
            lambda: desk.add("another"),
        ):
            with pytest.raises(StoreUnavailableError, match="disk is full"):
                call()
    assert desk.listed() == before
    assert desk.facts("port") == [OLD]


def test_an_update_retires_every_copy_and_leaves_one_live_fact_even_of_the_same_text(
    desk: Desk,
) -> None:
    """C38, C35: the old weight stays above 0."""
    copies = [desk.add(OLD) for _ in range(3)]
    revision = desk.update(OLD, OLD)
    facts = {fact.id: fact for fact in desk.run(desk.memory.list_facts, AGENT)}
    assert [facts[copy.id].superseded_by for copy in copies] == [revision.replacement.id] * 3
    assert [facts[copy.id].weight for copy in copies] == [1.0] * 3
    assert not facts[revision.replacement.id].is_superseded
    assert desk.facts("port") == [OLD]


@pytest.mark.parametrize(
    ("labels", "sent", "kept"),
    [
        (["verified"], None, "inferred"),
        ([""], None, "inferred"),
        (["unverified"], None, "unverified"),
        (["verified", "unverified"], None, "unverified"),
        (["unverified"], "verified", "verified"),
    ],
)
def test_an_update_never_raises_what_was_claimed_unless_told(
    desk: Desk, labels: list[str], sent: str | None, kept: str
) -> None:
    """C41, example 10."""
    for label in labels:
        desk.add(OLD, confidence=label)
    options = {} if sent is None else {"confidence": sent}
    assert desk.update(OLD, "the port is 9090", **options).replacement.confidence == kept


def test_a_forgotten_fact_is_listed_with_its_mark_and_found_nowhere(desk: Desk) -> None:
    """C36, C37."""
    desk.add(OLD, confidence="verified")
    desk.run(desk.memory.set_pinned, AGENT, OLD, True)
    desk.run(desk.memory.forget, AGENT, OLD)
    fact = desk.listed()[OLD]
    assert (fact.superseded_by, fact.pinned, fact.confidence, fact.weight) == (
        "agent",
        True,
        "verified",
        1.0,
    )
    assert desk.facts("port") == []
    assert desk.receipts("port") == ()


@pytest.mark.parametrize("target", [OLD, "The port is 8080", "port", " the port is 8080"])
def test_curation_finds_live_facts_of_exactly_this_text_or_refuses(desk: Desk, target: str) -> None:
    """Contract 6: never a part, never another case, never what is retired."""
    desk.add(OLD)
    desk.run(desk.memory.forget, AGENT, OLD)
    before = desk.listed()
    for call in (
        lambda: desk.update(target, "anew"),
        lambda: desk.run(desk.memory.forget, AGENT, target),
        lambda: desk.run(desk.memory.set_pinned, AGENT, target, True),
    ):
        with pytest.raises(FactNotFoundError, match="target fact not found"):
            call()
    assert desk.listed() == before


def test_pins_keep_their_first_time_and_an_unpin_reaches_retired_copies(desk: Desk) -> None:
    """Contract 6, pin and unpin."""
    desk.add(OLD)
    desk.run(desk.memory.set_pinned, AGENT, OLD, True)
    first = desk.listed()[OLD].pinned_at
    desk.now.forward(hours=1)
    desk.run(desk.memory.set_pinned, AGENT, OLD, True)
    assert desk.listed()[OLD].pinned_at == first
    desk.run(desk.memory.forget, AGENT, OLD)
    desk.run(desk.memory.set_pinned, AGENT, OLD, False)
    fact = desk.listed()[OLD]
    assert (fact.pinned, fact.pinned_at, fact.superseded_by) == (False, None, "agent")


def test_a_revised_alias_stays_an_alias_read_from_its_new_text(desk: Desk) -> None:
    """Contract 8.4."""
    desk.add("the rollout is on Tuesday")
    desk.alias("deploy", "shipping")
    changed = desk.update("alias: deploy = shipping", "alias: deploy = rollout").replacement
    assert changed.kind == FactKind.ALIAS
    assert desk.receipts("deploy")[0].ranks.keyword_rank == 1
    desk.update("alias: deploy = rollout", "no alias at all")
    assert desk.receipts("deploy")[0].ranks.keyword_rank == 0
    assert desk.facts("alias") == ["the rollout is on Tuesday"]


def test_facts_of_another_namespace_are_not_replaced_from_this_one(desk: Desk) -> None:
    """Contract 6: in the one namespace."""
    stranger = desk.add(OLD, agent=Namespace("bob"))
    with pytest.raises(InvalidArgumentError, match="namespace"):
        desk.run(desk.memory.revise_facts, AGENT, [stranger], "mine now", WriteOptions(), BY_HAND)
    assert not desk.listed(Namespace("bob"))[OLD].is_superseded
    assert desk.listed() == {}


def test_the_same_fact_given_twice_counts_once(desk: Desk) -> None:
    """Contract 9.2: lists of facts and ids come from callers."""
    fact = desk.add(OLD)
    replaced = desk.run(
        desk.memory.revise_facts, AGENT, [fact, fact], "anew", WriteOptions(), BY_HAND
    )
    assert replaced.retired == (fact,)
    desk.run(desk.memory.pin_facts, AGENT, [replaced.replacement.id] * 2, True)
    desk.run(desk.memory.retire, AGENT, [replaced.replacement.id] * 2)
    assert desk.listed()["anew"].superseded_by == "agent"


@pytest.mark.parametrize("fact_id", ["no id", "", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "🦙" * 26])
def test_an_unknown_id_is_not_found_however_it_is_spelt(desk: Desk, fact_id: str) -> None:
    """Contract 9.4: every failure is one of ours; a deletion of nothing is none."""
    desk.add(OLD)
    wanted = [FactId(fact_id)]
    with pytest.raises(FactNotFoundError):
        desk.run(desk.memory.retire, AGENT, wanted)
    with pytest.raises(FactNotFoundError):
        desk.run(desk.memory.pin_facts, AGENT, wanted, True)
    desk.run(desk.memory.delete, AGENT, wanted[0])
    assert list(desk.listed()) == [OLD]


def test_thirty_identical_writes_at_once_make_thirty_facts(
    make_desk: DeskMaker, portal: BlockingPortal
) -> None:
    """C63: each answered with its own id, each embedded once."""
    asked: list[str] = []

    class Counting(HashedEmbedder):
        def embed(self, texts: Sequence[str]) -> list[Windows]:
            asked.extend(texts)
            return super().embed(texts)

    desk = make_desk(load=Counting)
    desk.settle()
    request = RememberRequest(namespace=AGENT, text=OLD, consolidate=False)
    written = at_once(portal, *[lambda: desk.memory.remember(request)] * 30)
    desk.settle()
    stored = desk.run(desk.memory.list_facts, AGENT)
    assert {fact.id for fact in written} == {fact.id for fact in stored}
    assert len(stored) == len(asked) == 30


@pytest.mark.parametrize(
    ("agent", "text"),
    [("", "t"), (" ", "t"), ("\u2003", "t"), ("a\x00", "t"), ("\ud800", "t"), ("a", ""),
     ("a", "nul \x00"), ("a", "half \udc00")],
)  # fmt: skip
def test_what_cannot_be_stored_faithfully_is_refused(desk: Desk, agent: str, text: str) -> None:
    """Contract 3.1; the library has no schema in front of it."""
    with pytest.raises(InvalidArgumentError):
        desk.add(text, agent=Namespace(agent))
    assert desk.run(desk.memory.list_agents) == []
