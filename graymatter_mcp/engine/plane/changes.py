"""Changes of single facts by id: an update in place, and forgetting for good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

from graymatter_mcp.engine.plane.capture import lowered
from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.details import (
    ACTIVE,
    DEPRECATED,
    legal_type,
    own_keys,
    type_keys,
)
from graymatter_mcp.engine.plane.draft import entry_of
from graymatter_mcp.engine.write import as_fact_id, checked_text
from graymatter_mcp.errors import NotFoundError
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.ids import UNSET, FactId
from graymatter_mcp.model.plane import Answered, Forgotten, Updated
from graymatter_mcp.model.scopes import owned, shelf
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES, inferred, stricter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.engine.plane.details import Details
    from graymatter_mcp.engine.plane.draft import Draft, Entry
    from graymatter_mcp.engine.plane.writes import Parts, Recorder
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.plane import EntryUpdate
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.model.scopes import Scope

NO_SUCH: Final = "no such memory in your scope"


class Changer:
    """Changes and erases facts; synchronous, for worker threads."""

    def __init__(self, parts: Parts, recorder: Recorder) -> None:
        self._parts = parts
        self._recorder = recorder

    def update(
        self, caller: Caller, update: EntryUpdate, key: CallKey | None = None
    ) -> Answered[Updated]:
        """Change a fact in place; its id, reads and time of creation stay.

        Raises:
            NotFoundError: The caller's write scope has no such fact, or it has expired.
        """
        content = update.content
        windows = None if content is UNSET else self._parts.models.windows_of(content)

        def decide(draft: Draft, scope: Scope) -> Updated:
            entry = self._find(draft, scope, update.id)
            is_reworded = content is not UNSET and content != entry.text
            if is_reworded:
                entry.text = checked_text(str(content), "content")
                entry.confidence = lowered(entry.confidence)
                entry.windows = windows
            entry.details = _updated(entry, update, draft, is_reworded=is_reworded)
            entry.is_changed = True
            if update.namespace is not UNSET:
                entry.moves_to = shelf(scope, update.namespace)
            return Updated(id=entry.fact.id, embedding_changed=is_reworded and windows is not None)

        return self._recorder.write(
            caller,
            "update",
            key,
            decide,
            lambda told: Updated(**told),
            project=update.project,
            at_most=0,
        )

    def _find(self, draft: Draft, scope: Scope, name: str) -> Entry:
        fact_id = as_fact_id(name)
        namespace = None if fact_id is None else self._shelves([fact_id]).get(fact_id)
        if fact_id is None or namespace is None or owned(namespace)[0] != scope:
            raise NotFoundError(NO_SUCH)
        wanted = Filter(now=draft.now, max_sensitivity=SENSITIVITIES[-1])
        part = self._parts.corpora.part(namespace, wanted)
        (row,) = part.snapshot.rows_of([fact_id])
        facts = self._parts.store.get(namespace, [fact_id])
        is_there = bool(facts) and row >= 0 and facts[0].kind == FactKind.CONTENT
        if not is_there or int(part.snapshot.expires_at[row]) <= to_microseconds(draft.now):
            raise NotFoundError(NO_SUCH)
        entry = draft.entries[fact_id] = entry_of(facts[0], part.details(row, facts[0].text))
        return entry

    def _shelves(self, ids: Sequence[FactId]) -> dict[FactId, Namespace]:
        return self._parts.store.shelves_of(ids)

    def forget(
        self, caller: Caller, name: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """Erase a fact with all its versions; an unknown one is no error."""

        def ids(scope: Scope) -> list[tuple[Namespace, FactId]]:
            fact_id = as_fact_id(name)
            if fact_id is None:
                return []
            found = self._shelves([fact_id])
            return [(ns, one) for one, ns in found.items() if owned(ns)[0] == scope]

        return self._erase(caller, ids, project, key)

    def forget_source(
        self, caller: Caller, ref: str, project: str | None, key: CallKey | None = None
    ) -> Answered[Forgotten]:
        """Erase all facts of the write scope that carry a handle."""

        def ids(scope: Scope) -> list[tuple[Namespace, FactId]]:
            found = self._parts.store.with_source_ref(ref)
            return [(ns, one) for ns, one in found if owned(ns)[0] == scope]

        return self._erase(caller, ids, project, key)

    def _erase(
        self,
        caller: Caller,
        found: Callable[[Scope], list[tuple[Namespace, FactId]]],
        project: str | None,
        key: CallKey | None,
    ) -> Answered[Forgotten]:
        def decide(draft: Draft, scope: Scope) -> Forgotten:
            draft.erased = found(scope)
            return Forgotten(ids=tuple(sorted(fact_id for _, fact_id in draft.erased)))

        return self._recorder.write(
            caller,
            "forget",
            key,
            decide,
            lambda told: Forgotten(ids=tuple(told["ids"])),
            project=project,
            at_most=0,
        )


def _updated(entry: Entry, update: EntryUpdate, draft: Draft, *, is_reworded: bool) -> Details:
    """Return the details as an update leaves them; may also bring a superseded fact back."""
    details = replace(
        entry.details,
        updated_at=draft.now,
        content_at=draft.now if is_reworded else entry.details.content_at,
    )
    given = {
        "source_type": update.source_type,
        "captured_from": update.captured_from,
        "confidence": update.confidence,
        "expires_at": update.expires_at,
    }
    sent = {name: value for name, value in given.items() if value is not UNSET}
    details = replace(details, **cast("dict[str, Any]", sent))
    metadata: dict[str, Any] = {}
    if update.metadata is not UNSET:
        metadata = dict(update.metadata)
        details = _with_metadata(entry, replace(details, metadata=own_keys(metadata)), metadata)
    return _with_level(details, update, metadata, entry.text, is_reworded=is_reworded)


def _with_metadata(entry: Entry, details: Details, metadata: dict[str, Any]) -> Details:
    """Take those of our own keys that a caller may send."""
    kind = legal_type(metadata.get("memoryType"))
    if kind is not None:
        details = details.with_kept(**type_keys(kind))
    status = metadata.get("lifecycleStatus")
    if status == DEPRECATED:
        return replace(details, is_active=False)
    if status == ACTIVE:
        if entry.superseded_by:
            entry.superseded_by = ""
            details = details.with_kept(supersededReason=None, supersededAt=None)
        return replace(details, is_active=True)
    return details


def _with_level(
    details: Details,
    update: EntryUpdate,
    metadata: dict[str, Any],
    text: str,
    *,
    is_reworded: bool,
) -> Details:
    """Settle how guarded the fact is: as sent, or by its new text, which never opens it up."""
    explicit = None if update.sensitivity is UNSET else update.sensitivity
    level, is_explicit = inferred(explicit, metadata.get("sensitivity"), text)
    if is_explicit:
        return replace(
            details, sensitivity=level, is_sensitivity_explicit=True, is_level_stored=True
        )
    if not is_reworded or details.is_sensitivity_explicit:
        return details
    strict = stricter(details.sensitivity, level)
    return replace(
        details, sensitivity=strict, is_level_stored=strict != level or details.is_level_stored
    )
