from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.model.config import SignalWeights
from graymatter_mcp.model.ids import Namespace
from tests.engine.desk import QUIET, START, Desk, a_fact, make_store, put, put_vectors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.model.facts import Fact

WORDS = ("deploy", "deploys", "vault", "port", "8080", "src/db.py", "東京都", "ann", "the", "Café")
COMPOUNDS = ("Wartungsvertrag", "Wartung", "Vertrag", "Verträge", "Vertragsende", "Mietvertrag")
LABELS = ("", "verified", "inferred", "unverified", "of old")

texts = st.lists(st.sampled_from(WORDS + COMPOUNDS), min_size=1, max_size=6).map(" ".join)
entries = st.tuples(texts, st.integers(0, 3), st.sampled_from(LABELS), st.booleans())
options = st.fixed_dictionaries(
    {"top_k": st.integers(1, 9)},
    optional={
        "min_confidence": st.sampled_from(["verified", "inferred", "unverified"]),
        "confidence_weight": st.sampled_from([0.0, 0.2, 0.5]),
    },
)
_shelves = count(1)


@pytest.fixture(scope="module")
def desks(
    portal: BlockingPortal, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[tuple[str, bool], Desk]]:
    """Open a desk for each store, stemming and not; each example has a shelf of its own."""
    opened: dict[tuple[str, bool], Desk] = {}
    for kind in ("memory", "duckdb"):
        for stems in (False, True):
            config = replace(QUIET, stem_keywords=stems)
            path = tmp_path_factory.mktemp("agreement") / "g.duckdb"
            store = make_store(kind, path, config)
            opened[kind, stems] = Desk(portal, store, config=config, load=HashedEmbedder)
    yield opened
    for desk in opened.values():
        desk.close()


def corpus(shelf: Namespace, rows: list[tuple[str, int, str, bool]]) -> list[Fact]:
    """Build facts with fixed identities; a few stamps only, so that many are equal."""
    return [
        a_fact(
            text,
            at=START + timedelta(seconds=second),
            number=number + (hash_of(shelf) << 32),
            agent_id=shelf,
            confidence=label,
            superseded_by="agent" if is_retired else "",
        )
        for number, (text, second, label, is_retired) in enumerate(rows, 1)
    ]


def hash_of(shelf: Namespace) -> int:
    """Keep the identities of two shelves apart: a store refuses the same one twice."""
    return int(shelf.split()[1])


def answers(desk: Desk, shelf: Namespace, query: str, asked: dict[str, Any]) -> Any:
    """Ask every way there is."""
    receipts = desk.receipts(query, agent=shelf, **asked)
    plain = desk.recall(query, agent=shelf, **asked)
    return receipts, plain


@settings(max_examples=40)
@given(
    rows=st.lists(entries, max_size=12),
    query=texts,
    asked=options,
    stems=st.booleans(),
    random=st.randoms(use_true_random=False),
)
def test_stores_agree_and_the_order_of_writing_does_not_matter(
    desks: dict[tuple[str, bool], Desk],
    rows: list[tuple[str, int, str, bool]],
    query: str,
    asked: dict[str, Any],
    stems: bool,
    random: Any,
) -> None:
    """C47, C52, C43: texts, orders, ranks, scores, feedback and metadata are equal."""
    shelf = Namespace(f"shelf {next(_shelves)}")
    facts = corpus(shelf, rows)
    reference, other = desks["memory", stems], desks["duckdb", stems]
    if facts:
        put(reference.store, *facts)
        random.shuffle(facts)
        for fact in facts:
            put(other.store, fact)
    for desk in (reference, other):
        put_vectors(desk, *(fact for fact in facts if not fact.is_superseded))
    assert answers(reference, shelf, query, asked) == answers(other, shelf, query, asked)
    receipts, plain = answers(other, shelf, query, asked)
    assert tuple(one.text for one in receipts) == plain.facts


@pytest.mark.parametrize("stems", [False, True])
def test_a_restart_gives_the_same_answers_to_the_last_digit(
    portal: BlockingPortal, tmp_path: Any, stems: bool
) -> None:
    """C52: from the mirror that grew with the writes, and from one that was loaded."""
    config = replace(QUIET, stem_keywords=stems)
    path = tmp_path / "g.duckdb"

    def answers_of(desk: Desk) -> list[Any]:
        desk.now.now = START + timedelta(days=2)
        desk.settle()
        return [
            ask(query, **asked)
            for ask in (desk.recall, desk.explain)
            for query in ("deploys of the vault", "src/db.py", "東京", "nothing known")
            for asked in ({}, {"min_confidence": "inferred"}, {"confidence_weight": 0.5})
        ]

    desk = Desk(portal, make_store("duckdb", path, config), config=config, load=HashedEmbedder)
    for number in range(60):
        text = f"{WORDS[number % 7]} {WORDS[number % 10]} {WORDS[number % 3]} note {number % 40}"
        desk.add(text, confidence=("", "verified", "unverified")[number % 3] or "")
    desk.alias("vault", "ann")
    desk.update("deploy deploy deploy note 0", "deploy deploy anew")
    before = answers_of(desk)
    desk.close()
    again = Desk(portal, make_store("duckdb", path, config), config=config, load=HashedEmbedder)
    after = answers_of(again)
    again.close()
    assert repr(after) == repr(before)


def test_a_switched_off_list_leaves_its_ranks_in_the_receipt(portal: BlockingPortal) -> None:
    """Contract 5.4: explicit zeros."""
    config = replace(QUIET, signal_weights=SignalWeights(vector=0, keyword=0, recency=1))
    desk = Desk(portal, make_store("memory", START, config), config=config)  # type: ignore[arg-type] - unused
    desk.add("deploys run")
    desk.add("lunch")
    first, second = desk.receipts("deploys")
    assert (first.text, second.text, second.ranks.keyword_rank) == ("lunch", "deploys run", 1)
    desk.close()
