"""Storing, revising, retiring: each call one transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ulid import ULID

from graymatter_mcp.engine.once import receipt_of
from graymatter_mcp.engine.population import mark_of
from graymatter_mcp.engine.recall import parse_label
from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.facts import (
    LEVELS,
    Alias,
    Confidence,
    Fact,
    FactKind,
    effective_confidence,
)
from graymatter_mcp.model.ids import SUPERSEDED_BY_AGENT, UNSET, FactId
from graymatter_mcp.model.results import Revision
from graymatter_mcp.model.scopes import MARK, is_shelf
from graymatter_mcp.ranking.aliases import alias_text, parse_alias
from graymatter_mcp.ranking.tokens import tokenize
from graymatter_mcp.store.base import (
    AuditEntry,
    Edge,
    FactPatch,
    NewFact,
    Node,
    PendingVector,
    Vitals,
    WriteBatch,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.models import ModelKeeper
    from graymatter_mcp.engine.once import Outcome
    from graymatter_mcp.model.facts import Origin
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.model.requests import CallKey, RememberRequest, WriteOptions
    from graymatter_mcp.store.base import MemoryStore

AGENT_LINK = "agent_link"
_MAX_COUNT: Final = 2**63


def checked_text(text: str, name: str) -> str:
    """Return the text if it can be stored and sent.

    Raises:
        InvalidArgumentError: It is empty, or holds U+0000 or a lone surrogate.
    """
    if not text:
        raise InvalidArgumentError(f"{name} is required")
    if "\x00" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InvalidArgumentError(f"{name} is not valid text")
    return text


def checked_namespace(namespace: Namespace) -> Namespace:
    """Return the namespace, byte for byte, if it can name a shelf.

    Raises:
        InvalidArgumentError: It is blank or no valid text.
    """
    if not namespace or namespace.isspace():
        raise InvalidArgumentError("agent_id is required")
    checked_text(namespace, "agent_id")
    if namespace.startswith(MARK) and not is_shelf(namespace):
        raise InvalidArgumentError("agent_id must not begin with U+001F")
    return namespace


class Scribe:
    """Writes facts; synchronous, for worker threads."""

    def __init__(self, store: MemoryStore, models: ModelKeeper, clock: Clock) -> None:
        self._store = store
        self._models = models
        self._clock = clock
        self._call_key: CallKey | None = None

    def under(self, call_key: CallKey) -> Scribe:
        """Return a scribe that commits the receipt of this call with what it writes."""
        scribe = Scribe(self._store, self._models, self._clock)
        scribe._call_key = call_key
        return scribe

    def _commit(self, batch: WriteBatch) -> None:
        if self._call_key is not None:
            batch = replace(batch, receipt=receipt_of(self._call_key, batch))
        self._store.apply(batch)

    def remember(self, request: RememberRequest) -> Fact:
        """Store one fact and ask for its vector."""
        text = checked_text(request.text, "text")
        fact = self._born(request.namespace, text, _label(request.options), request.origin)
        audit = (
            (_audit(fact.agent_id, fact.created_at, "add", new=text),)
            if request.is_curation
            else ()
        )
        new = NewFact(fact=fact, terms=tokenize(text))
        self._commit(WriteBatch(facts=(new,), audit=audit, is_fresh=True))
        self._ask_for_vector(fact)
        return fact

    def add_alias(
        self,
        namespace: Namespace,
        term: str,
        equivalents: Sequence[str],
        origin: Origin,
        source: str = "",
    ) -> Fact:
        """Store one alias; vocabulary is neither embedded nor ranked.

        Args:
            namespace: The shelf whose queries it widens.
            term: As sent; not blank.
            equivalents: As sent; blank ones are dropped, one must be left.
            origin: Who writes.
            source: "" for an agent, ``usage`` for one that was learnt.

        Raises:
            InvalidArgumentError: Nothing is left of the term or of the equivalents.
        """
        text = checked_text(alias_text(term, equivalents), "alias")
        fact = replace(
            self._born(namespace, text, "", origin),
            kind=FactKind.ALIAS,
            alias_source=source,
            alias=Alias(term=term, equivalents=tuple(one for one in equivalents if one.strip())),
        )
        new = NewFact(fact=fact, terms=tokenize(text))
        self._commit(WriteBatch(facts=(new,), is_fresh=True))
        return fact

    def revise(
        self,
        namespace: Namespace,
        sources: Sequence[Fact],
        text: str,
        options: WriteOptions,
        origin: Origin,
    ) -> Revision:
        """Replace live facts by one new fact, all or nothing.

        Args:
            namespace: Where the sources live.
            sources: The versions that were read; at least one, all live.
            text: The new fact.
            options: Without a label the replacement takes min(inferred, lowest of the sources).
            origin: Who writes.

        Raises:
            FactChangedError: A source moved meanwhile; nothing was written.
        """
        newest = max(sources, key=lambda fact: (fact.created_at, fact.id))
        label = _label(options) or _lowest(sources).value
        fact = self._born(namespace, checked_text(text, "text"), label, origin)
        if newest.kind == FactKind.ALIAS:
            fact = replace(fact, kind=FactKind.ALIAS, alias=parse_alias(text))
        pending = PendingVector(namespace=namespace, fact_id=fact.id, text=text)
        vectors = None if fact.kind == FactKind.ALIAS else self._models.embed_now(pending)
        self._commit(
            WriteBatch(
                at=fact.created_at,
                facts=(NewFact(fact=fact, terms=tokenize(text)),),
                vectors=() if vectors is None else (vectors,),
                model_key=self._models.model_key,
                patches=tuple(_retirement(source, fact.id) for source in sources),
                audit=(_audit(namespace, fact.created_at, "update", old=newest.text, new=text),),
            )
        )
        if vectors is None:
            self._ask_for_vector(fact)
        return Revision(replacement=fact, retired=tuple(sources))

    def forget(self, namespace: Namespace, sources: Sequence[Fact]) -> None:
        """Retire live facts without a replacement; weight, pin and label stay."""
        at, _ = self._clock.stamp()
        self._commit(
            WriteBatch(
                at=at,
                patches=tuple(_retirement(source, SUPERSEDED_BY_AGENT) for source in sources),
                audit=(_audit(namespace, at, "forget", old=sources[0].text),),
            )
        )

    def set_pinned(self, namespace: Namespace, facts: Sequence[Fact], pinned: bool) -> None:
        """Set or clear the pin; a fact that is as asked keeps its `pinned_at`."""
        at, _ = self._clock.stamp()
        pinned_at = at if pinned else None
        self._commit(
            WriteBatch(
                at=at,
                patches=tuple(
                    FactPatch(namespace=namespace, fact_id=fact.id, pinned_at=pinned_at)
                    for fact in facts
                    if fact.pinned != pinned
                ),
                audit=(_audit(namespace, at, "pin" if pinned else "unpin", old=facts[0].text),),
            )
        )

    def replace(self, stored: Fact, fact: Fact) -> None:
        """Make the stored record equal to `fact`, but for its identity, origin and a tombstone.

        Raises:
            FactChangedError: The record changed meanwhile.
        """
        _check_record(fact)
        at, _ = self._clock.stamp()
        is_reworded = fact.text != stored.text
        patch = FactPatch(
            namespace=stored.agent_id,
            fact_id=stored.id,
            expected=None if stored.is_superseded else stored,
            text=checked_text(fact.text, "text") if is_reworded else UNSET,
            terms=tokenize(fact.text) if is_reworded else UNSET,
            superseded_by=stored.superseded_by or fact.superseded_by,
            confidence=fact.confidence,
            pinned_at=(fact.pinned_at or at) if fact.pinned else None,
            alias=parse_alias(fact.text) if is_reworded and stored.alias else UNSET,
        )
        vitals = Vitals(
            namespace=stored.agent_id,
            fact_id=stored.id,
            access_count=fact.access_count,
            accessed_at=fact.accessed_at,
            weight=fact.weight,
        )
        # What the old text named is not what the new one names.
        marks = ((mark_of(stored.agent_id), ""),) if is_reworded else ()
        self._commit(WriteBatch(at=at, patches=(patch,), vitals=(vitals,), marks=marks))
        if is_reworded and not fact.is_superseded:
            self._ask_for_vector(replace(stored, text=fact.text))

    def link(self, namespace: Namespace, source: str, target: str) -> tuple[str, str]:
        """Add an edge; a missing end becomes a placeholder, unless it is the id of a live fact."""
        at, _ = self._clock.stamp()
        start, end = self._node(namespace, source), self._node(namespace, target)
        edge = Edge(
            namespace=namespace, source=start.id, target=end.id, relation=AGENT_LINK, created_at=at
        )
        self._commit(
            WriteBatch(
                at=at,
                nodes=(start, end),
                edges=(edge,),
                audit=(_audit(namespace, at, "link", old=end.id, new=start.id),),
            )
        )
        return start.id, end.id

    def _node(self, namespace: Namespace, name: str) -> Node:
        fact_id = as_fact_id(name.strip().upper())
        facts = [] if fact_id is None else self._store.get(namespace, [fact_id])
        if facts and not facts[0].is_superseded:
            return Node(namespace=namespace, id=node_id(name), label=facts[0].text, type="fact")
        return Node(namespace=namespace, id=node_id(name), label=name.strip(), type="unknown")

    def _born(self, namespace: Namespace, text: str, confidence: str, origin: Origin) -> Fact:
        at, fact_id = self._clock.stamp()
        return Fact(
            id=fact_id,
            agent_id=checked_namespace(namespace),
            text=text,
            created_at=at,
            accessed_at=at,
            confidence=confidence,
            origin=origin,
        )

    def _ask_for_vector(self, fact: Fact) -> None:
        if fact.kind == FactKind.CONTENT:
            self._models.enqueue(
                PendingVector(namespace=fact.agent_id, fact_id=fact.id, text=fact.text)
            )


def again(outcome: Outcome, namespace: Namespace, text: str, origin: Origin) -> Fact:
    """Return the fact that a call wrote when it was carried out the first time."""
    return Fact(
        id=outcome.id,
        agent_id=namespace,
        text=text,
        created_at=outcome.at,
        accessed_at=outcome.at,
        confidence=outcome.confidence,
        origin=origin,
    )


def node_id(name: str) -> str:
    """Return the id of the node that a name means."""
    return name.strip().lower()


def _check_record(fact: Fact) -> None:
    """Refuse a record, made by a caller, that no store could give back.

    Raises:
        InvalidArgumentError: Names the field.
    """
    if not 0 <= fact.weight <= 1:
        raise InvalidArgumentError("weight must be between 0 and 1")
    if not 0 <= fact.access_count < _MAX_COUNT:
        raise InvalidArgumentError("access_count must be a count")
    if fact.accessed_at.tzinfo is None or (fact.pinned_at or fact.accessed_at).tzinfo is None:
        raise InvalidArgumentError("accessed_at and pinned_at must have a time zone")
    if fact.confidence:
        checked_text(fact.confidence, "confidence")
    if fact.superseded_by:
        checked_text(fact.superseded_by, "superseded_by")


def as_fact_id(text: str) -> FactId | None:
    """Return the text as an id if it is spelled like one."""
    try:
        return FactId(str(ULID.from_str(text)))
    except ValueError:
        return None


def _label(options: WriteOptions) -> str:
    if options.confidence is UNSET:
        return ""
    return parse_label(options.confidence, "confidence").value


def _lowest(sources: Sequence[Fact]) -> Confidence:
    """Return min(inferred, lowest level): a correction never raises what was claimed."""
    labels = [effective_confidence(source.confidence) for source in sources]
    return min([*labels, Confidence.INFERRED], key=LEVELS.__getitem__)


def _retirement(source: Fact, heir: str) -> FactPatch:
    return FactPatch(
        namespace=source.agent_id, fact_id=source.id, expected=source, superseded_by=heir
    )


def _audit(
    namespace: Namespace, at: datetime, action: str, *, old: str = "", new: str = ""
) -> AuditEntry:
    return AuditEntry(
        at=at, action=action, namespace=namespace, old_text=old, new_text=new, source="agent_self"
    )
