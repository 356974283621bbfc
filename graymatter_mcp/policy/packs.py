"""The context pack: what was found, sorted by what an agent does with it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.items import ContextPack, PackItem
from graymatter_mcp.policy.shaping import shaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from graymatter_mcp.model.items import ContentMode, Item

GUIDANCE: Final = (
    "Prefer the sections of contextPack over loose hits. Ground advice in the preferences, "
    "conventions and constraints that are stored here, and invent none. Judge each hit by its "
    "content, not by its score. When nothing relevant was found, go on with the task, but run one "
    "targeted search before asking the user to repeat something."
)
"""Sent with every pack."""

_PITFALL: Final = re.compile(r"pitfall|warning|avoid|do not|don't|must not|gotcha", re.IGNORECASE)
_DECISION: Final = re.compile(r"\bdecision\b", re.IGNORECASE)


def pack(
    relevant: Sequence[Item], recent: Sequence[Item], mode: ContentMode = "full"
) -> ContextPack:
    """Sort relevant, then recent items into sections, each fact once, at its first sight.

    Args:
        relevant: With content and metadata, which decide; best first.
        recent: Likewise, newest first.
        mode: What is returned of each content.

    Source: data-plane contract 3.1.
    """
    first_sight: dict[str, Item] = {}
    for item in (*relevant, *recent):
        first_sight.setdefault(item.id, item)
    is_recent = {item.id for item in recent}
    items = list(first_sight.values())

    def section(holds: Callable[[Item], bool]) -> tuple[PackItem, ...]:
        return tuple(_packed(item, mode) for item in items if holds(item))

    return ContextPack(
        user_global=section(lambda item: item.project is None),
        project_scoped=section(lambda item: item.project is not None),
        user_preferences=section(_is({"user_preference"}, {"user"})),
        current_setup=section(_is({"setup_fact", "deployment_state"}, {"current-setup", "setup"})),
        project_conventions=section(_is({"project_convention"})),
        decisions=section(_is({"decision"}, {"decisions"})),
        bug_root_causes=section(_is({"bug_root_cause"})),
        deployment_state=section(_is({"deployment_state"})),
        safety_constraints=section(_is({"safety_constraint"})),
        pitfalls=section(lambda item: _matches(_PITFALL, item)),
        recent_decisions=section(
            lambda item: (
                item.id in is_recent
                and (memory_type(item) == "decision" or _matches(_DECISION, item))
            )
        ),
        all=section(lambda _: True),
    )


def memory_type(item: Item) -> str | None:
    """Return the type that the server keeps of a fact, or None."""
    value = None if item.metadata is None else item.metadata.get("memoryType")
    return value if isinstance(value, str) else None


def _is(types: Iterable[str], namespaces: Iterable[str] = ()) -> Callable[[Item], bool]:
    wanted, shelves = frozenset(types), frozenset(namespaces)
    return lambda item: memory_type(item) in wanted or item.namespace in shelves


def _matches(pattern: re.Pattern[str], item: Item) -> bool:
    return item.content is not None and pattern.search(item.content) is not None


def _packed(item: Item, mode: ContentMode) -> PackItem:
    return PackItem(
        id=item.id,
        content=shaped(item, mode).content,
        namespace=item.namespace,
        project=item.project,
        memory_type=memory_type(item),
        created_at=item.created_at,
    )
