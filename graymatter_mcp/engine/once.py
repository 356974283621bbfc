"""One effect a call: a receipt commits with the effect, and answers whoever asks again."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import Receipt

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime

    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.store.base import MemoryStore, WriteBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a repeated call needs to give the first answer again; the rest stands in the request."""

    id: FactId
    """Of the fact or checkpoint that was written; empty where none was."""
    at: datetime
    confidence: str = ""


def receipt_of(call_key: CallKey, batch: WriteBatch) -> Receipt:
    """Return the receipt that commits with a batch."""
    written_id, at, confidence = "", batch.at, ""
    if batch.facts:
        fact = batch.facts[0].fact
        written_id, at, confidence = fact.id, fact.created_at, fact.confidence
    elif batch.checkpoints:
        checkpoint = batch.checkpoints[0]
        written_id, at = checkpoint.id, checkpoint.created_at
    outcome = json.dumps([written_id, to_microseconds(at), confidence])
    return Receipt(key=call_key.key, digest=call_key.digest, outcome=outcome, at=at)


def outcome_of(store: MemoryStore, call_key: CallKey) -> Outcome | None:
    """Return what the call led to when it was carried out before; None for a new one.

    Raises:
        InvalidArgumentError: The key was used with another request.
    """
    receipt = store.receipt(call_key.key)
    if receipt is None:
        return None
    if receipt.digest != call_key.digest:
        raise InvalidArgumentError("idempotency key was used with another request")
    written_id, at, confidence = json.loads(receipt.outcome)
    return Outcome(id=FactId(written_id), at=from_microseconds(at), confidence=confidence)


class Turns:
    """Lets calls of one key pass one after the other, so that a twin in flight waits."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def of(self, key: str) -> Generator[None]:
        """Hold the turn of a key."""
        with self._lock:
            turn, users = self._waiting.get(key, (threading.Lock(), 0))
            self._waiting[key] = (turn, users + 1)
        try:
            with turn:
                yield
        finally:
            with self._lock:
                turn, users = self._waiting[key]
                if users == 1:
                    del self._waiting[key]
                else:
                    self._waiting[key] = (turn, users - 1)
