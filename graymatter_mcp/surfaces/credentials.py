"""What a bearer may show: the server token, a token that was handed out, or an issuer's."""

from __future__ import annotations

import hmac
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol

from anyio import to_thread

from graymatter_mcp.errors import GraymatterError
from graymatter_mcp.model.scopes import LOCAL
from graymatter_mcp.surfaces.auth import (
    PLAIN_CHALLENGE,
    AuthenticationError,
    AuthenticationUnavailableError,
    Principal,
    Scope,
    bearer_of,
)
from graymatter_mcp.surfaces.tokens import digest

if TYPE_CHECKING:
    from graymatter_mcp.model.accounts import Token, User
    from graymatter_mcp.surfaces.live_tokens import LiveTokens
    from graymatter_mcp.surfaces.tokens import StoredToken

_LONGEST: Final = 16_384
SERVER: Final = "server-token"
_TOKEN: Final = "token:"  # noqa: S105 - a word, no secret

ANYONE: Final = Principal(label="", scope=Scope.FULL, subject="anyone")
"""Whoever comes where no token is asked for."""


class Issued(Protocol):
    """Tokens that an authorization server makes."""

    @property
    def issuer(self) -> str:
        """Whose tokens these are."""
        ...

    @property
    def tenant(self) -> str:
        """Where its subjects are users."""
        ...

    def challenge(self, error: str = "") -> str:
        """Return the value of `WWW-Authenticate`."""
        ...

    async def principal(self, token: str) -> Principal:
        """Return whom the issuer vouches for, or raise as an `Authenticator` does."""
        ...


class AccountTokens(Protocol):
    """The tokens of accounts: `engine.plane.tokens.Tokens`. Look-ups do not wait."""

    def of_digest(self, digest: bytes, /) -> Token | None:
        """Return the token with this SHA-256, if it is good now."""
        ...

    def of_id(self, token_id: str, /) -> Token | None:
        """Return the token with this id, if it is good now."""
        ...

    def note_use(self, token_id: str, /) -> None:
        """Remember that a token was shown."""
        ...


class AccountUsers(Protocol):
    """Those for whom an issuer vouches: `engine.plane.users.Users`. It may write, so it waits."""

    def of_subject(self, tenant: str, identity: str, username: str, /) -> User:
        """Return the user, made on first sight."""
        ...


class KnownAccounts(Protocol):
    """What bearers are looked up in: `engine.plane.accounts.Accounts`."""

    @property
    def tokens(self) -> AccountTokens:
        """Tokens of users."""
        ...

    @property
    def users(self) -> AccountUsers:
        """Users."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A token that is good now, without the token."""

    principal: Principal
    sha256: bytes = field(repr=False)


class BearerAuthenticator:
    """Knows callers by their bearer token."""

    def __init__(self, server: str, handed_out: LiveTokens, issued: Issued | None = None) -> None:
        """Prepare; the server token itself is not kept.

        Args:
            server: The server token; the empty one refuses everything.
            handed_out: Tokens of `graymatter token`.
            issued: Tokens of an issuer, if there is one.
        """
        self._server = digest(server) if server else None
        self._handed_out = handed_out
        self._issued = issued
        self._accounts: KnownAccounts | None = None

    def use(self, accounts: KnownAccounts) -> None:
        """Know the tokens and users of a store too, from when it is open."""
        self._accounts = accounts

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return the caller; see `Authenticator`."""
        token = bearer_of(authorization)
        if token is None:
            raise AuthenticationError(self._challenge(""))
        if self._server is None or len(token) > _LONGEST:
            raise AuthenticationError(self._challenge("invalid_token"))
        found = self._find(token)
        if found is not None:
            if self._accounts is not None and found.token_id:
                self._accounts.tokens.note_use(found.token_id)
            return found
        # Three parts make a signed token; nothing else is worth an issuer's time.
        if self._issued is None or token.count(".") != 2:
            raise AuthenticationError(self._challenge("invalid_token"))
        return await self._as_user(await self._issued.principal(token), self._issued)

    def credential(self, subject: str) -> Credential | None:
        """Return what is kept of the token of a subject, if it is good now.

        None for those of an issuer: nobody could tell later whether one still holds.
        """
        if self._server is None:
            return None
        if subject == SERVER:
            return Credential(principal=_server(), sha256=self._server)
        token_id = subject.removeprefix(_TOKEN)
        kept = None if self._accounts is None else self._accounts.tokens.of_id(token_id)
        if kept is not None:
            return Credential(principal=_of_account(kept), sha256=kept.sha256)
        handed_out = self._handed_out.of_id(token_id)
        if handed_out is not None:
            return Credential(principal=_of_file(handed_out), sha256=handed_out.sha256)
        return None

    def _find(self, token: str) -> Principal | None:
        given = digest(token)
        if self._server is not None and hmac.compare_digest(self._server, given):
            return _server()
        found = self._handed_out.find(token)
        if found is not None:
            return _of_file(found)
        kept = None if self._accounts is None else self._accounts.tokens.of_digest(given)
        return None if kept is None else _of_account(kept)

    async def _as_user(self, principal: Principal, issued: Issued) -> Principal:
        """Return the caller as the user that the issuer's subject is."""
        if self._accounts is None:
            return principal
        identity = f"{issued.issuer} {principal.subject}"
        username = principal.subject.partition(":")[2]
        try:
            user = await to_thread.run_sync(
                self._accounts.users.of_subject, issued.tenant, identity, username
            )
        except GraymatterError as exc:
            raise AuthenticationUnavailableError from exc
        return replace(principal, tenant=user.tenant, user_id=user.id)

    def _challenge(self, error: str) -> str:
        return PLAIN_CHALLENGE if self._issued is None else self._issued.challenge(error)


class OpenDoor:
    """Asks for nothing: `--no-auth`, on loopback only."""

    async def authenticate(self, authorization: str | None) -> Principal:
        """Return the same caller for all."""
        return ANYONE

    def credential(self, subject: str) -> Credential | None:
        """Return the same for all; where nobody is asked, a cookie proves nothing."""
        return Credential(principal=ANYONE, sha256=b"") if subject == ANYONE.subject else None


def _server() -> Principal:
    return Principal(label="server", scope=Scope.FULL, subject=SERVER)


def _of_file(token: StoredToken) -> Principal:
    return Principal(
        label=token.name,
        scope=token.scope,
        project=token.project,
        subject=f"{_TOKEN}{token.id}",
        token_id=token.id,
    )


def _of_account(token: Token) -> Principal:
    return Principal(
        label=token.label,
        scope=token.scope,
        project=token.project_id,
        subject=f"{_TOKEN}{token.id}",
        tenant=token.tenant,
        user_id=token.user_id,
        token_id=token.id,
        reaches_core=(token.tenant, token.user_id) == (LOCAL, LOCAL),
    )
