"""Weak-match feedback and what usage aliases learn from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from graymatter_mcp.ranking.bm25 import idf
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.ranking.usage import ANY_WORD, pairs
from graymatter_mcp.ranking.weak_match import (
    MatchedWord,
    QueryMatch,
    Verdict,
    assess,
    feedback,
    query_words,
)
from tests.ranking.printing import printed

ADVICE = (
    "Ask again with one of these words if you meant it; if the store calls it something else,"
    " record that with memory_alias."
)
FACTS = (
    "The login service stores credentials in the vault",
    "Credentials are renewed each month by the security crew",
    "Vault renewals need two approvals",
    "Lunch arrives at noon",
    "Printers jam weekly",
    "Guests park underground",
    "Coffee beans ran out",
    "Windows face north",
)


class Store:
    """The eligible facts of a namespace, counted the slow way."""

    def __init__(self, texts: Sequence[str], stem: str | None = None) -> None:
        self.analyzer = Analyzer(stem)
        self.facts = [set(self.analyzer.index_terms(tokenize(text))) for text in texts]
        self.asked: list[str] = []

    def df(self, terms: Sequence[str]) -> Mapping[str, int]:
        """Count facts that hold each term."""
        self.asked.append("df")
        return self.count(terms)

    def count(self, terms: Sequence[str]) -> dict[str, int]:
        """Count without leaving a trace."""
        return {term: sum(term in fact for fact in self.facts) for term in terms}

    def cooccurring(self, seeds: Sequence[str]) -> list[tuple[str, int, int]]:
        """Return all terms beside the seeds, in an order of no meaning."""
        self.asked.append("cooccurring")
        held = [fact for fact in self.facts if fact & set(seeds)]
        terms = sorted({term for fact in held for term in fact} - set(seeds), reverse=True)
        df = self.count(terms)
        return [(term, sum(term in fact for fact in held), df[term]) for term in terms]

    def match(self, query: str, returned: Sequence[int]) -> QueryMatch:
        """Describe what a query met."""
        words = query_words(tokenize(query), self.analyzer)
        return QueryMatch(
            words=words,
            df=self.count(list(words)),
            count=len(self.facts),
            returned=[self.facts[row] for row in returned],
        )

    def feedback(self, query: str, returned: Sequence[int]) -> str:
        """Ask for the lines."""
        self.asked.clear()
        match = self.match(query, returned)
        return feedback(match, cooccurring=self.cooccurring, df=self.df)


def test_example_9_names_the_words_that_stand_nearby() -> None:
    """Contract 5.10, example 9."""
    store = Store(FACTS)
    query = "How often do we change credentials passwords?"
    assert list(store.match(query, [0]).words) == (
        ["how", "often", "do", "change", "credentials", "passwords"]
    )
    assert printed([idf(8, 1)], 4) == "1.7918"
    assert printed([idf(8, 2)], 4) == "1.2809"
    assert store.feedback(query, [0, 1]) == (
        "(weak match: 1 of 6 terms in your query exist in this store)\n"
        "nearby vocabulary: crew, each, login, month, renewed, security, service, stores, vault\n"
        + ADVICE
    )
    assert store.asked == ["cooccurring"]


@pytest.mark.parametrize(
    ("query", "returned"),
    [
        ("login credentials", [0]),
        ("what credentials", [0]),
        ("credentials passwords login", [0]),
        ("", [0]),
        ("the and of", [0]),
        ("passwords", []),
        ("vault", [2]),
        ("how do we", []),
    ],
)
def test_a_good_match_or_none_at_all_stays_silent(query: str, returned: list[int]) -> None:
    """Contract 5.10: no words, nothing ranked, or half the terms and an overlap of two."""
    store = Store(FACTS)
    silent = query != "what credentials"
    assert (store.feedback(query, returned) == "") == silent
    assert (store.asked == []) == silent


def test_half_of_the_content_terms_is_enough_and_less_is_not() -> None:
    """Contract 5.10: coverage / |C| >= 0.5."""
    store = Store(FACTS)
    assert assess(store.match("login vault apples pears", [0])).verdict is Verdict.STRONG
    assert assess(store.match("login vault apples pears figs", [0])).verdict is Verdict.WEAK


def test_words_spread_over_facts_are_no_overlap() -> None:
    """Contract 5.10: overlap counts the terms that one returned fact holds."""
    store = Store(FACTS)
    weak = assess(store.match("login approvals", [0, 2]))
    assert (weak.verdict, weak.coverage, weak.overlap) == (Verdict.WEAK, 2, 1)


def test_question_words_alone_are_content() -> None:
    """Contract 5.10: C is E when nothing else is left; compared unstemmed."""
    store = Store((*FACTS, "Soon we will know"), stem="english")
    only = assess(store.match("how soon will", [8]))
    assert (only.verdict, only.coverage) == (Verdict.STRONG, 2)
    # "doe" stems to what "does" stems to, but only one of the two asks a question.
    assert query_words(("does", "doe", "a/b"), Analyzer("english")) == {"doe": "doe"}


def test_frequent_joined_and_asked_words_are_not_nearby() -> None:
    """Contract 5.10: df <= N/4, no joined token, no term of the query; ten at most."""
    texts = [
        "alpha common b1 b2 b3 b4 b5 b6 b7 b8 b9 c1 x/y zebra",
        *["common filler"] * 3,
        *["filler"] * 4,
    ]
    lines = Store(texts).feedback("alpha zebra2 mango", [0]).split("\n")
    assert lines[1] == "nearby vocabulary: b1, b2, b3, b4, b5, b6, b7, b8, b9, c1"
    texts[0] = "alpha common b1 b2 x/y pair b3"
    texts[1] += " pair"
    lines = Store(texts).feedback("alpha mango papaya", [0]).split("\n")
    # Of 8 facts, pair is in 2 and common in 4.
    assert lines[1] == "nearby vocabulary: b1, b2, b3, pair"


def test_a_word_beside_more_seeds_comes_first() -> None:
    """Contract 5.10: score = facts that hold it and a seed times idf."""
    texts = ["seed pair one", "seed pair two", *[f"other{i} thing{i}" for i in range(10)]]
    lines = Store(texts).feedback("seed mango papaya", [0]).split("\n")
    # pair: 2 * ln(1 + 10.5 / 2.5) = 3.30; one, two: ln(1 + 11.5 / 1.5) = 2.16. Three words are
    # too few, so the returned fact speaks: one (2.16) before pair (1.65).
    assert lines[1] == "nearby vocabulary: one, pair"
    texts[0] += " red"
    texts[1] += " blue"
    lines = Store(texts).feedback("seed mango papaya", [0]).split("\n")
    assert lines[1] == "nearby vocabulary: pair, blue, one, red, two"


def test_without_a_seed_the_returned_facts_supply_the_words() -> None:
    """Contract 5.10: fewer than four nearby words, so terms of the returned facts, by idf."""
    store = Store([*FACTS, "Vault doors squeak"])
    assert store.feedback("quarterly budget", [2, 3]).split("\n")[:2] == [
        "(weak match: 0 of 2 terms in your query exist in this store)",
        "nearby vocabulary: approvals, arrives, lunch, need, noon, renewals, two, vault",
    ]
    assert store.asked == ["df"]


def test_no_word_to_offer_means_silence() -> None:
    """Contract 5.10: none, no feedback; the match is weak all the same."""
    store = Store(["mango", "..."])
    assert store.feedback("mango papaya figs", [0]) == ""
    assert assess(store.match("mango papaya figs", [0])).verdict is Verdict.WEAK


def test_stemmed_forms_are_shown_when_stemming_is_on() -> None:
    """Contract 5.10."""
    shown = Store(FACTS, stem="english").feedback("changing credential passwords", [0])
    assert "servic" in shown
    assert "service" not in shown


def test_an_assessment_names_unknown_and_matched_words_as_typed() -> None:
    """Contract 8.4: usage aliases pair unstemmed words."""
    store = Store(FACTS, stem="english")
    got = assess(store.match("how changing credential passwords", [0]))
    assert got.unknown == ("changing", "passwords")
    assert got.matched == (MatchedWord(word="credential", term="credenti", idf=idf(8, 2)),)


def word(text: str, weight: float) -> MatchedWord:
    """Build a matched word that is its own term."""
    return MatchedWord(word=text, term=text, idf=weight)


@pytest.mark.parametrize(
    ("pending", "matched", "affinity", "expected"),
    [
        (["deploys"], [word("deployment", 1.0)], 3, [("deploys", "deployment")]),
        (["deploys"], [word("delta", 9.0)], 3, []),
        (["deploys"], [word("delta", 9.0)], 2, [("deploys", "delta")]),
        (["deploys"], [word("depot", 9.0), word("deployer", 1.0)], 3, [("deploys", "deployer")]),
        (["ship"], [word("shipa", 1.0), word("shipb", 2.0)], 3, [("ship", "shipb")]),
        (["ship"], [word("shipb", 2.0), word("shipa", 2.0)], 3, [("ship", "shipa")]),
        (["ship"], [word("shipyard", 1.0), word("rollout", 2.0)], ANY_WORD, [("ship", "rollout")]),
        (["ship"], [word("zz", 2.0), word("aa", 2.0)], ANY_WORD, [("ship", "aa")]),
        (["ship"], [], ANY_WORD, []),
        (["ship"], [word("ship", 2.0), word("shipyard", 2.0)], 3, []),
        (["abc", "abd", "abc"], [word("ab", 1.0)], 2, [("abc", "ab"), ("abd", "ab")]),
        ([], [word("ab", 1.0)], 2, []),
    ],
)
def test_unknown_words_are_paired_with_the_nearest_matched_word(
    pending: list[str],
    matched: list[MatchedWord],
    affinity: int,
    expected: list[tuple[str, str]],
) -> None:
    """Contract 8.4, "Learnt from use"."""
    assert pairs(pending, matched, affinity) == tuple(expected)
