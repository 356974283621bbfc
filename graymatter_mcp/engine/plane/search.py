"""Hybrid search: three legs over the facts that a request may see, one order, one answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.embedding.base import EmbeddingError
from graymatter_mcp.engine.asked import share_of
from graymatter_mcp.engine.plane.cosines import cosines
from graymatter_mcp.engine.plane.keywords import keyword_leg, query_terms
from graymatter_mcp.engine.plane.shelf_index import IS_CURRENT, SUBJECT, TOKENS
from graymatter_mcp.engine.write import AGENT_LINK, as_fact_id
from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.policy.contradiction import same_values_and_names
from graymatter_mcp.policy.entities import entities
from graymatter_mcp.ranking.aliases import effective_query, expand
from graymatter_mcp.ranking.hybrid.abstain import UNCALIBRATED, abstains, evidence
from graymatter_mcp.ranking.hybrid.diverse import Texts, diverse
from graymatter_mcp.ranking.hybrid.entity import entity_signal as entity_share
from graymatter_mcp.ranking.hybrid.fusion import Inputs, fuse
from graymatter_mcp.ranking.hybrid.graph import Adjacency, next_pairs
from graymatter_mcp.ranking.hybrid.order import Order
from graymatter_mcp.ranking.hybrid.prior import prior
from graymatter_mcp.ranking.hybrid.weights import settled
from graymatter_mcp.ranking.names import without_shared_names
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.corpus import Corpus
    from graymatter_mcp.engine.plane.makers import VectorMaker
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.ranking.hybrid.abstain import Calibration
    from graymatter_mcp.ranking.hybrid.fusion import Fused
    from graymatter_mcp.ranking.tokens import Analyzer
    from graymatter_mcp.store.base import MemoryStore

DAY_US: Final = 86_400_000_000.0
MANY: Final = 50
"""Facts of a shelf that an entity may stand in and still join them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What is asked, checked."""

    text: str
    k: int
    weights: Mapping[str, float]
    now: datetime
    """Or the earlier instant that is asked about."""
    min_vector_score: float | None = None
    """None takes the model's."""
    abstain_below: float | None = None
    has_budget: bool = False
    """Whether near copies stay out even where fewer than k are left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Rows of a corpus, best first."""

    rows: Sequence[int]
    scores: Sequence[float]
    fused: Fused | None
    """None where nothing was ranked."""
    degraded: bool
    abstained: bool


