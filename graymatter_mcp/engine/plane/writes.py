"""Writes of the data plane: a decision and its effect in one turn, one transaction, once a key."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from graymatter_mcp.engine.once import Turns
from graymatter_mcp.engine.plane.capture import MAX_CAPTURED, Decider
from graymatter_mcp.engine.plane.draft import Draft
from graymatter_mcp.engine.plane.neighbours import FAN_OUT
from graymatter_mcp.engine.plane.replays import outcome_of
from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.plane import Answered, Written
from graymatter_mcp.model.scopes import shelf
from graymatter_mcp.policy.decay import DEFAULT_BASE_DAYS
from graymatter_mcp.policy.gate import rejection
from graymatter_mcp.store.base import NewVectors, PendingVector, Receipt

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.plane.accounts import Accounts
    from graymatter_mcp.engine.plane.corpus import Corpora
    from graymatter_mcp.engine.plane.draft import Entry
    from graymatter_mcp.engine.plane.makers import VectorMaker
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.plane import NewEntry
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore

Answer = TypeVar("Answer")

_TRIES: Final = 5
"""Times that a decision is made anew when the core changed a fact that it rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneSettings:
    """What a server decides about the data plane."""

    max_captured: int = MAX_CAPTURED
    """Characters of a captured text; 0 for no limit."""
    personal_terms: tuple[str, ...] = ()
    """Words that make a fact relevant to its user."""
    base_days: int = DEFAULT_BASE_DAYS
    """How long a fact without a retention of its own stays warm unread."""
    upkeep_every: timedelta = timedelta(hours=6)
    """Between passes of decay and expiry; 0 for none."""
    fan_out: int = FAN_OUT
    """Near facts that count as neighbours of each; 0 for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What all writes share."""

    store: MemoryStore
    corpora: Corpora
    models: VectorMaker
    analyzer: Analyzer
    clock: Clock
    accounts: Accounts
    turn: threading.RLock
    """Held from finding the scope to the commit."""
    settings: PlaneSettings = field(default_factory=PlaneSettings)


