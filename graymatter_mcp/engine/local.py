"""The engine in one process: composes recall, writing, lifecycle and the model."""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio import to_thread

from graymatter_mcp.engine.answers import Answers
from graymatter_mcp.engine.background import Background
from graymatter_mcp.engine.backups import checked_target
from graymatter_mcp.engine.checkpoints import Checkpoints
from graymatter_mcp.engine.lifecycle import NOTICEABLE, Consolidator
from graymatter_mcp.engine.models import ModelKeeper
from graymatter_mcp.engine.once import Outcome, Turns, outcome_of
from graymatter_mcp.engine.plane.local import LocalDataPlane
from graymatter_mcp.engine.plane.settings import account_settings, plane_settings
from graymatter_mcp.engine.population import Population
from graymatter_mcp.engine.recall import Recaller
from graymatter_mcp.engine.reports import engine_status, memory_stats
from graymatter_mcp.engine.targets import known_facts, live_facts, not_found
from graymatter_mcp.engine.workers import Workers
from graymatter_mcp.engine.write import Scribe, again, as_fact_id, checked_namespace, node_id
from graymatter_mcp.errors import (
    CapabilityUnsupportedError,
    GraymatterError,
    InvalidArgumentError,
)
from graymatter_mcp.model.checkpoints import Checkpoint
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.requests import RecallRequest
from graymatter_mcp.model.results import (
    BatchEntry,
    BatchRecallResult,
    EngineStatus,
    MemoryStats,
    RecallExplainResult,
    RecallResult,
    Revision,
)
from graymatter_mcp.ranking.aliases import alias_text
from graymatter_mcp.ranking.merge import merge_batch
from graymatter_mcp.store.base import WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from graymatter_mcp.embedding.base import Embedder
    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.model.checkpoints import JsonObject, Message
    from graymatter_mcp.model.checks import BackupReport, Check
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.requests import (
        BatchRecallRequest,
        CallKey,
        RememberRequest,
        WriteOptions,
    )
    from graymatter_mcp.model.results import ConsolidationReport, Degraded
    from graymatter_mcp.ranking.hybrid.abstain import Calibration
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore

logger = logging.getLogger(__name__)

Answer = TypeVar("Answer")

_PORTION_LAG_S: Final = 0.25
"""Longest that a portion of work in the background waits while calls keep coming."""