class Searcher:
    """Ranks a corpus; synchronous, for worker threads."""

    def __init__(
        self,
        store: MemoryStore,
        models: VectorMaker,
        analyzer: Analyzer,
        calibration_of: Mapping[str, Calibration],
    ) -> None:
        """Prepare.

        Args:
            store: Tells the links that agents made.
            models: Embeds queries.
            analyzer: The one that the store indexes with.
            calibration_of: Constants of each model key that has some.
        """
        self._store = store
        self._models = models
        self._analyzer = analyzer
        self._calibration_of = calibration_of

    @property
    def calibration(self) -> Calibration:
        """Constants of the model in use."""
        return self._calibration_of.get(self._models.model_key, UNCALIBRATED)

    def search(self, corpus: Corpus, query: Query, *, is_past: bool = False) -> Found:
        """Rank what may be seen.

        Args:
            corpus: Already filtered.
            query: What is asked.
            is_past: Whether the corpus shows an earlier instant, where a text may have no vector.
        """
        weights = settled(query.weights, query.text)
        wants_vectors = weights.vector > 0
        cosine, is_degraded = (None, False)
        if wants_vectors:
            cosine, is_degraded = self._cosine(corpus, query.text)
            if is_past and cosine is not None:
                is_degraded = not bool(np.isfinite(cosine[corpus.eligible]).all())
        if corpus.count == 0:
            return Found(rows=(), scores=(), fused=None, degraded=is_degraded, abstained=False)
        calibration = self.calibration
        # One leg after the other: threads of one interpreter cost more here than they gain.
        terms = query_terms(corpus, query.text, self._analyzer, query.now.date())
        floor = query.min_vector_score
        at = to_microseconds(query.now)
        until = query.now if is_past else None
        adjacency = self._graph(corpus, until) if weights.graph > 0 else None
        is_degraded |= adjacency is None and weights.graph > 0
        age_days = np.maximum(at - corpus.content_at, 0) / DAY_US
        fused = fuse(
            Inputs(
                eligible=corpus.eligible,
                bm25=keyword_leg(corpus, terms) if weights.keyword > 0 else None,
                cosine=cosine,
                content_tokens=corpus.column(TOKENS).astype(np.int64),
                previous=corpus.previous,
                steps=corpus.steps,
                adjacency=adjacency,
                entity=entity_signal(corpus, query.text, terms.tokens)
                if weights.entity > 0
                else None,
                age_days=age_days,
                weights=weights,
                min_vector_score=calibration.min_vector_score if floor is None else floor,
            )
        )
        abstain_below = query.abstain_below
        if abstain_below is None:
            abstain_below = calibration.abstain_below
        if abstain_below > 0 and wants_vectors:
            proof = evidence(terms.rows, cosine, corpus.eligible, calibration, lent=terms.lent)
            if abstains(
                proof,
                corpus.eligible,
                floor=abstain_below,
                degraded=is_degraded,
                has_content_terms=bool(terms.rows),
            ):
                return Found(rows=(), scores=(), fused=fused, degraded=False, abstained=True)
        is_current = corpus.column(IS_CURRENT) > 0
        score = fused.score * prior(corpus.confidences, age_days, is_current)
        order = Order(
            score=score,
            changed_at=corpus.content_at,
            id_order=corpus.id_order,
            among=fused.supported,
        )
        rows = diverse(order.walk(), query.k, _texts(corpus), may_fill=not query.has_budget)
        return Found(
            rows=rows,
            scores=[float(score[row]) for row in rows],
            fused=fused,
            degraded=is_degraded,
            abstained=False,
        )

    def _cosine(self, corpus: Corpus, text: str) -> tuple[NDArray[np.float64] | None, bool]:
        """Return the cosine of each row, -inf where it has no vector; and whether none could be."""
        if self._models.degraded is not None:
            return None, True
        added = [
            one for part in corpus.parts for one in expand(tokenize(text), part.snapshot.aliases)
        ]
        try:
            snapshots = [part.snapshot for part in corpus.parts]
            meant = without_shared_names(
                text, lambda word: share_of(word, snapshots, self._analyzer)
            )
            vector = self._models.embed_query(effective_query(meant, tuple(dict.fromkeys(added))))
        except EmbeddingError:
            return None, True
        if vector is None:
            return None, self._models.is_wanted
        found = [cosines(part.snapshot, vector) for part in corpus.parts]
        columns = [
            np.full(part.snapshot.size, -np.inf) if one is None else one
            for part, one in zip(corpus.parts, found, strict=True)
        ]
        return corpus.joined(columns).astype(np.float64), False

    def _graph(self, corpus: Corpus, until: datetime | None) -> Adjacency | None:
        """Return the edges; None where they cannot be read: the other legs answer without."""
        try:
            return self._adjacency(corpus, until)
        except GraymatterError:
            return None

    def _adjacency(self, corpus: Corpus, until: datetime | None) -> Adjacency:
        links = links_of(self._store, corpus, until)
        return Adjacency(
            next=next_pairs(corpus.previous if corpus.steps is None else corpus.previous[:0]),
            next_steps=corpus.steps,
            links=np.array([(a, b) for a, b, _ in links], np.int64).reshape(-1, 2),
            link_strengths=np.array([strength for *_, strength in links], np.float64),
        )


