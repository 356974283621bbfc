"""Each setting that touches recall works alone, by field and by variable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import pytest

from contract_tests.inside import keyword_config
from contract_tests.manifest import promise
from graymatter_mcp import Config, EmbeddingMode, InvalidArgumentError, Memory, SignalWeights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contract_tests.caller import Caller
    from graymatter_mcp import RecallReceipt

FACTS: Final = (
    "Deploying takes an hour",
    *(f"Bread number {n} is plain" for n in range(10)),
    "Alice Smith works with Bob Jones",
    "Bob Jones likes rowing",
)


def look(directory: Path, query: str, top_k: int = 100, **options: Any) -> list[RecallReceipt]:
    """Fill a store opened with these options and ask it, with receipts."""
    with Memory.open(keyword_config(directory, **options)) as memory:
        for text in FACTS:
            memory.advanced().put("a", text)
        return memory.advanced().recall_explain("a", query, top_k)


@promise("settings:by-field")
def test_top_k_alone_changes_how_many_come(tmp_path: Path) -> None:
    """Contract C58."""
    for top_k in (8, 3):
        with Memory.open(keyword_config(tmp_path, top_k=top_k)) as memory:
            for text in FACTS:
                memory.remember("a", text)
            assert len(memory.recall("a", "bread")) == top_k


@promise("settings:by-field")
def test_signal_weights_alone_change_the_order(tmp_path: Path) -> None:
    """Contract C58: None means the defaults."""
    plain = look(tmp_path / "plain", "deploying")
    assert plain[0].text == FACTS[0]
    default = look(tmp_path / "same", "deploying", signal_weights=SignalWeights())
    assert [(one.text, one.ranks) for one in default] == [(one.text, one.ranks) for one in plain]
    by_age = look(
        tmp_path / "age", "deploying", signal_weights=SignalWeights(keyword=0.0, recency=1.0)
    )
    assert [one.text for one in by_age] == list(reversed(FACTS))


@promise("settings:by-field")
def test_the_floor_alone_cuts_the_list(tmp_path: Path) -> None:
    """Contract C58."""
    assert len(look(tmp_path / "plain", "deploying")) == len(FACTS)
    floored = look(tmp_path / "floor", "deploying", min_relevance=0.9)
    assert [one.text for one in floored] == [FACTS[0]]


@promise("settings:by-field")
def test_stemming_alone_changes_what_a_word_matches(tmp_path: Path) -> None:
    """Contract C58."""
    stemmed = look(tmp_path / "on", "deploys")
    assert (stemmed[0].text, stemmed[0].ranks.keyword_rank) == (FACTS[0], 1)
    switches: dict[str, dict[str, Any]] = {
        "off": {"stem_keywords": False},
        "language": {"stem_language": "finnish"},
    }
    for name, options in switches.items():
        assert not any(
            one.ranks.keyword_rank for one in look(tmp_path / name, "deploys", **options)
        )
    with pytest.raises(InvalidArgumentError, match="stem_language"):
        look(tmp_path / "bad", "x", stem_language="klingon")


@promise("settings:by-field")
@pytest.mark.parametrize("option", [{"embedding_mode": EmbeddingMode.KEYWORD}, {"model": "none"}])
def test_keyword_only_is_a_choice_and_not_degraded(tmp_path: Path, option: dict[str, Any]) -> None:
    """Contract C58."""
    with Memory.open(Config(data_dir=tmp_path, **option)) as memory:
        memory.remember("a", FACTS[0])
        (receipt,) = memory.advanced().recall_explain("a", "hour", 8)
        assert receipt.ranks.vector_rank == 0


@promise("settings:by-field")
def test_graph_hints_come_only_when_asked_for(tmp_path: Path) -> None:
    """Contract C58, 5.11: after the ranked facts, at most three, never under a filter."""
    for is_on in (False, True):
        config = keyword_config(tmp_path / str(is_on), knowledge_graph=is_on, top_k=1)
        with Memory.open(config) as memory:
            for text in FACTS:
                memory.remember("a", text)
            memory.consolidate("a")
            found = memory.recall("a", "rowing")
            assert found[0] == "Bob Jones likes rowing"
            assert (len(found) > 1) is is_on
            assert len(found) <= 4
            assert memory.advanced().recall("a", "rowing", 1) == found[:1]


VARIABLES: Final[tuple[tuple[dict[str, str], str, Callable[[list[Any]], bool]], ...]] = (
    ({"GRAYMATTER_TOP_K": "3"}, "bread", lambda found: len(found) == 3),
    ({"GRAYMATTER_MIN_RELEVANCE": "0.9"}, "deploying", lambda found: found == [FACTS[0]]),
    (
        {"GRAYMATTER_CONFIDENCE_WEIGHT": "0.5"},
        "bread plain",
        lambda found: found[0] == "Bread, verified and plain, in many more words than the others",
    ),
    ({"GRAYMATTER_STEM_KEYWORDS": "off"}, "deploys", lambda found: found[0] != FACTS[0]),
    ({"GRAYMATTER_STEM_LANGUAGE": "finnish"}, "deploys", lambda found: found[0] != FACTS[0]),
)


@promise("settings:by-variable")
def test_each_variable_changes_recall_alone(start: Callable[..., Caller]) -> None:
    """Contract C58: the same store, asked with and without each variable."""
    caller = start()
    caller.add("a", FACTS[0])
    caller.add(
        "a", "Bread, verified and plain, in many more words than the others", confidence="verified"
    )
    caller.add("a", *FACTS[1:])

    def ask(caller: Caller, query: str) -> list[str]:
        return caller.ok("memory_search", agent_id="a", query=query)["facts"]

    plain = {query: ask(caller, query) for _, query, _ in VARIABLES}
    for variables, query, is_changed in VARIABLES:
        assert not is_changed(plain[query]), variables
        found = ask(start(**variables), query)
        assert is_changed(found), (variables, found)


@promise("hints:on-request")
def test_no_hints_follow_the_facts_unless_they_are_asked_for(start: Callable[..., Caller]) -> None:
    """Contract C69."""
    caller = start()
    caller.add("a", "Bob Jones likes rowing")
    caller.add("a", *(f"Bob Jones met Alice Smith on day {n}" for n in range(25)))
    for _ in range(200):
        assert len(caller.ok("memory_search", agent_id="a", query="rowing")["facts"]) == 8


@promise("settings:by-variable", "hints:on-request")
def test_graph_hints_by_variable(start: Callable[..., Caller]) -> None:
    """Contract C58, C69, 5.11."""
    caller = start(GRAYMATTER_KG="1")
    # A write of twenty records and more consolidates, which gives the graph its entities.
    caller.add("a", "Bob Jones likes rowing")
    caller.add("a", *(f"Bob Jones met Alice Smith on day {n}" for n in range(25)))

    def found(**options: Any) -> list[str]:
        return caller.ok("memory_search", agent_id="a", query="rowing", **options)["facts"]

    for _ in range(5000):
        if len(found()) > 8:
            break
    assert 9 <= len(found()) <= 11
    assert len(found(top_k=8)) == 8
    assert len(found(min_confidence="unverified")) == 8


@promise("settings:by-variable", "alias:learnt-from-use")
@pytest.mark.parametrize(("affinity", "learns"), [("3", True), ("9", False), (None, False)])
def test_aliases_are_learnt_only_when_asked_for(
    start: Callable[..., Caller], affinity: str | None, learns: bool
) -> None:
    """Contract C58, 8.4: a weak match, then a strong one, twice; affinity is a setting too."""
    variables = {"GRAYMATTER_STEM_KEYWORDS": "0"}
    if affinity is not None:
        variables["GRAYMATTER_USAGE_ALIAS"] = "1"
        variables["GRAYMATTER_USAGE_ALIAS_AFFINITY"] = affinity
    caller = start(**variables)
    caller.add("a", "The deployment window is short", *FACTS[1:8])
    for _ in range(2):
        weak = caller.ok("memory_search", agent_id="a", query="deployer schedule")
        assert "feedback" in weak
        strong = caller.ok("memory_search", agent_id="a", query="deployment window")
        assert "feedback" not in strong
    receipts = caller.receipts("a", "deployer")
    assert any(one["ranks"]["keyword_rank"] for one in receipts) is learns


@promise("settings:bad-values")
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GRAYMATTER_TOP_K", "0"),
        ("GRAYMATTER_TOP_K", "many"),
        ("GRAYMATTER_MIN_RELEVANCE", "1.5"),
        ("GRAYMATTER_STEM_KEYWORDS", "maybe"),
        ("GRAYMATTER_ANSWER_BUDGET", "-1"),
    ],
)
def test_a_bad_value_is_an_error_that_names_the_variable(
    tmp_path: Path, name: str, value: str
) -> None:
    """Contract 11.5."""
    from contract_tests.wire import StdioWire

    with StdioWire(tmp_path / "store", **{name: value}) as wire:
        assert wire.end() == ([], 1)
        assert name in wire.stderr()
