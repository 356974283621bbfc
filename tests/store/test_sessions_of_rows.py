"""Which fact came before which, kept while facts come, change and go."""

from __future__ import annotations

from typing import Final

from hypothesis import given, settings
from hypothesis import strategies as st

from graymatter_mcp.store.duckdb.sessions import Sessions

START_MS: Final = 1_700_000_000_000
MINUTE_MS: Final = 60_000
BREAK: Final = 31
"""Minutes after which the same connection is another session."""


def number(minute: int, place: int) -> int:
    """Return the number of an id that was given at a minute."""
    return (START_MS + minute * MINUTE_MS) << 80 | place


def chains(sessions: Sessions, row_of: dict[int, int]) -> dict[int, int | None]:
    """Return the fact before each, by the numbers of the facts that are there."""
    fact_in = {row: fact for fact, row in row_of.items()}
    previous = sessions.previous.tolist()
    return {fact: fact_in.get(previous[row]) for fact, row in row_of.items()}


def test_facts_of_two_sessions_of_one_connection_can_both_go() -> None:
    """Issue 5: the first session's last fact is not the last of its connection."""
    sessions = Sessions()
    for place, minute in enumerate((0, BREAK, BREAK + 1)):
        sessions.add(number(minute, place), "", "", "")
    sessions.drop(0)
    sessions.add(number(BREAK + 2, 3), "", "", "")
    assert sessions.previous.tolist() == [-1, -1, 1, 2]
    sessions.drop(3)
    sessions.drop(2)
    sessions.drop(1)


Acts = list[tuple[str, int, str]]


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(("add", "add", "drop", "replace")),
            st.integers(0, 40),
            st.sampled_from(("", "named")),
        ),
        max_size=30,
    )
)
def test_chains_kept_in_step_are_those_made_of_what_is_left(acts: Acts) -> None:
    """Issue 5: a mirror that was kept in step says what one built anew says."""
    sessions = Sessions()
    row_of: dict[int, int] = {}
    names: dict[int, str] = {}
    minute = rows = 0
    for place, (act, amount, name) in enumerate(acts):
        if act == "add":
            minute += amount
            fact = number(minute, place)
            sessions.add(fact, "", name, "")
            row_of[fact], names[fact] = rows, name
            rows += 1
        elif row_of and act == "drop":
            sessions.drop(row_of.pop(list(row_of)[amount % len(row_of)]))
        elif row_of:
            fact = list(row_of)[amount % len(row_of)]
            sessions.replace(row_of[fact])
            row_of[fact] = rows
            rows += 1
    anew = Sessions()
    for fact in sorted(row_of):
        anew.add(fact, "", names[fact], "")
    fresh_rows = {fact: row for row, fact in enumerate(sorted(row_of))}
    assert chains(sessions, row_of) == chains(anew, fresh_rows)
