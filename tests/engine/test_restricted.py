"""Who may call what: every method of the engine stands in one list."""

from __future__ import annotations

import inspect
from itertools import combinations
from typing import TYPE_CHECKING

import anyio
import pytest

from graymatter_mcp.engine import methods
from graymatter_mcp.engine.base import Memory
from graymatter_mcp.engine.restricted import restrict
from graymatter_mcp.errors import ForbiddenError, ReadOnlyError
from graymatter_mcp.model.access import Rights
from graymatter_mcp.owner.wire import METHODS

if TYPE_CHECKING:
    from tests.engine.desk import Desk

KINDS = (methods.READS, methods.OPEN, methods.COPIES, methods.WRITES, methods.LOCAL)
NAMES = frozenset(
    name for name, _ in inspect.getmembers(Memory, inspect.isfunction) if not name.startswith("_")
)


def test_every_method_of_the_engine_is_in_exactly_one_list() -> None:
    """House 5, question 9: a new method is sorted before anybody can call it."""
    assert frozenset().union(*KINDS) == NAMES
    assert not [a & b for a, b in combinations(KINDS, 2) if a & b]


def test_another_process_may_call_all_but_what_acts_on_the_object() -> None:
    """House 5, question 6: what is repeatable there is what a lost answer leaves as it was."""
    assert set(METHODS) == NAMES - methods.LOCAL
    assert NAMES - methods.LOCAL - methods.WRITES == methods.REPEATABLE


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_read_only_caller_gets_the_reads_and_nothing_else(desk: Desk, name: str) -> None:
    """House 5, question 9: a recall counts, but learns nothing, so it is another method there."""
    restricted = restrict(desk.memory, Rights(may_write=False))
    if name in methods.READS | methods.OPEN:
        is_itself = getattr(restricted, name) == getattr(desk.memory, name)
        assert is_itself == (name != "recall")
    else:
        with pytest.raises(ReadOnlyError):
            anyio.run(getattr(restricted, name))


@pytest.mark.parametrize("name", sorted(NAMES - methods.OPEN - {"recall"}))
def test_a_confined_caller_gets_nothing_yet(desk: Desk, name: str) -> None:
    """Contract 10: no fact belongs to a project yet, so none is inside the walls."""
    restricted = restrict(desk.memory, Rights(project="p"))
    with pytest.raises(ForbiddenError):
        anyio.run(getattr(restricted, name))


@pytest.mark.parametrize("name", sorted(NAMES - methods.OPEN))
def test_another_users_caller_gets_nothing_of_the_core(desk: Desk, name: str) -> None:
    """Data plane 1.1: a user's facts are not the core's, whatever the scope of the token."""
    restricted = restrict(desk.memory, Rights(reaches_core=False))

    async def call() -> None:
        await getattr(restricted, name)(*[None] * (name == "recall"))

    with pytest.raises(ForbiddenError, match="another user's"):
        anyio.run(call)
