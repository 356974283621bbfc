"""A data plane on a store in memory, to try promises on without touching what is kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.plane.accounts import Accounts
from graymatter_mcp.engine.plane.changes import Changer
from graymatter_mcp.engine.plane.corpus import Corpora, Filter
from graymatter_mcp.engine.plane.search import Query, Searcher
from graymatter_mcp.engine.plane.writes import Parts, Recorder
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.plane import NewEntry
from graymatter_mcp.model.scopes import LOCAL_SCOPE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.makers import VectorMaker
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.model.plane import Written
    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.store.base import MemoryStore, PendingVector

MEANT: Final = (
    ("The espresso machine is on the third floor", "where can I get a hot drink"),
    ("Ana is allergic to peanuts", "which foods are dangerous for somebody"),
    ("The car is parked behind the theatre", "where did we leave the vehicle"),
    ("Bob plays the violin in an orchestra", "who is a musician"),
    ("The office closes early on Fridays", "when does work end before the weekend"),
    ("Our dog was vaccinated last spring", "medical treatment of a pet"),
)
"""A fact, and a question that shares no word with it that counts."""
AMONG_FIRST: Final = 2
"""Place at which the meant fact must stand."""


class BorrowedModel:
    """Embeds with the model of another store, and owes nobody a vector."""

    def __init__(self, models: VectorMaker) -> None:
        self._models = models

    @property
    def degraded(self) -> Degraded | None:
        """See the protocol."""
        return self._models.degraded

    @property
    def is_wanted(self) -> bool:
        """See the protocol."""
        return self._models.is_wanted

    @property
    def model_key(self) -> str:
        """See the protocol."""
        return self._models.model_key

    def embed_query(self, text: str) -> NDArray[np.int16] | None:
        """See the protocol."""
        return self._models.embed_query(text)

    def windows_of(self, text: str) -> NDArray[np.int16] | None:
        """See the protocol."""
        return self._models.windows_of(text)

    def enqueue(self, pending: PendingVector) -> None:
        """Let it be: the store goes when the check is over."""


class Scratch:
    """Writes and searches of one check."""

    def __init__(self, parts: Parts, store: MemoryStore) -> None:
        """Prepare.

        Args:
            parts: Of the data plane that is checked.
            store: Empty.
        """
        turn = threading.RLock()
        models = BorrowedModel(parts.models)
        store.use_model(models.model_key)
        self._store = store
        self._parts = Parts(
            store=store,
            corpora=Corpora(store, parts.analyzer),
            models=models,
            analyzer=parts.analyzer,
            clock=parts.clock,
            accounts=Accounts(store, parts.clock, lambda _: 0, turn=turn),
            turn=turn,
            settings=parts.settings,
        )
        self._recorder = Recorder(self._parts)
        self._changer = Changer(self._parts, self._recorder)
        self._searcher = Searcher(store, models, parts.analyzer, {})

    def _capture(self, content: str) -> Written:
        return self._recorder.capture(LOCAL_CALLER, NewEntry(content=content)).answer

    def _found(self, text: str, k: int) -> list[FactId]:
        now = self._parts.clock.now()
        corpus = self._parts.corpora.gather([LOCAL_SCOPE], None, Filter(now=now))
        query = Query(text=text, k=k, weights={}, now=now, abstain_below=0.0)
        found = [corpus.locate(row) for row in self._searcher.search(corpus, query).rows]
        return [part.snapshot.fact_ids([row])[0] for part, row in found]

    def finds_meaning(self) -> bool:
        """Whether questions lead to facts with which they share no word."""
        ids = [
            self._recorder.remember(LOCAL_CALLER, NewEntry(content=fact)).answer.id
            for fact, _ in MEANT
        ]
        return all(
            fact_id in self._found(question, AMONG_FIRST)
            for fact_id, (_, question) in zip(ids, MEANT, strict=True)
        )

    def makes_a_round_trip(self) -> bool:
        """Whether a fact is captured, replaced, found and forgotten."""
        old = self._capture("graymatter deployment uses port 7778")
        new = self._capture("graymatter deployment uses port 7779")
        if old.id is None or new.id is None or new.superseded != (old.id,):
            return False
        if self._found("deployment port", 5) != [new.id]:
            return False
        self._changer.forget(LOCAL_CALLER, new.id, None)
        is_gone = not self._found("deployment port", 5)
        return is_gone and new.id not in self._store.shelves_of([new.id])
