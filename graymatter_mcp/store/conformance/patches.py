"""Patches: one fact's next version, guarded by what was read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from graymatter_mcp.errors import FactChangedError
from graymatter_mcp.model.facts import Alias
from graymatter_mcp.store.base import WriteBatch
from graymatter_mcp.store.conformance.kit import (
    SHELF,
    Suite,
    a_fact,
    add,
    an_alias,
    at,
    new_id,
    patch,
    patch_of,
    with_terms,
)
from graymatter_mcp.store.conformance.writes import everything, only

if TYPE_CHECKING:
    from graymatter_mcp.store.base import MemoryStore


class Patches(Suite):
    """What a patch promises."""

    @pytest.mark.parametrize(
        ("changes", "expected"),
        [
            ({"superseded_by": "agent"}, {"superseded_by": "agent"}),
            ({"confidence": "verified"}, {"confidence": "verified"}),
            ({"pinned_at": at(3)}, {"pinned": True, "pinned_at": at(3)}),
            ({"text": "grey sea", "terms": ("grey", "sea")}, {"text": "grey sea"}),
            ({"alias": Alias(term="a", equivalents=("b",))}, None),
        ],
    )
    def test_a_patch_changes_only_its_own_fields(
        self, store: MemoryStore, changes: dict[str, Any], expected: dict[str, Any] | None
    ) -> None:
        """Contract 4.3: pin, retire and label touch their own fields of the fresh fact."""
        fact = a_fact(confidence="inferred", access_count=2, weight=0.75, accessed_at=at(1))
        add(store, fact)
        patch(store, fact, **changes)
        assert only(store, fact) == replace(fact, **(changes if expected is None else expected))

    def test_patches_of_one_fact_add_up(self, store: MemoryStore) -> None:
        """Interface: each patch is the next version of what is current."""
        fact = a_fact()
        add(store, fact)
        patch(store, fact, confidence="verified")
        patch(store, fact, pinned_at=at(1))
        store.apply(
            WriteBatch(
                patches=(
                    patch_of(fact, text="blue", terms=("blue",)),
                    patch_of(fact, superseded_by="agent"),
                )
            )
        )
        assert only(store, fact) == replace(
            fact,
            confidence="verified",
            pinned=True,
            pinned_at=at(1),
            text="blue",
            superseded_by="agent",
        )

    def test_a_pin_is_cleared_by_none_also_on_a_retired_fact(self, store: MemoryStore) -> None:
        """Contract 6: unpin also clears retired copies."""
        fact = a_fact(pinned=True, pinned_at=at(1), superseded_by="agent")
        add(store, fact)
        patch(store, fact, pinned_at=None)
        assert only(store, fact) == replace(fact, pinned=False, pinned_at=None)

    def test_a_patch_may_refer_to_a_fact_of_its_own_batch(self, store: MemoryStore) -> None:
        """Interface: facts are added before patches apply."""
        fact = a_fact()
        store.apply(
            WriteBatch(
                facts=(with_terms(fact),),
                patches=(patch_of(fact, expected=fact, confidence="verified"),),
            )
        )
        assert only(store, fact) == replace(fact, confidence="verified")

    @pytest.mark.parametrize(
        "changes",
        [
            {"text": "the sky is grey"},
            {"text": "the sky is blue "},
            {"confidence": "verified"},
            {"kind": "alias"},
        ],
    )
    def test_an_expectation_of_another_version_fails(
        self, store: MemoryStore, changes: dict[str, str]
    ) -> None:
        """Contract 6: each source must still have the text, kind and label that were read."""
        fact = a_fact()
        add(store, fact)
        with pytest.raises(FactChangedError):
            patch(store, fact, expected=replace(fact, **changes), superseded_by="agent")
        assert only(store, fact) == fact

    def test_an_expectation_of_a_live_fact_fails_once_it_is_retired(
        self, store: MemoryStore
    ) -> None:
        """Contract 6: the source must be live inside the transaction."""
        fact = a_fact()
        add(store, fact)
        patch(store, fact, superseded_by="agent")
        heir = new_id()
        with pytest.raises(FactChangedError):
            patch(store, fact, expected=fact, superseded_by=heir)
        assert only(store, fact).superseded_by == "agent"

    def test_an_expectation_ignores_book_keeping_and_pins(self, store: MemoryStore) -> None:
        """Contract 6: only text, kind, label and life are compared."""
        fact = a_fact()
        add(store, fact)
        read = replace(fact, access_count=7, weight=0.2, accessed_at=at(9), pinned=True)
        patch(store, fact, expected=read, superseded_by="agent")
        assert only(store, fact).superseded_by == "agent"

    def test_a_patch_of_an_unknown_id_creates_nothing(self, store: MemoryStore) -> None:
        """Contract 4.3: an update never creates a missing fact."""
        add(store, a_fact())
        before = everything(store)
        with pytest.raises(FactChangedError):
            patch(store, a_fact(), confidence="verified")
        assert everything(store) == before

    def test_a_retired_alias_stops_widening_and_a_patched_pair_replaces_the_old(
        self, store: MemoryStore
    ) -> None:
        """Contract 8.4: an alias is forgotten and changed like any fact."""
        forgotten, changed, emptied = (
            an_alias(term, "x", created_at=at(n)) for n, term in enumerate("abc")
        )
        add(store, forgotten, changed, emptied)
        pair = Alias(term="b", equivalents=("y", "z"))
        patch(store, forgotten, superseded_by="agent")
        patch(store, changed, alias=pair)
        patch(store, emptied, alias=None)
        assert list(store.snapshot(SHELF).aliases) == [pair]
