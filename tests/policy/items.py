"""Items for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.items import Item

if TYPE_CHECKING:
    from graymatter_mcp.model.checkpoints import JsonObject

MORNING: Final = datetime(2026, 5, 7, 8, 30, 15, 123_999, tzinfo=UTC)


def item(
    number: int,
    content: str | None = "text",
    *,
    memory_type: str = "",
    namespace: str = "default",
    project: str | None = None,
) -> Item:
    """Return the item with this number in its id."""
    metadata: JsonObject = {"sensitivity": "private"}
    if memory_type:
        metadata["memoryType"] = memory_type
    return Item(
        id=FactId(f"{number:026d}"),
        score=0.5,
        content=content,
        tier="warm",
        namespace=namespace,
        project=project,
        source="manual",
        metadata=metadata,
        source_type="chat",
        captured_from="call",
        agent_name="ana",
        confidence=0.9,
        created_at=MORNING,
        updated_at=MORNING + timedelta(days=1),
    )
