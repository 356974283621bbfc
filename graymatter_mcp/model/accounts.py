"""Users, projects, tokens and what is told of them; times are UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from graymatter_mcp.model.access import Rights

if TYPE_CHECKING:
    from datetime import datetime


class Role(StrEnum):
    """What a user may do in their tenant."""

    ADMIN = "admin"
    USER = "user"


class ProjectRole(StrEnum):
    """What a user is in a project."""

    OWNER = "owner"
    MEMBER = "member"


class TokenScope(StrEnum):
    """What the bearer of a token may do."""

    FULL = "full"
    READ_ONLY = "read_only"


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Somebody who owns facts."""

    id: str
    tenant: str
    username: str
    """Unique in the tenant."""
    role: Role
    created_at: datetime
    subject: str = ""
    """Digest of the name that an issuer of tokens has for them; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A brain that its members share."""

    id: str
    tenant: str
    name: str
    owner_id: str
    member_ids: tuple[str, ...] = ()
    """Everybody but the owner, in the order in which they came."""
    created_at: datetime

    @property
    def user_ids(self) -> tuple[str, ...]:
        """Everybody, the owner first."""
        return (self.owner_id, *self.member_ids)

    def role_of(self, user_id: str) -> ProjectRole:
        """Return what one of its users is in it."""
        return ProjectRole.OWNER if user_id == self.owner_id else ProjectRole.MEMBER


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A user as a project shows them."""

    user_id: str
    username: str
    role: ProjectRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """What is kept of a token: all but the token."""

    id: str
    tenant: str
    user_id: str
    label: str
    """The name that a person gave it; empty where there is none."""
    scope: TokenScope
    project_id: str | None
    created_at: datetime
    expires_at: datetime | None
    sha256: bytes = field(repr=False)

    @property
    def rights(self) -> Rights:
        """What its bearer may do."""
        return Rights(may_write=self.scope is TokenScope.FULL, project=self.project_id)

    def is_expired(self, now: datetime) -> bool:
        """Whether it is refused at this instant."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedToken:
    """A token, and when it was last shown."""

    token: Token
    last_used_at: datetime | None
    """Kept best effort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedToken:
    """A token at the one moment when its secret is known."""

    token: Token
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A browser that was let in with a token; it ends with that token."""

    user_id: str
    subject: str
    """Names the token among those that the server knows."""
    proof: bytes = field(repr=False)
    """Made of the cookie and the token's digest, so that neither can be told from it."""
    renewed_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSession:
    """A session at the one moment when its cookie is known."""

    session: WebSession
    cookie: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """How much a user may write; None is no limit, or the server's."""

    max_entries: int | None = None
    writes_per_minute: int | None = None


NO_QUOTA: Final = Quota()
"""Without any limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a user has stored, and what they may."""

    entries: int
    quota: Quota


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovedUser:
    """What went with a user."""

    tokens_revoked: int
    entries_removed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent:
    """Who did what, and how it ended."""

    seq: int
    at: datetime
    user_id: str | None
    token_id: str | None
    action: str
    target: str | None
    project_id: str | None
    outcome: str
    request_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPage:
    """A part of the audit."""

    events: tuple[AuditEvent, ...]
    next_seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChange:
    """That a fact changed; never what it says."""

    seq: int
    entry_id: str
    project_id: str | None
    change: str
    detail: str | None
    """Id of the fact that took the place of a superseded one."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """A part of the feed."""

    changes: tuple[FactChange, ...]
    next_seq: int