class LocalMemory:
    """Implements `engine.base.Memory`: work runs in threads, the event loop only waits."""

    def __init__(
        self,
        store: MemoryStore,
        load_model: Callable[[], Embedder] | None,
        analyzer: Analyzer,
        config: Config,
        clock: Clock,
        *,
        model_key: str = "",
        calibrations: Mapping[str, Calibration] | None = None,
        scratch: Callable[[], MemoryStore] | None = None,
        is_in_place: Callable[[], bool] = lambda: True,
    ) -> None:
        """Compose; the model starts to load.

        Args:
            store: Owned from here on: closed with the memory.
            load_model: Makes the embedder, in a thread; None for keyword only.
            analyzer: The one that the store indexes with.
            config: Checked.
            clock: Stamps what is written.
            model_key: The embedder's key where it is known before it is loaded.
            calibrations: Constants of hybrid search by model key; none where None.
            scratch: Makes an empty store in memory that indexes as `store` does, to evaluate on.
            is_in_place: Whether the store is still where its callers look for it; asked behind
                each write, so it must be cheap.
        """
        self._store = store
        self._config = config
        self._clock = clock
        self.models = ModelKeeper(
            store,
            load_model,
            config.vector_reconcile_interval.total_seconds(),
            model_key=model_key,
        )
        self._scribe = Scribe(store, self.models, clock)
        self._answers = Answers(
            store,
            Recaller(store, self.models, analyzer, config, clock),
            self._scribe,
            analyzer,
            config,
            clock,
        )
        self._turns = Turns()
        self._checkpoints = Checkpoints(store, clock)
        self._consolidator = Consolidator(store, clock)
        self._population = Population(store)
        self._background = Background(
            lambda namespace: self._consolidator.lacking(namespace, config.consolidate_threshold),
            self._consolidate_behind,
            clock,
            at_once=config.max_async_consolidations,
        )
        self._workers = Workers(self.models.note_call, is_in_place)
        self.plane = LocalDataPlane(
            store,
            self.models,
            analyzer,
            clock,
            self._workers,
            plane_settings(config.plane),
            calibrations,
            accounts=account_settings(config.plane),
            scratch=scratch,
        )
        """The other face of the same facts."""

    def set_graph(self, graph: GraphAccessor | None, extractor: EntityExtractor | None) -> None:
        """Replace the graph that hints and links use; None takes it away."""
        self._workers.check_open()
        self._answers.graph = graph
        self._answers.extractor = extractor
        self._population.start_over()

    async def recall(self, request: RecallRequest) -> RecallResult:
        """See the protocol."""
        return await self._workers.rank(self._answers.plain, request)

    async def recall_explain(self, request: RecallRequest) -> RecallExplainResult:
        """See the protocol."""
        return await self._workers.rank(self._answers.explained, request)

    async def recall_all(self, request: RecallRequest) -> RecallResult:
        """See the protocol."""
        return await self._workers.rank(self._answers.all_scopes, request)

    async def recall_batch(self, request: BatchRecallRequest) -> BatchRecallResult:
        """See the protocol."""
        checked_namespace(request.namespace)
        policy = self._answers.policy_of(request.options)
        entries: dict[int, tuple[BatchEntry, Degraded | None]] = {}

        queries = enumerate(request.queries)

        async def answer() -> None:
            for position, query in queries:
                try:
                    entries[position] = await self._workers.rank(
                        self._answers.one_of_batch, request, query, policy
                    )
                except GraymatterError as exc:
                    entries[position] = BatchEntry(query=query, facts=None, error=str(exc)), None

        self._workers.check_open()
        async with anyio.create_task_group() as tasks:
            # No more than can be at work: the others would queue before everybody else's calls.
            for _ in range(self._workers.cores):
                tasks.start_soon(answer)
        answers = [entries[position] for position in range(len(request.queries))]
        per_query = tuple(entry for entry, _ in answers)
        return BatchRecallResult(
            merged=merge_batch([entry.facts or () for entry in per_query]),
            per_query=per_query,
            retrieval=policy.metadata,
            degraded=next((degraded for _, degraded in answers if degraded), None),
        )

    async def remember(self, request: RememberRequest) -> Fact:
        """See the protocol."""
        fact = await self._once(
            request.call_key,
            lambda scribe: scribe.remember(request),
            lambda outcome: again(outcome, request.namespace, request.text, request.origin),
        )
        if request.consolidate:
            self._trigger(request.namespace)
        return fact

    async def _once(
        self,
        call_key: CallKey | None,
        work: Callable[[Scribe], Answer],
        repeat: Callable[[Outcome], Answer],
    ) -> Answer:
        """Write once a key.

        Args:
            call_key: None for a caller that never repeats itself.
            work: Writes, with the scribe that commits the call's receipt.
            repeat: Makes the first answer again.
        """

        def run() -> Answer:
            if call_key is None:
                return work(self._scribe)
            with self._turns.of(call_key.key):
                outcome = outcome_of(self._store, call_key)
                return work(self._scribe.under(call_key)) if outcome is None else repeat(outcome)

        return await self._workers.write(run)

    def _trigger(self, namespace: Namespace) -> None:
        if self._config.async_consolidate:
            self._background.trigger(namespace)

    async def add_alias(
        self,
        namespace: Namespace,
        term: str,
        equivalents: Sequence[str],
        origin: Origin,
        call_key: CallKey | None = None,
    ) -> Fact:
        """See the protocol."""
        alias = await self._once(
            call_key,
            lambda scribe: scribe.add_alias(namespace, term, equivalents, origin),
            lambda outcome: again(outcome, namespace, alias_text(term, equivalents), origin),
        )
        self._background.note(namespace)
        return alias

    async def revise(
        self,
        namespace: Namespace,
        target: str,
        text: str,
        options: WriteOptions,
        origin: Origin,
        call_key: CallKey | None = None,
    ) -> Revision:
        """See the protocol."""

        def work(scribe: Scribe) -> Revision:
            sources = live_facts(self._store, namespace, target)
            return scribe.revise(namespace, sources, text, options, origin)

        def repeat(outcome: Outcome) -> Revision:
            return Revision(replacement=again(outcome, namespace, text, origin), retired=())

        revision = await self._once(call_key, work, repeat)
        self._trigger(namespace)
        return revision

    async def revise_facts(
        self,
        namespace: Namespace,
        facts: Sequence[Fact],
        text: str,
        options: WriteOptions,
        origin: Origin,
    ) -> Revision:
        """See the protocol."""
        if not facts:
            raise InvalidArgumentError("facts must hold at least one fact to replace")
        if any(fact.agent_id != namespace for fact in facts):
            raise InvalidArgumentError("facts must be of the namespace that is written to")
        revision = await self._workers.write(
            self._scribe.revise,
            checked_namespace(namespace),
            list({fact.id: fact for fact in facts}.values()),
            text,
            options,
            origin,
        )
        self._trigger(namespace)
        return revision

    async def retire(self, namespace: Namespace, fact_ids: Sequence[FactId]) -> None:
        """See the protocol."""

        def work() -> None:
            facts = known_facts(self._store, namespace, fact_ids)
            live = [fact for fact in facts if not fact.is_superseded]
            if live:
                self._scribe.forget(namespace, live)

        await self._workers.write(work)

    async def pin_facts(
        self, namespace: Namespace, fact_ids: Sequence[FactId], pinned: bool
    ) -> None:
        """See the protocol."""

        def work() -> None:
            self._scribe.set_pinned(
                namespace, known_facts(self._store, namespace, fact_ids), pinned
            )

        await self._workers.write(work)

    async def update_fact(self, namespace: Namespace, fact: Fact) -> None:
        """See the protocol."""

        def work() -> None:
            (stored,) = known_facts(self._store, namespace, [fact.id])
            self._scribe.replace(stored, fact)
            self._population.start_over(namespace)

        await self._workers.write(work)

    async def forget(
        self, namespace: Namespace, target: str, call_key: CallKey | None = None
    ) -> tuple[Fact, ...]:
        """See the protocol."""

        def work(scribe: Scribe) -> tuple[Fact, ...]:
            sources = live_facts(self._store, namespace, target)
            scribe.forget(namespace, sources)
            return tuple(sources)

        return await self._once(call_key, work, _no_facts)

    async def set_pinned(
        self, namespace: Namespace, target: str, pinned: bool, call_key: CallKey | None = None
    ) -> tuple[Fact, ...]:
        """See the protocol."""

        def work(scribe: Scribe) -> tuple[Fact, ...]:
            found = self._store.find_text(checked_namespace(namespace), target)
            facts = [fact for fact in found if not fact.is_superseded or not pinned]
            if not facts:
                raise not_found(target)
            scribe.set_pinned(namespace, facts, pinned)
            return tuple(facts)

        return await self._once(call_key, work, _no_facts)

    async def link(
        self, namespace: Namespace, source: str, target: str, call_key: CallKey | None = None
    ) -> tuple[str, str]:
        """See the protocol."""
        if self._answers.graph is None:
            raise CapabilityUnsupportedError("knowledge graph not available")
        checked_namespace(namespace)
        return await self._once(
            call_key,
            lambda scribe: scribe.link(namespace, source, target),
            lambda _: (node_id(source), node_id(target)),
        )

    async def save_checkpoint(
        self,
        namespace: Namespace,
        state: JsonObject | None,
        *,
        messages: Sequence[Message] = (),
        metadata: dict[str, str] | None = None,
        call_key: CallKey | None = None,
    ) -> Checkpoint:
        """See the protocol."""
        checked_namespace(namespace)

        def work(_: Scribe) -> Checkpoint:
            return self._checkpoints.save(namespace, state, messages, metadata or {}, call_key)

        def repeat(outcome: Outcome) -> Checkpoint:
            return Checkpoint(id=outcome.id, agent_id=namespace, created_at=outcome.at)

        return await self._once(call_key, work, repeat)

    async def resume_checkpoint(self, namespace: Namespace) -> Checkpoint:
        """See the protocol."""
        return await self._workers.run(self._checkpoints.resume, checked_namespace(namespace))

    async def load_checkpoint(self, namespace: Namespace, checkpoint_id: str) -> Checkpoint:
        """See the protocol."""
        return await self._workers.run(
            self._checkpoints.load, checked_namespace(namespace), checkpoint_id
        )

    async def list_checkpoints(self, namespace: Namespace) -> list[Checkpoint]:
        """See the protocol."""
        return await self._workers.run(self._store.checkpoints, checked_namespace(namespace))

    async def list_facts(self, namespace: Namespace) -> list[Fact]:
        """See the protocol."""
        return await self._workers.run(self._store.list, checked_namespace(namespace))

    async def newest(self, namespace: Namespace, limit: int) -> tuple[Fact, ...]:
        """See the protocol."""
        return await self._workers.run(self._newest, checked_namespace(namespace), limit)

    def _newest(self, namespace: Namespace, limit: int) -> tuple[Fact, ...]:
        snapshot = self._store.snapshot(namespace, 0, self._clock.now())
        return tuple(snapshot.facts(snapshot.recency_order[: max(limit, 0)].tolist()))

    async def list_agents(self) -> list[Namespace]:
        """See the protocol."""
        return await self._workers.run(self._store.namespaces)

    async def stats(self, namespace: Namespace) -> MemoryStats:
        """See the protocol."""
        store = await self._workers.run(self._store.stats)
        return memory_stats(store, namespace)

    async def consolidate(
        self, namespace: Namespace, half_life: timedelta | None = None
    ) -> ConsolidationReport:
        """See the protocol."""
        half_life = self._config.decay_half_life if half_life is None else half_life
        if half_life <= timedelta(0):
            raise InvalidArgumentError("decay_half_life must be longer than zero")
        return await self._workers.write(self._consolidate, checked_namespace(namespace), half_life)

    def _consolidate_behind(self, namespace: Namespace) -> None:
        """Consolidate while others call: their calls come between the portions."""

        def goes_on() -> bool:
            self.models.let_others_first(_PORTION_LAG_S)
            return not self._workers.is_closed

        self._consolidate(namespace, self._config.decay_half_life, NOTICEABLE, goes_on)

    def _consolidate(
        self,
        namespace: Namespace,
        half_life: timedelta,
        by: float = 0.0,
        goes_on: Callable[[], bool] = lambda: True,
    ) -> ConsolidationReport:
        report = self._consolidator.consolidate(namespace, half_life, by=by, goes_on=goes_on)
        if self._answers.extractor is not None:
            try:
                now = self._clock.now()
                self._population.populate(namespace, self._answers.extractor, now, goes_on)
            except Exception as exc:  # noqa: BLE001 - the extractor may be the caller's own
                logger.warning("the graph was not populated: %s", type(exc).__name__)
        return report

    async def delete(self, namespace: Namespace, fact_id: FactId) -> None:
        """See the protocol."""
        await self.erase(namespace, fact_id)

    async def erase(self, namespace: Namespace, fact_id: FactId) -> bool:
        """See the protocol."""
        return await self._workers.write(self._erase, checked_namespace(namespace), fact_id)

    def _erase(self, namespace: Namespace, fact_id: FactId) -> bool:
        if as_fact_id(fact_id) != fact_id:
            return False
        is_there = bool(self._store.get(namespace, [fact_id]))
        # Even where nothing is found: what was pruned is out of sight, and not yet erased.
        self._store.apply(WriteBatch(at=self._clock.now(), delete=((namespace, fact_id),)))
        return is_there

    async def default_confidence_weight(self) -> float:
        """See the protocol."""
        self._workers.check_open()
        return self._config.confidence_weight

    async def status(self) -> EngineStatus:
        """See the protocol."""
        return engine_status(
            await self._workers.run(self._store.stats),
            auto_populate=self._answers.extractor is not None,
            model=self.models.model_key,
            degraded=self.models.degraded,
        )

    async def wait_until_settled(self, timeout_s: float) -> bool:
        """See the protocol."""
        return await self._workers.run(self.models.wait_until_settled, timeout_s)

    async def backup(self, target: str, *, replace: bool = False) -> BackupReport:
        """See the protocol."""

        def work() -> BackupReport:
            path = checked_target(target, self._config.data_dir, replace=replace)
            return self._store.backup(path)

        return await self._workers.run(work)

    async def check(self, *, full: bool = False) -> tuple[Check, ...]:
        """See the protocol."""
        checks = await self._workers.run(partial(self._store.check, full=full))
        return (self.models.check(), *checks)

    async def ping(self) -> None:
        """See the protocol."""
        await self._workers.run(self._store.ping)

    async def aclose(self) -> None:
        """See the protocol."""
        if self._workers.is_closed:
            return
        self._workers.refuse_more()
        self.models.interrupt()
        with anyio.CancelScope(shield=True):
            await self._workers.drain()
            await to_thread.run_sync(self._close)

    def _close(self) -> None:
        self._background.close()
        self.plane.close()
        self.models.close()
        self._store.close()


def _no_facts(_: Outcome) -> tuple[Fact, ...]:
    """Answer a call that was carried out before: its facts changed, and none was written."""
    return ()
