from __future__ import annotations

from dataclasses import replace

import pytest

from graymatter_mcp.policy.hygiene import (
    ContradictionCandidate,
    HygieneCounts,
    HygieneFact,
    HygieneReport,
    LowValue,
    Stale,
    SupersededFact,
    hygiene,
    scan_limit,
)
from graymatter_mcp.policy.review import MOST_PAIRS

SCALAR = "comparable_scalar_conflict"


def _fact(fact_id: str, content: str, namespace: str = "default") -> HygieneFact:
    return HygieneFact(
        fact_id=fact_id,
        content=content,
        namespace=namespace,
        project_id=None,
        memory_type="general",
        confidence=None,
        overall=0.9,
        base_days=None,
        age_days=1,
        vector_owed_minutes=None,
    )


def _old(fact_id: str, content: str, by: str | None, namespace: str = "default") -> SupersededFact:
    return SupersededFact(
        fact_id=fact_id, content=content, namespace=namespace, project_id=None, superseded_by=by
    )


def _pair(a: str, b: str, reason: str = SCALAR) -> ContradictionCandidate:
    return ContradictionCandidate(fact_ids=(a, b), reason=reason)


def test_each_list_holds_exactly_the_prepared_facts() -> None:
    """Data plane 7.1, D55."""
    facts = [
        replace(_fact("low", "Clouds drift over hills somewhere"), overall=0.54),
        _fact("short", "Tides turn at dusk"),
        replace(
            _fact("state", "Rollout of the shop is blue-green"),
            memory_type="deployment_state",
            age_days=15.1,
        ),
        _fact("copy", "The Kiel office phones extension 4711 daily"),
        _fact("twin-1", "Whales migrate along western coasts yearly"),
        _fact("twin-2", "Whales migrate along western coasts monthly"),
        _fact("port-1", "The ledger service uses port 7778"),
        _fact("port-2", "Ledger service uses port 7779. Its owner lives in Bonn"),
        replace(
            _fact("orphan", "Quiet rivers carve deep canyons slowly"), vector_owed_minutes=10.1
        ),
        replace(_fact("young", "Loud waterfalls polish granite boulders"), vector_owed_minutes=10),
    ]
    superseded = [
        _old("gone", "The Kiel office phones extension 4711 nightly", "other"),
        _old("told", "The ledger service uses port 7778", "port-1"),
    ]
    assert hygiene(facts, superseded, k=20) == HygieneReport(
        counts=HygieneCounts(
            scanned=10,
            low_value=2,
            stale=2,
            duplicate_clusters=1,
            contradiction_candidates=1,
            orphan_candidates=1,
        ),
        low_value=(
            LowValue(fact_id="low", content="Clouds drift over hills somewhere"),
            LowValue(fact_id="short", content="Tides turn at dusk"),
        ),
        stale=(
            Stale(fact_id="state", reason="current_state_review"),
            Stale(fact_id="copy", reason="copy_of_superseded", of="gone"),
        ),
        duplicate_clusters=(("twin-1", "twin-2"),),
        contradiction_candidates=(_pair("port-1", "port-2"),),
        orphan_candidates=("orphan",),
    )


def test_lists_are_cut_and_counted_before_the_cut() -> None:
    """Data plane 7.1: each list is cut to k, the summary is not."""
    facts = [_fact(str(n), f"tokens: {n}") for n in range(5)]
    report = hygiene(facts, k=2)
    assert [item.fact_id for item in report.low_value] == ["0", "1"]
    assert report.counts.low_value == 5
    assert report.contradiction_candidates == (_pair("0", "1"), _pair("0", "2"))
    assert report.counts.contradiction_candidates == 10


def test_worthiness_is_computed_where_none_is_stored() -> None:
    """Data plane 7.1: overall below 0.55; 0.3 x 0.55 + 0.3 x 0.45 + 0.25 x 0.65 + 0.15 x c."""
    text = "Cats sleep a lot, cats"
    facts = [
        replace(_fact(str(sure), text, str(sure)), overall=None, confidence=sure)
        for sure in (0.5, 0.6)
    ]
    assert [item.fact_id for item in hygiene(facts, k=5).low_value] == ["0.5"]


