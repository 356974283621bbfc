"""How a mirror follows the tables: rows when it is built, committed batches afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from graymatter_mcp.model.times import to_microseconds
from graymatter_mcp.store.duckdb import read
from graymatter_mcp.store.duckdb.codec import alias_from_json, optional_microseconds, to_uuid
from graymatter_mcp.store.duckdb.damaged import split_vectors, usual_length
from graymatter_mcp.store.duckdb.mirror import Mirror
from graymatter_mcp.store.duckdb.read import MirrorDetails, MirrorRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from duckdb import DuckDBPyConnection
    from numpy.typing import NDArray

    from graymatter_mcp.model.facts import Fact
    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import Decay, FactDetails, WriteBatch
    from graymatter_mcp.store.duckdb.rows import AppliedBatch
    from graymatter_mcp.store.duckdb.states import StoredState


@dataclass(frozen=True, slots=True)
class Vital:
    """Book-keeping of one fact; time in microseconds."""

    access_count: int
    accessed_at: int
    weight: float


def namespaces_of(applied: AppliedBatch) -> set[Namespace]:
    """Return the namespaces whose mirrors a batch changes."""
    batch = applied.batch
    return (
        {new.fact.agent_id for new in batch.facts}
        | {patch.namespace for patch in batch.patches}
        | {vitals.namespace for vitals in batch.vitals}
        | {new.namespace for new in applied.vectors}
        | {namespace for namespace, _ in batch.delete}
        | set(batch.emptied)
        | {namespace for source, _, target in batch.moves for namespace in (source, target)}
        | {details.namespace for details in batch.details}
        | {edge.namespace for edge in batch.edges}
        | ({batch.decay.namespace} if batch.decay else set())
    )


def built(
    connection: DuckDBPyConnection,
    namespace: Namespace,
    model_id: int,
    stem: Callable[[str], str],
    as_of: int | None = None,
) -> tuple[Mirror, list[bytes]]:
    """Build a mirror from the tables.

    Args:
        connection: Only reads are made.
        namespace: Whose records.
        model_id: Whose vectors.
        stem: Maps a stored token to its index term.
        as_of: Builds it as it was at this microsecond; None as it is. A text that has changed
            since then has no vector.

    Returns:
        The mirror, and the ids of facts whose vectors are damaged and not in it.
    """
    mirror = Mirror(stem)
    for rows in read.mirror_rows(connection, namespace, as_of):
        add_rows(mirror, [row for row in rows if as_of is None or _stored_at(row) <= as_of])
    length = usual_length(connection, model_id)
    reworded = set[int]() if as_of is None else read.reworded_since(connection, namespace, as_of)
    damaged: list[bytes] = []
    for vectors in read.vectors_of(connection, namespace, model_id):
        if reworded:
            vectors = [one for one in vectors if int.from_bytes(one[0]) not in reworded]
        intact, others = split_vectors(vectors, length)
        damaged += others
        add_vectors(
            mirror,
            (
                (int.from_bytes(fact_id), np.frombuffer(blob, "<i2").reshape(windows, -1))
                for fact_id, windows, blob in intact
            ),
        )
    return mirror, damaged


def _stored_at(row: MirrorRow) -> int:
    """Return when a record was stored: by its id where its time of creation is another."""
    stamp = row.number >> 80
    return row.created_at if row.created_at // 1000 == stamp else stamp * 1000


def add_rows(mirror: Mirror, rows: Sequence[MirrorRow]) -> None:
    """Add records as they were read from the tables, none of which is there yet."""
    mirror.add([row for row in rows if row.kind == ""])
    for row in rows:
        if row.kind != "":
            alias = alias_from_json(row.alias)
            mirror.set_alias(row.number, row.created_at, alias, is_live=row.superseded_by == "")


def replay(mirror: Mirror, namespace: Namespace, applied: AppliedBatch, model_key: str) -> None:
    """Apply a committed batch to the mirror of one namespace; twice is as good as once."""
    batch = applied.batch
    _erase(mirror, namespace, batch)
    details = {d.fact_id: mirror_details(d) for d in batch.details if d.namespace == namespace}
    for new in (one for one in batch.facts if one.fact.agent_id == namespace):
        _add_fact(mirror, new.fact, new.terms, details.get(new.fact.id))
    for state in (one for one in applied.states if one.namespace == namespace):
        _set_state(mirror, state)
    if namespace in batch.emptied or any(edge.namespace == namespace for edge in batch.edges):
        mirror.links_version += 1
        mirror.version += 1
    _set_details(mirror, details)
    for vitals in (one for one in batch.vitals if one.namespace == namespace):
        vital = Vital(vitals.access_count, to_microseconds(vitals.accessed_at), vitals.weight)
        set_vital(mirror, to_uuid(vitals.fact_id).int, vital)
    if batch.decay is not None and batch.decay.namespace == namespace:
        _fade(mirror, batch.decay)
    fresh = applied.vectors if batch.model_key == model_key else ()
    add_vectors(
        mirror,
        ((to_uuid(one.fact_id).int, one.windows) for one in fresh if one.namespace == namespace),
    )


def _erase(mirror: Mirror, namespace: Namespace, batch: WriteBatch) -> None:
    for owner, fact_id in batch.delete:
        if owner == namespace:
            number = to_uuid(fact_id).int
            mirror.erase(number)
            mirror.set_alias(number, 0, None, is_live=False)


def _set_details(mirror: Mirror, details: Mapping[FactId, MirrorDetails]) -> None:
    for fact_id, one in details.items():
        row = mirror.row_of.get(to_uuid(fact_id).int)
        if row is not None:
            mirror.set_details(row, one)


def mirror_details(details: FactDetails) -> MirrorDetails:
    """Return details as the tables would give them."""
    return MirrorDetails(
        sensitivity=details.sensitivity,
        content_at=to_microseconds(details.content_at),
        expires_at=optional_microseconds(details.expires_at),
        is_active=details.is_active,
        is_cold=details.is_cold,
        agent_name=details.agent_name,
        session=details.session,
        record=details.record,
    )


def _add_fact(
    mirror: Mirror, fact: Fact, terms: Sequence[str], details: MirrorDetails | None
) -> None:
    number = to_uuid(fact.id).int
    is_live = not fact.is_superseded
    if fact.kind != "":
        mirror.set_alias(number, to_microseconds(fact.created_at), fact.alias, is_live=is_live)
    elif number not in mirror.row_of:
        mirror.add([_row_of(fact, terms, number, details)])


def _row_of(
    fact: Fact, terms: Sequence[str], number: int, details: MirrorDetails | None
) -> MirrorRow:
    return MirrorRow(
        number=number,
        kind=fact.kind,
        text=fact.text,
        terms=" ".join(terms),
        created_at=to_microseconds(fact.created_at),
        superseded_by=fact.superseded_by,
        confidence=fact.confidence,
        is_pinned=fact.pinned,
        alias=None,
        access_count=fact.access_count,
        accessed_at=to_microseconds(fact.accessed_at),
        weight=fact.weight,
        source=fact.origin.source,
        connection=fact.origin.session,
        details=details,
    )


def _set_state(mirror: Mirror, state: StoredState) -> None:
    is_live = state.superseded_by == ""
    number = state.fact_id.int
    if state.kind != "":
        created_at = mirror.aliases[number][0] if number in mirror.aliases else 0
        mirror.set_alias(number, created_at, alias_from_json(state.alias), is_live=is_live)
        return
    row = mirror.row_of.get(number)
    if row is None:
        return
    if state.pruned_at is not None:
        mirror.erase(number)
        return
    if mirror.texts[row] != state.text:
        mirror.reword(number, state.text, state.terms)
        row = mirror.row_of[number]
    is_pinned = state.pinned_at is not None
    mirror.set_state(row, state.confidence, is_live=is_live, is_pinned=is_pinned)


def _fade(mirror: Mirror, decay: Decay) -> None:
    """Lower the weights at once, though the tables may take them in portions: time does it too."""
    mirror.fade(to_microseconds(decay.now), decay.half_life // timedelta(microseconds=1), decay.by)


def set_vital(mirror: Mirror, number: int, vital: Vital) -> None:
    """Change the book-keeping of a fact, if the mirror has it."""
    row = mirror.row_of.get(number)
    if row is not None:
        mirror.set_vitals(row, vital.access_count, vital.accessed_at, vital.weight)


def add_vectors(mirror: Mirror, vectors: Iterable[tuple[int, NDArray[np.int16]]]) -> None:
    """Add the vectors of facts that the mirror has, unless they have some."""
    rows: list[int] = []
    windows: list[NDArray[np.int16]] = []
    for number, made in vectors:
        row = mirror.row_of.get(number)
        if row is not None and not mirror.has_vectors.view[row]:
            rows.append(row)
            windows.append(made)
    mirror.add_vectors(rows, windows)
