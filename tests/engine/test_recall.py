from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.model.config import SignalWeights
from graymatter_mcp.model.ids import SHARED_AGENT_ID
from graymatter_mcp.model.requests import BatchRecallRequest, RecallOptions
from graymatter_mcp.model.results import RetrievalMetadata
from tests.engine.desk import AGENT, QUIET, START, Desk, a_fact, a_request, put

if TYPE_CHECKING:
    from graymatter_mcp.model.results import RecallReceipt
    from tests.engine.conftest import DeskMaker

A = "Deploys run on Tuesday"
B = "Rollback of deploys needs two approvals"
C = "The staging cluster lives in Frankfurt"


def fill_example_2(desk: Desk) -> None:
    """Store the three facts of example 2; B carries the label of example 3."""
    desk.add(A)
    desk.add(B, confidence="unverified")
    desk.add(C)


def numbers(receipts: tuple[RecallReceipt, ...]) -> list[tuple[str, int, int, int, float]]:
    """Reduce receipts to text, ranks and score, as the tables of the contract print them."""
    return [
        (
            one.text,
            one.ranks.vector_rank,
            one.ranks.keyword_rank,
            one.ranks.recency_rank,
            round(one.ranks.fused_score, 10),
        )
        for one in receipts
    ]


def test_ranks_and_scores_are_those_of_the_worked_example(desk: Desk) -> None:
    """Contract 5.4, example 2; C44, C45."""
    fill_example_2(desk)
    assert numbers(desk.receipts("deploys approvals")) == [
        (B, 0, 1, 2, 0.0244579588),
        (A, 0, 2, 3, 0.0240655402),
        (C, 0, 0, 1, 0.0081967213),
    ]


def test_a_filtered_fact_does_not_exist_for_ranks_and_statistics(desk: Desk) -> None:
    """Contract 5.4, example 3: the filter comes before everything that counts."""
    fill_example_2(desk)
    assert numbers(desk.receipts("deploys approvals", min_confidence="inferred")) == [
        (A, 0, 1, 2, 0.0244579588),
        (C, 0, 0, 1, 0.0081967213),
    ]


def test_a_fact_below_the_floor_ends_the_list(make_desk: DeskMaker) -> None:
    """Contract 5.7: C has a third of the best score, so half of it is too much to ask."""
    desk = make_desk(config=replace(QUIET, min_relevance=0.5))
    fill_example_2(desk)
    assert desk.facts("deploys approvals") == [B, A]


def test_repeated_texts_are_skipped_until_enough_distinct_ones_are_found(desk: Desk) -> None:
    """Contract 5.7: top_k counts distinct texts, however many copies stand before them."""
    for _ in range(40):
        desk.add("deploys deploys deploys")
    desk.add("deploys run early")
    desk.add("nothing to see")
    assert desk.facts("deploys", top_k=3) == [
        "deploys deploys deploys",
        "deploys run early",
        "nothing to see",
    ]


@pytest.mark.parametrize("query", ["src/db/pool.py", "v1.2.3", "8080", "C++", "getUserName"])
def test_what_is_typed_exactly_comes_first_however_old(desk: Desk, query: str) -> None:
    """C57: among 1,000 newer facts that speak of the same words."""
    others = [
        a_fact(f"Note {number} says nothing", at=START + timedelta(seconds=number))
        for number in range(1, 1000)
    ]
    # Newer, shorter and fuller of the same words, so that every list would put it first.
    words = "src db pool py src db pool py, v1 2 3 v1 2 3, get user name"
    others.append(a_fact(words, at=START + timedelta(seconds=1000)))
    holder = f"Long ago somebody wrote down {query} and then a great many other words about it"
    put(desk.store, a_fact(holder), *others)
    assert desk.facts(query)[0] == holder


