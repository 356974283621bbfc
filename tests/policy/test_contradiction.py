from __future__ import annotations

import pytest

from graymatter_mcp.policy.contradiction import contradicts, same_values_and_names
from graymatter_mcp.policy.refinement import refines, same_claims


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("A cat is red. The API uses port 1", "The API uses port 2", False),
        ("A cat is red. The API uses port 1", "The API uses port 2. A cat is red", True),
        ("The API uses port 1", "The API uses port 2. A cat is red", True),
        ("The API uses port 1", "The API uses port 1. The API uses port 2", False),
        ("The API uses port 1. The flag is on", "The flag is off. The API uses port 2", True),
        ("The API uses port 1. Ana ran 5 km", "The API uses port 2. Ana ran 6 km", False),
    ],
)
def test_an_old_fact_falls_only_when_nothing_it_says_is_lost(
    old: str, new: str, expected: bool
) -> None:
    """Data plane 5.4, rule 6."""
    assert contradicts(new, old) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("Staging API uses port 7778", "Production API uses port 7779", False),
        ("Staging API uses port 7778", "Production API uses port 7778", False),
        ("staging api uses port 7778", "production api uses port 7778", False),
        ("Ana lives in Berlin", "Eva lives in Berlin", False),
        ("Server 1 is red", "Server 2 is red", False),
        ("Plan A is cheap", "Plan B is cheap", False),
        ("The API uses port 7778", "The API does not use port 7778", False),
        ("The API uses port 7778 for now", "The API uses port 7778 at the moment", True),
        ("The cache is warm", "The cache is quite warm", True),
    ],
)
def test_only_texts_with_the_same_values_and_names_stand_for_each_other(
    a: str, b: str, expected: bool
) -> None:
    """Data plane 4.10: diversity never hides another fact."""
    assert same_values_and_names(a, b) == expected
    assert same_values_and_names(b, a) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("The API uses port 1", "API now uses the port 1.", True),
        ("The API uses port 1. A cat is red", "A cat is red. The API uses port 1", True),
        ("The API uses port 1", "The API uses port 2", False),
        ("The API is public", "The API is not public", False),
        ("The API is public", "The API is public. A cat is red", False),
        ("A cat is red. A cat is red", "A cat is red", False),
    ],
)
def test_two_texts_make_the_same_claims_in_any_order(a: str, b: str, expected: bool) -> None:
    """Data plane 5.6: candidates without a vector."""
    assert same_claims(a, b) == expected
    assert same_claims(b, a) == expected


def test_a_text_refines_itself() -> None:
    """Data plane 5.6: nothing is lost, nothing is added."""
    text = "The staging API does not use port 7778. Ana ran 5 km"
    assert refines(text, text)
