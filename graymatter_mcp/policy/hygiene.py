"""The hygiene report: facts that a person should look at, found without writing anything."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.reports import (
    ContradictionCandidate,
    HygieneCounts,
    HygieneReport,
    LowValue,
    Stale,
)
from graymatter_mcp.policy.claims import claims
from graymatter_mcp.policy.memory_types import RETENTION, MemoryType, classify, worthiness
from graymatter_mcp.policy.overlap import OverlapIndex, clusters, places
from graymatter_mcp.policy.review import comparable_pairs, of_near
from graymatter_mcp.ranking.tokens import tokenize

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from graymatter_mcp.policy.claims import Claim

LOW_WORTHINESS: Final = 0.55
SHORT: Final = 20
NEAR_COSINE: Final = 0.85
"""From which cosine a pair belongs into `near`."""
OWED_MINUTES: Final = 10
_CURRENT_STATE: Final = frozenset([MemoryType.SETUP_FACT, MemoryType.DEPLOYMENT_STATE])


@dataclass(frozen=True, slots=True, kw_only=True)
class HygieneFact:
    """An active fact as the report needs it."""

    fact_id: str
    content: str
    namespace: str
    project_id: str | None
    memory_type: str | None
    """None when none was stored."""
    confidence: float | None
    overall: float | None
    """Stored worthiness, or None to compute it."""
    base_days: float | None
    """Stored `baseEffectiveDays`, or None for that of the type."""
    age_days: float
    """Since the last change of content."""
    vector_owed_minutes: float | None
    """How long a warm fact has been without a vector of the current model; None if it has one, or
    is cold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededFact:
    """A fact that another one superseded."""

    fact_id: str
    content: str
    namespace: str
    project_id: str | None
    superseded_by: str | None


def scan_limit(k: int) -> int:
    """Return how many of the newest-updated active facts a report of k looks at."""
    return max(100, 20 * k)


def hygiene(
    facts: Sequence[HygieneFact],
    superseded: Sequence[SupersededFact] = (),
    *,
    k: int,
    near: Collection[tuple[str, str]] = (),
    personal_terms: Sequence[str] = (),
) -> HygieneReport:
    """Return the report over the given facts.

    Args:
        facts: The active facts to scan, newest-updated first; the lists keep that order.
        superseded: Superseded facts of the same shelves.
        k: The most items of each list.
        near: Pairs of ids, of either kind, whose cosine is at least `NEAR_COSINE`.
        personal_terms: See `worthiness`.

    Source: data-plane contract 7.1.
    """
    shelves = _by_shelf(facts)
    said = [claims(fact.content) for fact in facts]
    low = [_low(fact) for fact in facts if _is_low(fact, personal_terms)]
    copies = _copies(facts, said, superseded, near)
    stale = [item for fact in facts for item in _stale(fact, copies.get(fact.fact_id))]
    duplicates = sorted(
        (cluster for shelf in shelves for cluster in _duplicates(shelf, facts)),
        key=lambda cluster: (-len(cluster), cluster[0]),
    )
    pairs = {pair: why for shelf in shelves for pair, why in _pairs(shelf, facts, said, near)}
    orphans = [fact.fact_id for fact in facts if _is_orphan(fact)]
    return HygieneReport(
        counts=HygieneCounts(
            scanned=len(facts),
            low_value=len(low),
            stale=len(stale),
            duplicate_clusters=len(duplicates),
            contradiction_candidates=len(pairs),
            orphan_candidates=len(orphans),
        ),
        low_value=tuple(low[:k]),
        stale=tuple(stale[:k]),
        duplicate_clusters=tuple(
            tuple(facts[place].fact_id for place in cluster) for cluster in duplicates[:k]
        ),
        contradiction_candidates=tuple(
            ContradictionCandidate(
                fact_ids=(facts[a].fact_id, facts[b].fact_id), reason=pairs[a, b]
            )
            for a, b in sorted(pairs)[:k]
        ),
        orphan_candidates=tuple(orphans[:k]),
    )


