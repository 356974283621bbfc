"""What the suite needs of a store's author, and short ways to write facts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
import pytest
from ulid import ULID

from graymatter_mcp.model.facts import Alias, Fact, FactKind
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.store.base import FactPatch, NewFact, NewVectors, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from graymatter_mcp.store.base import MemoryStore

SHELF: Final = Namespace("shelf")
ELSEWHERE: Final = Namespace("elsewhere")
MODEL: Final = "model-a"
START: Final = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)

_numbers = count(1)


class StoreMaker(Protocol):
    """How the suite gets stores; the author of a store writes one and closes what it made."""

    persists: bool
    """Whether `reopen` finds what was stored; tests of that skip themselves where it is false."""

    def make(self, stem: Callable[[str], str] | None = None) -> MemoryStore:
        """Return a new, empty, writable store; without `stem` terms are the tokens."""
        ...

    def reopen(self, store: MemoryStore) -> MemoryStore | None:
        """Close the store and open what it left; None when it leaves nothing."""
        ...

    def freeze(self, store: MemoryStore) -> MemoryStore:
        """Return a read-only store that holds what `store` held; `store` is used no more."""
        ...


class Suite:
    """Base of the parts: a subclass that collects them has a fixture ``maker``."""

    @pytest.fixture
    def store(self, maker: StoreMaker) -> MemoryStore:
        """Return an empty store whose terms are the tokens."""
        return maker.make()


def reopened(maker: StoreMaker, store: MemoryStore) -> MemoryStore:
    """Reopen the store, or skip the test where nothing persists."""
    if not maker.persists:
        pytest.skip("this store does not persist")
    again = maker.reopen(store)
    assert again is not None
    return again


def settled(maker: StoreMaker, store: MemoryStore) -> MemoryStore:
    """Return the store once touches have arrived: closing flushes them."""
    return maker.reopen(store) or store


def ulid(number: int) -> FactId:
    """Return the ULID of this 128-bit number; greater numbers sort later."""
    return FactId(str(ULID.from_int(number)))


def new_id() -> FactId:
    """Return an id not used before, greater than all earlier ones."""
    return ulid(next(_numbers) << 20)


def new_namespace() -> Namespace:
    """Return a namespace not used before."""
    return Namespace(f"shelf {next(_numbers)}")


def at(seconds: float) -> datetime:
    """Return the instant this long after `START`."""
    return START + timedelta(seconds=seconds)


def a_fact(text: str = "the sky is blue", **fields: Any) -> Fact:
    """Build a fact of `SHELF`; fields as in `Fact`, a fresh id unless given."""
    created_at = fields.pop("created_at", START)
    values: dict[str, Any] = {
        "id": new_id(),
        "agent_id": SHELF,
        "accessed_at": created_at,
        **fields,
    }
    return Fact(text=text, created_at=created_at, **values)


def an_alias(term: str, equivalent: str, **fields: Any) -> Fact:
    """Build an alias of `SHELF`."""
    return a_fact(
        f"alias: {term} = {equivalent}",
        kind=FactKind.ALIAS,
        alias=Alias(term=term, equivalents=(equivalent,)),
        **fields,
    )


def with_terms(fact: Fact) -> NewFact:
    """Pair a fact with the words of its text."""
    return NewFact(fact=fact, terms=tuple(fact.text.split()))


def add(store: MemoryStore, *facts: Fact) -> None:
    """Store facts in one batch, their words as tokens."""
    store.apply(WriteBatch(facts=tuple(map(with_terms, facts))))


def vectors_of(fact: Fact, windows: Sequence[Sequence[int]]) -> NewVectors:
    """Build the vectors of a fact's present text; shape (windows, dim)."""
    return NewVectors(
        namespace=fact.agent_id,
        fact_id=fact.id,
        text=fact.text,
        windows=np.array(windows, np.int16),
    )


def embed(store: MemoryStore, fact: Fact, *windows: Sequence[int], model_key: str = MODEL) -> None:
    """Store the windows of one fact."""
    store.apply(WriteBatch(vectors=(vectors_of(fact, windows),), model_key=model_key))


def patch_of(fact: Fact, **changes: Any) -> FactPatch:
    """Build a patch without an expectation."""
    return FactPatch(namespace=fact.agent_id, fact_id=fact.id, **changes)


def patch(store: MemoryStore, fact: Fact, **changes: Any) -> None:
    """Apply one patch alone."""
    store.apply(WriteBatch(patches=(patch_of(fact, **changes),)))