def links_of(
    store: MemoryStore, corpus: Corpus, until: datetime | None
) -> list[tuple[int, int, float]]:
    """Return what agents linked on the shelves of a corpus, as pairs of rows with their strength.

    Two facts named by their ids are as close as can be; a name stands for the facts of the shelf
    that mention it, unless those are many.

    Args:
        store: Holds the links.
        corpus: What may be seen.
        until: Leaves out what was linked later. None for the present, which asks no clock: one that
            was set back must not take links away.

    Source: data-plane contract 6.
    """
    found: list[tuple[int, int, float]] = []
    for at, part in enumerate(corpus.parts):
        load = partial(store.links, part.namespace, AGENT_LINK, None)
        for edge in part.index.links(part.snapshot, load):
            if until is not None and edge.created_at > until:
                continue
            ends = [_rows_of_node(corpus, at, node) for node in (edge.source, edge.target)]
            strength = 1.0 if all(is_fact for _, is_fact in ends) else 0.5
            for a, b in product(ends[0][0], ends[1][0]):
                if a != b:
                    found.append((a, b, strength))
    return found


def _rows_of_node(corpus: Corpus, at: int, node: str) -> tuple[list[int], bool]:
    """Return the rows that a node of a shelf stands for, and whether it is one fact."""
    here, start = corpus.parts[at], corpus.starts[at]
    fact_id = as_fact_id(node.upper())
    row = None if fact_id is None else _row_in_scope(corpus, at, fact_id)
    if row is not None:
        return [row], True
    named = here.index.rows_naming.get(node, [])
    is_few = len(named) <= MANY
    return ([row + start for row in named if row < here.snapshot.size] if is_few else []), False


def _row_in_scope(corpus: Corpus, at: int, fact_id: FactId) -> int | None:
    """Return the row of a fact: of its shelf, or of another of the scope that it moved to."""
    others = (one for one in range(len(corpus.parts)) if one != at)
    for one in (at, *others):
        part = corpus.parts[one]
        if part.scope == corpus.parts[at].scope:
            (row,) = part.snapshot.rows_of([fact_id])
            if row >= 0:
                return int(row) + corpus.starts[one]
    return None


def entity_signal(corpus: Corpus, text: str, tokens: Sequence[str]) -> NDArray[np.float64]:
    """Return 1 for facts about the one subject that a query names, else half its share of entities.

    Source: data-plane contract 4.4.
    """
    known = [part.index.known for part in corpus.parts]
    asked = entities(text, known=known[0] if len(known) == 1 else set(chain.from_iterable(known)))
    mentioned = np.zeros(corpus.size, np.int64)
    for entity in asked:
        for at, part in enumerate(corpus.parts):
            rows = np.array(part.index.rows_naming.get(entity, ()), np.int64)
            mentioned[rows[rows < part.snapshot.size] + corpus.starts[at]] += 1
    return entity_share(_of_one_subject(corpus, tokens), mentioned, len(asked))


def _of_one_subject(corpus: Corpus, tokens: Sequence[str]) -> NDArray[np.bool_] | None:
    """Return the rows about the one subject that a query names; None where it names not one."""
    subjects = corpus.column(SUBJECT)
    rows_of: dict[str, NDArray[np.bool_]] = {}
    for at, part in enumerate(corpus.parts):
        start, end = corpus.starts[at], corpus.starts[at + 1]
        for number in part.index.subjects_in(tokens):
            rows = rows_of.setdefault(part.index.subjects[number], np.zeros(corpus.size, np.bool_))
            rows[start:end] |= (subjects[start:end] == number) & corpus.eligible[start:end]
    seen = [rows for rows in rows_of.values() if rows.any()]
    return seen[0] if len(seen) == 1 else None


def _texts(corpus: Corpus) -> Texts:
    kept: dict[int, str] = {}

    def text(row: int) -> str:
        if row not in kept:
            part, at = corpus.locate(row)
            (kept[row],) = part.snapshot.texts([at])
        return kept[row]

    return Texts(
        key=text,
        tokens=lambda row: frozenset(tokenize(text(row))),
        same_claims=lambda a, b: same_values_and_names(text(a), text(b)),
    )
