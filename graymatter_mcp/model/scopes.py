"""Who owns a fact, and how a shelf of an owner is named in the store.

A store knows shelves by one string. The user-global shelves of this machine's user keep their bare
names, so that the core tools and the data plane meet on them; every other shelf carries its owner
in front, behind a sign that no bare name may begin with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from graymatter_mcp.errors import InvalidArgumentError
from graymatter_mcp.model.ids import Namespace

LOCAL: Final = "local"
"""The tenant, and its user, where no token system is configured."""

MARK: Final = "\x1f"
"""First sign of an owned shelf, and the end of its owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An owner of facts: a project, or a user for what is global to them."""

    tenant: str = LOCAL
    user_id: str = LOCAL
    """The user whose global facts these are; empty where a project owns them."""
    project_id: str | None = None

    @property
    def prefix(self) -> str:
        """What the store's names of this owner's shelves begin with; empty for the local user."""
        if self.project_id is not None:
            return f"{MARK}p/{self.tenant}/{self.project_id}{MARK}"
        if (self.tenant, self.user_id) == (LOCAL, LOCAL):
            return ""
        return f"{MARK}u/{self.tenant}/{self.user_id}{MARK}"


LOCAL_SCOPE: Final = Scope()
"""The user-global facts of this machine's user."""


class Shelf(str):
    """The store's name of a shelf: made from a scope and a name, never taken from a caller."""

    __slots__ = ()


def is_shelf(name: object) -> bool:
    """Whether a name was made here, and may begin with `MARK`."""
    return isinstance(name, Shelf)


def user_scope(tenant: str, user_id: str) -> Scope:
    """Return the owner of a user's global facts."""
    return Scope(tenant=tenant, user_id=user_id)


def project_scope(tenant: str, project_id: str) -> Scope:
    """Return the owner of a project's facts."""
    return Scope(tenant=tenant, user_id="", project_id=project_id)


def shelf(scope: Scope, name: str) -> Namespace:
    """Return the store's name of a shelf.

    Args:
        scope: Its owner.
        name: As callers know it.

    Raises:
        InvalidArgumentError: It begins with `MARK`, and so could name a shelf of somebody else.
    """
    if name.startswith(MARK):
        raise InvalidArgumentError("namespace must not begin with U+001F")
    return Namespace(Shelf(scope.prefix + name))


def owned(namespace: str) -> tuple[Scope, str]:
    """Return the owner and the caller's name of a shelf of the store."""
    if not namespace.startswith(MARK):
        return LOCAL_SCOPE, namespace
    owner, _, name = namespace[1:].partition(MARK)
    kind, tenant, identity = owner.split("/", 2)
    scope = project_scope(tenant, identity) if kind == "p" else user_scope(tenant, identity)
    return scope, name
