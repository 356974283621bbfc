"""Projects: made, shared, left, chosen and deleted with all that they hold."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from graymatter_mcp.engine.plane.documents import Choice, Kind, Put
from graymatter_mcp.engine.plane.erasure import estate_of
from graymatter_mcp.engine.plane.ledger import named
from graymatter_mcp.engine.plane.lines import check_line
from graymatter_mcp.errors import (
    ConflictError,
    ForbiddenError,
    InvalidArgumentError,
    NotFoundError,
)
from graymatter_mcp.model.accounts import Member, Project
from graymatter_mcp.model.scopes import project_scope

if TYPE_CHECKING:
    from collections.abc import Iterable

    from graymatter_mcp.engine.plane.audit import Audit
    from graymatter_mcp.engine.plane.ledger import Book, Ledger
    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.access import Caller

MAX_NAME = 128


class Projects:
    """The projects of a store; every change asks for an unrestricted token."""

    def __init__(self, ledger: Ledger, reach: Reach, audit: Audit) -> None:
        self._ledger = ledger
        self._reach = reach
        self._audit = audit

    def list(self, caller: Caller) -> list[Project]:
        """Return the caller's projects, oldest first; of a pinned token its own.

        Raises:
            ForbiddenError: See `Reach.pin`.
        """
        return self._reach.projects(caller)

    def create(self, caller: Caller, name: str) -> Project:
        """Make a project that the caller owns.

        Raises:
            ForbiddenError: The token is restricted.
            ConflictError: They own one of this name.
        """
        self._reach.check_unrestricted(caller)
        check_line("name", name, MAX_NAME)
        with self._ledger.turn():
            self._reach.user(caller)
            same = self._ledger.book.projects.found(named(caller.tenant, name))
            if any(one.owner_id == caller.user_id for one in same):
                raise ConflictError("you already own a project with that name")
            at, new_id = self._ledger.clock.stamp()
            project = Project(
                id=new_id, tenant=caller.tenant, name=name, owner_id=caller.user_id, created_at=at
            )
            event = self._audit.event(caller, "project_create", new_id, new_id)
            self._ledger.commit([Put(Kind.PROJECT, new_id, project)], event, at=at)
        return project

    def delete(self, caller: Caller, ref: str) -> int:
        """Delete a project with all that is in it, and the tokens that are pinned to it.

        Returns:
            How many entries it held.

        Raises:
            ForbiddenError: The token is restricted, or the project is somebody else's.
            NotFoundError: There is none.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            project = self._known(caller, ref)
            if project.owner_id != caller.user_id:
                raise ForbiddenError("only the owner can delete a project")
            scope = project_scope(project.tenant, project.id)
            dying = estate_of(self._ledger.store, {scope})
            event = self._audit.event(caller, "project_delete", project.id, project.id)
            self._ledger.commit(last_of(self._ledger.book, project), event, dying=dying)
        return dying.entries

    def members(self, caller: Caller, ref: str) -> list[Member]:
        """Return everybody in a project, the owner first.

        Raises:
            ForbiddenError: The caller is not in it.
            NotFoundError: There is none.
        """
        project = self._known(caller, ref)
        self._reach.project(caller, project.id)
        users = self._ledger.book.users
        return [
            Member(user_id=user.id, username=user.username, role=project.role_of(user.id))
            for user_id in project.user_ids
            if (user := users.get(user_id)) is not None
        ]

    def add_member(self, caller: Caller, ref: str, username: str) -> Member:
        """Let a user in.

        Raises:
            ForbiddenError: The token is restricted, or the project is somebody else's.
            NotFoundError: There is no such project, or no user of exactly this name.
            ConflictError: They are in it.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            project = self._known(caller, ref)
            if project.owner_id != caller.user_id:
                raise ForbiddenError("only the owner can share a project")
            found = self._ledger.book.users.found(named(caller.tenant, username))
            if not found:
                raise NotFoundError("unknown user")
            user = found[0]
            if user.id in project.user_ids:
                raise ConflictError("user is already a member")
            shared = replace(project, member_ids=(*project.member_ids, user.id))
            event = self._audit.event(caller, "project_share", user.id, project.id)
            self._ledger.commit([Put(Kind.PROJECT, project.id, shared)], event)
        return Member(user_id=user.id, username=user.username, role=shared.role_of(user.id))

    def remove_member(self, caller: Caller, ref: str, user_id: str) -> None:
        """Take a user out of a project; its owner may, and the user themselves.

        Raises:
            InvalidArgumentError: It is the owner.
            ForbiddenError: The token is restricted, or the caller is neither.
            NotFoundError: There is no such project, or the user is not in it.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            project = self._known(caller, ref)
            if caller.user_id not in (project.owner_id, user_id):
                raise ForbiddenError("only the owner can remove a member")
            if user_id == project.owner_id:
                raise InvalidArgumentError("the owner cannot leave the project")
            if user_id not in project.member_ids:
                raise NotFoundError("unknown user")
            event = self._audit.event(caller, "project_unshare", user_id, project.id)
            self._ledger.commit(without(self._ledger.book, project, user_id), event)

    def unshare(self, caller: Caller, ref: str, username: str) -> None:
        """Take a user out by exact name; see `remove_member`."""
        found = self._ledger.book.users.found(named(caller.tenant, username))
        self.remove_member(caller, ref, found[0].id if found else "")

    def active(self, caller: Caller) -> Project | None:
        """Return the project that the caller works in.

        Raises:
            ForbiddenError: See `Reach.pin`.
        """
        return self._reach.active_project(caller)

    def activate(self, caller: Caller, ref: str) -> Project:
        """Let what is sent without a project go to this one.

        Raises:
            ForbiddenError: The token is restricted, or the project is not theirs.
            NotFoundError: There is none.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            project = self._reach.project(caller, ref)
            put = Put(Kind.ACTIVE_PROJECT, caller.user_id, Choice(project_id=project.id))
            event = self._audit.event(caller, "project_activate", project.id, project.id)
            self._ledger.commit([put], event)
        return project

    def deactivate(self, caller: Caller) -> None:
        """Let what is sent without a project be the caller's own again.

        Raises:
            ForbiddenError: The token is restricted.
        """
        self._reach.check_unrestricted(caller)
        with self._ledger.turn():
            put = Put(Kind.ACTIVE_PROJECT, caller.user_id, None)
            self._ledger.commit([put], self._audit.event(caller, "project_deactivate"))

    def _known(self, caller: Caller, ref: str) -> Project:
        """Return a project of the caller's tenant by id, or by name one of theirs."""
        book = self._ledger.book
        by_id = book.projects.get(ref)
        if by_id is not None and by_id.tenant == caller.tenant:
            return by_id
        for project in book.projects.found(named(caller.tenant, ref)):
            if caller.user_id in project.user_ids:
                return project
        raise NotFoundError("unknown project")


def last_of(book: Book, project: Project) -> list[Put]:
    """Return what takes away a project, and all that names it."""
    pinned = book.tokens.found(("project", project.id))
    return [
        Put(Kind.PROJECT, project.id, None),
        *_left(book, project, project.user_ids),
        *(Put(kind, one.id, None) for one in pinned for kind in (Kind.TOKEN, Kind.TOKEN_USE)),
    ]


def without(book: Book, project: Project, user_id: str) -> list[Put]:
    """Return what takes a member out of a project."""
    rest = tuple(one for one in project.member_ids if one != user_id)
    shrunk = replace(project, member_ids=rest)
    return [Put(Kind.PROJECT, project.id, shrunk), *_left(book, project, (user_id,))]


def _left(book: Book, project: Project, user_ids: Iterable[str]) -> list[Put]:
    """Clear the choice of those who worked in a project that they leave."""
    return [
        Put(Kind.ACTIVE_PROJECT, user_id, None)
        for user_id in user_ids
        if (choice := book.active.get(user_id)) is not None and choice.project_id == project.id
    ]
