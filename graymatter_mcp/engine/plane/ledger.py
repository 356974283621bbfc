"""All accounts in memory, and the one way to change them: committed first, then seen."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from graymatter_mcp.engine.plane.documents import (
    Choice,
    Kind,
    Moment,
    Put,
    document_of,
    put_of,
)
from graymatter_mcp.engine.plane.erasure import NOTHING, Estate
from graymatter_mcp.engine.plane.replays import outcome_of
from graymatter_mcp.engine.plane.tables import Table
from graymatter_mcp.model.accounts import Project, Quota, Role, Token, User, WebSession
from graymatter_mcp.model.scopes import LOCAL
from graymatter_mcp.store.base import Receipt, WriteBatch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from graymatter_mcp.engine.clock import Clock
    from graymatter_mcp.model.checkpoints import JsonObject
    from graymatter_mcp.model.requests import CallKey
    from graymatter_mcp.store.base import Event, MemoryStore


def named(tenant: str, username: str) -> Hashable:
    """Return what a user is looked up with by name."""
    return ("name", tenant, username)


def _user_keys(user: User) -> tuple[Hashable, ...]:
    keys = (("tenant", user.tenant), named(user.tenant, user.username))
    return (*keys, ("subject", user.subject)) if user.subject else keys


def _project_keys(project: Project) -> tuple[Hashable, ...]:
    users = tuple(("user", user_id) for user_id in project.user_ids)
    return (named(project.tenant, project.name), *users)


def _token_keys(token: Token) -> tuple[Hashable, ...]:
    keys = (token.sha256, ("user", token.user_id))
    return (*keys, ("project", token.project_id)) if token.project_id else keys


def _no_keys(_: object) -> tuple[Hashable, ...]:
    return ()


def _session_keys(session: WebSession) -> tuple[Hashable, ...]:
    return (("user", session.user_id),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """Every account at one instant."""

    users: Table[User] = field(default_factory=lambda: Table[User](_user_keys))
    projects: Table[Project] = field(default_factory=lambda: Table[Project](_project_keys))
    tokens: Table[Token] = field(default_factory=lambda: Table[Token](_token_keys))
    uses: Table[Moment] = field(default_factory=lambda: Table[Moment](_no_keys))
    active: Table[Choice] = field(default_factory=lambda: Table[Choice](_no_keys))
    """By user."""
    quotas: Table[Quota] = field(default_factory=lambda: Table[Quota](_no_keys))
    """By user."""
    sessions: Table[WebSession] = field(default_factory=lambda: Table[WebSession](_session_keys))
    """By the digest of the cookie, in hex."""

    def changed(self, puts: Iterable[Put]) -> Book:
        """Return a book in which records were put, or taken away."""
        by_kind: dict[Kind, list[tuple[str, Any]]] = {}
        for put in puts:
            by_kind.setdefault(put.kind, []).append((put.key, put.row))
        tables = {_PLACES[kind]: self._table(kind).changed(new) for kind, new in by_kind.items()}
        return replace(
            self, **cast("dict[str, Any]", tables)
        )  # each table has the type of its field

    def _table(self, kind: Kind) -> Table[Any]:
        return getattr(self, _PLACES[kind])

    def projects_of(self, user_id: str) -> list[Project]:
        """Return the projects of which somebody is owner or member, oldest first."""
        return self.projects.found(("user", user_id))


_PLACES = {
    Kind.USER: "users",
    Kind.PROJECT: "projects",
    Kind.TOKEN: "tokens",
    Kind.TOKEN_USE: "uses",
    Kind.ACTIVE_PROJECT: "active",
    Kind.QUOTA: "quotas",
    Kind.SESSION: "sessions",
}


class Ledger:
    """The accounts of one store; this process is the only one that changes them."""

    def __init__(self, store: MemoryStore, clock: Clock, turn: threading.RLock) -> None:
        """Read all accounts.

        Args:
            store: Where they are kept.
            clock: Of the engine.
            turn: Held by whoever writes facts too, from finding their scope to the commit, so that
                no fact arrives in a project that is being deleted.

        Raises:
            CorruptRecordError: One cannot be decoded.
        """
        self.store = store
        self.clock = clock
        self._turn = turn
        puts = [put for document in store.documents() if (put := put_of(document)) is not None]
        self._book = Book().changed(puts)
        self._local = _Local()
        self._assumed: tuple[Put, ...] = ()
        if self._book.users.get(LOCAL) is None:
            # Kept with the first change, so that opening a store writes nothing.
            local = User(
                id=LOCAL, tenant=LOCAL, username=LOCAL, role=Role.ADMIN, created_at=clock.now()
            )
            self._assumed = (Put(Kind.USER, LOCAL, local),)
            self._book = self._book.changed(self._assumed)

    @property
    def book(self) -> Book:
        """All accounts, to be taken once by each reader: it is exchanged as a whole."""
        unit = self._local.unit
        return self._book if unit is None else unit.book

    def turn(self) -> AbstractContextManager[object]:
        """Hold back every other change, to decide on the book as it will be changed."""
        return self._turn

    def commit(
        self,
        puts: Sequence[Put],
        event: Event | None,
        *,
        at: datetime | None = None,
        dying: Estate = NOTHING,
    ) -> None:
        """Make one change durable, then visible; nothing of it if the store fails.

        Args:
            puts: Records.
            event: For the audit.
            at: When; the clock's time by default.
            dying: What dies with it.
        """
        with self._turn:
            changes = (*self._assumed, *puts)
            batch = WriteBatch(
                at=self.clock.now() if at is None else at,
                documents=tuple(document_of(put) for put in changes),
                events=() if event is None else (event,),
                delete=dying.facts,
                emptied=dying.shelves,
            )
            unit = self._local.unit
            if unit is None:
                self._apply(batch, self._book.changed(puts))
            else:
                assert unit.batch is None, "one change a call"
                unit.batch, unit.book = batch, unit.book.changed(puts)

    def once(
        self, key: CallKey, work: Callable[[], JsonObject], told: Callable[[JsonObject], JsonObject]
    ) -> tuple[JsonObject, bool]:
        """Let a call that changes accounts take effect once.

        What it changes is seen by itself alone until its answer is there to be kept with it.

        Args:
            key: Of the call.
            work: Changes something, and gives the answer.
            told: Makes of an answer what may be kept of it.

        Returns:
            The answer, and whether it is what was kept of an earlier one.

        Raises:
            ConflictError: The key was used with another request.
        """
        with self._turn:
            earlier = outcome_of(self.store, key)
            if earlier is not None:
                return earlier, True
            unit = self._local.unit = _Unit(book=self._book)
            try:
                answer = work()
            finally:
                self._local.unit = None
            if unit.batch is not None:
                outcome = json.dumps(told(answer))
                at = unit.batch.at
                receipt = Receipt(key=key.key, digest=key.digest, outcome=outcome, at=at)
                self._apply(replace(unit.batch, receipt=receipt), unit.book)
            return answer, False

    def _apply(self, batch: WriteBatch, book: Book) -> None:
        self.store.apply(batch)
        self._assumed = ()
        self._book = book


@dataclass(slots=True)
class _Unit:
    """A change in the making: nobody else sees it yet."""

    book: Book
    batch: WriteBatch | None = None


class _Local(threading.local):
    """Of each thread."""

    unit: _Unit | None = None
