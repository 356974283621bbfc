from __future__ import annotations

import pytest

from graymatter_mcp.policy.entities import MAX_ENTITIES, entities


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('We call it "the big one" and `atlas`', ("the big one", "atlas")),
        ("Costs rose to $1,200.50 and $7", ("$1,200.50", "$7")),
        ("See src/db/pool.py and v1.2.3", ("src/db/pool.py", "v1.2.3")),
        ("The getUserName call, ipv6 and 8080", ("getusername", "ipv6", "8080")),
        ("We met Maria Lopez in Frankfurt", ("maria lopez", "frankfurt")),
        ("Maria Lopez leads; Maria agrees", ("maria lopez", "maria")),
        ("Deploys run on Tuesday in March", ()),
        ("Deploys run. Lunch is served: Soup", ()),
        ("a well-known, state-of-the-art way", ()),
        ("twice atlas: `atlas` and `ATLAS`", ("atlas",)),
        ("x 12 ab", ()),
        ("", ()),
    ],
)
def test_a_text_names_what_is_marked_as_a_name(text: str, named: tuple[str, ...]) -> None:
    """Data plane 6.2: quoted, identifiers, capitalised names, numbers, amounts."""
    assert entities(text) == named


def test_at_most_twelve_distinct_things_count_in_order_of_appearance() -> None:
    """Data plane 6.2."""
    numbers = [str(number) for number in range(100, 130)]
    assert entities(" ".join([*numbers, *numbers])) == tuple(numbers[:MAX_ENTITIES])


def test_a_name_longer_than_a_name_is_none() -> None:
    """Data plane 6.2: 2 to 64 characters."""
    assert entities("see " + "x/" * 40 + "y") == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Maria leads", ("maria",)),
        ("Maria Lopez leads", ("maria lopez",)),
        ("Redis Stack runs. Redis leads", ("redis stack",)),
        ("Backups run in Kiel. Deploys run", ("kiel",)),
        ("Nils Berg leads", ()),
        ("The Kiel Canal is long", ("kiel canal",)),
        ("The API of Atlas", ("api", "atlas")),
    ],
)
def test_a_name_at_a_sentence_start_counts_when_the_shelf_knows_it(
    text: str, named: tuple[str, ...]
) -> None:
    """Data plane 6.2: there only if the word is a known subject of the shelf."""
    assert entities(text, known={"maria", "redis stack"}) == named


def test_no_known_subject_is_not_the_same_as_no_shelf() -> None:
    """Data plane 6.2, and the core's hints, which know no subjects."""
    assert entities("Maria Lopez leads", known=()) == ()
    assert entities("Maria Lopez leads") == ("maria lopez",)


def test_a_stop_word_is_no_name() -> None:
    """Data plane 6.2: not even in quotes."""
    assert entities('the word "the" and It') == ()
