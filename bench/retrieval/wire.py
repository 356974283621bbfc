"""Asks as clients do: the tool of the core by MCP, search and context by REST, all over HTTP."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

from bench.http import http_server
from bench.line import Line
from bench.retrieval.asking import NO_MODEL, SURFACES, Asker

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

WIRE_SURFACES: Final = (*SURFACES, "context")


class WireAsker(Asker):
    """A store of conversations behind a server of its own.

    Args:
        directory: Empty.
        surface: One of `WIRE_SURFACES`.
        vectors: File that keeps vectors of texts between runs; None for none.
        has_model: Whether the server has the bundled model, or none.
    """

    def __init__(
        self, directory: Path, surface: str, *, vectors: Path | None, has_model: bool
    ) -> None:
        super().__init__(directory, surface, vectors=vectors, has_model=has_model)
        self.is_plane = surface != SURFACES[0]
        self._is_context = surface == WIRE_SURFACES[-1]
        self._server = ExitStack()

    async def __aexit__(self, *_: object) -> None:
        """End the server."""
        self._server.close()

    async def reopen(self, weights: Mapping[str, float] | None = None) -> None:
        """Serve what is stored, again.

        Args:
            weights: Sent with each search from here on.
        """
        self._server.close()
        self._weights = dict(weights or {})
        host, port = self._server.enter_context(http_server(self._directory, self._model))
        self._line = Line(host, port, has_model=self._model != NO_MODEL)
        self._server.callback(self._line.close)

    async def ask(self, shelf: str, query: str, k: int) -> list[str]:
        """Return the keys of the facts found, best first."""
        if self.is_plane:
            return [self._keys[shelf, item["id"]] for item in self._found(shelf, query, k)]
        told = self._recalled(shelf, query, k)
        return [self._keys[shelf, one["provenance"]["fact_id"]] for one in told["explained"]]

    async def is_weak(self, shelf: str, query: str, k: int, floor: float | None) -> bool:
        """See `Asker.is_weak`."""
        if self.is_plane:
            floors = {} if floor is None else {"abstainBelow": floor}
            return not self._found(shelf, query, k, **floors)
        return bool(self._recalled(shelf, query, k).get("feedback"))

    def _recalled(self, shelf: str, query: str, k: int) -> dict[str, Any]:
        asked = {"agent_id": shelf, "query": query, "top_k": k, "explain": True}
        return self._line.tool("memory_search", asked)

    def _found(self, shelf: str, query: str, k: int, **more: float) -> list[dict[str, Any]]:
        fields: dict[str, Any] = {"namespace": shelf, "k": k, "maxSensitivity": "sensitive", **more}
        if self._weights:
            fields["weights"] = self._weights
        if self._is_context:
            return self._line.rest("/v1/context", {"message": query, **fields})["relevant"][
                "results"
            ]
        return self._line.rest("/v1/search", {"query": query, **fields})["results"]
