"""The baseline: BM25 over the words of each fact and nothing else, no matter how it was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from bench.retrieval.asking import Asker
from graymatter_mcp.engine.asked import content_terms
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.ranking.bm25 import bm25
from graymatter_mcp.ranking.tokens import Analyzer, tokenize
from graymatter_mcp.settings import DATABASE_FILE
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Mapping

BASELINE: Final = "bm25"
"""Its name among the surfaces; it has no vectors."""


class Bm25Alone(Asker):
    """Asks the postings of the store, stored through the core; has no vectors and no other list."""

    async def __aexit__(self, *_: object) -> None:
        """Close the store."""
        if self._store is not None:
            self._store.close()

    async def reopen(self, weights: Mapping[str, float] | None = None) -> None:
        """Open what is stored.

        Args:
            weights: Of a search that has some; must be none.
        """
        assert not weights
        self._analyzer = Analyzer("english")
        self._store: DuckDBStore | None = DuckDBStore(
            self._directory / DATABASE_FILE, stem=self._analyzer.index_term
        )

    async def ask(self, shelf: str, query: str, k: int) -> list[str]:
        """Return the keys of the facts that score, best first, equals by id."""
        assert self._store is not None
        snapshot = self._store.snapshot(Namespace(shelf))
        found = snapshot.postings(content_terms(tokenize(query), self._analyzer))
        scores = bm25(
            [(one.rows, one.tf) for one in found],
            size=snapshot.size,
            count=snapshot.count,
            lengths=snapshot.lengths,
            mean_length=snapshot.mean_length,
        )
        rows = np.lexsort((snapshot.id_order, -scores))[:k]
        best: list[int] = rows[scores[rows] > 0].tolist()
        return [self._keys[shelf, fact_id] for fact_id in snapshot.fact_ids(best)]
