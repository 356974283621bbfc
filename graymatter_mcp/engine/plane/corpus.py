"""The facts that one request may see: filtered first, then counted, ranked and cut."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.details import Row, read_details
from graymatter_mcp.engine.plane.shelf_index import (
    CERTAIN,
    CONFIDENCE,
    LEVEL,
    ShelfIndexes,
)
from graymatter_mcp.model.scopes import LOCAL_SCOPE, owned, shelf
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.ranking.context import chain_steps, join_steps
from graymatter_mcp.store.base import NEVER

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.details import Details
    from graymatter_mcp.engine.plane.shelf_index import ShelfIndex
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.scopes import Scope
    from graymatter_mcp.ranking.context import Steps
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore, Snapshot

UP_TO_PRIVATE: Final = "private"
LABELS: Final = np.array([0.3, 0.7, 1.0])
"""What the core's labels, by level, read as here."""
_DAY_TOKENS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a request may see of the shelves in its reach."""

    now: datetime
    max_sensitivity: str = UP_TO_PRIVATE
    agent_name: str | None = None
    as_of: datetime | None = None
    ids: tuple[FactId, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Part:
    """The visible facts of one shelf; keeps what every search computes of them alike."""

    scope: Scope
    name: str
    """Of the shelf, as callers know it."""
    namespace: Namespace
    snapshot: Snapshot
    """Eligible are the visible rows."""
    index: ShelfIndex

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Words that each row counts as: its text without stop words, its day and its subject."""
        subjects = self.index.subjects_of(self.snapshot.size)
        of_subjects = np.array([len(terms) for terms in self.index.subject_terms], np.float64)
        return self.snapshot.lengths + _DAY_TOKENS + of_subjects[subjects]

    @cached_property
    def confidences(self) -> NDArray[np.float64]:
        """How sure the writer of each row was, in [0, 1].

        Source: data-plane contract 1.4.
        """
        numbers = self.index.column(CONFIDENCE, self.snapshot.size)
        read = np.where(self.snapshot.is_labelled, LABELS[self.snapshot.levels], 1.0)
        return np.where(numbers >= 0, numbers / CERTAIN, read)

    @cached_property
    def steps(self) -> Steps | None:
        """The visible rows beside each in its session; see `chain_steps`."""
        return chain_steps(self.snapshot.previous, self.snapshot.eligible)

    def details(self, row: int, text: str) -> Details:
        """Read the details of a row."""
        found = self.snapshot
        expires_at = int(found.expires_at[row])
        return read_details(
            Row(
                record=found.records([row])[0],
                sensitivity=int(found.sensitivity[row]),
                expires_at=None if expires_at == NEVER else expires_at,
                is_active=bool(found.is_active[row]),
                is_cold=bool(found.is_cold[row]),
                created_at=int(found.created_at[row]),
                content_at=int(found.content_at[row]),
                agent_name=found.agent_name(row),
            ),
            text,
        )


