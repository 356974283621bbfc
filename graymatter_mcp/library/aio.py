"""`AsyncMemory`: long-term memory in this process, for `async` code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from anyio import to_thread

from graymatter_mcp.compose import open_memory
from graymatter_mcp.errors import StoreClosedError, StoreUnavailableError
from graymatter_mcp.library.advanced import LIBRARY, AsyncAdvancedStore
from graymatter_mcp.model.config import Config
from graymatter_mcp.model.ids import SHARED_AGENT_ID, Namespace
from graymatter_mcp.model.requests import (
    RecallOptions,
    RecallRequest,
    RememberRequest,
    WriteOptions,
)
from graymatter_mcp.owner.client import RemoteMemory, is_owned

if TYPE_CHECKING:
    from types import TracebackType

    from graymatter_mcp.compose import OwnedMemory
    from graymatter_mcp.engine.base import Memory
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.results import RecallExplainResult, RecallResult


@dataclass(frozen=True, slots=True)
class AttachedMemory:
    """A memory that an owner in another process holds."""

    memory: Memory

    async def aclose(self) -> None:
        """Let the owner go on without us."""
        await self.memory.aclose()


def _open_or_attach(config: Config) -> OwnedMemory | AttachedMemory:
    """Open the directory, or use its owner where one runs and nothing but defaults is asked for.

    Raises:
        GraymatterError: It cannot be opened, or an owner has it whose settings may be others.
    """
    try:
        return open_memory(config)
    except StoreUnavailableError:
        is_plain = config == Config(data_dir=config.data_dir)
        if not is_plain or not is_owned(config.data_dir):
            raise
    return AttachedMemory(cast("Memory", RemoteMemory(config.data_dir)))  # its methods go by name


class AsyncMemory:
    """One memory. Use `open`, or ``async with AsyncMemory(data_dir) as memory``.

    Options are read once, at the call. `UNSET` means "not given"; an explicit None is an error.
    """

    def __init__(self, data_dir: str | Path | None = None, *, config: Config | None = None) -> None:
        """Name the memory; it is opened by `open` or on entering the context.

        Args:
            data_dir: The directory, with defaults for all else.
            config: Everything; `data_dir`, when given as well, wins.
        """
        config = config or Config()
        self._config = config if data_dir is None else replace(config, data_dir=Path(data_dir))
        self._owned: OwnedMemory | AttachedMemory | None = None

    @classmethod
    async def open(cls, config: Config) -> AsyncMemory:
        """Open with a full configuration.

        Raises:
            GraymatterError: It cannot be opened; see `compose.open_memory`.
        """
        return await cls(config=config).__aenter__()

    async def __aenter__(self) -> AsyncMemory:
        """Open, unless `open` has."""
        if self._owned is None:
            config = replace(self._config, data_dir=self._config.data_dir.absolute())
            self._owned = await to_thread.run_sync(_open_or_attach, config)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        exc: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close."""
        await self.close()

    @property
    def _memory(self) -> Memory:
        if self._owned is None:
            raise StoreClosedError
        return self._owned.memory

    def config(self) -> Config:
        """Return a copy of the configuration."""
        if self._owned is None:
            raise StoreClosedError
        return replace(self._config)

    def advanced(self) -> AsyncAdvancedStore:
        """Return the methods below the everyday ones."""
        return AsyncAdvancedStore(self._memory)

    async def remember(self, agent_id: str, text: str) -> None:
        """Store a fact; may consolidate the namespace in the background."""
        await self.remember_with_options(agent_id, text, WriteOptions())

    async def remember_with_options(self, agent_id: str, text: str, options: WriteOptions) -> Fact:
        """Store a fact and return it exactly as committed."""
        return await self._memory.remember(
            RememberRequest(
                namespace=Namespace(agent_id), text=text, options=options, origin=LIBRARY
            )
        )

    async def remember_shared(self, text: str) -> None:
        """Store a fact that all agents share; schedules nothing."""
        await self.remember_shared_with_options(text, WriteOptions())

    async def remember_shared_with_options(self, text: str, options: WriteOptions) -> Fact:
        """Store a shared fact and return it; schedules nothing."""
        return await self.advanced().put_with_options_returning_fact(SHARED_AGENT_ID, text, options)

    async def recall(self, agent_id: str, query: str) -> list[str]:
        """Return the best facts, at most the configured `top_k`."""
        result = await self.recall_with_options(agent_id, query, RecallOptions())
        return list(result.facts)

    async def recall_shared(self, query: str) -> list[str]:
        """Rank the shared namespace."""
        return await self.recall(SHARED_AGENT_ID, query)

    async def recall_all(self, agent_id: str, query: str) -> list[str]:
        """Fuse the agent's ranking with the shared one."""
        result = await self.recall_all_with_options(agent_id, query, RecallOptions())
        return list(result.facts)

    async def recall_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallResult:
        """Rank with options."""
        return await self._memory.recall(replace(_request(agent_id, query, options), learn=True))

    async def recall_shared_with_options(self, query: str, options: RecallOptions) -> RecallResult:
        """Rank the shared namespace with options."""
        return await self.recall_with_options(SHARED_AGENT_ID, query, options)

    async def recall_all_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallResult:
        """Fuse the agent's ranking with the shared one, with options."""
        return await self._memory.recall_all(_request(agent_id, query, options))

    async def recall_explain_with_options(
        self, agent_id: str, query: str, options: RecallOptions
    ) -> RecallExplainResult:
        """Return receipts instead of texts."""
        return await self._memory.recall_explain(_request(agent_id, query, options))

    async def consolidate(self, agent_id: str) -> None:
        """Decay and prune now, whatever the threshold."""
        await self._memory.consolidate(Namespace(agent_id))

    async def wait_until_settled(self, timeout_s: float = 60.0) -> bool:
        """Wait until the model is loaded and every fact has its vector; False when time ran out."""
        return await self._memory.wait_until_settled(timeout_s)

    async def close(self) -> None:
        """Flush and release the directory; twice is fine, anything after it raises."""
        owned, self._owned = self._owned, None
        if owned is not None:
            await owned.aclose()


def _request(agent_id: str, query: str, options: RecallOptions) -> RecallRequest:
    return RecallRequest(namespace=Namespace(agent_id), query=query, options=options)
