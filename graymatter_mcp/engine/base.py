"""The one door: every surface calls this protocol and nothing below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.model.checkpoints import Checkpoint, JsonObject, Message
    from graymatter_mcp.model.checks import BackupReport, Check
    from graymatter_mcp.model.facts import Fact, Origin
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.requests import (
        BatchRecallRequest,
        CallKey,
        RecallRequest,
        RememberRequest,
        WriteOptions,
    )
    from graymatter_mcp.model.results import (
        BatchRecallResult,
        ConsolidationReport,
        EngineStatus,
        MemoryStats,
        RecallExplainResult,
        RecallResult,
        Revision,
    )


class Memory(Protocol):
    """Long-term memory. Every failure is a `GraymatterError`.

    A write with a `call_key` takes effect once, however often it is asked; asked again it gives the
    first answer, and with another request under the same key an `InvalidArgumentError`.
    """

    async def recall(self, request: RecallRequest) -> RecallResult:
        """Rank the namespace for the query."""
        ...

    async def recall_explain(self, request: RecallRequest) -> RecallExplainResult:
        """Rank as `recall` does and tell why; no feedback, no hints."""
        ...

    async def recall_all(self, request: RecallRequest) -> RecallResult:
        """Fuse the namespace's ranking with that of ``__shared__``."""
        ...

    async def recall_batch(self, request: BatchRecallRequest) -> BatchRecallResult:
        """Rank each query as it would alone, and merge."""
        ...

    async def remember(self, request: RememberRequest) -> Fact:
        """Store one fact; on return it is durable and found by its words."""
        ...

    async def add_alias(
        self,
        namespace: Namespace,
        term: str,
        equivalents: Sequence[str],
        origin: Origin,
        call_key: CallKey | None = None,
    ) -> Fact:
        """Declare that a term and its equivalents mean the same."""
        ...

    async def revise(
        self,
        namespace: Namespace,
        target: str,
        text: str,
        options: WriteOptions,
        origin: Origin,
        call_key: CallKey | None = None,
    ) -> Revision:
        """Replace every live fact whose text is exactly `target` by one new fact."""
        ...

    async def revise_facts(
        self,
        namespace: Namespace,
        facts: Sequence[Fact],
        text: str,
        options: WriteOptions,
        origin: Origin,
    ) -> Revision:
        """Replace these facts by one new fact, if none has changed since it was read."""
        ...

    async def retire(self, namespace: Namespace, fact_ids: Sequence[FactId]) -> None:
        """Retire live facts by id, without a replacement."""
        ...

    async def pin_facts(
        self, namespace: Namespace, fact_ids: Sequence[FactId], pinned: bool
    ) -> None:
        """Pin or unpin facts by id."""
        ...

    async def update_fact(self, namespace: Namespace, fact: Fact) -> None:
        """Replace the record of an existing id; never creates, never revives a retired fact."""
        ...

    async def forget(
        self, namespace: Namespace, target: str, call_key: CallKey | None = None
    ) -> tuple[Fact, ...]:
        """Retire every live fact whose text is exactly `target`; nothing is erased."""
        ...

    async def set_pinned(
        self, namespace: Namespace, target: str, pinned: bool, call_key: CallKey | None = None
    ) -> tuple[Fact, ...]:
        """Pin or unpin every matching fact; unpin also clears retired copies."""
        ...

    async def link(
        self, namespace: Namespace, source: str, target: str, call_key: CallKey | None = None
    ) -> tuple[str, str]:
        """Add an edge of relation ``agent_link``; returns the two node ids."""
        ...

    async def save_checkpoint(
        self,
        namespace: Namespace,
        state: JsonObject | None,
        *,
        messages: Sequence[Message] = (),
        metadata: dict[str, str] | None = None,
        call_key: CallKey | None = None,
    ) -> Checkpoint:
        """Save a new checkpoint; overwrites none."""
        ...

    async def resume_checkpoint(self, namespace: Namespace) -> Checkpoint:
        """Return the newest checkpoint.

        Raises:
            NoCheckpointsError: There is none.
            CorruptRecordError: One of the namespace's records is damaged.
        """
        ...

    async def load_checkpoint(self, namespace: Namespace, checkpoint_id: str) -> Checkpoint:
        """Return one checkpoint by id."""
        ...

    async def list_checkpoints(self, namespace: Namespace) -> list[Checkpoint]:
        """Return all checkpoints, newest first."""
        ...

    async def list_facts(self, namespace: Namespace) -> list[Fact]:
        """Return all records, retired facts and aliases included, newest first."""
        ...

    async def newest(self, namespace: Namespace, limit: int) -> tuple[Fact, ...]:
        """Return the live facts that a recall could give, newest first, this many at most."""
        ...

    async def list_agents(self) -> list[Namespace]:
        """Return every namespace ever written to."""
        ...

    async def stats(self, namespace: Namespace) -> MemoryStats:
        """Count one namespace."""
        ...

    async def consolidate(
        self, namespace: Namespace, half_life: timedelta | None = None
    ) -> ConsolidationReport:
        """Decay and prune now; without a half-life by the configured one."""
        ...

    async def delete(self, namespace: Namespace, fact_id: FactId) -> None:
        """Erase one record for good."""
        ...

    async def erase(self, namespace: Namespace, fact_id: FactId) -> bool:
        """Erase one record for good; return whether there was one."""
        ...

    async def default_confidence_weight(self) -> float:
        """Return the configured weight that an omitted option takes."""
        ...

    async def status(self) -> EngineStatus:
        """Describe the whole store."""
        ...

    def set_graph(self, graph: GraphAccessor | None, extractor: EntityExtractor | None) -> None:
        """Replace the graph that hints and links use; None takes it away."""
        ...

    async def wait_until_settled(self, timeout_s: float) -> bool:
        """Wait until the model is loaded, or known to be missing, and nothing is pending."""
        ...

    async def backup(self, target: str, *, replace: bool = False) -> BackupReport:
        """Write a verified copy of the store to an absolute path; reads and writes go on.

        Raises:
            InvalidArgumentError: The path cannot take a copy, or has a file and `replace` is off.
            StoreUnavailableError: The copy failed; what was there is as before.
        """
        ...

    async def check(self, *, full: bool = False) -> tuple[Check, ...]:
        """Say whether the store agrees with itself; `full` reads every value."""
        ...

    async def ping(self) -> None:
        """Prove that the store answers."""
        ...

    async def aclose(self) -> None:
        """Finish what was begun, flush and release; twice is fine."""
        ...
