"""Answers to recalls: a ranking, and what is said, counted and learnt beside it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from graymatter_mcp.engine.feedback import UsageLearner, match_of, weak_match_feedback
from graymatter_mcp.engine.graph import RuleExtractor, StoreGraph, hints
from graymatter_mcp.engine.recall import settle_policy
from graymatter_mcp.engine.receipts import receipts_of
from graymatter_mcp.engine.write import checked_namespace
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.facts import Origin
from graymatter_mcp.model.ids import SHARED_AGENT_ID
from graymatter_mcp.model.results import BatchEntry, RecallExplainResult, RecallResult
from graymatter_mcp.ranking.merge import merge_scopes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.graph import EntityExtractor, GraphAccessor
    from graymatter_mcp.engine.recall import Policy, Recalled, Recaller
    from graymatter_mcp.engine.write import Scribe
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.requests import BatchRecallRequest, RecallOptions, RecallRequest
    from graymatter_mcp.model.results import Degraded
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore

logger = logging.getLogger(__name__)


class Answers:
    """Answers recalls of all kinds; synchronous, for worker threads."""

    def __init__(
        self,
        store: MemoryStore,
        recaller: Recaller,
        scribe: Scribe,
        analyzer: Analyzer,
        config: Config,
        clock: Clock,
    ) -> None:
        self._store = store
        self._recaller = recaller
        self._scribe = scribe
        self._analyzer = analyzer
        self._config = config
        self._clock = clock
        self._learner = UsageLearner(config.usage_alias_affinity) if config.usage_alias else None
        self.graph: GraphAccessor | None = StoreGraph(store)
        """Gives hints; None takes hints and links away."""
        self.extractor: EntityExtractor | None = RuleExtractor() if config.knowledge_graph else None
        """Finds what texts name; None where the graph is not populated."""

    def policy_of(self, options: RecallOptions) -> Policy:
        """Settle the confidence options with the configured weight."""
        return settle_policy(options, self._config.confidence_weight)

    def _top_k(self, top_k: int | None) -> int:
        return self._config.top_k if top_k is None or top_k <= 0 else top_k

    def plain(self, request: RecallRequest) -> RecallResult:
        """Rank one namespace; say when its words are not those of the query."""
        namespace = checked_namespace(request.namespace)
        policy = self.policy_of(request.options)
        recalled = self._recaller.recall(
            namespace, request.query, self._top_k(request.top_k), policy
        )
        match = match_of(recalled, self._analyzer)
        note = weak_match_feedback(recalled, match)
        if request.learn and self._learner is not None and policy.min_confidence is None:
            self._learn(namespace, self._learner.observe(namespace, match, self._clock.now()))
        ids = recalled.fact_ids
        self._store.touch(namespace, ids, self._clock.now())
        texts = tuple(recalled.texts)
        if request.hints and policy.min_confidence is None and texts:
            texts += self._hints(namespace, ids[0], texts)
        if request.top_k is not None and request.top_k > 0:
            texts = texts[: request.top_k]
        return RecallResult(
            facts=texts,
            feedback=note,
            retrieval=policy.metadata,
            degraded=recalled.degraded,
            fact_ids=ids,
        )

    def _learn(self, namespace: Namespace, pairs: Sequence[tuple[str, str]]) -> None:
        try:
            for term, equivalent in pairs:
                self._scribe.add_alias(namespace, term, [equivalent], Origin(), "usage")
        except GraymatterError as exc:
            logger.warning("no alias was learnt: %s", exc)

    def _hints(self, namespace: Namespace, top: FactId, texts: tuple[str, ...]) -> tuple[str, ...]:
        if self.graph is None or self.extractor is None:
            return ()
        try:
            return hints(self.graph, self.extractor, self._store, namespace, (top, texts[0]), texts)
        except Exception as exc:  # noqa: BLE001 - graph and extractor may be the caller's own
            logger.warning("no graph hints: %s", type(exc).__name__)
            return ()

    def explained(self, request: RecallRequest) -> RecallExplainResult:
        """Rank one namespace and tell why."""
        namespace = checked_namespace(request.namespace)
        policy = self.policy_of(request.options)
        now = self._clock.now()
        recalled = self._recaller.recall(
            namespace, request.query, self._top_k(request.top_k), policy
        )
        receipts = receipts_of(recalled, policy, self._store, namespace, now, self.extractor)
        self._store.touch(namespace, [one.provenance.fact_id for one in receipts], now)
        return RecallExplainResult(
            receipts=receipts, retrieval=policy.metadata, degraded=recalled.degraded
        )

    def all_scopes(self, request: RecallRequest) -> RecallResult:
        """Fuse the ranking of a namespace with the shared one."""
        policy = self.policy_of(request.options)
        top_k = self._top_k(request.top_k)
        namespaces = {"agent": checked_namespace(request.namespace), "shared": SHARED_AGENT_ID}
        found: dict[str, Recalled] = {}
        for scope, namespace in namespaces.items():
            try:
                found[scope] = self._recaller.recall(namespace, request.query, top_k, policy)
            except GraymatterError as exc:
                exc.args = (f"recall {scope}: {exc}",)
                raise
        merged = merge_scopes(found["agent"].texts, found["shared"].texts, top_k)
        ids_of = {
            scope: dict(
                zip(
                    recalled.texts,
                    recalled.fact_ids,
                    strict=True,
                )
            )
            for scope, recalled in found.items()
        }
        for scope, namespace in namespaces.items():
            returned = [ids_of[scope][text] for text, owner in merged if owner == scope]
            self._store.touch(namespace, returned, self._clock.now())
        return RecallResult(
            facts=tuple(text for text, _ in merged),
            retrieval=policy.metadata,
            degraded=found["agent"].degraded or found["shared"].degraded,
            fact_ids=tuple(ids_of[scope][text] for text, scope in merged),
        )

    def one_of_batch(
        self, request: BatchRecallRequest, query: str, policy: Policy
    ) -> tuple[BatchEntry, Degraded | None]:
        """Answer one query of a batch, under the policy settled for all of them."""
        recalled = self._recaller.recall(
            request.namespace, query, self._top_k(request.top_k), policy
        )
        ids = recalled.fact_ids
        self._store.touch(request.namespace, ids, self._clock.now())
        entry = BatchEntry(query=query, facts=tuple(recalled.texts), fact_ids=ids)
        return entry, recalled.degraded
