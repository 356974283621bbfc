"""How the graph comes to hold what facts name: in portions, and each fact once."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.graph import RuleExtractor, graph_of
from graymatter_mcp.model.facts import FactKind
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.store.base import Place, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from graymatter_mcp.engine.graph import EntityExtractor
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import Namespace
    from graymatter_mcp.store.base import MemoryStore

PORTION = 500
"""Facts whose names are found in one go: some 50 ms of the interpreter; fewer in tests."""
_SETTLED: Final = timedelta(minutes=1)
"""Age at which a fact is behind all writes that were stamped before it."""


def mark_of(namespace: Namespace) -> str:
    """Return the name under which a store notes how far the rules have come in a namespace."""
    return f"graph by rules 1 {namespace}"


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far the facts are in the graph, and how many of them there were."""

    place: Place
    count: int

    def encode(self) -> str:
        place = self.place
        return json.dumps([to_microseconds(place.created_at), place.fact_id, self.count])

    @classmethod
    def decode(cls, text: str) -> _Progress | None:
        if not text:
            return None
        at, fact_id, count = json.loads(text)
        return cls(Place(created_at=from_microseconds(at), fact_id=FactId(fact_id)), count)


class Population:
    """Gives the graph what live facts name; synchronous, for worker threads.

    How far it came is noted in the store for the rules, which find the same at any time, and only
    here for an extractor of the caller's own, of which nobody knows that.
    """

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self._own: dict[Namespace, str] = {}

    def start_over(self, namespace: Namespace | None = None) -> None:
        """Forget how far an extractor of the caller's own came, everywhere or in one namespace."""
        if namespace is None:
            self._own.clear()
        else:
            self._own.pop(namespace, None)

    def populate(
        self,
        namespace: Namespace,
        extractor: EntityExtractor,
        now: datetime,
        goes_on: Callable[[], bool],
    ) -> None:
        """Take the facts that came since the last run, or all where older ones came among them.

        Args:
            namespace: Whose facts.
            extractor: Finds what a text names.
            now: The time.
            goes_on: Asked behind each portion; what is left when it says no waits for the next run.
        """
        is_ours = isinstance(extractor, RuleExtractor)
        noted = self._store.mark(mark_of(namespace)) if is_ours else self._own.get(namespace, "")
        progress = self._checked(namespace, _Progress.decode(noted))
        behind = None if progress is None else progress.place
        count = 0 if progress is None else progress.count
        while (portion := self._store.contents(namespace, behind, PORTION)).places:
            behind = portion.places[-1]
            settled = [one for one in portion.places if one.created_at < now - _SETTLED]
            count += len(settled)
            note = _Progress(settled[-1], count).encode() if settled else noted
            nodes, edges = graph_of(list(filter(_is_live, portion.facts)), extractor)
            marks = ((mark_of(namespace), note),) if is_ours and note != noted else ()
            self._store.apply(WriteBatch(nodes=tuple(nodes), edges=tuple(edges), marks=marks))
            noted = note
            if not is_ours:
                self._own[namespace] = note
            if not goes_on():
                return

    def _checked(self, namespace: Namespace, progress: _Progress | None) -> _Progress | None:
        if progress is None:
            return None
        # More than there were: some came with an older stamp, by an import or a clock put back.
        found = self._store.count_contents(namespace, progress.place)
        return None if found > progress.count else progress


def _is_live(fact: Fact) -> bool:
    return not fact.is_superseded and fact.kind == FactKind.CONTENT
