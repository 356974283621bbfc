"""What the checker claims: a change that it lets pass breaks no value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from contract_tests.compat.generated import pairs, schemas, values, without_undeclared
from contract_tests.manifest import promise
from graymatter_mcp.contract.compat import Direction, Level, compare_schemas, gravest

if TYPE_CHECKING:
    from contract_tests.compat.generated import Schema

many = settings(
    max_examples=100,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)


def fits(schema: Schema, value: Any) -> bool:
    """Ask an independent validator."""
    return cast("Any", Draft202012Validator(schema)).is_valid(value)  # its stubs are unknown


@promise("compat:sound")
@many
@given(pairs(), st.data())
def test_arguments_that_fitted_still_fit(pair: tuple[Schema, Schema], data: st.DataObject) -> None:
    """Issue 7: compatible inputs accept what callers of the old schema may send."""
    old, new = pair
    assume(gravest(compare_schemas(old, new, Direction.INPUT)) < Level.BREAKING)
    value = data.draw(values(old, extra=False))
    assume(fits(old, value))
    assert fits(new, value)


@promise("compat:sound")
@many
@given(pairs(), st.data())
def test_results_fit_what_their_reader_was_promised(
    pair: tuple[Schema, Schema], data: st.DataObject
) -> None:
    """Issue 7: compatible outputs are the old ones, and new properties beside them at most."""
    old, new = pair
    assume(gravest(compare_schemas(old, new, Direction.OUTPUT)) < Level.BREAKING)
    value = data.draw(values(new, extra=True))
    assume(fits(new, value))
    assert fits(old, without_undeclared(old, value, fits))


@promise("compat:sound")
@many
@given(pairs(), st.data())
def test_schemas_that_differ_in_words_only_hold_the_same_values(
    pair: tuple[Schema, Schema], data: st.DataObject
) -> None:
    """House, section 3: prose asks for no revision."""
    old, new = pair
    assume(gravest(compare_schemas(old, new, Direction.OUTPUT)) <= Level.PROSE)
    value = data.draw(values(data.draw(st.sampled_from([old, new])), extra=True))
    assert fits(old, value) == fits(new, value)


@promise("compat:sound")
@many
@given(schemas(), st.sampled_from(Direction))
def test_a_schema_is_compatible_with_itself(schema: Schema, direction: Direction) -> None:
    """Issue 7: no change, no report."""
    assert compare_schemas(schema, schema, direction) == []
