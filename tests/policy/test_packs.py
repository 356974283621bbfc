"""Which section of a context pack takes which item."""

from __future__ import annotations

from dataclasses import fields

import pytest

from graymatter_mcp.model.items import ContextPack, Item, PackItem
from graymatter_mcp.policy.packs import GUIDANCE, pack
from tests.policy.items import MORNING, item

SCOPES = {"user_global", "project_scoped", "all"}


def sections(relevant: list[Item], recent: list[Item]) -> dict[str, list[int]]:
    """Return the numbers of the items in each section that has some."""
    made = pack(relevant, recent)
    found = {one.name: [int(i.id) for i in getattr(made, one.name)] for one in fields(ContextPack)}
    return {name: numbers for name, numbers in found.items() if numbers}


@pytest.mark.parametrize(
    ("memory_type", "namespace", "content", "expected"),
    [
        ("user_preference", "default", "x", {"user_preferences"}),
        ("", "user", "x", {"user_preferences"}),
        ("", "User", "x", set[str]()),
        ("setup_fact", "default", "x", {"current_setup"}),
        ("", "current-setup", "x", {"current_setup"}),
        ("", "setup", "x", {"current_setup"}),
        ("deployment_state", "default", "x", {"current_setup", "deployment_state"}),
        ("project_convention", "default", "x", {"project_conventions"}),
        ("", "project-conventions", "x", set[str]()),
        ("decision", "default", "x", {"decisions"}),
        ("", "decisions", "x", {"decisions"}),
        ("bug_root_cause", "default", "x", {"bug_root_causes"}),
        ("safety_constraint", "default", "x", {"safety_constraints"}),
        ("general", "default", "You MUST NOT do it", {"pitfalls"}),
        ("decision", "user", "Don't: a gotcha", {"decisions", "pitfalls", "user_preferences"}),
        ("general", "default", "A Decision was made", set[str]()),
    ],
)
def test_an_item_stands_where_its_type_shelf_and_words_say(
    memory_type: str, namespace: str, content: str, expected: set[str]
) -> None:
    """Data-plane contract 3.1, D34."""
    one = item(1, content, memory_type=memory_type, namespace=namespace)
    assert set(sections([one], [])) - SCOPES == expected


def test_recent_decisions_are_recent_items_even_if_relevant_too() -> None:
    """Data-plane contract 3.1."""
    relevant = [item(1, memory_type="decision"), item(2, "the decision fell")]
    recent = [item(2, "the decision fell"), item(3, memory_type="decision"), item(4, "indecision")]
    assert sections(relevant, recent)["recent_decisions"] == [2, 3]


def test_each_item_stands_once_a_section_in_the_order_of_first_sight() -> None:
    """Data-plane contract 3.1, D34."""
    relevant, recent = [item(2), item(1, project="p")], [item(3), item(1, project="p"), item(2)]
    assert sections(relevant, recent) == {
        "user_global": [2, 3],
        "project_scoped": [1],
        "all": [2, 1, 3],
    }


def test_contents_are_shaped_after_they_were_read() -> None:
    """Data-plane contract 3.1: by `contentMode`; the words of what is left out still decide."""
    long = item(1, "a" * 240 + " pitfall", memory_type="decision")
    assert pack([long], [], "ids").pitfalls == (
        PackItem(
            id=long.id,
            content=None,
            namespace="default",
            project=None,
            memory_type="decision",
            created_at=MORNING,
        ),
    )
    assert pack([long], [], "snippet").pitfalls[0].content == "a" * 240 + "…"
    assert pack([long], []).pitfalls[0].content == long.content


def test_the_guidance_is_short() -> None:
    """Data-plane contract 3.1: at most 600 characters."""
    assert 0 < len(GUIDANCE) <= 600
