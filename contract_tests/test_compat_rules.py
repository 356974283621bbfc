"""The table of rules: each rule with a pair that it reports and a near one that it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from contract_tests.manifest import promise
from graymatter_mcp.contract.compat import (
    RULES,
    Direction,
    compare_releases,
    compare_schemas,
    read_release,
)

if TYPE_CHECKING:
    from graymatter_mcp.contract.compat import Change
    from graymatter_mcp.contract.compat.rules import Pair

EVERY: Final = pytest.mark.parametrize("rule_id", RULES)


def changes_of(pair: Pair, direction: Direction) -> list[Change]:
    """Compare a pair of bundles or of schemas."""
    if "tools" in pair.old:
        return compare_releases(read_release(pair.old), read_release(pair.new))
    return compare_schemas(pair.old, pair.new, direction)


@promise("compat:rules")
@EVERY
def test_a_rule_reports_its_pair_at_its_level(rule_id: str) -> None:
    """House, section 3: a fixture pair that fails."""
    rule = RULES[rule_id]
    found = {change.rule: change.level for change in changes_of(rule.fails, rule.direction)}
    assert found[rule_id] == rule.level


@promise("compat:rules")
@EVERY
def test_a_rule_lets_a_near_pair_pass(rule_id: str) -> None:
    """House, section 3: a fixture pair that passes."""
    rule = RULES[rule_id]
    assert rule_id not in {change.rule for change in changes_of(rule.passes, rule.direction)}


@promise("compat:rules")
@EVERY
def test_a_pair_that_did_not_change_is_reported_by_no_rule(rule_id: str) -> None:
    """House, section 3: unknown keywords that stay as they are break nobody."""
    rule = RULES[rule_id]
    for document in (rule.fails.old, rule.fails.new, rule.passes.old, rule.passes.new):
        assert changes_of(type(rule.fails)(document, document), rule.direction) == []


@promise("compat:rules")
def test_the_table_covers_both_directions_and_has_sixty_rules() -> None:
    """Issue 7: at least sixty rules with fixtures."""
    assert len(RULES) >= 60
    by_direction = {
        direction: {rule.name for rule in RULES.values() if rule.direction is direction}
        for direction in Direction
    }
    assert all(by_direction.values())
    unions = {"union", *(name for name in by_direction[Direction.OUTPUT] if "bran" in name)}
    assert {
        name
        for name in by_direction[Direction.INPUT] ^ by_direction[Direction.OUTPUT]
        if not name.startswith("union")
    } <= unions
