"""What is kept in memory says the same as what is read anew, whatever happened before."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pytest

from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.errors import NotFoundError
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.model.plane import EntryUpdate, NeighborsRequest, RecentRequest
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.base import PendingVector
from graymatter_mcp.store.duckdb.store import DuckDBStore
from tests.engine.desk import DEADLINE_S, HandClock
from tests.engine.plane.brain import Brain, as_import

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from anyio.from_thread import BlockingPortal

    from graymatter_mcp.store.base import Snapshot

NEVER: Final = timedelta(days=1)
SHELVES: Final = ("default", "other")
TEXTS: Final = (
    "The kettle uses port 7778",
    "The kettle uses port 7779",
    "Ana keeps the spare keys",
    "Ana keeps the spare keys in the blue drawer",
    "Mario Rossi waters the plants",
    "Mario",
    "The plants of Mario Rossi need water",
    "Every Friday the kettle boils for Mario Rossi and Ana Bell",
    "Ana Bell has the keys of room 7778",
    "Rollout of the relay is enabled",
    "Rollout of the relay is disabled",
)
QUERIES: Final = ("kettle port", "Ana keys", "Mario plants", "relay rollout")


class Chaos:
    """Does anything to a brain, as a seed says, and notes what was there at each instant."""

    def __init__(self, brain: Brain, seed: int) -> None:
        self.brain = brain
        self._dice = random.Random(seed)  # noqa: S311 - not for secrets
        self.ids: list[FactId] = []
        self.forgotten: set[FactId] = set()
        self.past: list[tuple[datetime, dict[str, str]]] = []
        self._acts: tuple[Callable[[], Any], ...] = (
            self._remember,
            self._remember,
            self._capture,
            self._capture,
            self._reword,
            self._reword,
            self._move,
            self._retire,
            self._bring_back,
            self._forget,
            self._read,
            self._import,
            self._core,
            self._wait,
        )

    def act(self) -> None:
        """Do one thing, then note what can be read."""
        self._dice.choice(self._acts)()
        # The clock of ids runs a little ahead of one that stands still.
        self.brain.now.forward(seconds=1)
        self.past.append((self.brain.now.now, contents(self.brain, None)))
        self.brain.now.forward(seconds=1)

    def _text(self) -> str:
        return self._dice.choice(TEXTS)

    def _shelf(self) -> str:
        return self._dice.choice(SHELVES)

    def _note(self, fact_id: FactId | None) -> None:
        if fact_id is not None and fact_id not in self.ids:
            self.ids.append(fact_id)

    def _remember(self) -> None:
        agent = self._dice.choice(("", "ana", "bob"))
        told = self.brain.remember(
            self._text(), namespace=self._shelf(), agent_name=agent, force=True
        )
        self._note(told.id)

    def _capture(self) -> None:
        told = self.brain.capture(self._text(), namespace=self._shelf(), force=True)
        self._note(told.id)

    def _update(self, **fields: Any) -> None:
        if not self.ids:
            return
        update = EntryUpdate(id=self._dice.choice(self.ids), **fields)
        try:
            self.brain.run(self.brain.plane.update, LOCAL_CALLER, update)
        except NotFoundError:
            assert FactId(update.id) in self.forgotten

    def _reword(self) -> None:
        self._update(content=self._text())

    def _move(self) -> None:
        self._update(namespace=self._shelf())

    def _retire(self) -> None:
        self._update(metadata={"lifecycleStatus": "deprecated"})

    def _bring_back(self) -> None:
        self._update(metadata={"lifecycleStatus": "active", "mood": "fine"})

    def _forget(self) -> None:
        if self.ids:
            doomed = self._dice.choice(self.ids)
            self.brain.run(self.brain.plane.forget, LOCAL_CALLER, doomed, None)
            self.forgotten.add(doomed)

    def _read(self) -> None:
        self.brain.search(self._dice.choice(QUERIES))

    def _import(self) -> None:
        self.brain.take(as_import(self.brain.exported()[-2:]))
        assert self.brain.models.wait_until_settled(DEADLINE_S)
        for entry in self.brain.exported():
            self._note(entry.id)

    def _core(self) -> None:
        text = self._text()
        fact_id = self.brain.core(text)
        self._note(fact_id)
        pending = PendingVector(namespace=Namespace("default"), fact_id=fact_id, text=text)
        self.brain.models.enqueue(pending)
        assert self.brain.models.wait_until_settled(DEADLINE_S)

    def _wait(self) -> None:
        self.brain.now.forward(minutes=self._dice.choice((5, 40)))


def contents(brain: Brain, as_of: datetime | None) -> dict[str, str]:
    """Return the text of each fact that can be read, now or as of an instant."""
    request = RecentRequest(k=200, as_of=as_of, max_sensitivity="sensitive")
    items = brain.run(brain.plane.recent, LOCAL_CALLER, request)
    return {item.id: item.content or "" for item in items}


def told_by(snapshot: Snapshot) -> dict[str, Any]:
    """Return all that a look at a shelf says, by fact."""
    rows = [row for row in range(snapshot.size) if not snapshot.is_gone[row]]
    ids = dict(zip(rows, snapshot.fact_ids(rows), strict=True))
    assert snapshot.rows_of(list(ids.values())) == rows
    (query,) = HashedEmbedder().embed(["kettle port keys"])
    near = snapshot.similarities(np.round(query * 1000).astype(np.int16))
    terms = ["port", "kettl", "7778", "ana", "mario", "kei"]
    return {
        fact_id: (
            snapshot.texts([row])[0],
            snapshot.records([row])[0],
            snapshot.usage([row])[0],
            snapshot.agent_name(row),
            ids.get(int(snapshot.previous[row])),
            *(
                column[row].item()
                for column in (
                    snapshot.eligible,
                    snapshot.is_live,
                    snapshot.is_active,
                    snapshot.is_cold,
                    snapshot.is_pinned,
                    snapshot.sensitivity,
                    snapshot.expires_at,
                    snapshot.created_at,
                    snapshot.content_at,
                    snapshot.lengths,
                    snapshot.has_vector,
                )
            ),
            None if near is None or not snapshot.eligible[row] else float(near[row]),
            [float(posted.tf[posted.rows == row].sum()) for posted in snapshot.postings(terms)],
            int(np.count_nonzero(snapshot.id_order[rows] < snapshot.id_order[row])),
        )
        for row, fact_id in ids.items()
    }


def answers(brain: Brain) -> list[Any]:
    """Return what is found, hits and tiers aside."""
    return [
        [
            (item.id, item.content, item.score, item.signals)
            for item in brain.search(query, abstain_below=0.0)
        ]
        for query in QUERIES
    ]


def neighbours(brain: Brain, ids: list[FactId]) -> list[Any]:
    """Return what stands around each fact."""
    requests = [NeighborsRequest(id=fact_id, depth=2) for fact_id in ids]
    found = [brain.run(brain.plane.neighbors, LOCAL_CALLER, one) for one in requests]
    return [[(item.id, item.score) for item in one.results] for one in found]


@pytest.mark.parametrize("seed", range(4))
def test_memory_kept_in_step_says_what_the_file_says(
    portal: BlockingPortal, tmp_path: Path, seed: int
) -> None:
    """Issue 5: same store, same query, same answer, also after a restart."""
    now = HandClock()
    path = tmp_path / "brain.duckdb"
    brain = Brain(portal, path, with_model=True, now=now, upkeep_after=NEVER)
    chaos = Chaos(brain, seed)
    for _ in range(40):
        chaos.act()
    shelves = [Namespace(name) for name in SHELVES]
    kept = {name: told_by(brain.store.snapshot(name)) for name in shelves}
    found = answers(brain), neighbours(brain, chaos.ids)
    for at, there in chaos.past:
        expected = {key: one for key, one in there.items() if key not in chaos.forgotten}
        assert contents(brain, at) == expected, at
    counted = {name: told_by(brain.store.snapshot(name)) for name in shelves}
    model_key = brain.models.model_key
    brain.close()

    anew = DuckDBStore(path, stem=Analyzer("english").index_term)
    anew.use_model(model_key)
    assert {name: told_by(anew.snapshot(name)) for name in shelves} == counted
    anew.close()
    assert kept.keys() == counted.keys()

    again = Brain(portal, path, with_model=True, now=now, upkeep_after=NEVER)
    assert (answers(again), neighbours(again, chaos.ids)) == found
    again.close()
