"""Aliases widen queries by whole tokens, one hop."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import Alias
from graymatter_mcp.ranking.aliases import alias_text, effective_query, expand, parse_alias
from graymatter_mcp.ranking.tokens import tokenize


def alias(term: str, *equivalents: str) -> Alias:
    """Build a pair."""
    return Alias(term=term, equivalents=equivalents)


DEPLOY = alias("deploy", "rollout")


def widened(query: str, *aliases: Alias) -> str:
    """Return the effective query."""
    return effective_query(query, expand(tokenize(query), aliases))


@pytest.mark.parametrize(
    ("query", "aliases", "expected"),
    [
        ("deploy window", [DEPLOY], "deploy window rollout"),
        ("rollout", [DEPLOY], "rollout deploy"),
        ("Deploy?", [DEPLOY], "Deploy? rollout"),
        ("deploys", [DEPLOY], "deploys"),
        ("deploy rollout", [DEPLOY], "deploy rollout"),
        ("deploy", [alias("deploy", "roll out plan", "ship")], "deploy roll out plan ship"),
        ("ship", [alias("deploy", "roll out plan", "ship")], "ship deploy"),
        ("plan", [alias("deploy", "roll out plan", "ship")], "plan"),
        ("red card", [alias("red card", "expulsion")], "red card expulsion"),
        ("expulsion", [alias("red card", "expulsion")], "expulsion"),
        ("deploy", [DEPLOY, alias("rollout", "launch")], "deploy rollout"),
        ("window deploy", [DEPLOY, alias("window", "slot")], "window deploy slot rollout"),
        ("deploy", [DEPLOY, alias("Deploy", "launch", "rollout")], "deploy rollout launch"),
        ("nothing", [DEPLOY], "nothing"),
        ("", [DEPLOY], ""),
        ("k8s", [alias("k8s", "kube, the = cluster")], "k8s kube cluster"),
        ("the", [alias("the", "article")], "the"),
    ],
)
def test_a_query_is_widened_by_what_its_words_lead_to(
    query: str, aliases: list[Alias], expected: str
) -> None:
    """Contract 8.4."""
    assert widened(query, *aliases) == expected


@given(
    st.lists(st.sampled_from("abcdef").map(lambda c: c * 2), max_size=5),
    st.lists(
        st.builds(
            Alias,
            term=st.sampled_from(["aa", "bb", "aa bb", "cc"]),
            equivalents=st.lists(st.sampled_from(["aa", "dd", "ee ff"]), max_size=3).map(tuple),
        ),
        max_size=5,
    ),
)
def test_added_tokens_are_new_and_come_once(query: list[str], aliases: list[Alias]) -> None:
    """Contract 8.4: each token once and only if not yet there."""
    added = expand(query, aliases)
    assert len(set(added)) == len(added)
    assert set(added).isdisjoint(query)


def test_the_text_of_an_alias_shows_its_pair() -> None:
    """Contract 8.4."""
    assert alias_text(" deploy ", ["rollout ", "", "  ", "ship it"]) == (
        "alias: deploy = rollout, ship it"
    )


@pytest.mark.parametrize(
    ("term", "equivalents", "message"),
    [
        ("  ", ["x"], "alias term is required"),
        ("", [], "alias term is required"),
        ("x", [], "alias needs at least one equivalent"),
        ("x", ["", "\u2003"], "alias needs at least one equivalent"),
    ],
)
def test_blank_sides_are_refused(term: str, equivalents: list[str], message: str) -> None:
    """Contract 8.4: its two errors, word for word."""
    with pytest.raises(InvalidArgumentError) as caught:
        alias_text(term, equivalents)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alias: deploy = rollout, ship it", alias("deploy", "rollout", "ship it")),
        ("alias:a=b", alias("a", "b")),
        ("alias: a = b = c, , d ", alias("a", "b = c", "d")),
        ("alias: a, b = c", alias("a, b", "c")),
        ("alias: a", None),
        ("alias: = b", None),
        ("alias: a = ,", None),
        ("Alias: a = b", None),
        ("deploys are rollouts", None),
        ("", None),
    ],
)
def test_a_pair_is_read_back_from_a_revised_text(text: str, expected: Alias | None) -> None:
    """Contract 8.4: another form widens nothing."""
    assert parse_alias(text) == expected
