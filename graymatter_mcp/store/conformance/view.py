"""A snapshot as plain values by fact id, once as the store shows it and once computed naively."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.model.facts import LEVELS, FactKind, effective_confidence
from graymatter_mcp.store.base import Cooccurrence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from graymatter_mcp.model.facts import Alias, Fact
    from graymatter_mcp.model.ids import FactId
    from graymatter_mcp.store.base import Snapshot


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What to ask of a snapshot."""

    terms: Sequence[str] = ()
    """Index terms whose postings are asked for; also the seeds, one by one and together."""
    letters: Sequence[str] = ()
    """What index terms are looked for by."""
    query: tuple[tuple[int, ...], ...] | None = None
    """Windows to compare with; None asks nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Every eligible fact of a snapshot, whatever rows the store uses."""

    count: int
    mean_length: float
    oldest_first: tuple[FactId, ...]
    by_id: tuple[FactId, ...]
    newest_first: tuple[FactId, ...]
    lengths: Mapping[FactId, float]
    levels: Mapping[FactId, int]
    facts: tuple[Fact, ...]
    """Oldest first."""
    texts: tuple[str, ...]
    postings: Mapping[str, Mapping[FactId, float]]
    containing: Mapping[str, frozenset[str]]
    """Index terms of eligible facts that contain the letters."""
    cooccurring: Mapping[tuple[str, ...], frozenset[Cooccurrence]]
    similarities: Mapping[FactId, float] | None
    aliases: tuple[Alias, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """One record as the test believes it to be stored."""

    fact: Fact
    terms: tuple[str, ...]
    windows: tuple[tuple[int, ...], ...] | None = None


def observe(snapshot: Snapshot, probe: Probe) -> View:
    """Read a snapshot through its protocol."""
    rows = [int(row) for row in np.flatnonzero(snapshot.eligible)]
    by_age = sorted(rows, key=lambda row: int(snapshot.age_order[row]))
    newest = [int(row) for row in snapshot.recency_order]
    ids = dict(zip(rows, snapshot.fact_ids(rows), strict=True))
    return View(
        count=snapshot.count,
        mean_length=snapshot.mean_length,
        oldest_first=tuple(ids[row] for row in by_age),
        by_id=tuple(ids[row] for row in sorted(rows, key=lambda row: int(snapshot.id_order[row]))),
        newest_first=tuple(ids[row] for row in newest),
        lengths={ids[row]: float(snapshot.lengths[row]) for row in rows},
        levels={ids[row]: int(snapshot.levels[row]) for row in rows},
        facts=tuple(snapshot.facts(by_age)),
        texts=tuple(snapshot.texts(by_age)),
        postings=_postings(snapshot, probe, ids),
        containing={letters: _containing(snapshot, letters) for letters in probe.letters},
        cooccurring={seeds: frozenset(snapshot.cooccurring(seeds)) for seeds in _seed_sets(probe)},
        similarities=_similarities(snapshot, probe, ids),
        aliases=tuple(snapshot.aliases),
    )


def _postings(
    snapshot: Snapshot, probe: Probe, ids: Mapping[int, FactId]
) -> dict[str, dict[FactId, float]]:
    found = snapshot.postings(probe.terms)
    assert len(found) == len(probe.terms)
    for postings in found:
        assert postings.rows.tolist() == sorted(set(postings.rows.tolist()))
    return {
        term: {
            ids[row]: tf
            for row, tf in zip(postings.rows.tolist(), postings.tf.tolist(), strict=True)
        }
        for term, postings in zip(probe.terms, found, strict=True)
    }


def _containing(snapshot: Snapshot, letters: str) -> frozenset[str]:
    terms = list(snapshot.terms_with(letters))
    assert len(terms) == len(set(terms))
    assert all(letters in term for term in terms)
    # A store may name terms that none of its eligible facts holds any more.
    found = zip(terms, snapshot.postings(terms), strict=True)
    held = frozenset(term for term, postings in found if postings.rows.size)
    assert all(map(snapshot.may_hold, held))
    return held


def _similarities(
    snapshot: Snapshot, probe: Probe, ids: Mapping[int, FactId]
) -> dict[FactId, float] | None:
    if probe.query is None:
        return None
    found = snapshot.similarities(np.array(probe.query, np.int16))
    if found is None:
        return None
    assert found.shape == (snapshot.size,)
    assert not np.isnan(found).any()
    # A row that is no key of `ids` is not eligible: a finite number there fails with KeyError.
    return {ids[row]: float(found[row]) for row in range(snapshot.size) if found[row] != -np.inf}


def _seed_sets(probe: Probe) -> list[tuple[str, ...]]:
    return [*((term,) for term in probe.terms), tuple(probe.terms)]


def predict(
    records: Sequence[Stored],
    probe: Probe,
    *,
    min_level: int = 0,
    stem: Callable[[str], str] = lambda token: token,
) -> View:
    """Compute the view from what was written, in the plainest way."""
    kept = [record for record in records if _is_eligible(record.fact, min_level)]
    kept.sort(key=lambda record: (record.fact.created_at, record.fact.id))
    counts = {record.fact.id: Counter(map(stem, record.terms)) for record in kept}
    lengths = {record.fact.id: float(len(record.terms)) for record in kept}
    newest = sorted(kept, key=lambda record: record.fact.id)
    newest.sort(key=lambda record: record.fact.created_at, reverse=True)
    return View(
        count=len(kept),
        mean_length=sum(lengths.values()) / len(kept) if kept else 0.0,
        oldest_first=tuple(record.fact.id for record in kept),
        by_id=tuple(sorted(lengths)),
        newest_first=tuple(record.fact.id for record in newest),
        lengths=lengths,
        levels={record.fact.id: _level(record.fact) for record in kept},
        facts=tuple(record.fact for record in kept),
        texts=tuple(record.fact.text for record in kept),
        postings={
            term: {id_: float(tf[term]) for id_, tf in counts.items() if term in tf}
            for term in probe.terms
        },
        containing={
            letters: frozenset(term for tf in counts.values() for term in tf if letters in term)
            for letters in probe.letters
        },
        cooccurring={seeds: _cooccurring(counts, seeds) for seeds in _seed_sets(probe)},
        similarities=_best_products(kept, probe),
        aliases=_live_aliases(records),
    )


def _is_eligible(fact: Fact, min_level: int) -> bool:
    return fact.kind == FactKind.CONTENT and fact.superseded_by == "" and _level(fact) >= min_level


def _level(fact: Fact) -> int:
    return LEVELS[effective_confidence(fact.confidence)]


def _cooccurring(
    counts: Mapping[FactId, Counter[str]], seeds: Sequence[str]
) -> frozenset[Cooccurrence]:
    holders = [tf for tf in counts.values() if any(seed in tf for seed in seeds)]
    return frozenset(
        Cooccurrence(
            term=term,
            with_seed=sum(term in tf for tf in holders),
            df=sum(term in tf for tf in counts.values()),
        )
        for tf in holders
        for term in tf
        if term not in seeds
    )


def _best_products(kept: Sequence[Stored], probe: Probe) -> dict[FactId, float] | None:
    if probe.query is None:
        return None
    best = {
        record.fact.id: float(max(_dot(a, b) for a in record.windows for b in probe.query))
        for record in kept
        if record.windows is not None
    }
    return best or None


def _dot(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _live_aliases(records: Sequence[Stored]) -> tuple[Alias, ...]:
    facts = sorted((record.fact for record in records), key=lambda f: (f.created_at, f.id))
    return tuple(f.alias for f in facts if f.alias is not None and f.superseded_by == "")


def arrays_of(snapshot: Snapshot) -> dict[str, NDArray[np.generic]]:
    """Return the arrays that have one entry per row, by name."""
    return {
        "eligible": snapshot.eligible,
        "is_gone": snapshot.is_gone,
        "lengths": snapshot.lengths,
        "levels": snapshot.levels,
        "age_order": snapshot.age_order,
        "id_order": snapshot.id_order,
        "recency_rank": snapshot.recency_rank,
    }