def test_an_alias_widens_the_query_and_is_never_an_answer(desk: Desk) -> None:
    """Contract 8.4: vocabulary, not content."""
    desk.add("The rollout window is Tuesday")
    desk.add("Lunch is at noon")
    assert desk.receipts("deploy")[0].ranks.keyword_rank == 0
    alias = desk.alias("deploy", "rollout")
    first, *others = desk.receipts("deploy")
    assert (first.text, first.ranks.keyword_rank) == ("The rollout window is Tuesday", 1)
    assert alias.text not in [one.text for one in others]
    desk.run(desk.memory.forget, AGENT, alias.text)
    assert desk.receipts("deploy")[0].ranks.keyword_rank == 0


@pytest.mark.parametrize("query", ["", "   ", "?!", "the of and"])
def test_a_query_without_words_gives_the_newest_first(make_desk: DeskMaker, query: str) -> None:
    """Contract 5.1: with a model too, since nothing has no meaning."""
    desk = make_desk(load=HashedEmbedder)
    for text in ("first", "second", "third"):
        desk.add(text)
    desk.settle()
    assert desk.facts(query) == ["third", "second", "first"]


def test_the_note_on_a_weak_match_is_that_of_the_worked_example(desk: Desk) -> None:
    """Contract 5.10, example 9."""
    for text in (
        "The login service stores credentials in the vault",
        "Credentials are renewed each month by the security crew",
        "Vault renewals need two approvals",
        "Lunch is served around noon",
        "Frankfurt hosts staging clusters",
        "Trains depart every hour",
        "Tea tastes better hot",
        "Parking costs five euros",
    ):
        desk.add(text)
    lines = desk.recall("How often do we change credentials passwords?").feedback.split("\n")
    assert lines[:2] == [
        "(weak match: 1 of 6 terms in your query exist in this store)",
        "nearby vocabulary: crew, each, login, month, renewed, security, service, stores, vault",
    ]
    assert "memory_alias" in lines[2]
    assert desk.recall("login service credentials").feedback == ""


def test_an_explained_recall_gives_the_same_facts_in_the_same_order(make_desk: DeskMaker) -> None:
    """C43: with vectors, a confidence weight and a filter."""
    desk = make_desk(load=HashedEmbedder)
    labels = ("verified", "inferred", "unverified", "")
    for number in range(24):
        desk.add(f"deploys of part {number % 7} take {number} steps", confidence=labels[number % 4])
    desk.settle()
    for options in ({}, {"confidence_weight": 0.5}, {"min_confidence": "inferred"}):
        plain = desk.recall("deploys take 7 steps", top_k=10, **options)
        explained = desk.receipts("deploys take 7 steps", top_k=10, **options)
        assert plain.facts == tuple(one.text for one in explained)
        assert plain.fact_ids == tuple(one.provenance.fact_id for one in explained)
        assert explained[0].ranks.vector_rank > 0


def test_a_batch_merges_as_the_worked_example_does(make_desk: DeskMaker) -> None:
    """Contract 5.9, example 8: queries that give [a, b, c], [b, d, a] and [e, c]."""
    config = replace(QUIET, signal_weights=SignalWeights(recency=0), min_relevance=0.01)
    desk = make_desk(config=config)
    counts = {
        "aa": {"one": 3, "two": 1},
        "bb": {"one": 2, "two": 3},
        "cc": {"one": 1, "three": 1},
        "dd": {"two": 2},
        "ee": {"three": 2},
    }
    texts: dict[str, str] = {}
    for name, words in counts.items():
        tokens = [name, *(word for word, times in words.items() for _ in range(times))]
        texts[name] = " ".join([*tokens, *["filler"] * (8 - len(tokens))])
        desk.add(texts[name])
    request = BatchRecallRequest(namespace=AGENT, queries=("one", "two", "three"))
    result = desk.run(desk.memory.recall_batch, request)
    names = {text: name for name, text in texts.items()}
    assert [[names[text] for text in one.facts] for one in result.per_query] == [
        ["aa", "bb", "cc"],
        ["bb", "dd", "aa"],
        ["ee", "cc"],
    ]
    assert [names[text] for text in result.merged] == ["aa", "bb", "ee", "cc", "dd"]


def letters(texts: tuple[str, ...]) -> str:
    """Name the texts of example 7."""
    return "".join(text[0] for text in texts)


