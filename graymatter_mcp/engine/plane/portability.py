"""Facts on their way out of one store and into another.

Source: data-plane contract 8, export and import.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from graymatter_mcp.engine.plane.arrivals import Arrivals
from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.items import shown_metadata
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.reports import ExportEntry, ExportPage, Imported, ImportFailure
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.plane.corpus import Part
    from graymatter_mcp.engine.plane.draft import Draft
    from graymatter_mcp.engine.plane.writes import Parts, Recorder
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.plane import Answered
    from graymatter_mcp.model.reports import ImportEntry
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.model.scopes import Scope


class Exporter:
    """Reads everything that a caller owns or shares, page by page."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def page(self, caller: Caller, after_id: str, limit: int) -> ExportPage:
        """Return the facts behind an id, whatever their state and level, ids ascending.

        What has expired is gone for every reader, and waits only to be erased.

        Args:
            caller: Whose.
            after_id: Last id of the page before; empty for the first one.
            limit: Length of the page.
        """
        scopes = self._parts.accounts.reach.all_scopes(caller)
        wanted = Filter(now=self._parts.clock.now(), max_sensitivity=SENSITIVITIES[-1])
        corpus = self._parts.corpora.gather(scopes, None, wanted)
        now = to_microseconds(wanted.now)
        behind = [
            (fact_id, at, row)
            for at, part in enumerate(corpus.parts)
            for fact_id, row in _behind(part, after_id, limit + 1, now)
        ]
        chosen = sorted(behind)[: limit + 1]
        rows_of: defaultdict[int, list[int]] = defaultdict(list)
        for _, at, row in chosen[:limit]:
            rows_of[at].append(row)
        refs = self._parts.store.source_refs([fact_id for fact_id, *_ in chosen[:limit]])
        entries = [
            entry
            for at, rows in rows_of.items()
            for entry in _entries(corpus.parts[at], rows, refs)
        ]
        has_more = len(chosen) > limit
        return ExportPage(
            entries=tuple(sorted(entries, key=lambda one: one.id)),
            next_after_id=chosen[limit - 1][0] if has_more else None,
        )


def _behind(part: Part, after_id: str, count: int, now: int) -> list[tuple[FactId, int]]:
    """Return the first facts of a shelf behind an id, with their rows."""
    snapshot = part.snapshot
    order: list[int] = np.argsort(snapshot.id_order, kind="stable").tolist()
    start = bisect_right(order, after_id, key=lambda row: snapshot.fact_ids([row])[0])
    rows = order[start:]
    found: list[int] = []
    for row in rows:
        if len(found) == count:
            break
        if snapshot.expires_at[row] > now:
            found.append(row)
    return list(zip(snapshot.fact_ids(found), found, strict=True))


def _entries(
    part: Part, rows: Sequence[int], refs: dict[FactId, tuple[str, ...]]
) -> list[ExportEntry]:
    facts = {fact.id: fact for fact in part.snapshot.facts(rows)}
    usage = part.snapshot.usage(rows)
    return [
        _entry(part, row, facts[fact_id], count + 1, refs.get(fact_id, ()))
        for row, fact_id, (count, _) in zip(rows, part.snapshot.fact_ids(rows), usage, strict=True)
        # Gone meanwhile, or the vocabulary of the core, which is no fact.
        if fact_id in facts and facts[fact_id].kind == FactKind.CONTENT
    ]


def _entry(part: Part, row: int, fact: Fact, hits: int, refs: tuple[str, ...]) -> ExportEntry:
    details = part.details(row, fact.text)
    return ExportEntry(
        id=fact.id,
        project_id=part.scope.project_id,
        content=fact.text,
        namespace=part.name,
        source=fact.origin.source or "manual",
        source_type=details.source_type,
        captured_from=details.captured_from,
        agent_name=details.agent_name or None,
        confidence=details.confidence,
        confidence_label=fact.confidence or None,
        metadata=shown_metadata(fact, details),
        source_refs=refs,
        expires_at=details.expires_at,
        tier="cold" if details.is_cold else "warm",
        hits=hits,
        created_at=fact.created_at,
        updated_at=max(details.updated_at, fact.created_at)
        if not details.is_known
        else details.updated_at,
    )


class Importer:
    """Takes in entries of an export: all that are sound in one transaction."""

    def __init__(self, parts: Parts, recorder: Recorder) -> None:
        self._parts = parts
        self._recorder = recorder

    def take(
        self,
        caller: Caller,
        entries: Sequence[ImportEntry],
        failed: Sequence[ImportFailure],
        project: str | None,
        key: CallKey | None = None,
    ) -> Answered[Imported]:
        """Store entries; one whose twin is there already adds nothing.

        Args:
            caller: Who; everything goes where their writes go.
            entries: Checked.
            failed: Those of the request that were not sound, for the answer.
            project: Reference that was sent.
            key: Of the call.
        """

        def decide(draft: Draft, scope: Scope) -> Imported:
            arrivals = Arrivals(draft, self._parts.clock, scope)
            for entry in entries:
                arrivals.take(entry)
            arrivals.link()
            return Imported(
                imported=arrivals.imported,
                deduplicated=arrivals.deduplicated,
                failed=tuple(sorted([*failed, *arrivals.failed], key=lambda one: one.index)),
            )

        return self._recorder.write(
            caller,
            "import",
            key,
            decide,
            _imported_from,
            project=project,
            at_most=len(entries),
        )


def _imported_from(told: Any) -> Imported:
    return Imported(
        imported=told["imported"],
        deduplicated=told["deduplicated"],
        failed=tuple(ImportFailure(**one) for one in told["failed"]),
    )
