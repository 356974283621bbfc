"""Bodies that fit: what is left out, in which order, and what is said of it."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.policy.packs import GUIDANCE, pack
from graymatter_mcp.surfaces.rest import cuts
from graymatter_mcp.surfaces.rest.bodies import encoded, item_json, pack_json
from tests.policy.items import item

if TYPE_CHECKING:
    from graymatter_mcp.model.items import Item


def cut_results(body: dict[str, Any], max_bytes: int | None) -> dict[str, Any]:
    """Cut, and take the answer for what a test knows it is."""
    return cuts.cut_results(body, max_bytes)


def cut_context(body: dict[str, Any], max_bytes: int | None) -> dict[str, Any]:
    """Cut, and take the answer for what a test knows it is."""
    return cuts.cut_context(body, max_bytes)


Parts = tuple[list[int], list[int], list[int], list[int]]
LONG = "word " * 60


def search(*lengths: int) -> dict[str, Any]:
    """Return the answer of a search with contents of these lengths."""
    items = [item_json(item(n, "é" * length)) for n, length in enumerate(lengths)]
    return {"results": items, "degraded": False, "abstained": False}


def context(relevant: list[Item], recent: list[Item]) -> dict[str, Any]:
    """Return the answer of a context."""
    return {
        "relevant": {
            "results": [item_json(one) for one in relevant],
            "degraded": False,
            "abstained": False,
        },
        "recent": {"results": [item_json(one) for one in recent]},
        "contextPack": pack_json(pack(relevant, recent)),
        "guidance": GUIDANCE,
    }


def ids(items: list[dict[str, Any]]) -> list[int]:
    """Return the numbers of the items."""
    return [int(one["id"]) for one in items]


def parts(body: dict[str, Any]) -> Parts:
    """Return what stands in relevant, recent and the pack, and what is omitted."""
    return (
        ids(body["relevant"]["results"]),
        ids(body["recent"]["results"]),
        ids(body["contextPack"]["all"]),
        [int(one) for one in body.get("omitted", [])],
    )


def test_an_answer_that_fits_is_left_as_it_is() -> None:
    """Data-plane contract 2.7."""
    body = search(10, 20)
    assert cut_results(body, None) is body
    assert cut_results(body, len(encoded(body))) == body


def test_one_byte_too_many_leaves_out_the_last_item_and_names_it() -> None:
    """Data-plane contract 2.7, D33."""
    body = search(10, 20, 90)
    cut = cut_results(body, len(encoded(body)) - 1)
    assert cut == {**body, "results": body["results"][:2], "omitted": [f"{2:026d}"]}


def test_the_first_item_stays_as_a_snippet_and_is_never_left_out() -> None:
    """Data-plane contract 2.7, D33."""
    body = search(5000, 5)
    first = body["results"][0]
    snippet = {**first, "content": "é" * 240 + "…", "truncated": True}
    cut = cut_results(body, 1000)
    assert cut == {**body, "results": [snippet], "omitted": [f"{1:026d}"]}
    assert cut_results(search(200), 1) == search(200)
    bare = {"results": [{k: first[k] for k in first if k != "content"}]}
    assert cut_results(bare, 1) == bare
    assert cut_results(search(), 1) == search()


RELEVANT, RECENT = [item(1, LONG), item(2, LONG)], [item(3, LONG), item(1, LONG)]
WHOLE = len(encoded(context(RELEVANT, RECENT)))
UNPACKED = len(encoded(context(RELEVANT, RECENT) | {"contextPack": pack_json(pack([], []))}))


STEPS: list[tuple[int, Parts]] = [
    (WHOLE, ([1, 2], [3, 1], [1, 2, 3], [])),
    (WHOLE - 1, ([1, 2], [3, 1], [1, 2], [])),
    (UNPACKED, ([1, 2], [3, 1], [], [])),
    (UNPACKED - 1, ([1, 2], [3], [], [])),
    (UNPACKED - 700, ([1, 2], [], [], [3])),
    (UNPACKED - 1700, ([1], [], [], [2, 3])),
    (1, ([1], [], [], [2, 3])),
]


@pytest.mark.parametrize(("max_bytes", "expected"), STEPS)
def test_the_pack_goes_first_then_recent_then_relevant(max_bytes: int, expected: Parts) -> None:
    """Data-plane contract 2.7: an id that still stands somewhere is not omitted."""
    cut = cut_context(context(RELEVANT, RECENT), max_bytes)
    assert parts(cut) == expected
    assert cut["guidance"] == GUIDANCE
    sections = cut["contextPack"].values()
    assert {n for items in sections for n in ids(items)} == set(expected[2])


def test_the_first_of_context_stays_as_a_snippet_wherever_it_stands() -> None:
    """Data-plane contract 2.7."""
    shown = (LONG[:239], True)
    cut = cut_context(context(RELEVANT, RECENT), 1)
    first = cut["relevant"]["results"][0]
    assert (first["content"].removesuffix("…"), first["truncated"]) == shown
    cut = cut_context(context([], RECENT), 1)
    assert parts(cut) == ([], [3], [], [1])
    first = cut["recent"]["results"][0]
    assert (first["content"].removesuffix("…"), first["truncated"]) == shown
    assert cut_context(context([], []), 1) == context([], [])


def test_an_error_without_a_pack_gets_none() -> None:
    """Data-plane contract 3.1: 503 has neither pack nor guidance."""
    body = context([], [])
    failed = {"relevant": body["relevant"], "recent": body["recent"], "error": "context degraded"}
    assert cut_context(failed, 1000) == failed
    assert cut_context(failed, None) is failed


LENGTHS = st.lists(st.integers(1, 400), min_size=4, max_size=8)


def with_first(body: dict[str, Any], kept: int) -> dict[str, Any]:
    """Return the answer with so many of its items, and the others named."""
    left = [one["id"] for one in body["results"][kept:]]
    return {**body, "results": body["results"][:kept]} | ({"omitted": left} if left else {})


@given(LENGTHS, st.integers(2, 6), st.sampled_from([-1, 0, 1, 29, 400]))
def test_as_many_items_stay_as_fit_to_the_byte(lengths: list[int], goal: int, spare: int) -> None:
    """Data-plane contract 2.7; no answer is larger unless one item is left."""
    body = search(*lengths)
    before = copy.deepcopy(body)
    max_bytes = len(encoded(with_first(body, goal))) + spare
    cut = cut_results(body, max_bytes)
    kept = len(cut["results"])
    assert body == before
    if kept > 1:
        assert cut == with_first(body, kept)
        assert len(encoded(cut)) <= max_bytes
    if kept < len(lengths):
        assert len(encoded(with_first(body, kept + 1))) > max_bytes


@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), max_size=9), st.integers(900, 9000))
def test_no_context_is_larger_unless_one_item_is_left(
    drawn: list[tuple[int, bool]], max_bytes: int
) -> None:
    """Data-plane contract 2.7; every fact is returned or named."""
    of: dict[bool, list[Item]] = {True: [], False: []}
    for number, is_recent in drawn:
        one = replace(item(number, "x" * 100 * number, memory_type="decision"), score=1.0)
        if one not in of[is_recent]:
            of[is_recent].append(one)
    body = context(of[False], of[True])
    before = copy.deepcopy(body)
    cut = cut_context(body, max_bytes)
    relevant, recent, packed, omitted = parts(cut)
    assert len(encoded(cut)) <= max_bytes or len(relevant) + len(recent) <= 1
    assert body == before
    assert set(relevant) | set(recent) | set(omitted) == {number for number, _ in drawn}
    assert not (set(relevant) | set(recent)) & set(omitted)
    assert set(packed) <= set(relevant) | set(recent)
