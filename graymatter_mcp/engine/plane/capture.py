"""Decides what becomes of a fact that is to be stored: refused, merged, in place of others, new.

Source: data-plane contract 5.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final

from graymatter_mcp.engine.plane.details import (
    Details,
    legal_type,
    own_keys,
    type_keys,
)
from graymatter_mcp.engine.plane.draft import Entry
from graymatter_mcp.engine.plane.stamps import stamp_text
from graymatter_mcp.engine.write import checked_text
from graymatter_mcp.model.facts import Confidence, Fact, Origin, effective_confidence
from graymatter_mcp.model.plane import Written
from graymatter_mcp.policy.contradiction import contradicts
from graymatter_mcp.policy.gate import rejection
from graymatter_mcp.policy.memory_types import classify, worthiness
from graymatter_mcp.policy.refinement import refines, same_claims
from graymatter_mcp.policy.sensitivity import inferred, stricter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.plane.draft import Draft
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.plane import NewEntry

NEAR: Final = 0.92
"""Cosine from which a text may be the same said again."""
_NEAREST: Final = 5
MAX_CAPTURED: Final = 4000
"""Characters of a captured text, unless the settings say otherwise."""


class Decider:
    """Decides one item after the other on a draft."""

    def __init__(
        self, draft: Draft, clock: Clock, *, max_captured: int, personal_terms: Sequence[str]
    ) -> None:
        self._draft = draft
        self._clock = clock
        self._max_captured = max_captured
        self._personal_terms = personal_terms

    def remember(
        self,
        namespace: Namespace,
        new: NewEntry,
        windows: NDArray[Any] | None,
        connection: str,
    ) -> Written:
        """Store as it is, unless it is refused or there already."""
        refused = rejection(new.content, max_length=None, force=new.force)
        if refused is not None:
            return Written(id=None, rejected=refused)
        known = self._reinforced(namespace, new)
        if known is not None:
            return known
        details = self._details(new)
        sent = legal_type(new.metadata.get("memoryType"))
        if sent is not None:
            details = details.with_kept(memoryType=sent)
        return self._insert(namespace, new, details, windows, connection, ())

    def capture(
        self,
        namespace: Namespace,
        shelf_name: str,
        new: NewEntry,
        windows: NDArray[Any] | None,
        connection: str,
    ) -> Written:
        """Store what is worth it, in the place of what it takes back or says better."""
        refused = rejection(new.content, max_length=self._max_captured, force=new.force)
        if refused is not None:
            return Written(id=None, rejected=refused)
        known = self._reinforced(namespace, new)
        if known is not None:
            return known
        details = self._classified(shelf_name, new)
        rivals = self._draft.alike(
            namespace, new.content, lambda text: contradicts(new.content, text)
        )
        if not rivals:
            near = self._refined(namespace, new.content, windows)
            if near is not None:
                return self._rewrite(near, new, details, windows)
        return self._insert(namespace, new, details, windows, connection, rivals)

    def _details(self, new: NewEntry) -> Details:
        """Return the details of a fact that is born."""
        level, is_explicit = inferred(new.sensitivity, new.metadata.get("sensitivity"), new.content)
        session = new.metadata.get("session")
        if not (isinstance(session, str) and session):
            session = new.captured_from if new.is_captured_from_sent else None
        return Details(
            source_type=new.source_type,
            captured_from=new.captured_from,
            agent_name=new.agent_name,
            session=session or "",
            metadata=own_keys(dict(new.metadata)),
            sensitivity=level,
            is_sensitivity_explicit=is_explicit,
            confidence=new.confidence,
            expires_at=new.expires_at,
            content_at=self._draft.now,
            updated_at=self._draft.now,
        )

    def _classified(self, shelf_name: str, new: NewEntry) -> Details:
        kind = classify(shelf_name, new.content, legal_type(new.metadata.get("memoryType")))
        worth = worthiness(new.content, kind, new.confidence, self._personal_terms)
        keys = type_keys(kind) | {
            "worthiness": {_camel(name): value for name, value in asdict(worth).items()}
        }
        if new.metadata.get("recap") is True:
            keys["recap"] = True
        details = self._details(new)
        return details.with_kept(**keys)

    def _reinforced(self, namespace: Namespace, new: NewEntry) -> Written | None:
        """Strengthen the live fact that says exactly this, if there is one."""
        entry = self._draft.with_text(namespace, new.content.strip())
        if entry is None:
            return None
        self._confirm(entry, new)
        return Written(id=entry.fact.id, deduplicated=True)

    def _confirm(self, entry: Entry, new: NewEntry) -> None:
        """Count a read, join the handles, keep the later expiry and the stricter level."""
        entry.hits += 1
        entry.refs.extend(new.source_refs)
        old = entry.details
        level, is_explicit = inferred(new.sensitivity, new.metadata.get("sensitivity"), new.content)
        strict = stricter(old.sensitivity, level)
        expires_at = _later(old.expires_at, new.expires_at)
        if (strict, expires_at) == (old.sensitivity, old.expires_at):
            return
        entry.is_changed = True
        entry.details = replace(
            old,
            sensitivity=strict,
            is_sensitivity_explicit=old.is_sensitivity_explicit
            or (is_explicit and strict != old.sensitivity),
            is_level_stored=old.is_level_stored or strict != old.sensitivity,
            expires_at=expires_at,
            updated_at=self._draft.now,
        )

    def _refined(
        self, namespace: Namespace, content: str, windows: NDArray[Any] | None
    ) -> Entry | None:
        """Return the fact that the content says again, with the same claims or nearly so."""
        for entry in self._draft.alike(
            namespace, content, lambda text: same_claims(content, text) and refines(content, text)
        ):
            return entry
        if windows is None:
            return None
        return self._draft.nearest(
            namespace, windows, NEAR, _NEAREST, lambda text: refines(content, text)
        )

    def _rewrite(
        self, entry: Entry, new: NewEntry, details: Details, windows: NDArray[Any] | None
    ) -> Written:
        """Put the new text in the place of the old one; the id stays."""
        self._confirm(entry, new)
        old = entry.details
        at = self._draft.now
        entry.text = checked_text(new.content, "content")
        entry.windows = windows
        entry.is_changed = True
        entry.confidence = lowered(entry.confidence)
        entry.details = replace(
            old,
            source_type=new.source_type,
            captured_from=new.captured_from,
            metadata={**old.metadata, **details.metadata},
            kept={**old.kept, **details.kept},
            confidence=old.confidence if new.confidence is None else new.confidence,
            # What the core wrote has the level of its text, and this text may give away less.
            is_level_stored=True,
            content_at=at,
            updated_at=at,
        ).with_kept(captureAction="updated", updatedByCaptureAt=stamp_text(at))
        return Written(id=entry.fact.id, deduplicated=True, updated=True)

    def _insert(
        self,
        namespace: Namespace,
        new: NewEntry,
        details: Details,
        windows: NDArray[Any] | None,
        connection: str,
        rivals: Sequence[Entry],
    ) -> Written:
        at, fact_id = self._clock.stamp()
        superseded = tuple(rival.fact.id for rival in rivals)
        for rival in rivals:
            rival.superseded_by = fact_id
            rival.is_changed = True
            rival.details = replace(rival.details, updated_at=at).with_kept(
                supersededReason="contradiction", supersededAt=stamp_text(at)
            )
        action = "superseded" if superseded else "inserted"
        keys: dict[str, Any] = {"captureAction": action}
        if superseded:
            keys["supersedes"] = list(superseded)
        fact = Fact(
            id=fact_id,
            agent_id=namespace,
            text=checked_text(new.content, "content"),
            created_at=at,
            accessed_at=at,
            origin=Origin(source=new.source, session=connection),
        )
        self._draft.now = at
        self._draft.add(
            Entry(
                fact=fact,
                details=replace(details, content_at=at, updated_at=at).with_kept(**keys),
                is_new=True,
                text=fact.text,
                refs=list(new.source_refs),
                windows=windows,
            )
        )
        return Written(id=fact_id, is_inserted=True, superseded=superseded)


def lowered(label: str) -> str:
    """Return the label of a fact whose text has changed: the new one was verified by nobody."""
    if label and effective_confidence(label) is Confidence.VERIFIED:
        return Confidence.INFERRED.value
    return label


def _later(a: datetime | None, b: datetime | None) -> datetime | None:
    """Return the later expiry; none is later than any."""
    return None if a is None or b is None else max(a, b)


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)
