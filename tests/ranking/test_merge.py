"""Merging finished lists, and lineage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.ranking.lineage import transitive
from graymatter_mcp.ranking.merge import first_distinct, merge_batch, merge_scopes

TEXTS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=6)


def test_example_7_two_scopes_become_one_list() -> None:
    """Contract 5.8, example 7, C56."""
    merged = merge_scopes(["x", "y", "z"], ["y", "s", "t"], 8)
    assert merged == [
        ("y", "agent"),
        ("x", "agent"),
        ("s", "shared"),
        ("z", "agent"),
        ("t", "shared"),
    ]
    assert merge_scopes(["x", "y", "z"], ["y", "s", "t"], 2) == merged[:2]
    assert f"{1 / 62 + 1 / 61:.10f} {1 / 61:.10f} {1 / 62:.10f} {1 / 63:.10f}" == (
        "0.0325224749 0.0163934426 0.0161290323 0.0158730159"
    )


def test_either_scope_may_be_empty() -> None:
    """Contract C56."""
    assert merge_scopes([], ["b", "a"], 8) == [("b", "shared"), ("a", "shared")]
    assert merge_scopes(["b", "a"], [], 8) == [("b", "agent"), ("a", "agent")]
    assert merge_scopes(["b"], ["a"], 0) == []
    assert merge_scopes(["b"], ["a"], -1) == []


def test_equal_sums_put_the_agents_better_rank_first() -> None:
    """Contract 5.8: sum, then a lower agent rank, then a lower shared rank."""
    assert merge_scopes(["p", "q"], ["q", "p"], 8) == [("p", "agent"), ("q", "agent")]


@given(TEXTS, TEXTS)
def test_every_text_comes_once_and_ordered_by_its_sum(agent: list[str], shared: list[str]) -> None:
    """Contract 5.8: the agent's copy counts as read when both hold the text."""
    merged = merge_scopes(agent, shared, 100)
    assert {t for t, _ in merged} == {*agent, *shared}
    assert len(merged) == len({*agent, *shared})
    assert all(scope == ("agent" if text in agent else "shared") for text, scope in merged)
    sums = [
        sum(1 / (61 + texts.index(text)) for texts in (agent, shared) if text in texts)
        for text, _ in merged
    ]
    assert sums == sorted(sums, reverse=True)


def test_example_8_a_batch_is_merged_by_best_rank() -> None:
    """Contract 5.9, example 8, C55."""
    assert merge_batch([["a", "b", "c"], ["b", "d", "a"], ["e", "c"]]) == (
        *("a", "b", "e", "c", "d"),
    )
    assert merge_batch([]) == ()
    assert merge_batch([[], ["a"], []]) == ("a",)


@given(st.lists(TEXTS, max_size=4))
def test_a_batch_is_ordered_by_rank_then_queries_then_appearance(queries: list[list[str]]) -> None:
    """Contract 5.9: nothing is cut, nothing comes twice."""
    texts = list(dict.fromkeys(text for query in queries for text in query))

    def key(text: str) -> tuple[int, int, int]:
        found = [query.index(text) for query in queries if text in query]
        return min(found), -len(found), texts.index(text)

    assert list(merge_batch(queries)) == sorted(texts, key=key)


def test_repeats_are_skipped_without_reading_further_than_needed() -> None:
    """Contract 5.7: facts are taken in order until top_k distinct texts."""
    source = iter(["a", "a", "b", "never read"])
    assert first_distinct(source, 2) == [0, 2]
    assert next(source) == "never read"


def lineage(records: Mapping[str, Sequence[str]], heir: str) -> tuple[list[str], int]:
    """Follow records and count the look-ups."""
    calls = 0

    def direct(heirs: Sequence[FactId]) -> dict[FactId, list[FactId]]:
        nonlocal calls
        calls += 1
        return {h: [FactId(i) for i in records[h]] for h in heirs if h in records}

    return list(map(str, transitive(direct, FactId(heir)))), calls


def test_lineage_is_nearest_first_then_by_id() -> None:
    """Contract: `supersedes` of a receipt."""
    records = {"h": ["c", "b"], "b": ["e"], "c": ["d", "a"], "a": ["f"]}
    assert lineage(records, "h") == (["b", "c", "a", "d", "e", "f"], 4)
    assert lineage(records, "f") == ([], 1)


def test_lineage_survives_rings_and_shared_ancestors() -> None:
    """Contract: each fact once, at its nearest, and never the heir itself."""
    records = {"h": ["b", "a"], "a": ["b", "z"], "b": ["h", "z"], "z": ["a"]}
    assert lineage(records, "h")[0] == ["a", "b", "z"]
