"""What a caller reaches: the scopes that they read and write, and what they may not do at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graymatter_mcp.engine.plane.ledger import named
from graymatter_mcp.errors import (
    ForbiddenError,
    NotFoundError,
    ReadOnlyError,
    UnauthorizedError,
)
from graymatter_mcp.model.accounts import Role
from graymatter_mcp.model.scopes import LOCAL, project_scope, user_scope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graymatter_mcp.engine.plane.ledger import Book, Ledger
    from graymatter_mcp.model.access import Caller
    from graymatter_mcp.model.accounts import Project, User
    from graymatter_mcp.model.scopes import Scope


class Reach:
    """Asked at the entry of every operation, so that all surfaces share one answer.

    Each method judges the accounts as they are at the call: who has left a project, or is gone
    altogether, is refused by the next one.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def user(self, caller: Caller) -> User:
        """Return who calls.

        Raises:
            UnauthorizedError: They are gone.
        """
        user = self._ledger.book.users.get(caller.user_id)
        if user is None or user.tenant != caller.tenant:
            raise UnauthorizedError("unauthorized")
        return user

    def check_may_write(self, caller: Caller) -> None:
        """Refuse a token that only reads.

        Raises:
            ReadOnlyError: It does.
        """
        self.user(caller)
        if not caller.rights.may_write:
            raise ReadOnlyError("read-only token")

    def check_unrestricted(self, caller: Caller) -> None:
        """Refuse a token that may do less than its user.

        Raises:
            ForbiddenError: It may.
        """
        self.user(caller)
        if caller.is_restricted:
            raise ForbiddenError("restricted token")

    def check_admin(self, caller: Caller) -> None:
        """Let nobody pass but an admin with an unrestricted token.

        Raises:
            ForbiddenError: It is somebody else.
        """
        self.check_unrestricted(caller)
        if self.user(caller).role is not Role.ADMIN:
            raise ForbiddenError("admin only")

    def pin(self, caller: Caller) -> Project | None:
        """Return the one project that the caller is confined to; None where they are not.

        Raises:
            ForbiddenError: They are no member of it, or not any more.
        """
        self.user(caller)
        if caller.rights.project is None:
            return None
        project = _find(self._ledger.book, caller, caller.rights.project)
        if project is None or caller.user_id not in project.user_ids:
            raise ForbiddenError("not a member of the token's project")
        return project

    def projects(self, caller: Caller) -> list[Project]:
        """Return the projects that the caller reaches, oldest first.

        Raises:
            ForbiddenError: See `pin`.
        """
        pin = self.pin(caller)
        return self._ledger.book.projects_of(caller.user_id) if pin is None else [pin]

    def active_project(self, caller: Caller) -> Project | None:
        """Return the project that the caller works in, if it is chosen and within reach.

        Raises:
            ForbiddenError: See `pin`.
        """
        pin = self.pin(caller)
        choice = self._ledger.book.active.get(caller.user_id)
        project = None if choice is None else self._ledger.book.projects.get(choice.project_id)
        if project is None or caller.user_id not in project.user_ids:
            return None
        return project if pin is None or pin.id == project.id else None

    def project(self, caller: Caller, ref: str) -> Project:
        """Return the project that a reference names.

        Args:
            caller: Who must be a member of it.
            ref: Id or name; an id wins.

        Raises:
            NotFoundError: There is none.
            ForbiddenError: It is not theirs, or not that of their token.
        """
        pin = self.pin(caller)
        if pin is not None:
            # By name the project of the token comes before an older one of the same name.
            is_name = _by_id(self._ledger.book, caller, ref) is None
            if ref != (pin.name if is_name else pin.id):
                raise ForbiddenError("token is confined to its project")
            return pin
        found = _find(self._ledger.book, caller, ref)
        if found is None:
            raise NotFoundError(f"no such project '{ref}' — call project_list to see ids")
        if caller.user_id not in found.user_ids:
            raise ForbiddenError(f"not a member of project '{ref}' (id {found.id})")
        return found

    def write_scope(self, caller: Caller, project: str | None) -> Scope:
        """Return where a write, an update or a forget goes.

        Args:
            caller: Who.
            project: Reference that was sent.

        Raises:
            ReadOnlyError: The token only reads.
            NotFoundError: See `project`.
            ForbiddenError: See `project`.
        """
        self.check_may_write(caller)
        if project is not None:
            return _scope(self.project(caller, project))
        chosen = self.pin(caller) or self.active_project(caller)
        return _own(caller) if chosen is None else _scope(chosen)

    def read_scopes(
        self, caller: Caller, project: str | None, include_projects: Sequence[str] | None
    ) -> tuple[Scope, ...]:
        """Return what a read covers.

        Args:
            caller: Who.
            project: Reference that was sent.
            include_projects: References that were sent.

        Raises:
            NotFoundError: See `project`.
            ForbiddenError: See `project`.
        """
        included = [_scope(self.project(caller, ref)) for ref in include_projects or ()]
        alone = [] if project is None else [_scope(self.project(caller, project))]
        pin = self.pin(caller)
        if pin is not None:
            return (_scope(pin),)
        if included:
            return tuple(dict.fromkeys([_own(caller), *alone, *included]))
        if alone:
            return tuple(alone)
        active = self.active_project(caller)
        return (_own(caller),) if active is None else (_own(caller), _scope(active))

    def all_scopes(self, caller: Caller) -> tuple[Scope, ...]:
        """Return everything that the caller may ever read.

        Raises:
            ForbiddenError: See `pin`.
        """
        pin = self.pin(caller)
        if pin is not None:
            return (_scope(pin),)
        return (_own(caller), *map(_scope, self._ledger.book.projects_of(caller.user_id)))

    def owned_scopes(self, caller: Caller) -> tuple[Scope, ...]:
        """Return what counts against the caller's quota of entries: theirs, and what they own."""
        owned = self._ledger.book.projects_of(caller.user_id)
        return (_own(caller), *(_scope(one) for one in owned if one.owner_id == caller.user_id))


def is_server(caller: Caller) -> bool:
    """Whether it is whoever runs the server: by the server token, or on this machine."""
    return (caller.tenant, caller.user_id, caller.token_id) == (LOCAL, LOCAL, "")


def _find(book: Book, caller: Caller, ref: str) -> Project | None:
    """Return the project of the caller's tenant that a reference names, theirs before others."""
    by_id = _by_id(book, caller, ref)
    if by_id is not None:
        return by_id
    by_name = book.projects.found(named(caller.tenant, ref))
    theirs = [one for one in by_name if caller.user_id in one.user_ids]
    return next(iter(theirs or by_name), None)


def _by_id(book: Book, caller: Caller, ref: str) -> Project | None:
    project = book.projects.get(ref)
    return project if project is not None and project.tenant == caller.tenant else None


def _own(caller: Caller) -> Scope:
    return user_scope(caller.tenant, caller.user_id)


def _scope(project: Project) -> Scope:
    return project_scope(project.tenant, project.id)
