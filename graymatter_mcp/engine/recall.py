"""Recall on one snapshot: signals from the store, order from `ranking`, nothing else decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.engine.asked import Asked, content_terms
from graymatter_mcp.engine.heads import AllHeads
from graymatter_mcp.errors import InvalidArgumentError, StoreUnavailableError
from graymatter_mcp.model.config import MAX_CONFIDENCE_WEIGHT
from graymatter_mcp.model.facts import LEVELS, Confidence
from graymatter_mcp.model.ids import UNSET
from graymatter_mcp.model.results import Degraded, RetrievalMetadata
from graymatter_mcp.ranking.aliases import effective_query, expand
from graymatter_mcp.ranking.fusion import rank
from graymatter_mcp.ranking.signals import Signals
from graymatter_mcp.ranking.tokens import identifiers, tokenize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.engine.models import ModelKeeper
    from graymatter_mcp.model.config import Config
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.model.requests import RecallOptions
    from graymatter_mcp.ranking.fusion import Ranking
    from graymatter_mcp.ranking.signals import Ranked
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore, Postings, Snapshot

_FIRST_LOOK: Final = 4
"""Rows looked at beyond top_k before the order is extended: repeated texts are rare."""
_GROWTH: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The confidence options of one recall, settled."""

    min_confidence: Confidence | None
    weight: float
    is_asked_for: bool
    """Whether the caller sent any option."""

    @property
    def min_level(self) -> int:
        """The lowest level that is eligible."""
        return 0 if self.min_confidence is None else LEVELS[self.min_confidence]

    @property
    def metadata(self) -> RetrievalMetadata | None:
        """What the answer says of the policy; None where none was asked for and none applied."""
        if not self.is_asked_for and self.weight == 0:
            return None
        if self.min_confidence is None:
            return RetrievalMetadata(confidence_weight=self.weight)
        return RetrievalMetadata(
            confidence_weight=self.weight,
            min_confidence=self.min_confidence.value,
            kg="suppressed_min_confidence",
        )


def settle_policy(options: RecallOptions, default_weight: float) -> Policy:
    """Check the options and take the configured weight where none was sent.

    Raises:
        InvalidArgumentError: An option is out of its range.
    """
    label = None
    if options.min_confidence is not UNSET:
        label = parse_label(options.min_confidence, "min_confidence")
    weight = default_weight
    if options.confidence_weight is not UNSET:
        weight = _checked_weight(options.confidence_weight)
    return Policy(
        min_confidence=label,
        weight=weight,
        is_asked_for=options.min_confidence is not UNSET or options.confidence_weight is not UNSET,
    )


def _checked_weight(weight: object) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise InvalidArgumentError("confidence_weight must be a number")
    if not 0 <= weight <= MAX_CONFIDENCE_WEIGHT:
        raise InvalidArgumentError("confidence_weight must be finite and between 0 and 0.5")
    return float(weight)


