"""What a shelf names does not hang on the order in which its rows were read."""

from __future__ import annotations

from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.engine.plane.names import Names

TEXTS: Final = (
    "Mario waters the plants",
    "Mario Rossi has the keys",
    "The keys of Mario are gone",
    "Mario: nobody told Ana Bell",
    "Ana left. Bell stayed with Mario Rossi",
    "Room 7778 is dark",
)


def told(names: Names, rows: dict[int, str]) -> dict[int, tuple[str, tuple[str, ...]]]:
    """Return subject and entities of each row."""
    return {row: (names.name(row, text), names.entities[row]) for row, text in rows.items()}


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5), st.sampled_from(TEXTS)), max_size=20))
def test_rows_read_and_dropped_one_by_one_are_as_rows_read_at_once(
    acts: list[tuple[bool, int, str]],
) -> None:
    """Issue 5: same store, same query, same answer after a restart."""
    names = Names()
    rows: dict[int, str] = {}
    kept: dict[int, tuple[str, tuple[str, ...]]] = {}
    for is_read, row, text in acts:
        if is_read:
            names.read(row, text, None)
            rows[row] = text
        else:
            names.drop(row)
            kept.pop(row, None)
            rows.pop(row, None)
        for one in names.settle():
            kept[one] = (names.name(one, rows[one]), names.entities[one])
    anew = Names()
    for row, text in sorted(rows.items(), reverse=True):
        anew.read(row, text, None)
    assert anew.settle() == sorted(rows)
    assert kept == told(anew, rows)
    assert set(names.known) == set(anew.known)
    assert {one: sorted(found) for one, found in names.rows_naming.items()} == {
        one: sorted(found) for one, found in anew.rows_naming.items()
    }
