"""What the store keeps of a fact and no read shows: of a superseded one, and its count of reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graymatter_mcp.engine.plane.corpus import Corpora, Filter
from graymatter_mcp.engine.plane.items import shown_metadata
from graymatter_mcp.model.ids import FactId, Namespace
from graymatter_mcp.ranking.tokens import Analyzer

if TYPE_CHECKING:
    from contract_tests.plane_wire import Plane
    from graymatter_mcp.model.facts import Fact


def stored_fact(plane: Plane, namespace: str, fact_id: str) -> Fact:
    """Return a fact, whatever its state."""
    (fact,) = plane.server.store.get(Namespace(namespace), [FactId(fact_id)])
    return fact


def hits_of(plane: Plane, namespace: str, fact_id: str) -> int:
    """Return the hits of a fact as an export would tell them.

    Source: data plane, 1.2.
    """
    # The mirror counts at once; a row of the table may be on its way just now.
    snapshot = plane.server.store.snapshot(Namespace(namespace))
    ((count, _),) = snapshot.usage(snapshot.rows_of([FactId(fact_id)]))
    return count + 1


def stored_metadata(plane: Plane, namespace: str, fact_id: str) -> dict[str, Any]:
    """Return the metadata of a fact as an export would tell them."""
    corpora = Corpora(plane.server.store, Analyzer("english"))
    wanted = Filter(now=plane.server.clock.now(), max_sensitivity="sensitive")
    part = corpora.part(Namespace(namespace), wanted)
    (row,) = part.snapshot.rows_of([FactId(fact_id)])
    fact = stored_fact(plane, namespace, fact_id)
    return shown_metadata(fact, part.details(row, fact.text))