def parse_label(value: object, name: str) -> Confidence:
    """Return the label, spelled exactly.

    Raises:
        InvalidArgumentError: It is no string, or none of the three.
    """
    if not isinstance(value, str):
        raise InvalidArgumentError(f"{name} must be a string")
    try:
        return Confidence(value)
    except ValueError:
        raise InvalidArgumentError(f"{name} must be verified, inferred or unverified") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The ranked rows of one query, distinct texts only, and what they were ranked from."""

    snapshot: Snapshot
    ranked: Sequence[Ranked]
    texts: Sequence[str]
    """Parallel to `ranked`."""
    tokens: Sequence[str]
    """Unstemmed tokens of the effective query."""
    degraded: Degraded | None

    @property
    def fact_ids(self) -> tuple[FactId, ...]:
        """Identities of the ranked facts, best first."""
        return tuple(self.snapshot.fact_ids([one.row for one in self.ranked]))


class Recaller:
    """Ranks one namespace for one query; synchronous, for worker threads."""

    def __init__(
        self,
        store: MemoryStore,
        models: ModelKeeper,
        analyzer: Analyzer,
        config: Config,
        clock: Clock,
    ) -> None:
        self._clock = clock
        self._store = store
        self._models = models
        self._analyzer = analyzer
        self._config = config
        self._heads = AllHeads(analyzer)

    def recall(self, namespace: Namespace, query: str, top_k: int, policy: Policy) -> Recalled:
        """Rank the namespace and take the best `top_k` distinct texts.

        Raises:
            StoreUnavailableError: The model failed and a filter was asked for.
        """
        now = self._clock.now()
        snapshot = self._store.snapshot(namespace, policy.min_level, now)
        tokens = tokenize(query)
        added = expand(tokens, snapshot.aliases)
        effective = (*tokens, *added)
        heads = self._heads.of(snapshot)
        asked = Asked(
            snapshot=snapshot,
            heads=heads,
            query=query,
            terms=content_terms(effective, self._analyzer),
            today=now.date(),
            effective=effective_query(query, added),
            analyzer=self._analyzer,
        )
        similarity, degraded = None, self._models.degraded
        if effective:  # a query without words has no meaning either: the newest come first
            meant = asked.without_shared_names()
            similarity, degraded = self._similarity(asked, effective_query(meant, added), policy)
        restrict = self._restriction(snapshot, query)
        ranking = rank(
            Signals(
                size=snapshot.size,
                eligible=snapshot.eligible,
                count=snapshot.count,
                recency_order=snapshot.recency_order,
                recency_rank=snapshot.recency_rank,
                age_order=snapshot.age_order,
                id_order=snapshot.id_order,
                levels=snapshot.levels,
                keyword=asked.keyword(restrict, is_alone=similarity is None),
                similarity=similarity,
                restrict=restrict,
            ),
            self._config.weights,
            confidence_weight=policy.weight,
            min_relevance=self._config.min_relevance,
        )
        ranked, texts = _distinct(ranking, snapshot, top_k)
        return Recalled(
            snapshot=snapshot, ranked=ranked, texts=texts, tokens=effective, degraded=degraded
        )

    def _similarity(
        self, asked: Asked, query: str, policy: Policy
    ) -> tuple[NDArray[np.float32] | None, Degraded | None]:
        degraded = self._models.degraded
        if asked.snapshot.count == 0:
            return None, degraded
        try:
            vector = self._models.embed_query(query)
        except EmbeddingError as exc:
            if policy.min_confidence is not None:
                raise StoreUnavailableError(
                    "the embedding model failed, so not every eligible fact could be ranked"
                ) from exc
            return None, Degraded.MODEL_MISSING
        products = None if vector is None else asked.snapshot.similarities(vector)
        return None if products is None else asked.close(products), degraded

    def _restriction(self, snapshot: Snapshot, query: str) -> NDArray[np.bool_] | None:
        """Return the rows that hold every identifier of an identifier query, if there are any."""
        wanted = identifiers(query)
        if wanted is None:
            return None
        rows = _intersection(snapshot.postings(self._analyzer.index_terms(wanted)))
        if not len(rows):
            return None
        restriction = np.zeros(snapshot.size, np.bool_)
        restriction[rows] = True
        return restriction


def _intersection(postings: Sequence[Postings]) -> NDArray[np.int32]:
    rows = postings[0].rows
    for other in postings[1:]:
        rows = np.intersect1d(rows, other.rows, assume_unique=True)
    return rows


def _distinct(ranking: Ranking, snapshot: Snapshot, top_k: int) -> tuple[list[Ranked], list[str]]:
    """Take rows in order, skipping a text that was already taken."""
    wanted = min(top_k + _FIRST_LOOK, snapshot.count)
    while True:
        rows = ranking.rows(wanted)
        _, places = np.unique(snapshot.text_keys[rows], return_index=True)
        if len(places) >= top_k or len(rows) < wanted or wanted == snapshot.count:
            break
        wanted = min(wanted * _GROWTH, snapshot.count)
    ranked = ranking.at(np.sort(places)[:top_k].tolist())
    return ranked, snapshot.texts([one.row for one in ranked])