@pytest.mark.parametrize(
    ("memory_type", "base_days", "age_days", "is_stale"),
    [
        ("setup_fact", None, 30.1, True),
        ("setup_fact", None, 30, False),
        ("deployment_state", 10, 5.1, True),
        ("decision", None, 900, False),
        (None, None, 900, False),
    ],
)
def test_current_state_is_reviewed_after_half_its_life(
    memory_type: str | None, base_days: float | None, age_days: float, is_stale: bool
) -> None:
    """Data plane 7.1."""
    fact = replace(
        _fact("a", "The server is called atlas"),
        memory_type=memory_type,
        base_days=base_days,
        age_days=age_days,
    )
    assert bool(hygiene([fact], k=5).stale) == is_stale


def test_shelves_do_not_mix() -> None:
    """Data plane 7.1: same project and namespace."""
    one = _fact("a", "The ledger service uses port 7778")
    other = _fact("b", "The ledger service uses port 7779", "elsewhere")
    old = _old("c", "The ledger service uses port 7778", "x", "third")
    for facts in ([one, other], [one, replace(other, namespace="default", project_id="p")]):
        report = hygiene(facts, [old], k=5, near=[("a", "b"), ("c", "a")])
        assert report.duplicate_clusters == report.contradiction_candidates == report.stale == ()


def test_near_facts_are_compared_although_their_words_differ() -> None:
    """Data plane 7.1: cosine >= 0.85 stands in for shared words."""
    facts = [_fact("a", "The gateway uses port 7778"), _fact("b", "Its proxy entry is port 7779")]
    old = _old("c", "What the gate listens on is port 7778", "x")
    assert hygiene(facts, [old], k=5).counts.contradiction_candidates == 0
    report = hygiene(facts, [old], k=5, near=[("b", "a"), ("a", "c"), ("b", "c"), ("a", "gone")])
    assert report.contradiction_candidates == (_pair("a", "b"),)
    assert report.stale == (Stale(fact_id="a", reason="copy_of_superseded", of="c"),)


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The door is open", "The door is not open", "polarity_conflict"),
        ("Alerts are enabled", "Alerts are disabled", "polarity_conflict"),
        ("API has 2 replicas and 4 workers", "API has 3 replicas and 8 workers", SCALAR),
        ("The staging API of Kiel runs v1.2.3", "The API of Kiel runs v1.2.4", SCALAR),
        ("Staging API uses port 1", "Production API uses port 2", None),
        ("Ana ran 5 km", "Ana ran 6 km", None),
        ("The door is open", "The door is open", None),
    ],
)
def test_a_pair_is_listed_with_its_reason(one: str, other: str, reason: str | None) -> None:
    """Data plane 7.1: frames share 2/3 of their words, values of a kind or polarity differ."""
    found = hygiene([_fact("a", one), _fact("b", other)], k=5).contradiction_candidates
    assert found == (() if reason is None else (_pair("a", "b", reason),))


def test_a_thousand_readings_of_one_gauge_end_in_a_report() -> None:
    """Issue 5: no all-pairs loop; the pairs of one shelf are counted up to a limit."""
    facts = [_fact(str(n), f"The pressure is {n}") for n in range(1000)]
    report = hygiene(facts, k=1)
    assert report.counts.contradiction_candidates == MOST_PAIRS
    assert report.duplicate_clusters == ()
    assert report.contradiction_candidates == (_pair("0", "1"),)


def test_a_report_of_k_looks_at_twenty_times_k_facts() -> None:
    """Data plane 7.1: max(100, 20 x k)."""
    assert [scan_limit(k) for k in (1, 5, 6, 100)] == [100, 100, 120, 2000]
