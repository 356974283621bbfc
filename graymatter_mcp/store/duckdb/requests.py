"""Requests for a commit, and how those who commit answer them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.store.base import WriteBatch

if TYPE_CHECKING:
    from graymatter_mcp.store.duckdb.rows import AppliedBatch, Gathering

MAX_GROUP: Final = 256
"""Requests that share a commit at most."""
DISK_FULL: Final = "the disk is full; nothing was stored"
FAILED: Final = "the database failed; nothing was stored"

OnCommit = Callable[[Sequence["AppliedBatch"], int], None]
"""Is told what was applied, and the last seq given that the tables have; 0 where none was."""


@dataclass(slots=True)
class Request:
    """A batch, and the promise to commit it."""

    batch: WriteBatch
    done: Future[None] = field(default_factory=lambda: Future[None]())
    is_taken: bool = False
    """Whether somebody commits it, or has."""


LOOK: Final = Request(WriteBatch())
"""Asks for nothing: wakes the thread."""


@dataclass(frozen=True, slots=True)
class Gathered:
    """What became of the requests of a group."""

    applied: list[AppliedBatch]
    accepted: list[Request]
    refused: list[tuple[Request, GraymatterError]]


def gather(gathering: Gathering, requests: Sequence[Request]) -> Gathered:
    """Give each batch to the group; one that is refused leaves the others in."""
    gathered = Gathered([], [], [])
    for request in requests:
        try:
            gathered.applied.append(gathering.add(request.batch))
        except GraymatterError as exc:
            gathered.refused.append((request, exc))
        else:
            gathered.accepted.append(request)
    return gathered


def finish(gathered: Gathered, on_commit: OnCommit, seq: int) -> None:
    """Tell everybody of a commit."""
    on_commit(gathered.applied, seq)
    for request in gathered.accepted:
        request.done.set_result(None)
    refuse(gathered)


def refuse(gathered: Gathered) -> None:
    """Tell those whose batches were left out."""
    for request, error in gathered.refused:
        request.done.set_exception(error)


def fail(requests: Sequence[Request], error: GraymatterError) -> None:
    """Tell those who have heard nothing yet that nothing of theirs is stored."""
    for request in requests:
        if not request.done.done():
            request.done.set_exception(error)
