"""How much of an item a request gets to read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graymatter_mcp.model.snippets import snippet

if TYPE_CHECKING:
    from graymatter_mcp.model.items import ContentMode, Item


def shaped(item: Item, mode: ContentMode) -> Item:
    """Return the item as `mode` asks: whole, with a snippet, or by its identity and place alone.

    Source: data-plane contract 2.7.
    """
    if mode == "full":
        return item
    if mode == "snippet":
        content, truncated = (None, False) if item.content is None else snippet(item.content)
        return replace(item, content=content, truncated=truncated)
    return replace(
        item,
        content=None,
        metadata=None,
        source_type=None,
        captured_from=None,
        agent_name=None,
        confidence=None,
    )
