"""What a server of the data plane is given in place of a clock, a model and a store."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from ulid import ULID

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.embedding.hashed import HashedEmbedder
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.errors import StoreUnavailableError
from graymatter_mcp.model.ids import FactId
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.embedding.base import Embedder, Windows
    from graymatter_mcp.store.base import WriteBatch

FAILURE: Final = "the part that fails on demand failed"


@cache
def minilm() -> Embedder:
    """Return the bundled model, loaded once for all servers of these tests."""
    return MiniLM()


@cache
def hashed() -> Embedder:
    """Return vectors that know words and no meaning, where a case needs any."""
    return HashedEmbedder()


class SwitchedEmbedder:
    """A model that fails while it is told to."""

    def __init__(self, inner: Embedder | None = None) -> None:
        self._inner = hashed() if inner is None else inner
        self.model_key = self._inner.model_key
        self.dim = self._inner.dim
        self.is_failing = False

    def embed(self, texts: Sequence[str]) -> list[Windows]:
        """Embed, or fail."""
        if self.is_failing:
            raise EmbeddingError(FAILURE)
        return self._inner.embed(texts)


class SwitchedStore(DuckDBStore):
    """A store whose next writes fail, each in the way that it is told.

    Of these `commit` is a real one, within the transaction.
    """

    failing: str = ""
    """`unexpected`, `away` or `commit`; empty while all is well."""

    def apply(self, batch: WriteBatch) -> None:
        """Write, or fail."""
        if self.failing == "unexpected":
            # Its text holds what a careless log would show.
            raise RuntimeError([new.fact.text for new in batch.facts])
        if self.failing == "away":
            raise StoreUnavailableError(FAILURE)
        if self.failing == "commit" and batch.facts:
            # One fact more, which no encoding can write: the transaction breaks at it.
            last = batch.facts[-1]
            broken = replace(last.fact, id=FactId(str(ULID())), text="\ud800")
            batch = replace(batch, facts=(*batch.facts, replace(last, fact=broken)))
        super().apply(batch)