class Recorder:
    """Stores facts; synchronous, for worker threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._turns = Turns()

    def remember(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """Store a fact as it is."""

        def decide(draft: Draft, scope: Scope) -> Written:
            namespace = shelf(scope, new.namespace)
            return self._decider(draft).remember(namespace, new, windows, caller.connection)

        windows = self._windows(new, max_length=None)
        return self.write(
            caller, "remember", key, decide, _written_from, project=new.project, at_most=1
        )

    def capture(
        self, caller: Caller, new: NewEntry, key: CallKey | None = None
    ) -> Answered[Written]:
        """Store a fact where it is worth it, in the place of what it takes back."""

        def decide(draft: Draft, scope: Scope) -> Written:
            namespace = shelf(scope, new.namespace)
            return self._decider(draft).capture(
                namespace, new.namespace, new, windows, caller.connection
            )

        windows = self._windows(new, max_length=self._parts.settings.max_captured)
        return self.write(
            caller, "capture", key, decide, _written_from, project=new.project, at_most=1
        )

    def recap(
        self, caller: Caller, items: Sequence[NewEntry], key: CallKey | None = None
    ) -> Answered[tuple[Written, ...]]:
        """Capture several facts, each seeing those before it: all of them or none."""

        def decide(draft: Draft, scope: Scope) -> tuple[Written, ...]:
            decider = self._decider(draft)
            return tuple(
                decider.capture(
                    shelf(scope, one.namespace), one.namespace, one, vector, caller.connection
                )
                for one, vector in zip(items, windows, strict=True)
            )

        longest = self._parts.settings.max_captured
        windows = [self._windows(one, max_length=longest) for one in items]
        project = items[0].project if items else None
        return self.write(
            caller,
            "session-recap",
            key,
            decide,
            lambda told: tuple(_written_from(one) for one in told),
            project=project,
            at_most=len(items),
        )

    def _decider(self, draft: Draft) -> Decider:
        settings = self._parts.settings
        return Decider(
            draft,
            self._parts.clock,
            max_captured=settings.max_captured,
            personal_terms=settings.personal_terms,
        )

    def _windows(self, new: NewEntry, *, max_length: int | None) -> NDArray[np.int16] | None:
        """Embed what is not refused anyway; before the turn, since it takes a core for a while."""
        if rejection(new.content, max_length=max_length, force=new.force) is not None:
            return None
        return self._parts.models.windows_of(new.content)

    def write(
        self,
        caller: Caller,
        action: str,
        key: CallKey | None,
        decide: Callable[[Draft, Scope], Answer],
        read: Callable[[Any], Answer],
        *,
        project: str | None,
        at_most: int,
    ) -> Answered[Answer]:
        """Decide on a draft and commit it.

        Args:
            caller: Who.
            action: Its name in the audit.
            key: Under which it takes effect once; None for every time.
            decide: Changes the draft; asked again when the facts moved meanwhile.
            read: Makes an answer again of the JSON of its fields.
            project: Reference that was sent.
            at_most: Entries that may be written, for the quota.

        Raises:
            ConflictError: The key was used with another request.
            FactChangedError: The facts kept moving.
        """
        with nullcontext() if key is None else self._turns.of(key.key):
            told = None if key is None else outcome_of(self._parts.store, key)
            if told is not None:
                return Answered(answer=read(told), is_replayed=True)
            for tried in range(1, _TRIES + 1):
                try:
                    return self._once(caller, action, key, decide, project, at_most)
                except FactChangedError:
                    if tried == _TRIES:
                        raise
        raise FactChangedError

    def _once(
        self,
        caller: Caller,
        action: str,
        key: CallKey | None,
        decide: Callable[[Draft, Scope], Answer],
        project: str | None,
        at_most: int,
    ) -> Answered[Answer]:
        parts = self._parts
        with parts.turn:
            scope = parts.accounts.reach.write_scope(caller, project)
            if at_most:
                parts.accounts.quotas.check(caller, at_most)
            at, _ = parts.clock.stamp()
            draft = Draft(parts.store, parts.corpora, parts.analyzer, at)
            answer = self._with_vectors(draft, decide(draft, scope))
            changed = [one for one in draft.entries.values() if one.is_changed or one.is_new]
            target = _target(draft, changed)
            event = parts.accounts.audit.event(caller, action, target, scope.project_id)
            receipt = None if key is None else receipt_of(key, answer, draft)
            vectors = [_vectors_of(one) for one in changed if one.windows is not None]
            batch = draft.batch(vectors, parts.models.model_key, event, receipt)
            parts.store.apply(batch)
            written = [one for one in changed if one.is_new or one.text != one.fact.text]
            parts.accounts.quotas.note_writes(caller, len(written))
        self._afterwards(draft, written)
        return Answered(answer=answer)

    def _with_vectors(self, draft: Draft, answer: Answer) -> Answer:
        """Say of each written fact whether it has a vector."""
        if isinstance(answer, Written):
            return cast("Answer", self._told(draft, answer))
        if isinstance(answer, tuple):
            items = cast("tuple[Written, ...]", answer)
            return cast("Answer", tuple(self._told(draft, one) for one in items))
        return answer

    def _told(self, draft: Draft, written: Written) -> Written:
        if written.id is None:
            return written
        entry = draft.entries[written.id]
        has_vector = entry.windows is not None or (
            entry.text == entry.fact.text and not entry.is_new and draft.has_vector(entry)
        )
        return replace(written, embedded=has_vector)

    def _afterwards(self, draft: Draft, written: Sequence[Entry]) -> None:
        """Count reads, and ask for the vectors that could not be made at once."""
        new_texts = {entry.fact.id for entry in written}
        for entry in draft.entries.values():
            fact = entry.fact
            for _ in range(entry.hits):
                self._parts.store.touch(fact.agent_id, [fact.id], draft.now)
            is_missing = entry.windows is None and (
                fact.id in new_texts or (entry.hits and not draft.has_vector(entry))
            )
            if is_missing and entry.is_live:
                self._parts.models.enqueue(
                    PendingVector(namespace=fact.agent_id, fact_id=fact.id, text=entry.text)
                )


def _target(draft: Draft, changed: Sequence[Entry]) -> FactId | None:
    """Return the fact that a write is about: the new one, before those in whose place it is."""
    by_weight = sorted(changed, key=lambda entry: not entry.is_new)
    ids = [*(entry.fact.id for entry in by_weight), *(fact_id for _, fact_id in draft.erased)]
    return next(iter(ids), None)


def receipt_of(key: CallKey, answer: object, draft: Draft) -> Receipt:
    """Return what commits with a write that may be asked for again."""
    return Receipt(
        key=key.key, digest=key.digest, outcome=json.dumps(_fields_of(answer)), at=draft.now
    )


def _fields_of(answer: object) -> Any:
    """Return an answer as JSON can hold it: ids and flags, never content."""
    if isinstance(answer, tuple):
        return [_fields_of(one) for one in cast("tuple[object, ...]", answer)]
    return asdict(cast("Written", answer))


def _written_from(told: dict[str, Any]) -> Written:
    return replace(Written(**told), superseded=tuple(told["superseded"]))


def _vectors_of(entry: Entry) -> NewVectors:
    assert entry.windows is not None
    return NewVectors(
        namespace=entry.fact.agent_id,
        fact_id=entry.fact.id,
        text=entry.text,
        windows=entry.windows,
    )
