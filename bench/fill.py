"""Fills a store in process, faster than any client could: facts and vectors in large batches."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from itertools import count, cycle, islice
from time import perf_counter
from typing import TYPE_CHECKING, Final

import numpy as np

from bench.client import SHELF
from bench.texts import sentences
from graymatter_mcp import Config, Fact, Memory
from graymatter_mcp.embedding.base import to_fixed_point
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.engine.clock import Clock, utc_now
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.settings import DATABASE_FILE
from graymatter_mcp.store.base import NewFact, NewVectors, WriteBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from graymatter_mcp.embedding.base import Windows

REAL_UP_TO: Final = 20_000
"""Stores up to this size get the real vector of each text, unless a benchmark asks for fewer."""
POOL: Final = 5_000
"""Real vectors of a larger store. One takes some 10 ms of a core, so that all would take hours."""
_NOISE: Final = 0.5
_CHUNK: Final = 1_000


def fact_count(word: str) -> int:
    """Read a number of facts; k means thousand."""
    return int(word.removesuffix("k")) * (1_000 if word.endswith("k") else 1)


class Vectors:
    """Makes the vectors of the stored sentences; real ones are made once for all stores."""

    def __init__(self, real_up_to: int = REAL_UP_TO, pool: int = POOL) -> None:
        """Prepare.

        Args:
            real_up_to: Facts in the largest store with the real vector of each text.
            pool: Real vectors that a larger store is made of.
        """
        self._real_up_to = real_up_to
        self._pool = pool
        self._model = MiniLM()
        self._real: list[Windows] = []

    def real(self, facts: int) -> Sequence[Windows]:
        """Return the vectors of `sentences(facts)`."""
        for text in islice(sentences(facts), len(self._real), None):
            self._real += self._model.embed([text])
        return self._real[:facts]

    def note(self, facts: int) -> str:
        """Say what a table owes its readers about the vectors of its store, if anything."""
        if facts <= self._real_up_to:
            return ""
        return (
            f"Above {self._real_up_to:,} facts the vectors are stand-ins: real embeddings of"
            f" {self._pool:,} distinct sentences, each used again with fresh random noise of length"
            f" {_NOISE} added, renormalised."
        )

    def for_store(self, facts: int) -> Iterator[NDArray[np.int16]]:
        """Yield one vector for each of `sentences(facts)`, in order; see `note`."""
        if facts <= self._real_up_to:
            yield from map(to_fixed_point, self.real(facts))
            return
        random = np.random.default_rng(20260301)
        for vector in islice(cycle(self.real(self._pool)), facts):
            noise = random.standard_normal(vector.shape, dtype=np.float32)
            vector = vector + noise * (_NOISE / np.linalg.norm(noise))
            yield to_fixed_point((vector / np.linalg.norm(vector)).astype(np.float32))


def fill(directory: Path, facts: int, vectors: Vectors) -> float:
    """Make a store with `facts` facts of one namespace, a second apart, all with vectors.

    Returns:
        Facts stored in a second, found by their words at once; vectors are not in it.
    """
    # Opened and closed once, so that the directory is as the product makes it.
    Memory(config=Config(data_dir=directory, model="none")).close()
    stored = list(_facts(facts))
    with closing(
        DuckDBStore(directory / DATABASE_FILE, stem=Analyzer("english").index_term)
    ) as store:
        start = perf_counter()
        for chunk in _chunks(stored):
            store.apply(WriteBatch(facts=tuple(map(_new_fact, chunk))))
        seconds = perf_counter() - start
        made = vectors.for_store(facts)
        for chunk in _chunks(stored):
            rows = tuple(_new_vectors(fact, next(made)) for fact in chunk)
            store.apply(WriteBatch(vectors=rows, model_key=MiniLM.model_key))
    return facts / seconds


def _chunks(facts: Sequence[Fact]) -> Iterator[Sequence[Fact]]:
    return (facts[first : first + _CHUNK] for first in range(0, len(facts), _CHUNK))


def _new_fact(fact: Fact) -> NewFact:
    return NewFact(fact=fact, terms=tokenize(fact.text))


def _facts(number: int) -> Iterator[Fact]:
    start = utc_now() - timedelta(seconds=number)
    moments = (start + timedelta(seconds=second) for second in count())
    clock = Clock(lambda: next(moments))
    for text in sentences(number):
        at, fact_id = clock.stamp()
        yield Fact(id=fact_id, agent_id=Namespace(SHELF), text=text, created_at=at, accessed_at=at)


def _new_vectors(fact: Fact, windows: NDArray[np.int16]) -> NewVectors:
    return NewVectors(namespace=fact.agent_id, fact_id=fact.id, text=fact.text, windows=windows)
