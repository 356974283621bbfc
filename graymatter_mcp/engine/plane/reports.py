"""The hygiene report over what a caller can see; only reads.

Source: data-plane contract 7.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np
from ulid import ULID

from graymatter_mcp.embedding.base import fixed_point_scale
from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.items import LABEL_READS
from graymatter_mcp.model.facts import FactKind, effective_confidence
from graymatter_mcp.model.ids import SUPERSEDED_BY_AGENT
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.hygiene import (
    NEAR_COSINE,
    HygieneFact,
    SupersededFact,
    hygiene,
    scan_limit,
)
from graymatter_mcp.policy.sensitivity import SENSITIVITIES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.corpus import Corpus, Part
    from graymatter_mcp.engine.plane.details import Details
    from graymatter_mcp.engine.plane.writes import Parts
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.reports import HygieneReport

DAY_US: Final = 86_400_000_000.0
MOST_NEAR: Final = 20_000
"""Near pairs of one shelf that are looked at, the nearest first."""
_PRIVATE: Final = SENSITIVITIES.index("private")
_MINUTE_S: Final = 60.0


class Reporter:
    """Reports; synchronous, for worker threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def hygiene(self, caller: Caller, k: int = 20) -> HygieneReport:
        """Look at the newest-updated facts of everything that the caller can see.

        Args:
            caller: Who.
            k: Length of each list at most.
        """
        scopes = self._parts.accounts.reach.all_scopes(caller)
        wanted = Filter(now=self._parts.clock.now())
        return self.report(self._parts.corpora.gather(scopes, None, wanted), wanted.now, k)

    def report(self, corpus: Corpus, now: datetime, k: int) -> HygieneReport:
        """Report on the visible facts of a corpus, as it stands now."""
        limit = scan_limit(k)
        active = _newest(corpus, limit, [part.snapshot.eligible for part in corpus.parts])
        past = _newest(corpus, limit, [_replaced(part, now) for part in corpus.parts])
        facts: list[tuple[tuple[int, str], HygieneFact]] = []
        superseded: list[SupersededFact] = []
        near: set[tuple[str, str]] = set()
        for at, part in enumerate(corpus.parts):
            rows, old = active[at], past[at] if active[at] else []
            facts += self._facts(part, rows, now)
            superseded += _superseded(part, old)
            near.update(_near(part, rows, old))
        # Newest first; what was stored later comes first where the times are equal.
        facts.sort(key=lambda one: one[0], reverse=True)
        return hygiene(
            [fact for _, fact in facts],
            superseded,
            k=k,
            near=near,
            personal_terms=self._parts.settings.personal_terms,
        )

    def _facts(
        self, part: Part, rows: Sequence[int], now: datetime
    ) -> Iterator[tuple[tuple[int, str], HygieneFact]]:
        snapshot = part.snapshot
        updated_at = part.index.updated_at(snapshot)
        at = to_microseconds(now)
        for row, told in zip(rows, snapshot.details(rows), strict=True):
            details = part.details(row, told.text)
            label = told.confidence
            read = LABEL_READS[effective_confidence(label)] if label else None
            yield (
                (int(updated_at[row]), told.fact_id),
                HygieneFact(
                    fact_id=told.fact_id,
                    content=told.text,
                    namespace=part.name,
                    project_id=part.scope.project_id,
                    memory_type=details.memory_type,
                    confidence=read if details.confidence is None else details.confidence,
                    overall=_overall(details),
                    base_days=details.base_days,
                    age_days=(at - int(snapshot.content_at[row])) / DAY_US,
                    vector_owed_minutes=self._owed(part, row, told.fact_id, now),
                ),
            )

    def _owed(self, part: Part, row: int, fact_id: str, now: datetime) -> float | None:
        """Return for how many minutes a warm fact has been without its vector."""
        snapshot = part.snapshot
        if not self._parts.models.is_wanted or snapshot.is_cold[row] or snapshot.has_vector[row]:
            return None
        # An imported text is older than its stay here, which the id tells.
        stored_at = ULID.from_str(fact_id).timestamp
        owed_since = max(stored_at, int(snapshot.content_at[row]) / 1_000_000)
        return (now.timestamp() - owed_since) / _MINUTE_S


