"""The same calls through two doors: the library in this process, and a server over stdio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from bench.baselines import resident_mb
from bench.client import (
    SHELF,
    Client,
    ServerFailedError,
    command_line,
    owner_pid,
    stop_owner,
)
from bench.figures import Row
from graymatter_mcp import Config, Memory, RecallOptions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

BUNDLED: Final = "all-MiniLM-L6-v2"
NO_MODEL: Final = "none"
_SETTLE_S: Final = 600.0
_PLAIN: Final = RecallOptions()


class Door(Protocol):
    """What is measured; every call returns when its answer is there."""

    name: str

    def search(self, query: str) -> object:
        """Search with the defaults."""
        ...

    def explain(self, query: str) -> object:
        """Search and ask for receipts."""
        ...

    def search_batch(self, queries: Sequence[str]) -> object:
        """Ask several queries at once."""
        ...

    def add(self, text: str) -> object:
        """Store one fact."""
        ...


class LibraryDoor:
    """`graymatter_mcp.Memory` in this process; leaving the context closes it."""

    name = "library"

    def __init__(self, directory: Path, model: str) -> None:
        self._memory = Memory(config=Config(data_dir=directory, model=model))
        self.settle()

    def settle(self) -> None:
        """Wait until the model is loaded and every fact has its vector."""
        if not self._memory.wait_until_settled(_SETTLE_S):
            raise TimeoutError("vectors are still missing")

    def search(self, query: str) -> object:
        """See the protocol."""
        return self._memory.recall_with_options(SHELF, query, _PLAIN)

    def explain(self, query: str) -> object:
        """See the protocol."""
        return self._memory.recall_explain_with_options(SHELF, query, _PLAIN)

    def search_batch(self, queries: Sequence[str]) -> object:
        """See the protocol."""
        return self._memory.advanced().batch_recall_with_options(SHELF, queries, _PLAIN, 0)

    def add(self, text: str) -> object:
        """See the protocol."""
        self._memory.remember(SHELF, text)
        return None

    def close(self) -> None:
        """Close the memory."""
        self._memory.close()


class WireDoor:
    """A server of its own, over stdio; closing it ends the server and any owner behind it."""

    name = "stdio"

    def __init__(self, directory: Path, model: str, server: str) -> None:
        self._directory = directory
        self._client = Client(command_line(server, directory), {"GRAYMATTER_MODEL": model})
        try:
            self._client.initialize()
            if model != NO_MODEL:
                self._client.wait_for_vectors()
        except ServerFailedError:
            self.close()
            raise

    def search(self, query: str) -> object:
        """See the protocol."""
        return self._client.search(query)

    def explain(self, query: str) -> object:
        """See the protocol."""
        return self._client.search(query, explain=True)

    def search_batch(self, queries: Sequence[str]) -> object:
        """See the protocol."""
        arguments = {"agent_id": SHELF, "queries": list(queries)}
        return self._client.call("memory_search_batch", arguments)

    def add(self, text: str) -> object:
        """See the protocol."""
        return self._client.add(text)

    def memory_rows(self, label: str) -> list[Row]:
        """Measure the resident memory of the server, and of the bridge when there is one."""
        owner = owner_pid(self._directory)
        pids = {"server": owner or self._client.pid}
        if owner not in (None, self._client.pid):
            pids["each client's bridge"] = self._client.pid
        sizes = {name: resident_mb(pid) for name, pid in pids.items()}
        return [
            Row(what=f"{name}, {label}", value=size)
            for name, size in sizes.items()
            if size is not None
        ]

    def close(self) -> None:
        """End the server."""
        self._client.close()
        stop_owner(self._directory)
