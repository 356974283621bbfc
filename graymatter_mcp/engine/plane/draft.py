"""What a write will have changed: decided on a look at the shelves, committed in one batch.

Items of a recap see those before them, so every question asks the shelf as the call leaves it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.cosines import cosines, nearest_rows
from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.ids import UNSET
from graymatter_mcp.policy.claims import claims
from graymatter_mcp.policy.vocabulary import FUSED
from graymatter_mcp.ranking.tokens import tokenize
from graymatter_mcp.store.base import FactPatch, NewFact, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.corpus import Corpora, Part
    from graymatter_mcp.engine.plane.details import Details
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import Event, MemoryStore, NewVectors, Receipt

_ALL_LEVELS: Final = "sensitive"


@dataclass(slots=True, kw_only=True)
class Entry:
    """One fact as the call leaves it."""

    fact: Fact
    """As it was read, or as it is born."""
    details: Details
    is_new: bool
    text: str
    superseded_by: str = ""
    confidence: str = ""
    refs: list[str] = field(default_factory=list[str])
    """Handles to add."""
    is_changed: bool = False
    """Whether text, life or details differ from what was read."""
    hits: int = 0
    """Reads to count once the call is committed."""
    windows: NDArray[np.int16] | None = None
    """Of a text that is new."""
    moves_to: Namespace | None = None
    """The shelf that it goes to, if another than its own."""

    @property
    def is_live(self) -> bool:
        """Whether it is still what the shelf says."""
        return self.superseded_by == "" and self.details.is_active


class Draft:
    """The changes of one call."""

    def __init__(
        self, store: MemoryStore, corpora: Corpora, analyzer: Analyzer, now: datetime
    ) -> None:
        self._store = store
        self._corpora = corpora
        self._analyzer = analyzer
        self.now = now
        self.entries: dict[FactId, Entry] = {}
        self.erased: list[tuple[Namespace, FactId]] = []
        """Facts that go for good."""
        self._parts: dict[Namespace, Part] = {}
        self._terms: dict[str, frozenset[str]] = {}

    def part(self, namespace: Namespace) -> Part:
        """Return the active facts of a shelf as they are stored, whatever their level."""
        if namespace not in self._parts:
            wanted = Filter(now=self.now, max_sensitivity=_ALL_LEVELS)
            self._parts[namespace] = self._corpora.part(namespace, wanted)
        return self._parts[namespace]

    def add(self, entry: Entry) -> None:
        """Take in a new fact."""
        self.entries[entry.fact.id] = entry

    def entry_of(self, part: Part, row: int) -> Entry:
        """Return a stored fact as the call leaves it, to be changed in place.

        Raises:
            FactChangedError: It is gone by now.
        """
        (fact_id,) = part.snapshot.fact_ids([row])
        if fact_id not in self.entries:
            facts = part.snapshot.facts([row])
            if not facts:
                # Erased since the look: only the writers of the data plane keep to its turn.
                raise FactChangedError
            self.entries[fact_id] = entry_of(facts[0], part.details(row, facts[0].text))
        return self.entries[fact_id]

    def has_vector(self, entry: Entry) -> bool:
        """Whether a stored fact has a vector, as it was read."""
        snapshot = self.part(entry.fact.agent_id).snapshot
        (row,) = snapshot.rows_of([entry.fact.id])
        return row >= 0 and bool(snapshot.has_vector[row])

    def with_text(self, namespace: Namespace, stripped: str) -> Entry | None:
        """Return the oldest live fact of a shelf with exactly this content."""
        part = self.part(namespace)
        snapshot = part.snapshot
        rows = [row for row in part.index.rows_with(stripped) if row < snapshot.size]
        # The id order is the order of storing, whatever the rows' places.
        for row in sorted(rows, key=lambda row: int(snapshot.id_order[row])):
            if snapshot.eligible[row]:
                entry = self.entry_of(part, row)
                if entry.is_live and entry.text.strip() == stripped:
                    return entry
        return next((one for one in self._own(namespace) if one.text.strip() == stripped), None)

    def _own(self, namespace: Namespace) -> Iterator[Entry]:
        """Yield live facts of a shelf that the call itself wrote or rewrote."""
        for entry in list(self.entries.values()):
            is_own = entry.is_new or entry.text != entry.fact.text
            if is_own and entry.fact.agent_id == namespace and entry.is_live:
                yield entry

    def alike(
        self, namespace: Namespace, content: str, judge: Callable[[str], bool]
    ) -> list[Entry]:
        """Return the live, unpinned facts of a shelf that a judge picks by their text.

        Asked are those that hold all words of a frame of the content, for whoever contradicts it or
        says it again does; but not those that a text may write as part of another word.

        Args:
            namespace: The shelf.
            content: What is to be stored.
            judge: Whether a text is meant.

        Returns:
            In order of storing.
        """
        part = self.part(namespace)
        own = {entry.fact.id: entry for entry in self._own(namespace)}
        frames = self._frames(content)
        rows = sorted({row for terms in frames for row in _holders(part, terms)})
        # The id order is the order of storing, whatever the rows' places.
        rows.sort(key=lambda row: int(part.snapshot.id_order[row]))
        texts = part.snapshot.texts(rows)
        ids = part.snapshot.fact_ids(rows)
        stored = [
            self.entry_of(part, row)
            for row, fact_id, text in zip(rows, ids, texts, strict=True)
            if fact_id not in own and not part.snapshot.is_pinned[row] and judge(text)
        ]
        written = [
            one
            for one in own.values()
            if not one.fact.pinned
            and any(self._terms_of(one.text).issuperset(terms) for terms in frames)
            and judge(one.text)
        ]
        return [entry for entry in (*stored, *written) if entry.is_live]

    def _terms_of(self, text: str) -> frozenset[str]:
        """Return the index terms of a text that the call wrote: a long recap asks many times."""
        if text not in self._terms:
            self._terms[text] = frozenset(self._analyzer.index_terms(tokenize(text)))
        return self._terms[text]

    def _frames(self, content: str) -> list[tuple[str, ...]]:
        frames = (
            tuple(dict.fromkeys(self._analyzer.index_terms(_sure(claim.frame_tokens))))
            for claim in claims(content)
        )
        return [terms for terms in dict.fromkeys(frames) if terms]

    def nearest(
        self,
        namespace: Namespace,
        windows: NDArray[np.int16],
        at_least: float,
        count: int,
        judge: Callable[[str], bool],
    ) -> Entry | None:
        """Return the first live, unpinned fact among those nearest to a text that a judge picks.

        Args:
            namespace: The shelf.
            windows: Of the text.
            at_least: The least cosine.
            count: How many of the nearest are looked at.
            judge: Whether a text is meant.
        """
        part = self.part(namespace)
        near = cosines(part.snapshot, windows)
        if near is None:
            return None
        rows = nearest_rows(part.snapshot, near, at_least, count)
        # By the text in memory: to read a fact waits until all that is stored is in its table.
        texts = part.snapshot.texts(rows)
        for row, fact_id, text in zip(rows, part.snapshot.fact_ids(rows), texts, strict=True):
            known = self.entries.get(fact_id)
            said = text if known is None else known.text
            if not part.snapshot.is_pinned[row] and judge(said):
                entry = self.entry_of(part, row)
                if entry.is_live:
                    return entry
        return None

    def batch(
        self,
        vectors: Sequence[NewVectors],
        model_key: str,
        event: Event | None,
        receipt: Receipt | None,
    ) -> WriteBatch:
        """Return all changes as one batch."""
        changed = [entry for entry in self.entries.values() if entry.is_changed or entry.refs]
        born = [entry for entry in self.entries.values() if entry.is_new]
        old = [entry for entry in changed if not entry.is_new]
        patches = tuple(patch for entry in old if (patch := _patch(entry)) is not None)
        return WriteBatch(
            at=self.now,
            facts=tuple(
                NewFact(
                    fact=replace(entry.fact, text=entry.text, superseded_by=entry.superseded_by),
                    terms=tokenize(entry.text),
                )
                for entry in born
            ),
            patches=patches,
            details=tuple(
                entry.details.under(entry.fact.agent_id, entry.fact.id)
                for entry in (*born, *old)
                if entry.is_new or entry.is_changed
            ),
            source_refs=tuple(
                (entry.fact.agent_id, entry.fact.id, ref)
                for entry in self.entries.values()
                for ref in dict.fromkeys(entry.refs)
            ),
            vectors=tuple(vectors),
            model_key=model_key,
            events=() if event is None else (event,),
            receipt=receipt,
            delete=tuple(self.erased),
            moves=tuple(
                (entry.fact.agent_id, entry.fact.id, entry.moves_to)
                for entry in old
                if entry.moves_to not in (None, entry.fact.agent_id)
            ),
            is_fresh=not (patches or old or self.erased),
        )


def entry_of(fact: Fact, details: Details) -> Entry:
    """Return a stored fact, unchanged so far."""
    return Entry(
        fact=fact,
        details=details,
        is_new=False,
        text=fact.text,
        superseded_by=fact.superseded_by,
        confidence=fact.confidence,
    )


def _patch(entry: Entry) -> FactPatch | None:
    """Return what the store's own record of a fact must change.

    Details alone need none, but a fact that somebody else changed meanwhile must not take them: so
    the patch then only states what was read.
    """
    fact = entry.fact
    is_reworded = entry.text != fact.text
    return FactPatch(
        namespace=fact.agent_id,
        fact_id=fact.id,
        expected=None if fact.is_superseded else fact,
        text=entry.text if is_reworded else UNSET,
        terms=tokenize(entry.text) if is_reworded else UNSET,
        superseded_by=UNSET if entry.superseded_by == fact.superseded_by else entry.superseded_by,
        confidence=UNSET if entry.confidence == fact.confidence else entry.confidence,
    )


def _sure(tokens: Sequence[str]) -> Sequence[str]:
    """Return the words that stand by themselves in every text of their frame; all if none does."""
    return [token for token in tokens if token not in FUSED] or tokens


def _holders(part: Part, terms: Sequence[str]) -> list[int]:
    """Return the eligible rows that hold every term."""
    postings = sorted(part.snapshot.postings(terms), key=lambda one: len(one.rows))
    rows = postings[0].rows
    for other in postings[1:]:
        if not len(rows):
            break
        rows = rows[np.isin(rows, other.rows, assume_unique=True)]
    return rows.tolist()