def _newest(corpus: Corpus, limit: int, among: Sequence[NDArray[np.bool_]]) -> list[list[int]]:
    """Return the rows of each part that are among the newest-updated of all, in no order."""
    stamps = [part.index.updated_at(part.snapshot) for part in corpus.parts]
    rows = [np.flatnonzero(mask) for mask in among]
    found = [one[chosen] for one, chosen in zip(stamps, rows, strict=True)]
    total = sum(map(len, found))
    if total <= limit:
        return [chosen.tolist() for chosen in rows]
    oldest = np.partition(np.concatenate(found), total - limit)[total - limit]
    kept = [chosen[one > oldest].tolist() for one, chosen in zip(found, rows, strict=True)]
    # Of those that share the oldest stamp the ones stored last, part by part.
    room = limit - sum(map(len, kept))
    for part, one, chosen, taken in zip(corpus.parts, found, rows, kept, strict=True):
        equal = chosen[one == oldest]
        latest = equal[np.argsort(-part.snapshot.id_order[equal], kind="stable")][:room]
        taken += latest.tolist()
        room -= len(latest)
    return kept


def _replaced(part: Part, now: datetime) -> NDArray[np.bool_]:
    snapshot = part.snapshot
    is_retired = ~snapshot.is_live & ~snapshot.is_gone
    return is_retired & (snapshot.expires_at > to_microseconds(now))


def _superseded(part: Part, rows: Sequence[int]) -> Iterator[SupersededFact]:
    ids = part.snapshot.fact_ids(rows)
    row_of = dict(zip(ids, rows, strict=True))
    for fact in part.snapshot.facts(rows):
        details = part.details(row_of[fact.id], fact.text)
        if (
            fact.kind != FactKind.CONTENT
            or fact.superseded_by == SUPERSEDED_BY_AGENT
            or SENSITIVITIES.index(details.sensitivity) > _PRIVATE
        ):
            continue
        yield SupersededFact(
            fact_id=fact.id,
            content=fact.text,
            namespace=part.name,
            project_id=part.scope.project_id,
            superseded_by=fact.superseded_by or None,
        )


def _near(part: Part, active: Sequence[int], old: Sequence[int]) -> list[tuple[str, str]]:
    """Return the pairs, one side active, whose texts are near by their vectors."""
    snapshot = part.snapshot
    found = [
        (row, windows) for row in (*active, *old) if (windows := snapshot.vectors(row)) is not None
    ]
    count = sum(row in set(active) for row, _ in found) if found else 0
    if not count:
        return []
    starts = np.cumsum([0, *(len(windows) for _, windows in found[:-1])])
    stacked = np.concatenate([windows for _, windows in found]).astype(np.float32)
    ends = int(starts[count]) if count < len(found) else len(stacked)
    products = stacked[:ends] @ stacked.T
    best = np.maximum.reduceat(products, starts[:count], axis=0)
    best = np.maximum.reduceat(best, starts, axis=1)
    best[np.tril_indices(count, 0, len(found))] = 0
    a, b = np.nonzero(best >= NEAR_COSINE * fixed_point_scale(stacked.shape[1]) ** 2)
    nearest = np.argsort(-best[a, b], kind="stable")[:MOST_NEAR]
    ids = snapshot.fact_ids([row for row, _ in found])
    return [(ids[a[one]], ids[b[one]]) for one in nearest.tolist()]


def _overall(details: Details) -> float | None:
    stored: Any = details.kept.get("worthiness")
    overall = cast("Mapping[str, Any]", stored).get("overall") if stored else None
    return overall if isinstance(overall, (int, float)) else None
