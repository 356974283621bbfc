"""What a call with a key led to, for whoever sends it again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from graymatter_mcp.errors import ConflictError

if TYPE_CHECKING:
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.store.base import MemoryStore


def outcome_of(store: MemoryStore, key: CallKey) -> Any:
    """Return the fields of the first answer to a call; None for a new one.

    Raises:
        ConflictError: The key was used with another request.
    """
    receipt = store.receipt(key.key)
    if receipt is None:
        return None
    if receipt.digest != key.digest:
        raise ConflictError("idempotency key was used with another request")
    return json.loads(receipt.outcome)
