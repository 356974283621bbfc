"""Random small histories of a namespace, and the records that must be left after them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from graymatter_mcp.model.facts import Alias, Fact, FactKind
from graymatter_mcp.store.base import FactPatch, NewFact, WriteBatch
from graymatter_mcp.store.conformance.kit import MODEL, at, new_id, vectors_of
from graymatter_mcp.store.conformance.view import Stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.model.ids import FactId, Namespace
    from graymatter_mcp.store.base import MemoryStore

PROPERTY: Final = settings(
    max_examples=40,
    deadline=None,
    database=None,
    # Examples share the store and use a namespace each; subclasses share the inherited method.
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)

WORDS: Final = ("ant", "ants", "bee", "bees", "cow")
TERMS: Final = (*WORDS, "unheard")
LETTERS: Final = ("a", "nt", "e", "s", "cow", "x")
LABELS: Final = ("", "verified", "inferred", "unverified", "hearsay")

Words = tuple[str, ...]
Windows = tuple[tuple[int, ...], ...]


def cut_plural(token: str) -> str:
    """Stem for tests: drop one trailing s."""
    return token.removesuffix("s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """One fact to write; equal `second`s give equal stamps, `place` orders the ids."""

    words: Words
    second: int
    place: int
    label: str
    fate: str
    windows: Windows | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One later change; `target` is a position among the drafts, modulo their number."""

    target: int
    kind: str
    words: Words
    label: str
    windows: Windows | None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Drafts written in one or two batches, then changes, each in a batch of its own."""

    drafts: tuple[Draft, ...]
    cut: int
    changes: tuple[Change, ...]


_words = st.lists(st.sampled_from(WORDS), max_size=5).map(tuple)
_component = st.integers(-5, 5)
_windows = st.none() | st.lists(
    st.tuples(_component, _component, _component), min_size=1, max_size=3
).map(tuple)
_label = st.sampled_from(LABELS)


def a_history() -> st.SearchStrategy[History]:
    """Generate histories of up to eight facts and six changes."""
    draft = st.builds(
        Draft,
        words=_words,
        second=st.integers(0, 3),
        place=st.integers(0, 1000),
        label=_label,
        fate=st.sampled_from(("live", "live", "live", "retired", "alias")),
        windows=_windows,
    )
    change = st.builds(
        Change,
        target=st.integers(0, 7),
        kind=st.sampled_from(("retire", "relabel", "reword", "pin", "embed", "delete", "prune")),
        words=_words,
        label=_label,
        windows=_windows,
    )
    return st.builds(
        History,
        drafts=st.lists(draft, max_size=8, unique_by=lambda draft: draft.place).map(tuple),
        cut=st.integers(0, 8),
        changes=st.lists(change, max_size=6).map(tuple),
    )


def play(store: MemoryStore, namespace: Namespace, history: History) -> list[Stored]:
    """Write the history and return the records that must be left, whatever the store shows."""
    ids = sorted(new_id() for _ in history.drafts)
    places = sorted(draft.place for draft in history.drafts)
    records = {
        fact_id: _record(draft, fact_id, namespace)
        for draft in history.drafts
        for fact_id in [ids[places.index(draft.place)]]
    }
    written = list(records.values())
    for part in (written[: history.cut], written[history.cut :]):
        store.apply(_batch_of(part))
    order = list(records)
    for change in history.changes:
        if order and (fact_id := order[change.target % len(order)]) in records:
            _change(store, records, fact_id, change)
    return list(records.values())


def _record(draft: Draft, fact_id: FactId, namespace: Namespace) -> Stored:
    is_alias = draft.fate == "alias"
    fact = Fact(
        id=fact_id,
        agent_id=namespace,
        text=" ".join(draft.words) or " ",
        created_at=at(draft.second),
        accessed_at=at(draft.second),
        confidence=draft.label,
        superseded_by="agent" if draft.fate == "retired" else "",
        kind=FactKind.ALIAS if is_alias else FactKind.CONTENT,
        alias=Alias(term=str(draft.place), equivalents=("x",)) if is_alias else None,
    )
    return Stored(fact=fact, terms=draft.words, windows=draft.windows)


def _batch_of(records: Sequence[Stored]) -> WriteBatch:
    return WriteBatch(
        facts=tuple(NewFact(fact=record.fact, terms=record.terms) for record in records),
        vectors=tuple(
            vectors_of(record.fact, record.windows)
            for record in records
            if record.windows is not None
        ),
        model_key=MODEL,
    )


def _change(
    store: MemoryStore, records: dict[FactId, Stored], fact_id: FactId, change: Change
) -> None:
    old = records[fact_id]
    namespace = old.fact.agent_id
    if change.kind == "delete":
        store.apply(WriteBatch(delete=((namespace, fact_id),)))
        del records[fact_id]
        return
    if change.kind == "prune":
        if not old.fact.pinned:
            patch_ = FactPatch(namespace=namespace, fact_id=fact_id, pruned_at=at(9))
            store.apply(WriteBatch(patches=(patch_,)))
            del records[fact_id]
        return
    if change.kind == "embed":
        # Vectors come once for a text: the engine embeds only what is pending.
        if old.windows is None and change.windows is not None:
            records[fact_id] = replace(old, windows=change.windows)
            new = vectors_of(old.fact, change.windows)
            store.apply(WriteBatch(vectors=(new,), model_key=MODEL))
        return
    changes = _fields(change)
    patch = FactPatch(namespace=namespace, fact_id=fact_id, **changes)
    terms = changes.pop("terms", old.terms)
    if "pinned_at" in changes:
        changes["pinned"] = True
    fact = replace(old.fact, **changes)
    has_new_text = fact.text != old.fact.text
    windows = change.windows if has_new_text else old.windows
    vectors = (vectors_of(fact, windows),) if has_new_text and windows is not None else ()
    store.apply(WriteBatch(patches=(patch,), vectors=vectors, model_key=MODEL))
    records[fact_id] = replace(old, fact=fact, terms=terms, windows=windows)


def _fields(change: Change) -> dict[str, Any]:
    match change.kind:
        case "retire":
            return {"superseded_by": "agent"}
        case "relabel":
            return {"confidence": change.label}
        case "pin":
            return {"pinned_at": at(5)}
        case _:
            return {"text": " ".join(change.words) or " ", "terms": change.words}
