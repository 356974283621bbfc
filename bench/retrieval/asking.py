"""Stores conversations through a surface of the engine, in this process, and asks it there."""

from __future__ import annotations

import hashlib
from contextlib import closing
from typing import TYPE_CHECKING, Final, Self

import numpy as np

from graymatter_mcp.compose import open_memory
from graymatter_mcp.embedding.base import to_fixed_point
from graymatter_mcp.embedding.minilm import MiniLM
from graymatter_mcp.model.access import LOCAL_CALLER
from graymatter_mcp.model.config import BUNDLED_MODEL, Config
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import NewEntry, SearchRequest, Where
from graymatter_mcp.model.requests import RecallRequest, RememberRequest
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.settings import DATABASE_FILE
from graymatter_mcp.store.base import NewVectors, WriteBatch
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from bench.retrieval.conversations import Conversation
    from graymatter_mcp.compose import OwnedMemory
    from graymatter_mcp.store.base import PendingVector

SURFACES: Final = ("core", "plane")
NO_MODEL: Final = "none"
_SETTLE_S: Final = 600.0
_MANY: Final = 1_000_000


class Asker:
    """A store of conversations with one door; leaving the context closes it.

    Args:
        directory: Empty.
        surface: One of `SURFACES`; what is none of them stores through the core.
        vectors: File that keeps vectors of texts between runs; None for none.
        has_model: Whether the engine has the bundled model, or none.
    """

    def __init__(
        self, directory: Path, surface: str, *, vectors: Path | None, has_model: bool
    ) -> None:
        self._directory = directory
        self.is_plane = surface == SURFACES[1]
        """Whether the data plane is asked, not the core."""
        self._vectors = vectors
        self._model = BUNDLED_MODEL if has_model else NO_MODEL
        self._keys: dict[tuple[str, str], str] = {}
        self._opened: OwnedMemory | None = None
        self._weights: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        """Open nothing yet."""
        return self

    async def __aexit__(self, *_: object) -> None:
        """Close the memory."""
        if self._opened is not None:
            await self._opened.aclose()

    async def store(self, conversations: Sequence[Conversation]) -> None:
        """Store every fact through the surface, and its vector where there is a model."""
        await self._fill(conversations)
        if self._model != NO_MODEL:
            _give_vectors(self._directory, self._vectors)
        await self.reopen()

    async def reopen(self, weights: Mapping[str, float] | None = None) -> None:
        """Open what is stored, again.

        Args:
            weights: Sent with each search of the data plane from here on.
        """
        if self._opened is not None:
            await self._opened.aclose()
        self._weights = dict(weights or {})
        self._opened = open_memory(Config(data_dir=self._directory, model=self._model))
        if not await self._opened.memory.wait_until_settled(_SETTLE_S):
            raise TimeoutError("vectors are still missing")

    async def _fill(self, conversations: Sequence[Conversation]) -> None:
        # Without a model, so that no thread makes vectors that a file may hold already.
        config = Config(data_dir=self._directory, model=NO_MODEL, consolidate_threshold=_MANY)
        opened = open_memory(config)
        for one in conversations:
            for key, text in one.facts.items():
                self._keys[one.name, await self._add(opened, one.name, text)] = key
        await opened.aclose()

    async def _add(self, opened: OwnedMemory, shelf: str, text: str) -> str:
        if self.is_plane:
            entry = NewEntry(content=text, namespace=shelf, force=True)
            written = await opened.memory.plane.remember(LOCAL_CALLER, entry)
            return str(written.answer.id)
        request = RememberRequest(namespace=Namespace(shelf), text=text, consolidate=False)
        return (await opened.memory.remember(request)).id

    async def ask(self, shelf: str, query: str, k: int) -> list[str]:
        """Return the keys of the facts found, best first."""
        assert self._opened is not None
        memory = self._opened.memory
        if self.is_plane:
            request = SearchRequest(
                query=query,
                k=k,
                where=Where(namespace=shelf),
                max_sensitivity="sensitive",
                weights=self._weights,
            )
            found = await memory.plane.search(LOCAL_CALLER, request)
            return [self._keys[shelf, item.id] for item in found.results]
        recalled = await memory.recall(
            RecallRequest(namespace=Namespace(shelf), query=query, top_k=k, hints=False)
        )
        return [self._keys[shelf, fact_id] for fact_id in recalled.fact_ids]

    async def is_weak(self, shelf: str, query: str, k: int, floor: float | None) -> bool:
        """Whether the answer is empty, or says that it may not be one.

        Args:
            shelf: Where to ask.
            query: What to ask.
            k: Facts at most.
            floor: Of the data plane; None takes the model's.
        """
        assert self._opened is not None
        memory = self._opened.memory
        if self.is_plane:
            request = SearchRequest(
                query=query,
                k=k,
                where=Where(namespace=shelf),
                max_sensitivity="sensitive",
                abstain_below=floor,
            )
            return not (await memory.plane.search(LOCAL_CALLER, request)).results
        recalled = await memory.recall(
            RecallRequest(namespace=Namespace(shelf), query=query, top_k=k, hints=False)
        )
        return recalled.feedback != ""


def _give_vectors(directory: Path, kept: Path | None) -> None:
    """Make the vectors that are missing, or take them from a file of earlier runs."""
    known: dict[str, NDArray[np.int16]] = {}
    if kept is not None and kept.is_file():
        with np.load(kept) as stored:
            known = {name: stored[name] for name in stored.files}
    stem = Analyzer("english").index_term
    model = MiniLM()
    with closing(DuckDBStore(directory / DATABASE_FILE, stem=stem)) as store:
        store.use_model(MiniLM.model_key)
        pending = store.pending_vectors(_MANY)
        made = tuple(_vectors_of(one, known, model) for one in pending)
        store.apply(WriteBatch(vectors=made, model_key=MiniLM.model_key))
    if kept is not None:
        np.savez(kept, allow_pickle=False, **known)


def _vectors_of(
    pending: PendingVector, known: dict[str, NDArray[np.int16]], model: MiniLM
) -> NewVectors:
    name = hashlib.sha256(pending.text.encode()).hexdigest()
    if name not in known:
        (windows,) = model.embed([pending.text])
        known[name] = to_fixed_point(windows)
    return NewVectors(
        namespace=pending.namespace,
        fact_id=pending.fact_id,
        text=pending.text,
        windows=known[name],
    )
