"""Users and their tenants: an admin's business, and that of an issuer who vouches for somebody."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from graymatter_mcp.engine.plane.documents import Kind, Put
from graymatter_mcp.engine.plane.erasure import estate_of
from graymatter_mcp.engine.plane.ledger import named
from graymatter_mcp.engine.plane.lines import check_line
from graymatter_mcp.engine.plane.projects import last_of, without
from graymatter_mcp.engine.plane.reach import is_server
from graymatter_mcp.errors import ConflictError, InvalidArgumentError, NotFoundError
from graymatter_mcp.model.access import Caller
from graymatter_mcp.model.accounts import NO_QUOTA, RemovedUser, Role, User
from graymatter_mcp.model.scopes import LOCAL, project_scope, user_scope

if TYPE_CHECKING:
    from graymatter_mcp.engine.plane.audit import Audit
    from graymatter_mcp.engine.plane.ledger import Ledger
    from graymatter_mcp.engine.plane.reach import Reach
    from graymatter_mcp.model.accounts import Project, Quota

MAX_USERNAME: Final = 64
_TENANT: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


class Users:
    """The users of a store."""

    def __init__(self, ledger: Ledger, reach: Reach, audit: Audit) -> None:
        self._ledger = ledger
        self._reach = reach
        self._audit = audit

    def list(self, caller: Caller) -> list[User]:
        """Return the users of the caller's tenant, oldest first.

        Raises:
            ForbiddenError: The caller is no admin.
        """
        self._reach.check_admin(caller)
        found = self._ledger.book.users.found(("tenant", caller.tenant))
        return sorted(found, key=lambda user: (user.created_at, user.id != LOCAL, user.id))

    def create(
        self, caller: Caller, username: str, role: Role = Role.USER, tenant: str | None = None
    ) -> User:
        """Make a user.

        Args:
            caller: An admin.
            username: Unique in the tenant.
            role: In it.
            tenant: Counts from whoever runs the server only; else it is the caller's.

        Raises:
            ForbiddenError: The caller is no admin.
            InvalidArgumentError: A name breaks a rule.
            ConflictError: The name is taken.
        """
        self._reach.check_admin(caller)
        check_line("username", username, MAX_USERNAME)
        where = caller.tenant if tenant is None or not is_server(caller) else tenant
        if not _TENANT.fullmatch(where):
            # It stands in the names of shelves.
            raise InvalidArgumentError(
                "tenant must be 1 to 64 letters, digits, dots, underscores or dashes"
            )
        with self._ledger.turn():
            if self._ledger.book.users.found(named(where, username)):
                raise ConflictError("username is taken")
            user = self._new(where, username, role)
            event = self._audit.event(caller, "user_create", user.id)
            self._ledger.commit([Put(Kind.USER, user.id, user)], event, at=user.created_at)
        return user

    def delete(self, caller: Caller, user_id: str) -> RemovedUser:
        """Delete a user with all that is theirs, tokens and sessions too.

        Projects that they share with nobody go too; what they wrote in projects of others stays.

        Raises:
            ForbiddenError: The caller is no admin.
            NotFoundError: There is no such user.
            InvalidArgumentError: It is the last admin, or this machine's user.
            ConflictError: They own a project that others use.
        """
        self._reach.check_admin(caller)
        with self._ledger.turn():
            user = self._known(caller, user_id)
            self._check_dispensable(user)
            projects = self._ledger.book.projects_of(user.id)
            own = [one for one in projects if one.owner_id == user.id]
            if any(one.member_ids for one in own):
                raise ConflictError("user owns projects")
            scopes = {
                user_scope(user.tenant, user.id),
                *(project_scope(one.tenant, one.id) for one in own),
            }
            dying = estate_of(self._ledger.store, scopes)
            puts = self._last_of(user, projects)
            revoked = sum(put.kind is Kind.TOKEN for put in puts)
            event = self._audit.event(caller, "user_delete", user.id)
            self._ledger.commit(puts, event, dying=dying)
        return RemovedUser(tokens_revoked=revoked, entries_removed=dying.entries)

    def set_quota(self, caller: Caller, user_id: str, quota: Quota) -> None:
        """Set how much a user may write.

        Args:
            caller: An admin.
            user_id: Whose.
            quota: None in it leaves it to the server's.

        Raises:
            ForbiddenError: The caller is no admin.
            NotFoundError: There is no such user.
        """
        self._reach.check_admin(caller)
        with self._ledger.turn():
            user = self._known(caller, user_id)
            row = None if quota == NO_QUOTA else quota
            event = self._audit.event(caller, "user_quota", user.id)
            self._ledger.commit([Put(Kind.QUOTA, user.id, row)], event)

    def of_subject(self, tenant: str, identity: str, username: str) -> User:
        """Return the user of whom an issuer vouches for, made on first sight.

        Args:
            tenant: In which they are.
            identity: What the issuer calls them, and the issuer: never another's.
            username: Theirs if nobody has it. A name alone makes nobody the user of that name.
        """
        subject = sha256(f"{tenant}\n{identity}".encode(errors="surrogatepass")).hexdigest()
        known = self._ledger.book.users.found(("subject", subject))
        if known:
            return known[0]
        with self._ledger.turn():
            known = self._ledger.book.users.found(("subject", subject))
            if known:
                return known[0]
            name = username[:MAX_USERNAME]
            if not name or self._ledger.book.users.found(named(tenant, name)):
                name = f"{name[: MAX_USERNAME - 17]}-{subject[:16]}"
            user = self._new(tenant, name, Role.USER, subject)
            themselves = Caller(tenant=tenant, user_id=user.id)
            event = self._audit.event(themselves, "user_first_seen", user.id)
            self._ledger.commit([Put(Kind.USER, user.id, user)], event, at=user.created_at)
            return user

    def _new(self, tenant: str, username: str, role: Role, subject: str = "") -> User:
        at, new_id = self._ledger.clock.stamp()
        return User(
            id=new_id, tenant=tenant, username=username, role=role, created_at=at, subject=subject
        )

    def _known(self, caller: Caller, user_id: str) -> User:
        user = self._ledger.book.users.get(user_id)
        if user is None or user.tenant != caller.tenant:
            raise NotFoundError("unknown user")
        return user

    def _check_dispensable(self, user: User) -> None:
        if user.id == LOCAL:
            # The server token is theirs, and so is every fact of the core tools.
            raise InvalidArgumentError("the user local cannot be deleted")
        others = self._ledger.book.users.found(("tenant", user.tenant))
        admins = [one.id for one in others if one.role is Role.ADMIN]
        if admins == [user.id]:
            raise InvalidArgumentError("LAST_ADMIN_PROTECTED")

    def _last_of(self, user: User, projects: list[Project]) -> list[Put]:
        book = self._ledger.book
        tokens = book.tokens.found(("user", user.id))
        puts = [Put(kind, user.id, None) for kind in (Kind.USER, Kind.QUOTA, Kind.ACTIVE_PROJECT)]
        puts += [Put(k, one.id, None) for one in tokens for k in (Kind.TOKEN, Kind.TOKEN_USE)]
        puts += [
            Put(Kind.SESSION, key, None)
            for key, one in book.sessions.items()
            if one.user_id == user.id
        ]
        for one in projects:
            is_own = one.owner_id == user.id
            puts += last_of(book, one) if is_own else without(book, one, user.id)
        return list(dict.fromkeys(puts))