class Corpus:
    """Several parts as one row of facts; rows are numbered part by part."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        sizes = [part.snapshot.size for part in self.parts]
        self.starts = [0, *np.cumsum(sizes).tolist()]
        """Where each part begins, and the end of the last."""
        self.size = self.starts[-1]
        self.count = sum(part.snapshot.count for part in self.parts)

    def joined(self, columns: Sequence[NDArray[np.generic]]) -> NDArray[np.generic]:
        """Put columns, one a part, behind each other."""
        if len(columns) == 1:
            return columns[0]
        return np.concatenate(columns) if columns else np.empty(0)

    @cached_property
    def eligible(self) -> NDArray[np.bool_]:
        """Whether each row may be seen."""
        return self.joined([part.snapshot.eligible for part in self.parts]).astype(np.bool_)

    @cached_property
    def lengths(self) -> NDArray[np.float64]:
        """Words that each row counts as."""
        return self.joined([part.lengths for part in self.parts]).astype(np.float64, copy=False)

    @cached_property
    def confidences(self) -> NDArray[np.float64]:
        """How sure the writer of each row was, in [0, 1]."""
        return self.joined([part.confidences for part in self.parts]).astype(np.float64, copy=False)

    @cached_property
    def content_at(self) -> NDArray[np.int64]:
        """Microseconds of each row's last change of content."""
        return self.joined([part.snapshot.content_at for part in self.parts]).astype(np.int64)

    @cached_property
    def previous(self) -> NDArray[np.int32]:
        """The row before each in its session, or -1."""
        columns = [
            np.where(part.snapshot.previous < 0, -1, part.snapshot.previous + start)
            for part, start in zip(self.parts, self.starts, strict=False)
        ]
        return self.joined(columns).astype(np.int32)

    @cached_property
    def steps(self) -> Steps | None:
        """The visible rows beside each in its session; None where `previous` must tell it."""
        parts = [part.steps for part in self.parts]
        known = [steps for steps in parts if steps is not None]
        return join_steps(known) if len(known) == len(parts) else None

    @cached_property
    def created_at(self) -> NDArray[np.int64]:
        """Microseconds of each row's creation."""
        return self.joined([part.snapshot.created_at for part in self.parts]).astype(np.int64)

    def id_order(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return a sort key for id ascending for each of some rows."""
        if len(self.parts) == 1:
            return self.parts[0].snapshot.id_order[rows]
        # Ids are spelt out for these rows alone: a corpus is far larger than what ties at its cut.
        ids = np.empty(rows.size, "U26")
        places = np.searchsorted(self.starts, rows, side="right") - 1
        for place, part in enumerate(self.parts):
            here = places == place
            numbers: list[int] = (rows[here] - self.starts[place]).tolist()
            ids[here] = part.snapshot.fact_ids(numbers)
        order = np.empty(rows.size, np.int64)
        order[np.argsort(ids, kind="stable")] = np.arange(rows.size)
        return order

    def column(self, number: int) -> NDArray[np.int32]:
        """Return a column of the shelves' indexes."""
        return self.joined(
            [part.index.column(number, part.snapshot.size) for part in self.parts]
        ).astype(np.int32)

    def locate(self, row: int) -> tuple[Part, int]:
        """Return the part of a row, and its number there."""
        at = int(np.searchsorted(self.starts, row, side="right")) - 1
        return self.parts[at], row - self.starts[at]

    def by_part(self, rows: Sequence[int]) -> dict[int, list[int]]:
        """Group rows by the place of their part, numbered as there; order kept."""
        grouped: dict[int, list[int]] = {}
        for row in rows:
            at = int(np.searchsorted(self.starts, row, side="right")) - 1
            grouped.setdefault(at, []).append(row - self.starts[at])
        return grouped


class Corpora:
    """Gathers what requests may see; keeps what the last ones saw of each shelf."""

    def __init__(self, store: MemoryStore, analyzer: Analyzer) -> None:
        self._store = store
        self._indexes = ShelfIndexes(analyzer)
        self._narrowed: dict[tuple[Namespace, str], tuple[Snapshot, int, Part]] = {}

    def names(self, scopes: Sequence[Scope], names: Sequence[str] | None) -> list[Namespace]:
        """Return the shelves of the scopes: those named, or all that were ever written to."""
        if names is not None:
            known = set(self._store.namespaces())
            named = [shelf(scope, name) for scope in scopes for name in dict.fromkeys(names)]
            return [namespace for namespace in named if namespace in known]
        prefixes = tuple(scope.prefix for scope in scopes if scope.prefix)
        has_local = LOCAL_SCOPE in scopes
        return [
            namespace
            for namespace in self._store.namespaces()
            if (prefixes and namespace.startswith(prefixes))
            or (has_local and owned(namespace)[0] == LOCAL_SCOPE)
        ]

    def gather(
        self, scopes: Sequence[Scope], names: Sequence[str] | None, wanted: Filter
    ) -> Corpus:
        """Return the visible facts of shelves.

        Args:
            scopes: Whose shelves.
            names: Of shelves, as callers know them; None for all.
            wanted: What may be seen of them.
        """
        parts = [self.part(namespace, wanted) for namespace in self.names(scopes, names)]
        return Corpus([part for part in parts if part.snapshot.size])

    def part(self, namespace: Namespace, wanted: Filter) -> Part:
        """Return the visible facts of one shelf."""
        if wanted.as_of is not None:
            return self._past(namespace, wanted, wanted.as_of)
        snapshot = self._store.snapshot(namespace)
        now = to_microseconds(wanted.now)
        if wanted.agent_name is not None:
            # Not kept: callers name whom they like, and each view takes bytes for every row.
            _, _, part = self._narrow(namespace, snapshot, wanted, now)
            return part if wanted.ids is None else _only(part, wanted.ids)
        key = (namespace, wanted.max_sensitivity)
        kept = self._narrowed.get(key)
        if kept is None or kept[0] is not snapshot or now >= kept[1]:
            kept = self._narrowed[key] = self._narrow(namespace, snapshot, wanted, now)
        part = kept[2]
        return part if wanted.ids is None else _only(part, wanted.ids)

    def _narrow(
        self, namespace: Namespace, snapshot: Snapshot, wanted: Filter, now: int
    ) -> tuple[Snapshot, int, Part]:
        scope, name = owned(namespace)
        index = self._indexes.of(snapshot)
        eligible = visible(snapshot, index, wanted, now)
        until = int(snapshot.expires_at[eligible].min()) if eligible.any() else NEVER
        part = Part(
            scope=scope,
            name=name,
            namespace=namespace,
            snapshot=snapshot.narrowed(eligible),
            index=index,
        )
        return snapshot, until, part

    def _past(self, namespace: Namespace, wanted: Filter, as_of: datetime) -> Part:
        """Return a shelf as it stood; how guarded a fact is counts then and now."""
        then = self._store.snapshot_at(namespace, as_of)
        _, _, part = self._narrow(namespace, then, wanted, to_microseconds(as_of))
        now = self._store.snapshot(namespace)
        index = self._indexes.of(now)
        rows = now.rows_of(part.snapshot.fact_ids(range(part.snapshot.size)))
        limit = SENSITIVITIES.index(wanted.max_sensitivity)
        levels = _levels(now, index)
        is_open = np.array([row >= 0 and levels[row] <= limit for row in rows], np.bool_)
        eligible = part.snapshot.eligible & is_open
        part = Part(
            scope=part.scope,
            name=part.name,
            namespace=namespace,
            snapshot=part.snapshot.narrowed(eligible),
            index=part.index,
        )
        return part if wanted.ids is None else _only(part, wanted.ids)


def visible(snapshot: Snapshot, index: ShelfIndex, wanted: Filter, now: int) -> NDArray[np.bool_]:
    """Return which rows a request may see.

    Source: data-plane contract 1.3.
    """
    limit = SENSITIVITIES.index(wanted.max_sensitivity)
    seen = snapshot.is_live & snapshot.is_active & (snapshot.expires_at > now)
    seen &= _levels(snapshot, index) <= limit
    if wanted.agent_name is not None:
        seen &= snapshot.agent_names == snapshot.agent_code(wanted.agent_name)
    return seen


def _levels(snapshot: Snapshot, index: ShelfIndex) -> NDArray[np.integer]:
    inferred = index.column(LEVEL, snapshot.size)
    return np.where(snapshot.sensitivity < 0, inferred, snapshot.sensitivity)


def _only(part: Part, ids: Sequence[FactId]) -> Part:
    chosen = np.zeros(part.snapshot.size, np.bool_)
    chosen[[row for row in part.snapshot.rows_of(ids) if row >= 0]] = True
    return Part(
        scope=part.scope,
        name=part.name,
        namespace=part.namespace,
        snapshot=part.snapshot.narrowed(part.snapshot.eligible & chosen),
        index=part.index,
    )
