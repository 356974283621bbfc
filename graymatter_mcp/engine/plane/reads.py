"""Reads of the data plane: search, context, recent, neighbours, stats."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.items import items_of, signals_of
from graymatter_mcp.engine.plane.neighbours import FactGraph
from graymatter_mcp.engine.plane.search import Query
from graymatter_mcp.errors import GraymatterError, InvalidArgumentError
from graymatter_mcp.model.items import Signals
from graymatter_mcp.model.plane import ContextResult, NeighborsResult, PlaneStats, SearchResult
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.decay import DEFAULT_BASE_DAYS, is_promoted
from graymatter_mcp.policy.packs import pack
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.policy.shaping import shaped
from graymatter_mcp.ranking.hybrid.budget import admitted
from graymatter_mcp.ranking.hybrid.order import Order
from graymatter_mcp.store.base import WriteBatch

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from graymatter_mcp.engine.plane.corpus import Corpus
    from graymatter_mcp.engine.plane.search import Found, Searcher
    from graymatter_mcp.engine.plane.writes import Parts
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.items import ContentMode, Item
    from graymatter_mcp.model.plane import (
        NeighborsRequest,
        RecentRequest,
        SearchRequest,
        Where,
    )
    from graymatter_mcp.model.scopes import Scope

MOST_RECENT: Final = 10
"""Recent facts of a context at most."""
DAY_S: Final = 86_400.0


class Reader:
    """Reads what a caller may see; synchronous, for worker threads."""

    def __init__(
        self, parts: Parts, searcher: Searcher, *, base_days: int = DEFAULT_BASE_DAYS
    ) -> None:
        self._parts = parts
        self._searcher = searcher
        self._base_days = base_days
        self._after = ThreadPoolExecutor(1, thread_name_prefix="graymatter-plane")

    def close(self) -> None:
        """Finish what follows answers that were given."""
        self._after.shutdown(wait=True)

    def search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Rank what may be seen, and count the facts that are returned as read."""
        corpus, now = self._corpus(caller, request)
        return self._search(corpus, request, now)

    def _search(self, corpus: Corpus, request: SearchRequest, now: datetime) -> SearchResult:
        found = self._searcher.search(
            corpus,
            Query(
                text=request.query,
                k=request.k,
                weights=request.weights,
                now=request.as_of or now,
                min_vector_score=request.min_vector_score,
                abstain_below=request.abstain_below,
                has_budget=request.max_tokens is not None,
            ),
            is_past=request.as_of is not None,
        )
        warmed = self._warmed(corpus, found, now) if request.as_of is None else frozenset[int]()
        signals = {} if found.fused is None else signals_of(found.fused, found.rows)
        items = items_of(corpus, found.rows, found.scores, signals, warmed)
        mode = request.content_mode
        lengths = [len(shaped(item, mode).content or "") for item in items]
        items = items[: admitted(lengths, request.max_tokens)]
        if request.as_of is None:
            self._count(corpus, items, warmed, now)
        return SearchResult(
            results=tuple(items),
            degraded=found.degraded,
            abstained=found.abstained,
            had_candidates=corpus.count > 0,
        )

    def _corpus(
        self, caller: Caller, request: SearchRequest | RecentRequest
    ) -> tuple[Corpus, datetime]:
        now = self._parts.clock.now()
        wanted = Filter(
            now=now,
            max_sensitivity=request.max_sensitivity,
            agent_name=request.agent_name,
            as_of=checked_instant(request.as_of, now),
        )
        return self._gather(caller, request.where, wanted), now

    def _gather(self, caller: Caller, where: Where, wanted: Filter) -> Corpus:
        scopes = self._parts.accounts.reach.read_scopes(
            caller, where.project, where.include_projects
        )
        return self._parts.corpora.gather(scopes, where.names, wanted)

    def context(self, caller: Caller, request: SearchRequest) -> ContextResult:
        """Search, look at the newest, and sort both into sections, all on one look at the store."""
        corpus, now = self._corpus(caller, request)
        relevant = self._search(corpus, request, now)
        rows = _newest(corpus, min(request.k, MOST_RECENT), None)
        recent = items_of(corpus, rows, [1.0] * len(rows))
        mode = request.content_mode
        sections = pack(relevant.results, recent, mode)
        return ContextResult(
            relevant=replace(relevant, results=_shaped(relevant.results, mode)),
            recent=_shaped(recent, mode),
            pack=sections,
        )

    def shaped_search(self, caller: Caller, request: SearchRequest) -> SearchResult:
        """Search, and return as much of each content as was asked for."""
        found = self.search(caller, request)
        return replace(found, results=_shaped(found.results, request.content_mode))

    def recent(self, caller: Caller, request: RecentRequest) -> tuple[Item, ...]:
        """Return the newest facts first."""
        now = self._parts.clock.now()
        wanted = Filter(
            now=now,
            max_sensitivity=request.max_sensitivity,
            agent_name=request.agent_name,
            as_of=checked_instant(request.as_of, now),
            ids=request.ids,
        )
        corpus = self._gather(caller, request.where, wanted)
        rows = _newest(corpus, request.k, request.since)
        return _shaped(items_of(corpus, rows, [1.0] * len(rows)), request.content_mode)

    def neighbors(self, caller: Caller, request: NeighborsRequest) -> NeighborsResult:
        """Return the facts that paths lead to from one of them."""
        now = self._parts.clock.now()
        wanted = Filter(
            now=now,
            max_sensitivity=request.max_sensitivity,
            as_of=checked_instant(request.as_of, now),
        )
        corpus = self._gather(caller, request.where, wanted)
        graph = FactGraph(
            self._parts.store,
            corpus,
            request.as_of,
            fan_out=self._parts.settings.fan_out,
        )
        try:
            found = graph.neighbours(request.id, depth=request.depth, k=request.k)
        except GraymatterError:
            return NeighborsResult(results=(), degraded=True)
        rows = [row for row, _ in found]
        scores = [score for _, score in found]
        signals = {row: Signals(graph=score) for row, score in found}
        return NeighborsResult(
            results=tuple(items_of(corpus, rows, scores, signals)), degraded=False
        )

    def stats(
        self, caller: Caller, *, last_decay_at: datetime | None, uptime_ms: int
    ) -> PlaneStats:
        """Count everything that the caller can see, whatever its level."""
        scopes = self._parts.accounts.reach.all_scopes(caller)
        wanted = Filter(now=self._parts.clock.now(), max_sensitivity=SENSITIVITIES[-1])
        corpus = self._parts.corpora.gather(scopes, None, wanted)
        by_namespace: dict[str, tuple[int, int]] = {}
        inactive = pending = 0
        now = to_microseconds(wanted.now)
        for part in corpus.parts:
            snapshot = part.snapshot
            cold = int(np.count_nonzero(snapshot.is_cold & snapshot.eligible))
            warm, had = snapshot.count - cold, by_namespace.get(part.name, (0, 0))
            if snapshot.count:
                by_namespace[part.name] = (had[0] + warm, had[1] + cold)
            is_stored = ~snapshot.is_gone & (snapshot.expires_at > now)
            is_inactive = ~(snapshot.is_live & snapshot.is_active)
            inactive += int(np.count_nonzero(is_stored & is_inactive))
            pending += int(np.count_nonzero(snapshot.eligible & ~snapshot.has_vector))
        return PlaneStats(
            by_namespace=dict(sorted(by_namespace.items())),
            total_inactive=inactive,
            pending_vectors=pending if self._parts.models.is_wanted else 0,
            last_decay_at=last_decay_at,
            uptime_ms=uptime_ms,
        )

    def entries_of(self, scopes: Sequence[Scope]) -> int:
        """Count the stored content facts of scopes, whatever their state."""
        store = self._parts.store
        names = self._parts.corpora.names(scopes, None)
        return sum(store.snapshot(namespace).stored for namespace in names)

    def _warmed(self, corpus: Corpus, found: Found, now: datetime) -> frozenset[int]:
        """Return the cold rows that this read makes warm again."""
        warmed: set[int] = set()
        for row in found.rows:
            part, at = corpus.locate(row)
            if not part.snapshot.is_cold[at]:
                continue
            ((count, accessed_at),) = part.snapshot.usage([at])
            details = part.details(at, "")
            last = max(accessed_at, details.content_at) if count else details.content_at
            base = details.base_days or self._base_days
            idle_days = (now - last).total_seconds() / DAY_S
            if is_promoted(base=base, hits=count + 1, idle_days=idle_days):
                warmed.add(row)
        return frozenset(warmed)

    def _count(
        self, corpus: Corpus, items: Sequence[Item], warmed: frozenset[int], now: datetime
    ) -> None:
        """Count one read of each returned fact, behind the answer."""
        returned = {item.id for item in items}
        for part in corpus.parts:
            rows = part.snapshot.rows_of([item.id for item in items])
            ids = [item.id for item, row in zip(items, rows, strict=True) if row >= 0]
            if ids:
                self._parts.store.touch(part.namespace, ids, now)
        for row in warmed:
            part, at = corpus.locate(row)
            (fact_id,) = part.snapshot.fact_ids([at])
            if fact_id in returned:
                with suppress(RuntimeError):  # closed meanwhile: it stays cold until it is read
                    self._after.submit(self._warm, part.namespace, fact_id)

    def _warm(self, namespace: Namespace, fact_id: FactId) -> None:
        """Make a fact warm, as it is by now: it may have been changed or moved since the answer."""
        parts = self._parts
        with suppress(GraymatterError), parts.turn:
            now = parts.clock.now()
            part = parts.corpora.part(namespace, Filter(now=now, max_sensitivity=SENSITIVITIES[-1]))
            (row,) = part.snapshot.rows_of([fact_id])
            if row < 0 or not part.snapshot.is_cold[row]:
                return
            (text,) = part.snapshot.texts([row])
            details = replace(part.details(row, text), is_cold=False).under(namespace, fact_id)
            parts.store.apply(WriteBatch(at=now, details=(details,)))


def checked_instant(as_of: datetime | None, now: datetime) -> datetime | None:
    """Return an instant that is not ahead.

    Raises:
        InvalidArgumentError: It is.
    """
    if as_of is not None and as_of > now:
        raise InvalidArgumentError("asOf must not lie in the future")
    return as_of


def _newest(corpus: Corpus, k: int, since: datetime | None) -> list[int]:
    among = corpus.eligible
    if since is not None:
        among = among & (corpus.created_at >= to_microseconds(since))
    order = Order(
        score=corpus.created_at.astype(np.float64),  # exact: microseconds stay below 2 ** 53
        changed_at=corpus.created_at,
        id_order=corpus.id_order,
        among=among,
    )
    return order.top(k).tolist()


def _shaped(items: Sequence[Item], mode: ContentMode) -> tuple[Item, ...]:
    return tuple(shaped(item, mode) for item in items)
