"""Decay, promotion and expiry, every few hours and when an admin asks.

Source: data-plane contract 7.5; what it leaves open is in ADR 0042.
"""

from __future__ import annotations

import json
import logging
import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import numpy as np

from graymatter_mcp.engine.plane.corpus import Filter
from graymatter_mcp.engine.plane.shelf_index import BASE_DAYS, NO_DETAILS, NO_RETENTION
from graymatter_mcp.errors import CorruptRecordError, GraymatterError
from graymatter_mcp.model.reports import Decayed
from graymatter_mcp.model.scopes import owned
from graymatter_mcp.model.times import from_microseconds, to_microseconds
from graymatter_mcp.policy.sensitivity import SENSITIVITIES
from graymatter_mcp.store.base import Document, WriteBatch

if TYPE_CHECKING:
    from datetime import datetime

    from numpy.typing import NDArray

    from graymatter_mcp.engine.plane.corpus import Part
    from graymatter_mcp.engine.plane.writes import Parts
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.ids import FactId, Namespace

logger = logging.getLogger(__name__)

MOST_EXPIRED: Final = 1000
"""Facts that one pass erases."""
AT_ONCE: Final = 1000
"""Facts whose tier one commit changes."""
KIND: Final = "plane"
"""Of the document that keeps when the last pass was."""
DAY_US: Final = 86_400_000_000.0
SETTLING: Final = timedelta(minutes=1)
"""A process that has just begun has other things to do."""


class Upkeep:
    """Makes the passes; synchronous, for worker threads and for its own."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._kept: dict[str, datetime] = {}
        for document in parts.store.documents():
            if document.kind == KIND:
                self._kept[document.key] = _moment_of(document)

    @property
    def last_pass_at(self) -> datetime | None:
        """When all facts were last gone through, if they ever were."""
        return self._kept.get(_key(None))

    def last_decay_at(self, tenant: str) -> datetime | None:
        """Return when a tenant's facts were last gone through, if they ever were."""
        found = [self._kept[key] for key in (_key(None), _key(tenant)) if key in self._kept]
        return max(found, default=None)

    def decay(self, caller: Caller, effective_days: int | None = None) -> Decayed:
        """Go through the facts of an admin's tenant now.

        Args:
            caller: An admin.
            effective_days: How long a fact without a retention stays warm; None for the setting.

        Raises:
            ForbiddenError: The caller is no admin.
        """
        self._parts.accounts.reach.check_admin(caller)
        return self.pass_over(caller.tenant, effective_days, caller)

    def pass_over(
        self, tenant: str | None = None, base_days: int | None = None, caller: Caller | None = None
    ) -> Decayed:
        """Demote, promote and erase what is due.

        Args:
            tenant: Whose facts; None for all.
            base_days: See `decay`.
            caller: For the audit; None where nobody asked.
        """
        parts = self._parts
        demoted = promoted = expired = 0
        base = base_days or parts.settings.base_days
        for namespace in parts.store.namespaces():
            if tenant is not None and owned(namespace)[0].tenant != tenant:
                continue
            with parts.turn:
                now = parts.clock.now()
                wanted = Filter(now=now, max_sensitivity=SENSITIVITIES[-1])
                part = parts.corpora.part(namespace, wanted)
                since = self.last_decay_at(owned(namespace)[0].tenant) or now
                down, up = _due(part, base, now, since)
                self._turn(part, down, is_cold=True, at=now)
                self._turn(part, up, is_cold=False, at=now)
                expired += self._expire(part, MOST_EXPIRED - expired, now)
            demoted, promoted = demoted + len(down), promoted + len(up)
        self._note(tenant, caller)
        return Decayed(demoted=demoted, promoted=promoted, expired=expired)

    def _turn(self, part: Part, rows: list[int], *, is_cold: bool, at: datetime) -> None:
        for start in range(0, len(rows), AT_ONCE):
            some = rows[start : start + AT_ONCE]
            ids = part.snapshot.fact_ids(some)
            details = tuple(
                replace(part.details(row, ""), is_cold=is_cold).under(part.namespace, fact_id)
                for row, fact_id in zip(some, ids, strict=True)
            )
            self._parts.store.apply(WriteBatch(at=at, details=details))

    def _expire(self, part: Part, at_most: int, now: datetime) -> int:
        snapshot = part.snapshot
        # Rows of what was erased before stay in memory, and must not use up the pass.
        is_over = (snapshot.expires_at <= to_microseconds(now)) & ~snapshot.is_gone
        over = np.flatnonzero(is_over).tolist()
        ids = snapshot.fact_ids(over[:at_most])
        doomed: list[tuple[Namespace, FactId]] = [(part.namespace, one) for one in ids]
        if doomed:
            self._parts.store.apply(WriteBatch(at=now, delete=tuple(doomed), delete_as="expired"))
        return len(doomed)

    def _note(self, tenant: str | None, caller: Caller | None) -> None:
        parts = self._parts
        at, key = parts.clock.now(), _key(tenant)
        event = None if caller is None else parts.accounts.audit.event(caller, "decay")
        document = Document(kind=KIND, key=key, text=json.dumps({"at": to_microseconds(at)}))
        parts.store.apply(
            WriteBatch(at=at, documents=(document,), events=() if event is None else (event,))
        )
        self._kept = {**self._kept, key: at}


