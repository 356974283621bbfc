"""Checkpoints: every save is a new record, the newest is resumed."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from graymatter_mcp.engine.once import receipt_of
from graymatter_mcp.errors import (
    CheckpointNotFoundError,
    InvalidArgumentError,
    NoCheckpointsError,
)
from graymatter_mcp.model.checkpoints import MAX_DEPTH, Checkpoint, depth
from graymatter_mcp.store.base import WriteBatch

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.model.checkpoints import JsonObject, Message
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.store.base import MemoryStore


class Checkpoints:
    """Synchronous, for worker threads."""

    def __init__(self, store: MemoryStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def save(
        self,
        namespace: Namespace,
        state: JsonObject | None,
        messages: Sequence[Message],
        metadata: Mapping[str, str],
        call_key: CallKey | None = None,
    ) -> Checkpoint:
        """Append a record; an empty state is none.

        Raises:
            InvalidArgumentError: It could not come back as it went in.
        """
        _check_json([state, [(one.role, one.content) for one in messages], dict(metadata)])
        # Not earlier: this goes round for ever where a state holds itself.
        if depth(state) > MAX_DEPTH:
            raise InvalidArgumentError(f"a state must not be deeper than {MAX_DEPTH} levels")
        at, checkpoint_id = self._clock.stamp()
        checkpoint = Checkpoint(
            id=checkpoint_id,
            agent_id=namespace,
            created_at=at,
            state=state or None,
            messages=tuple(messages),
            metadata=dict(metadata),
        )
        batch = WriteBatch(at=at, checkpoints=(checkpoint,), is_fresh=True)
        if call_key is not None:
            batch = replace(batch, receipt=receipt_of(call_key, batch))
        self._store.apply(batch)
        return checkpoint

    def resume(self, namespace: Namespace) -> Checkpoint:
        """Return the newest record.

        Raises:
            NoCheckpointsError: There is none.
            CorruptRecordError: One of the namespace's records is damaged: it is neither skipped nor
                taken for absence.
        """
        records = self._store.checkpoints(namespace)
        if not records:
            raise NoCheckpointsError(namespace)
        return records[0]

    def load(self, namespace: Namespace, checkpoint_id: str) -> Checkpoint:
        """Return one record by id.

        Raises:
            NoCheckpointsError: The namespace has none at all.
            CheckpointNotFoundError: It has others.
        """
        records = self._store.checkpoints(namespace)
        if not records:
            raise NoCheckpointsError(namespace)
        for record in records:
            if record.id == checkpoint_id:
                return record
        raise CheckpointNotFoundError(f'checkpoint "{checkpoint_id}" not found')


def _check_json(value: object) -> None:
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise InvalidArgumentError(
            "a checkpoint must be valid JSON: text, finite numbers, lists and objects"
        ) from None