def test_own_and_shared_facts_are_fused_as_in_the_worked_example(make_desk: DeskMaker) -> None:
    """Contract 5.8, example 7; y differs in text here, so the copies are written alike first."""
    desk = make_desk(config=replace(QUIET, signal_weights=SignalWeights(recency=0)))
    same = "yy word word filler"
    for text in ("xx word word word", same, "zz word filler filler"):
        desk.add(text)
    for text in (same, "ss word filler filler", "tt nothing filler filler"):
        desk.add(text, agent=SHARED_AGENT_ID)
    result = desk.run(desk.memory.recall_all, a_request("word", top_k=5))
    assert letters(result.facts) == "yxszt"
    cut = desk.run(desk.memory.recall_all, a_request("word", top_k=2))
    assert letters(cut.facts) == "yx"
    own = {text[0]: fact.access_count for text, fact in desk.listed().items()}
    shared = {text[0]: fact.access_count for text, fact in desk.listed(SHARED_AGENT_ID).items()}
    assert own == {"x": 2, "y": 2, "z": 1}
    assert shared == {"y": 0, "s": 1, "t": 1}


@pytest.mark.parametrize("agent", [AGENT, SHARED_AGENT_ID])
def test_either_side_of_a_fused_recall_may_be_empty(desk: Desk, agent: str) -> None:
    """C56."""
    desk.add("only here", agent=agent)  # type: ignore[arg-type] - both are namespaces
    result = desk.run(desk.memory.recall_all, a_request("only"))
    assert result.facts == ("only here",)


def test_a_receipt_names_all_that_its_fact_replaced_nearest_first(desk: Desk) -> None:
    """Contract 3.1, provenance."""
    first = desk.add("the port is 1")
    second = desk.update("the port is 1", "the port is 2").replacement
    desk.update("the port is 2", "the port is 3")
    (receipt,) = desk.receipts("port")
    assert receipt.text == "the port is 3"
    assert receipt.provenance.supersedes == (second.id, first.id)


def test_only_facts_that_are_returned_count_as_read(desk: Desk) -> None:
    """Contract 5.1, step 11: plain, explained and batched alike."""
    desk.add("deploys run")
    desk.add("lunch is served")
    desk.now.forward(hours=1)
    desk.recall("deploys", top_k=1)
    desk.explain("deploys", top_k=1)
    desk.run(
        desk.memory.recall_batch,
        BatchRecallRequest(namespace=AGENT, queries=("deploys",), top_k=1),
    )
    read, other = desk.listed()["deploys run"], desk.listed()["lunch is served"]
    assert (read.access_count, read.accessed_at) == (3, desk.now())
    assert (other.access_count, other.accessed_at) == (0, other.created_at)


def test_the_configured_weight_is_used_and_an_explicit_zero_overrides_it(
    make_desk: DeskMaker,
) -> None:
    """C54."""
    desk = make_desk(config=replace(QUIET, confidence_weight=0.2))
    desk.add("deploys run", confidence="unverified")
    by_default, explained = desk.recall("deploys"), desk.explain("deploys")
    assert by_default.retrieval == explained.retrieval == RetrievalMetadata(confidence_weight=0.2)
    assert explained.receipts[0].ranking is not None
    assert explained.receipts[0].ranking.factor == 0.8
    plain = desk.recall("deploys", confidence_weight=0.0, min_confidence="inferred")
    assert plain.facts == ()
    assert plain.retrieval == RetrievalMetadata(
        confidence_weight=0.0, min_confidence="inferred", kg="suppressed_min_confidence"
    )
    batch = desk.run(
        desk.memory.recall_batch,
        BatchRecallRequest(namespace=AGENT, queries=("deploys",), options=RecallOptions()),
    )
    assert batch.retrieval == RetrievalMetadata(confidence_weight=0.2)


def test_an_agent_never_seen_gets_an_empty_success(desk: Desk) -> None:
    """C48."""
    result = desk.recall("anything")
    assert (result.facts, result.feedback, result.degraded) == ((), "", None)
    assert desk.receipts("anything") == ()