def _due(part: Part, base_days: int, now: datetime, since: datetime) -> tuple[list[int], list[int]]:
    """Return the rows that go cold, and those that a read after the last pass made warm again.

    A search makes cold facts warm by itself. What is left are reads that came another way, and
    those whose process ended before the promotion was stored.

    Args:
        part: All levels.
        base_days: For facts without a retention of their own.
        now: Judged at.
        since: When the last pass was.
    """
    snapshot = part.snapshot
    stored = part.index.column(BASE_DAYS, snapshot.size)
    base = np.where(stored == NO_RETENTION, base_days, stored).astype(np.float64)
    at = to_microseconds(now)
    may_change = snapshot.eligible & (stored != NO_DETAILS)
    # Whatever was read since stays warm longer, so that only the old need be asked.
    is_old = (at - snapshot.content_at) / DAY_US > base
    old = np.flatnonzero(may_change & ~snapshot.is_cold & ~snapshot.is_pinned & is_old)
    down = old[_idle_days(part, old, at) > _lasting(part, old, base)]
    cold = np.flatnonzero(may_change & snapshot.is_cold)
    is_read = _last_reads(part, cold) > to_microseconds(since)
    cold = cold[is_read]
    up = cold[_idle_days(part, cold, at) < _lasting(part, cold, base)]
    return down.tolist(), up.tolist()


def _counts(part: Part, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.array([count for count, _ in part.snapshot.usage(rows.tolist())], np.float64)


def _last_reads(part: Part, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return the microsecond of the last counted read of each row, 0 where there was none."""
    usage = part.snapshot.usage(rows.tolist())
    return np.array([to_microseconds(at) if count else 0 for count, at in usage], np.int64)


def _idle_days(part: Part, rows: NDArray[np.intp], now: int) -> NDArray[np.float64]:
    last = np.maximum(_last_reads(part, rows), part.snapshot.content_at[rows])
    return (now - last) / DAY_US


def _lasting(part: Part, rows: NDArray[np.intp], base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how many idle days each row stays warm: hits are 1 and the counted reads."""
    return base[rows] * np.log2(_counts(part, rows) + 2)


def _key(tenant: str | None) -> str:
    return "decay" if tenant is None else f"decay/{tenant}"


def _moment_of(document: Document) -> datetime:
    try:
        return from_microseconds(json.loads(document.text or "")["at"])
    except (ValueError, TypeError, KeyError) as exc:
        raise CorruptRecordError("the note of the last decay is damaged") from exc


class Upkeeper:
    """Runs the passes of one process in a thread of its own."""

    def __init__(self, parts: Parts, upkeep: Upkeep, *, settling: timedelta = SETTLING) -> None:
        """Start, unless the store can only be read or passes are off.

        Args:
            parts: Of the data plane.
            upkeep: Makes the passes.
            settling: How long the first one waits at least.
        """
        self._parts = parts
        self._upkeep = upkeep
        self._settling_s = settling.total_seconds()
        self._is_closing = threading.Event()
        self._thread: threading.Thread | None = None
        if parts.settings.upkeep_every > timedelta(0) and not parts.store.read_only:
            self._thread = threading.Thread(target=self._run, name="graymatter-upkeep", daemon=True)
            self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether passes will come."""
        return self._thread is not None and self._thread.is_alive()

    def close(self) -> None:
        """Stop after the pass in hand."""
        self._is_closing.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._is_closing.wait(self._wait_s()):
            try:
                self._upkeep.pass_over()
                self._parts.accounts.upkeep()
            except GraymatterError as exc:
                logger.warning("upkeep failed: %s", exc)
                if self._is_closing.wait(self._settling_s):
                    return

    def _wait_s(self) -> float:
        """Return how long to wait: the passes of processes that have ended count too."""
        last = self._upkeep.last_pass_at
        if last is None:
            return self._settling_s
        every = self._parts.settings.upkeep_every
        left = (last + every - self._parts.clock.now()).total_seconds()
        return max(left, self._settling_s)
