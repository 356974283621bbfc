"""The store interface: atomic writes, and snapshots that give raw signals.

Stores are synchronous and thread-safe; the engine calls them from worker threads. They never score:
only ``ranking`` does, so two stores give one order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from graymatter_mcp.model.ids import UNSET, FactId, Namespace, UnsetType
from graymatter_mcp.model.times import EPOCH

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime, timedelta
    from pathlib import Path

    from graymatter_mcp.model.checkpoints import Checkpoint
    from graymatter_mcp.model.checks import BackupReport, Check
    from graymatter_mcp.model.facts import Alias, Fact

Rows = NDArray[np.int32]
"""Positions within one snapshot, in [0, size)."""

NEVER: Final = 2**63 - 1
"""Microsecond at which what does not expire expires."""
SENSITIVE: Final = 3
"""Level of `FactDetails.sensitivity` that the core does not show."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewFact:
    """A fact to append, with its unstemmed tokens in order (`ranking.tokens.tokenize`)."""

    fact: Fact
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactPatch:
    """A change of some fields of one fact, appended as its next version.

    `expected`, when given, is the version that was read: the batch fails unless the stored fact
    still has its text, kind and label and is live. Without it the patch applies to whatever is
    current, but never to an unknown id.
    """

    namespace: Namespace
    fact_id: FactId
    expected: Fact | None = None
    text: str | UnsetType = UNSET
    terms: tuple[str, ...] | UnsetType = UNSET
    superseded_by: str | UnsetType = UNSET
    confidence: str | UnsetType = UNSET
    pinned_at: datetime | UnsetType | None = UNSET
    pruned_at: datetime | UnsetType | None = UNSET
    """When the fact was pruned: from then on every read but `pruned` is as if it did not exist.

    A pinned fact is never pruned: the batch fails.
    """
    alias: Alias | UnsetType | None = UNSET


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """Book-keeping of one fact that is not history: absolute values, the latest wins."""

    namespace: Namespace
    fact_id: FactId
    access_count: int
    accessed_at: datetime
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FactDetails:
    """What the data plane keeps of a fact beside its text: whole values, the latest wins.

    Every version is kept, from the batch's `at` on.
    """

    namespace: Namespace
    fact_id: FactId
    sensitivity: int
    """Level from 0, public, to 3."""
    content_at: datetime
    """When the content was last changed."""
    expires_at: datetime | None = None
    """The fact is hidden from this instant on."""
    is_active: bool = True
    """False hides a live fact: it is deprecated."""
    is_cold: bool = False
    """A retention flag; hides nothing."""
    agent_name: str = ""
    session: str = ""
    """What facts of one session share; where none was named, the connection decides."""
    record: str = ""
    """Everything else, in the engine's own spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One record of accounts: the latest of a kind and key wins; `text` None takes it away."""

    kind: str
    key: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One entry of the audit of accounts and writes: ids and outcome, never content."""

    at: datetime
    tenant: str
    text: str
    """The rest, in the engine's own spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedEvent:
    """An event with its place in the audit, from 1 and rising."""

    seq: int
    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the feed of changes: `created`, `updated`, `superseded`, `deleted`..."""

    seq: int
    """Rises with each entry, in order of commit."""
    namespace: Namespace
    fact_id: FactId
    change: str
    detail: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Decay:
    """Lowers weights of unpinned records to 2 ** (-(now - accessed_at) / half_life); none rises."""

    namespace: Namespace
    now: datetime
    half_life: timedelta
    by: float = 0.0
    """Records that would lose no more than this stay as they are."""
    limit: int
    """Records that the batch changes at most; another batch takes the rest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewVectors:
    """Fixed-point unit vectors of one fact; int16, shape (windows, dim)."""

    namespace: Namespace
    fact_id: FactId
    text: str
    """The text that was embedded: vectors of an older text are dropped, not stored."""
    windows: NDArray[np.int16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """A node of a namespace's graph; `id` is lower case and trimmed."""

    namespace: Namespace
    id: str
    label: str
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """A directed edge between two nodes of one namespace; `weight` in [0, 1]."""

    namespace: Namespace
    source: str
    target: str
    relation: str
    created_at: datetime
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One curation, kept best effort."""

    at: datetime
    action: str
    namespace: Namespace
    old_text: str
    new_text: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """That a call was carried out, kept with its effect for at least 24 hours."""

    key: str
    digest: str
    """Of the request: the key with another one is refused."""
    outcome: str
    """What the engine needs to answer again, in its own spelling."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBatch:
    """What one call changes: all of it or nothing."""

    at: datetime = EPOCH
    """When the call was made: the versions that `patches` make are valid from here."""
    facts: tuple[NewFact, ...] = ()
    patches: tuple[FactPatch, ...] = ()
    vitals: tuple[Vitals, ...] = ()
    decay: Decay | None = None
    vectors: tuple[NewVectors, ...] = ()
    model_key: str = ""
    """The key under which `vectors` are stored."""
    nodes: tuple[Node, ...] = ()
    """Nodes to create unless they exist."""
    edges: tuple[Edge, ...] = ()
    """Edges to add; one that exists (same ends and relation) is kept as it is."""
    checkpoints: tuple[Checkpoint, ...] = ()
    audit: tuple[AuditEntry, ...] = ()
    delete: tuple[tuple[Namespace, FactId], ...] = ()
    """Facts to erase with their versions, vectors and vitals; unknown ids are ignored."""
    emptied: tuple[Namespace, ...] = ()
    """Shelves that first lose what is no fact: checkpoints, graph and curations."""
    counters: tuple[tuple[str, int], ...] = ()
    """Amounts to add to named lifetime counters."""
    details: tuple[FactDetails, ...] = ()
    source_refs: tuple[tuple[Namespace, FactId, str], ...] = ()
    """Handles to add to facts; one that a fact has already is left alone."""
    documents: tuple[Document, ...] = ()
    events: tuple[Event, ...] = ()
    moves: tuple[tuple[Namespace, FactId, Namespace], ...] = ()
    """Facts that go from one shelf to another with all that is theirs; the rest of the batch finds
    them on the old one. An id that the first shelf does not have fails the batch."""
    delete_as: str = "deleted"
    """What the feed says of the facts in `delete`."""
    marks: tuple[tuple[str, str], ...] = ()
    """Names and what to note under them instead of what was noted; "" for nothing any more."""
    is_fresh: bool = False
    """Whether all ids were made for this batch, so that none of them can exist already."""
    receipt: Receipt | None = None
    """Commits with the rest; a key that has one already fails the batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Postings:
    """Where one term occurs among the eligible facts of a snapshot."""

    rows: Rows
    """Facts that hold the term, ascending; document frequency = its length."""
    tf: NDArray[np.float64]
    """Occurrences in each of them, >= 1; same length as `rows`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cooccurrence:
    """A term that stands beside seed terms; counts are numbers of eligible facts."""

    term: str
    with_seed: int
    df: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDetails:
    """What a receipt tells of a fact beside its ranks."""

    fact_id: FactId
    text: str
    created_at: datetime
    confidence: str
    """As stored."""
    is_pinned: bool
    weight: float
    source: str
    """Who or what wrote it, see `Origin`."""


class Snapshot(Protocol):
    """One namespace at one instant, filtered before anything is counted.

    Arrays have one entry per row, `size` rows in all; only rows where `eligible` is true exist for
    ranking: live content of at least the level asked for.
    """

    size: int
    stored: int
    """Content facts in any state; a row more may be nobody's."""
    eligible: NDArray[np.bool_]
    count: int
    """Number of eligible rows (N)."""
    mean_length: float
    """Mean number of tokens over eligible rows; 0.0 when there are none."""
    lengths: NDArray[np.float64]
    levels: NDArray[np.int8]
    """Effective confidence level of each row: 0, 1 or 2."""
    is_labelled: NDArray[np.bool_]
    """Whether somebody gave a row a confidence label."""
    age_order: NDArray[np.int64]
    """Sort key of each row for (created_at ascending, id ascending)."""
    id_order: NDArray[np.int64]
    """Sort key of each row for id ascending."""
    text_keys: NDArray[np.int32]
    """Equal for rows of equal text."""
    has_retired: bool
    """Whether the namespace holds retired facts."""
    rows_key: object
    """The same object in two snapshots: equal rows at equal positions, as far as both reach."""
    records_key: object
    """The same object in two snapshots with one `rows_key`: equal records too."""
    links_version: int
    """Rises with each link added since the rows were numbered."""
    has_vector: NDArray[np.bool_]
    """Whether a row has a vector of the model in use."""
    is_live: NDArray[np.bool_]
    """Whether a row is live content, whatever was asked for."""
    is_gone: NDArray[np.bool_]
    """Whether a row stands for no stored content: what it held was erased or has other words."""
    is_pinned: NDArray[np.bool_]
    is_active: NDArray[np.bool_]
    is_cold: NDArray[np.bool_]
    sensitivity: NDArray[np.int8]
    """Level of each row, -1 where no details say."""
    expires_at: NDArray[np.int64]
    """Microseconds; `NEVER` where a row does not expire."""
    created_at: NDArray[np.int64]
    """Microseconds."""
    content_at: NDArray[np.int64]
    """Microseconds of the last change of content."""
    previous: NDArray[np.int32]
    """The row before each in its session, or -1: see `FactDetails.session`."""
    agent_names: NDArray[np.int32]
    """Equal for rows of equal agent name; 0 where there is none."""
    recency_order: Rows
    """Eligible rows, newest created_at first, equal stamps by id ascending."""
    recency_rank: NDArray[np.int32]
    """Place of each row in it, from 1; 0 where not eligible."""

    @property
    def aliases(self) -> Sequence[Alias]:
        """Live aliases, oldest first."""
        ...

    def postings(self, terms: Sequence[str]) -> list[Postings]:
        """Return the postings of each index term (stemmed when the store stems), in order."""
        ...

    def may_hold(self, term: str) -> bool:
        """Return False only for what is no index term of an eligible fact; `postings` tell more."""
        ...

    def terms_with(self, part: str) -> Collection[str]:
        """Return each index term that contains some letters, in no order.

        Args:
            part: Not empty.

        Returns:
            Every one that an eligible fact holds; there may be more, which have no postings.
        """
        ...

    def similarities(self, query: NDArray[np.int16]) -> NDArray[np.float32] | None:
        """Return exact fixed-point dot products, the best over windows of query and fact.

        Args:
            query: Shape (windows, dim).

        Returns:
            Shape (size,), integers as float32, -inf where a row has no vector of the model in use
            or is not eligible; None when no eligible row has one.
        """
        ...

    def facts(self, rows: Sequence[int]) -> list[Fact]:
        """Fetch facts by row, in the order given."""
        ...

    def fact_ids(self, rows: Sequence[int]) -> list[FactId]:
        """Return the identities by row, in the order given."""
        ...

    def rows_of(self, fact_ids: Sequence[FactId]) -> list[int]:
        """Return the row of each identity, -1 for one that has none here."""
        ...

    def agent_code(self, name: str) -> int:
        """Return the number of an agent name in `agent_names`; -1 where no row has it."""
        ...

    def agent_name(self, row: int) -> str:
        """Return the agent name of a row, empty where it has none."""
        ...

    def records(self, rows: Sequence[int]) -> list[str]:
        """Return the details' `record` by row, empty where a row has none."""
        ...

    def usage(self, rows: Sequence[int]) -> list[tuple[int, datetime]]:
        """Return (access count, last access) by row, as of now."""
        ...

    def vectors(self, row: int) -> NDArray[np.int16] | None:
        """Return the windows of one row, shape (windows, dim); None where it has none."""
        ...

    def narrowed(self, eligible: NDArray[np.bool_]) -> Snapshot:
        """Return the same instant with other rows eligible: statistics are taken over these."""
        ...

    def details(self, rows: Sequence[int]) -> list[RowDetails]:
        """Return what receipts tell, by row, in the order given; never asks the database."""
        ...

    def texts(self, rows: Sequence[int]) -> list[str]:
        """Fetch only the texts by row, in the order given."""
        ...

    def cooccurring(self, seeds: Sequence[str]) -> list[Cooccurrence]:
        """Return every other index term of the eligible facts that hold at least one seed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingVector:
    """A live content fact without a vector of the model in use."""

    namespace: Namespace
    fact_id: FactId
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A point in the order of content facts by creation, then id: behind the fact it names."""

    created_at: datetime
    fact_id: FactId


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Content facts that follow a place."""

    facts: list[Fact]
    """Oldest first, retired ones included, pruned ones not."""
    places: list[Place]
    """Of each of them and of pruned ones between; empty at the end of the namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceStats:
    """Counts of one namespace."""

    namespace: Namespace
    live: int
    """Live content facts."""
    retired: int
    aliases: int
    """Live aliases."""
    pinned: int
    recalls: int
    """Sum of access counts."""
    mean_weight: float
    """Over all records; 0.0 when there are none."""
    oldest_at: datetime | None
    newest_at: datetime | None

    @property
    def total(self) -> int:
        """All records: live, retired and aliases."""
        return self.live + self.retired + self.aliases


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Counts of the whole store."""

    namespaces: tuple[NamespaceStats, ...]
    pending_vectors: int
    nodes: int
    edges: int
    counters: Mapping[str, int] = field(default_factory=dict[str, int])
    """Lifetime counters by name."""
    commit_seq: int = 0
    """Number of the last entry of the feed of changes; 0 before the first."""


class MemoryStore(Protocol):
    """What the engine needs of a database."""

    read_only: bool

    def use_model(self, model_key: str) -> bool:
        """Make `model_key` the one whose vectors snapshots compare and `pending_vectors` misses.

        Args:
            model_key: "" for none.

        Returns:
            Whether some fact has vectors of another key, but none of this one.
        """
        ...

    def apply(self, batch: WriteBatch) -> None:
        """Commit the batch; on return it is durable and visible to every later snapshot.

        Raises:
            FactChangedError: A patch's expectation does not hold, or its fact is unknown.
            ReadOnlyError: The store takes no writes.
            StoreUnavailableError: The database failed; nothing of the batch is stored.
        """
        ...

    def receipt(self, key: str) -> Receipt | None:
        """Return the receipt of a call's key, if it was carried out within the last 24 hours."""
        ...

    def touch(self, namespace: Namespace, fact_ids: Sequence[FactId], at: datetime) -> None:
        """Count one access of each live fact, soon and best effort; never waits for the disk."""
        ...

    def snapshot(
        self, namespace: Namespace, min_level: int = 0, now: datetime | None = None
    ) -> Snapshot:
        """Return a consistent view of the namespace; an unknown one is empty.

        Eligible is what the core may show: live content of the level, active, not expired at `now`
        (None: nothing expires), and not sensitive.
        """
        ...

    def snapshot_at(self, namespace: Namespace, at: datetime) -> Snapshot:
        """Return the namespace as it stood at an instant: facts stored by then, versions valid."""
        ...

    def get(self, namespace: Namespace, ids: Sequence[FactId]) -> list[Fact]:
        """Fetch records by id, retired ones and aliases included; unknown ids are left out."""
        ...

    def shelves_of(self, ids: Sequence[FactId]) -> dict[FactId, Namespace]:
        """Return the namespace of each known id, whatever its state."""
        ...

    def find_text(self, namespace: Namespace, text: str) -> list[Fact]:
        """Return every record, live or retired, of exactly this text, oldest first."""
        ...

    def list(self, namespace: Namespace) -> list[Fact]:
        """Return all records, retired ones and aliases included, newest first."""
        ...

    def count(self, namespace: Namespace) -> int:
        """Count all records of a namespace, retired ones and aliases included."""
        ...

    def mark(self, name: str) -> str:
        """Return what a batch noted under the name; "" for nothing."""
        ...

    def contents(self, namespace: Namespace, behind: Place | None, limit: int) -> Portion:
        """Return the content facts behind a place, or from the first, pruned ones counting too."""
        ...

    def count_contents(self, namespace: Namespace, until: Place) -> int:
        """Count the content facts up to a place, retired and pruned ones included."""
        ...

    def count_fading(self, decay: Decay) -> int:
        """Count the records that the decay would change if it had no limit."""
        ...

    def faint(
        self, namespace: Namespace, now: datetime, half_life: timedelta, below: float, limit: int
    ) -> list[Fact]:
        """Return unpinned records whose weight is, or by now would be, less than `below`."""
        ...

    def pruned(self, before: datetime) -> list[tuple[Namespace, FactId]]:
        """Return the records pruned earlier than `before`."""
        ...

    def superseded_by(
        self, namespace: Namespace, heirs: Sequence[FactId]
    ) -> dict[FactId, list[FactId]]:
        """Map each heir to the ids directly retired in its favour, ascending, if any."""
        ...

    def namespaces(self) -> list[Namespace]:
        """Return every namespace that was ever written to, ascending by code point."""
        ...

    def pending_vectors(self, limit: int) -> list[PendingVector]:
        """Return the oldest live content facts without a vector of the model in use."""
        ...

    def checkpoints(self, namespace: Namespace) -> list[Checkpoint]:
        """Return all checkpoints, newest first, equal stamps by id descending.

        Raises:
            CorruptRecordError: One cannot be decoded; the message holds ``decode checkpoint``.
        """
        ...

    def neighbours(self, namespace: Namespace, node_ids: Sequence[str]) -> list[Node]:
        """Return nodes one edge away, either way, by weight descending, then id; no seed."""
        ...

    def links(self, namespace: Namespace, relation: str, at: datetime | None) -> list[Edge]:
        """Return the edges of one relation, those made by `at` if given."""
        ...

    def with_source_ref(self, ref: str) -> list[tuple[Namespace, FactId]]:
        """Return the facts that carry exactly this handle, ids ascending."""
        ...

    def source_refs(self, fact_ids: Sequence[FactId]) -> dict[FactId, tuple[str, ...]]:
        """Return the handles of facts that have some, ascending by code point."""
        ...

    def documents(self) -> list[Document]:
        """Return the present documents, in order of arrival of their key."""
        ...

    def changes(self, after: int, since: datetime | None) -> Iterator[Change]:
        """Yield the feed behind a seq, oldest first, a portion at a time; stop when you like."""
        ...

    def events(self, tenant: str, after: int, limit: int) -> list[NumberedEvent]:
        """Return a tenant's audit behind a seq, oldest first."""
        ...

    def forget_before(self, changes: datetime, events: datetime) -> None:
        """Drop entries of the feed and of the audit that are older."""
        ...

    def audit(self, limit: int) -> list[AuditEntry]:
        """Return the newest entries first."""
        ...

    def stats(self) -> StoreStats:
        """Count the whole store; namespaces ascending."""
        ...

    def backup(self, target: Path) -> BackupReport:
        """Write a copy of one instant, read back and found equal; reads and writes go on.

        Raises:
            CapabilityUnsupportedError: The store has no file to copy.
            StoreUnavailableError: It could not be made; `target` is as before.
        """
        ...

    def check(self, *, full: bool) -> tuple[Check, ...]:
        """Say whether the records agree with themselves; `full` reads every value."""
        ...

    def ping(self) -> None:
        """Prove that the database answers.

        Raises:
            StoreUnavailableError: It does not.
        """
        ...

    def close(self) -> None:
        """Flush and release everything; twice is fine."""
        ...
