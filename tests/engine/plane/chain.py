"""Facts that take each other's place, one after the other, and what a store says of them."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.plane.corpus import Corpora, Filter
from graymatter_mcp.model.ids import Namespace
from graymatter_mcp.model.plane import NewEntry
from graymatter_mcp.ranking.tokens import Analyzer
from graymatter_mcp.store.duckdb.store import DuckDBStore

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

SHELF: Final = "relay"


def entry(number: int) -> NewEntry:
    """Return the fact of a number; it contradicts that of every other number."""
    return NewEntry(
        content=f"The relay listens on port {10_000 + number}",
        namespace=SHELF,
        source_refs=(f"ref-{number}",),
    )


def numbers_in_order(directory: Path, now: datetime) -> list[int]:
    """Return the numbers of the facts of a store, after a look at how they hang together.

    Each must have been superseded by the next, with its details, and name the one before.
    """
    analyzer = Analyzer("english")
    store = DuckDBStore(directory / "gray.duckdb", stem=analyzer.index_term)
    try:
        part = Corpora(store, analyzer).part(
            Namespace(SHELF), Filter(now=now, max_sensitivity="sensitive")
        )
        rows = list(range(part.snapshot.size))
        facts = sorted(part.snapshot.facts(rows), key=lambda fact: fact.id)
        for before, after in zip(facts, [*facts[1:], None], strict=True):
            (row,) = part.snapshot.rows_of([before.id])
            kept = part.details(row, before.text).kept
            assert before.superseded_by == ("" if after is None else after.id)
            assert ("supersededAt" in kept) is (after is not None)
            assert kept["captureAction"] == ("inserted" if before is facts[0] else "superseded")
        for before, after in pairwise(facts):
            (row,) = part.snapshot.rows_of([after.id])
            assert part.details(row, after.text).kept["supersedes"] == [before.id]
        numbers = [int(fact.text.rpartition(" ")[2]) - 10_000 for fact in facts]
        for number, fact in zip(numbers, facts, strict=True):
            assert store.with_source_ref(f"ref-{number}") == [(SHELF, fact.id)]
        superseded = [one.fact_id for one in store.changes(0, None) if one.change == "superseded"]
        assert superseded == [fact.id for fact in facts[:-1]]
        return numbers
    finally:
        store.close()
