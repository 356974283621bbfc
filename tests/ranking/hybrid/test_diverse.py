"""Diversity: equal texts once, near copies only to fill up."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.ranking.hybrid.diverse import Texts, diverse


def chosen(texts: list[str], k: int, *, may_fill: bool = True) -> list[int]:
    """Choose from texts that stand in order."""

    def same_claims(one: int, other: int) -> bool:
        numbers = [re.findall(r"\d+|[A-Z]\w+", texts[row]) for row in (one, other)]
        return numbers[0] == numbers[1]

    return diverse(
        range(len(texts)),
        k,
        Texts(
            key=texts.__getitem__,
            tokens=lambda row: frozenset(re.findall(r"\w+", texts[row].lower())),
            same_claims=same_claims,
        ),
        may_fill=may_fill,
    )


def test_one_copy_of_equal_texts_and_the_weaker_match() -> None:
    """Data-plane contract D31."""
    assert chosen(["the api port", "the api port", "a weak match"], 2) == [0, 2]
    assert chosen(["the api port", "the api port"], 2) == [0]


def test_other_values_never_hide_each_other() -> None:
    """Data-plane contract 4.10, D31: seven of nine words in common, one value apart."""
    ports = ["Staging API uses port 7778", "Production API uses port 7779", "weak", "weaker"]
    assert chosen(ports, 2) == [0, 1]
    near = ["please note that the api uses port", "weak"]
    assert chosen([f"{near[0]} 7778", f"{near[0]} 7779", near[1]], 2) == [0, 1]
    assert chosen([f"{near[0]} 7778", f"{near[0]} 7778 now", near[1]], 2) == [0, 2]


def test_near_copies_give_way_and_fill_up_in_the_order_of_rank() -> None:
    """Data-plane contract 4.10."""
    texts = ["a b c d", "a b c", "e f g h", "a b d"]  # 1 and 3 share three of four words with 0
    assert chosen(texts, 2) == [0, 2]
    assert chosen(texts, 3) == [0, 1, 2]
    assert chosen(texts, 4) == [0, 1, 2, 3]
    assert chosen(texts, 4, may_fill=False) == [0, 2]


def test_two_thirds_in_common_is_no_copy() -> None:
    """Data-plane contract 4.10: 0.75 and no less."""
    assert chosen(["a b c", "a b", "d e"], 2) == [0, 1]
    assert chosen(["...", "???", "d e"], 3, may_fill=False) == [0, 1, 2]


def test_no_further_row_is_read_than_needed() -> None:
    """The order behind is worked out as far as it is asked for."""
    walk = iter(range(9))
    texts = Texts(
        key=lambda row: row,
        tokens=lambda row: frozenset([str(row)]),
        same_claims=lambda one, other: one == other,
    )
    assert diverse(walk, 3, texts, may_fill=True) == [0, 1, 2]
    assert next(walk) == 3


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1).map(" ".join)), st.integers(1, 9))
def test_what_is_chosen_is_in_order_distinct_and_as_much_as_there_is(
    texts: list[str], k: int
) -> None:
    """Data-plane contract 4.10: without a budget only equal texts shorten an answer."""
    rows = chosen(texts, k)
    assert rows == sorted(rows)
    assert len(rows) == len({texts[row] for row in rows}) == min(k, len(set(texts)))
