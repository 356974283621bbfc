"""Arguments: what is missing, what is a harmless spelling, what is ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contract_tests.manifest import promise

if TYPE_CHECKING:
    from contract_tests.caller import Caller

_NO_STRING: tuple[Any, ...] = (None, "", 7, 1.5, True, [], {}, ["text"])
_BLANK: tuple[str, ...] = (" ", "\t\n", "\u2003", "\u00a0")
_NO_ITEMS: tuple[Any, ...] = (None, "", "x", 7, {}, [], list(_BLANK))
_NOT_TRUE: tuple[Any, ...] = (False, "false", None, "", "True", "yes", 1, [], {}, "null")

_QUERIES = "queries is required and must hold at least one non-empty query"
_EQUIVALENTS = "equivalents is required and must hold at least one non-empty value"


@promise("add:needs", "inputs:absent-null-empty")
def test_an_add_names_what_is_missing_and_stores_nothing(caller: Caller, agent: str) -> None:
    """Contract C23; F9."""
    assert caller.refused("memory_add", text="A fact") == "agent_id is required"
    assert caller.refused("memory_add", agent_id=agent) == "text is required"
    for value in (*_NO_STRING, *_BLANK):
        assert caller.refused("memory_add", agent_id=value, text="x") == "agent_id is required"
    for value in _NO_STRING:
        assert caller.refused("memory_add", agent_id=agent, text=value) == "text is required"
    assert caller.facts(agent) == []


@promise("add:blank-text-is-text", "inputs:absent-null-empty")
def test_blank_text_and_the_word_null_are_stored_as_sent(caller: Caller, agent: str) -> None:
    """Contract 3.4; F9: "null" is a word to a text."""
    caller.add(agent, " ", "\u2003\n", "null")
    assert caller.facts(agent) == ["null", "\u2003\n", " "]


@promise("search:needs", "inputs:absent-null-empty")
def test_a_search_names_what_is_missing(caller: Caller, agent: str) -> None:
    """Contract C24; F9."""
    for value in (*_NO_STRING, *_BLANK):
        assert caller.refused("memory_search", agent_id=value, query="x") == "agent_id is required"
    for value in _NO_STRING:
        assert caller.refused("memory_search", agent_id=agent, query=value) == "query is required"
    assert caller.refused("memory_search") == "agent_id is required"


@promise("search:blank-query", "inputs:absent-null-empty")
def test_a_blank_query_gives_the_newest_facts(caller: Caller, agent: str) -> None:
    """Contract 3.2."""
    caller.add(agent, "First fact", "Second fact", "Third fact")
    for query in _BLANK:
        assert caller.facts(agent, query) == ["Third fact", "Second fact", "First fact"]


_TOP_K: tuple[tuple[object, int], ...] = (
    (3, 3),
    (3.9, 3),
    ("3", 3),
    ("3.9", 3),
    ("8", 8),
    ("1e1", 10),
    (1e300, 12),
    (10**40, 12),
    ("1" + "0" * 400, 12),
    (None, 8),
    (0, 8),
    (-3, 8),
    (0.9, 8),
    (True, 8),
    ("many", 8),
    ("null", 8),
    ("", 8),
    (" 3", 8),
    ([3], 8),
    ({}, 8),
)


@promise("search:top-k-spellings", "inputs:absent-null-empty")
def test_top_k_is_read_as_a_number_or_left_out(newest: Caller, agent: str) -> None:
    """Contract C24, 3.1; F9."""
    newest.add(agent, *(f"Fact number {number}" for number in range(12)))
    for top_k, expected in _TOP_K:
        found = newest.ok("memory_search", agent_id=agent, query="fact", top_k=top_k)
        assert (top_k, found["count"], len(found["facts"])) == (top_k, expected, expected)
        batch = newest.ok("memory_search_batch", agent_id=agent, queries=["fact"], top_k=top_k)
        assert (top_k, len(batch["per_query"][0]["facts"])) == (top_k, expected)


@promise("search:explain-spellings", "inputs:absent-null-empty")
def test_explain_is_read_as_a_boolean_or_left_out(caller: Caller, agent: str) -> None:
    """Contract 3.1; F9."""
    caller.add(agent, "A fact")
    for value in (True, "true"):
        found = caller.ok("memory_search", agent_id=agent, query="fact", explain=value)
        assert "explained" in found
    for value in _NOT_TRUE:
        found = caller.ok("memory_search", agent_id=agent, query="fact", explain=value)
        assert "explained" not in found


@promise("inputs:unknown-arguments")
def test_an_unknown_argument_changes_nothing(caller: Caller, agent: str) -> None:
    """Contract C24, 3.1; F15 in part: a scope is never taken from it."""
    odd: dict[str, Any] = {"namespace": "elsewhere", "agentId": "elsewhere", "limit": 1, "x": None}
    caller.ok("memory_add", agent_id=agent, text="One fact", **odd)
    caller.ok("memory_alias", agent_id=agent, term="one", equivalents=["two"], **odd)
    caller.ok("checkpoint_save", agent_id=agent, **odd)
    caller.ok("memory_reflect", action="add", agent_id=agent, text="Two facts", **odd)
    plain = caller.ok("memory_search", agent_id=agent, query="fact")
    assert caller.ok("memory_search", agent_id=agent, query="fact", **odd) == plain
    assert sorted(plain["facts"]) == ["One fact", "Two facts"]
    batch = caller.ok("memory_search_batch", agent_id=agent, queries=["fact"], **odd)
    assert batch["count"] == 2
    assert "id" in caller.ok("checkpoint_resume", agent_id=agent, **odd)
    assert caller.facts("elsewhere") == []


@promise("batch:needs", "inputs:absent-null-empty")
def test_a_batch_needs_a_query_that_is_not_blank(caller: Caller, agent: str) -> None:
    """Contract 3.3; F9."""
    assert caller.refused("memory_search_batch", queries=["x"]) == "agent_id is required"
    for value in (*_NO_ITEMS, [""]):
        text = caller.refused("memory_search_batch", agent_id=agent, queries=value)
        assert text == _QUERIES
    for value in ([7], ["x", None], [["x"]]):
        text = caller.refused("memory_search_batch", agent_id=agent, queries=value)
        assert text == "queries must hold strings only"


@promise("batch:blank-queries")
def test_blank_queries_of_a_batch_are_skipped_and_others_kept_as_sent(
    caller: Caller, agent: str
) -> None:
    """Contract 3.3."""
    queries = [" deploy ", "", "\u2003", "rollback", " deploy "]
    batch = caller.ok("memory_search_batch", agent_id=agent, queries=queries)
    assert [one["query"] for one in batch["per_query"]] == [" deploy ", "rollback", " deploy "]


@promise("alias:needs", "inputs:absent-null-empty")
def test_an_alias_needs_a_term_and_an_equivalent(caller: Caller, agent: str) -> None:
    """Contract 3.4; F9."""
    for value in (*_NO_STRING, *_BLANK):
        text = caller.refused("memory_alias", agent_id=agent, term=value, equivalents=["x"])
        assert text == "term is required"
    for value in (*_NO_ITEMS, [" "]):
        text = caller.refused("memory_alias", agent_id=agent, term="x", equivalents=value)
        assert text == _EQUIVALENTS
    text = caller.refused("memory_alias", agent_id=agent, term="x", equivalents=["y", 7])
    assert text == "equivalents must hold strings only"
    assert caller.refused("memory_alias", term="x", equivalents=["y"]) == "agent_id is required"


@promise("checkpoints:needs", "inputs:absent-null-empty")
def test_checkpoints_need_an_agent(caller: Caller) -> None:
    """Contract 3.5, 3.6; F9."""
    for tool in ("checkpoint_save", "checkpoint_resume"):
        assert caller.refused(tool) == "agent_id is required"
        for value in (*_NO_STRING, *_BLANK):
            assert caller.refused(tool, agent_id=value) == "agent_id is required"
