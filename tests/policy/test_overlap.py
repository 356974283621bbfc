from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from graymatter_mcp.policy.overlap import OverlapIndex, clusters, places

SETS = st.lists(st.frozensets(st.sampled_from("abcdefgh"), max_size=6), max_size=24)


def _is_similar(a: frozenset[str], b: frozenset[str], share: tuple[int, int]) -> bool:
    numerator, denominator = share
    return bool(a | b) and len(a & b) * denominator >= numerator * len(a | b)


@given(SETS, st.sampled_from([(1, 2), (2, 3), (1, 1), (1, 10)]), st.integers(min_value=0))
def test_the_index_finds_what_a_look_at_every_pair_finds(
    sets: list[frozenset[str]], share: tuple[int, int], among: int
) -> None:
    """Data plane 7.1: Jaccard of at least 1/2, or 2/3 for frames, without rounding."""
    index = OverlapIndex(sets, *share)
    for words in sets:
        similar = [place for place, other in enumerate(sets) if _is_similar(words, other, share)]
        assert list(places(index.similar(words))) == similar
        chosen = [place for place in similar if among >> place & 1]
        assert list(places(index.similar(words, among))) == chosen


@given(SETS)
def test_clusters_are_what_hangs_together_in_pairs(sets: list[frozenset[str]]) -> None:
    """Data plane 7.1: joined into clusters, largest first."""
    groups = [{place} for place in range(len(sets))]
    for a, b in product(range(len(sets)), repeat=2):
        if _is_similar(sets[a], sets[b], (1, 2)):
            joined = groups[a] | groups[b]
            for place in joined:
                groups[place] = joined
    expected = {tuple(sorted(group)) for group in groups if len(group) > 1}
    found = clusters(sets)
    assert {tuple(cluster) for cluster in found} == expected
    assert found == sorted(found, key=lambda cluster: (-len(cluster), cluster[0]))