def _by_shelf(facts: Sequence[HygieneFact]) -> list[list[int]]:
    shelves: defaultdict[tuple[str | None, str], list[int]] = defaultdict(list)
    for place, fact in enumerate(facts):
        shelves[fact.project_id, fact.namespace].append(place)
    return list(shelves.values())


def _low(fact: HygieneFact) -> LowValue:
    return LowValue(fact_id=fact.fact_id, content=fact.content)


def _is_low(fact: HygieneFact, personal_terms: Sequence[str]) -> bool:
    if len(fact.content.strip()) < SHORT:
        return True
    overall = fact.overall
    if overall is None:
        kind = fact.memory_type or classify(fact.namespace, fact.content, None)
        overall = worthiness(fact.content, kind, fact.confidence, personal_terms).overall
    return overall < LOW_WORTHINESS


def _stale(fact: HygieneFact, copied: str | None) -> Iterator[Stale]:
    if fact.memory_type is not None and fact.memory_type in _CURRENT_STATE:
        stored = fact.base_days
        base = RETENTION[fact.memory_type].base_effective_days if stored is None else stored
        if fact.age_days > base / 2:
            yield Stale(fact_id=fact.fact_id, reason="current_state_review")
    if copied is not None:
        yield Stale(fact_id=fact.fact_id, reason="copy_of_superseded", of=copied)


def _is_orphan(fact: HygieneFact) -> bool:
    return fact.vector_owed_minutes is not None and fact.vector_owed_minutes > OWED_MINUTES


def _duplicates(shelf: Sequence[int], facts: Sequence[HygieneFact]) -> list[list[int]]:
    sets = [frozenset(tokenize(facts[place].content)) for place in shelf]
    return [[shelf[at] for at in cluster] for cluster in clusters(sets)]


def _pairs(
    shelf: Sequence[int],
    facts: Sequence[HygieneFact],
    said: Sequence[Sequence[Claim]],
    near: Collection[tuple[str, str]],
) -> Iterator[tuple[tuple[int, int], str]]:
    here = [said[place] for place in shelf]
    at = {facts[place].fact_id: position for position, place in enumerate(shelf)}
    close = [(at[a], at[b]) for a, b in near if a in at and b in at]
    for (a, b), reason in {**of_near(close, here), **comparable_pairs(here)}.items():
        yield (shelf[a], shelf[b]), reason


def _copies(
    facts: Sequence[HygieneFact],
    said: Sequence[Sequence[Claim]],
    superseded: Sequence[SupersededFact],
    near: Collection[tuple[str, str]],
) -> dict[str, str]:
    """Map each restatement of a superseded fact to the first such fact it restates."""
    index = OverlapIndex([frozenset(tokenize(old.content)) for old in superseded], 1, 2)
    at = {old.fact_id: 1 << place for place, old in enumerate(superseded)}
    close: defaultdict[str, int] = defaultdict(int)
    for a, b in near:
        close[a] |= at.get(b, 0)
        close[b] |= at.get(a, 0)
    saying: defaultdict[object, int] = defaultdict(int)
    for old in superseded:
        saying[old.project_id, old.namespace, _sum(claims(old.content))] |= at[old.fact_id]
    found: dict[str, str] = {}
    for fact, of_text in zip(facts, said, strict=True):
        among = saying.get((fact.project_id, fact.namespace, _sum(of_text)), 0)
        if not among:
            continue
        alike = index.similar(frozenset(tokenize(fact.content)), among)
        for place in places(alike | close[fact.fact_id] & among):
            if superseded[place].superseded_by != fact.fact_id:
                found[fact.fact_id] = superseded[place].fact_id
                break
    return found


def _sum(said: Sequence[Claim]) -> tuple[object, ...]:
    """Return the values of a text and the number of its denials."""
    values = sorted((value.kind, value.text) for claim in said for value in claim.values)
    return tuple(values), sum(claim.is_negative for claim in said)
